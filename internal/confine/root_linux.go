package confine

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// here is AT_FDCWD as an argument.
const here = ^uintptr(99)

// namespaces are those that a confined program has of its own.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// base is where the new root is put together. It hides what lies there from init only.
const base = "/tmp"

// write adds the steps that write a short text to a file.
func (s *script) write(how manner, name, text string) {
	fd := s.register()
	st := s.call("open "+name, unix.SYS_OPENAT, here, s.text(name), unix.O_WRONLY|unix.O_CLOEXEC)
	st.into, st.how = fd, how
	if how == may { // a failed call leaves the register as it was: no file has this number
		s.regs[fd] = 1 << 30
	}
	b := []byte(text)
	s.keep = append(s.keep, b)
	st = s.call("write "+name, unix.SYS_WRITE, 0, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	st.from[0], st.how = fd, how
	st = s.call("close "+name, unix.SYS_CLOSE, 0)
	st.from[0], st.how = fd, how
}

// enter adds the steps that make the process the init of its namespaces.
func (s *script) enter(limits Limits) {
	s.call("tie itself to the launcher", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	s.write(must, "/proc/self/setgroups", "deny")
	s.write(must, "/proc/self/uid_map", fmt.Sprintf("%d %d 1\n", os.Geteuid(), os.Geteuid()))
	s.write(must, "/proc/self/gid_map", fmt.Sprintf("%d %d 1\n", os.Getegid(), os.Getegid()))
	s.loopback()
	s.write(must, "/proc/sys/user/max_user_namespaces", "0")
	if limits.Processes > 0 { // for root, whom no limit of processes holds; older kernels have one number for all
		s.write(may, "/proc/sys/kernel/pid_max", fmt.Sprint(max(limits.Processes, 301)))
	}
}

// loopback adds the steps that switch on the network of the namespace, which reaches
// nothing but itself.
func (s *script) loopback() {
	type request struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	r := &request{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(r.name[:], "lo")
	fd := s.register()
	s.call("make a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).into = fd
	s.call("switch on the loopback device", unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, addr(s, r)).from[0] = fd
	s.call("close a socket", unix.SYS_CLOSE, 0).from[0] = fd
}

// newRoot adds the steps that build the root of a layout and move into it.
func (s *script) newRoot(l *layout, dir string) {
	s.mount("keep mounts to itself", "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	b := builder{script: s, layout: l, trees: make([]int16, len(l.mounts))}
	for i, m := range l.mounts { // the numbers of layers must still be free
		if m.kind == layered {
			b.hold(m.from, firstHeld+3*i)
			b.hold(m.store+"/up", firstHeld+3*i+1)
			b.hold(m.store+"/work", firstHeld+3*i+2)
		}
	}
	for i, m := range l.mounts {
		if m.kind == bound {
			fd := s.open("open "+m.from, m.from)
			b.trees[i] = b.tree(m, fd)
			s.close(m.from, fd)
		}
	}
	s.mount("make a new root", "tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m")
	s.call("enter the new root", unix.SYS_CHDIR, s.text(base))
	b.void()
	for _, k := range l.links {
		if in := l.owner(k.at); in == nil {
			s.link(l, k)
		}
	}
	for i, m := range l.mounts {
		b.place(m, i)
	}
	for name := range strings.FieldsSeq(".void .void-dir") {
		flags := uintptr(0)
		if name == ".void-dir" {
			flags = unix.AT_REMOVEDIR
		}
		s.call("remove "+name, unix.SYS_UNLINKAT, here, s.text(name), flags)
	}
	s.call("change the root", unix.SYS_PIVOT_ROOT, s.text("."), s.text("."))
	s.call("leave the old root", unix.SYS_UMOUNT2, s.text("."), unix.MNT_DETACH)
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, m := range append([]mount{{at: "/", kind: memory}}, l.mounts...) {
		if m.kind == memory && !m.write {
			s.call("make "+m.at+" read-only", unix.SYS_MOUNT_SETATTR, here, s.text(m.at), 0, addr(s, attr), unsafe.Sizeof(*attr))
		}
	}
	s.call("enter "+dir, unix.SYS_CHDIR, s.text(dir))
}

// A builder puts the mounts of a layout in their places.
type builder struct {
	*script
	layout *layout
	trees  []int16  // the registers of mounts that have no place yet
	empty  [2]int16 // those of what masks show: a file and a directory that nobody can open
}

func (s *script) mount(what, source, target, kind string, flags uintptr, options string) {
	var data uintptr
	if options != "" {
		data = s.text(options)
	}
	s.call(what, unix.SYS_MOUNT, s.text(source), s.text(target), s.text(kind), flags, data)
}

// firstHeld is the number from which on directories are held that layers are made of. The
// call that makes a layer takes names: that of a number needs no other look along a path.
const firstHeld = 16

// hold adds the steps that open a directory and give it a number that is known before.
func (b *builder) hold(name string, number int) {
	fd := b.open("open "+name, name)
	b.call("hold "+name, unix.SYS_DUP3, 0, uintptr(number), unix.O_CLOEXEC).from[0] = fd
	b.close(name, fd)
}

// held is the name of a directory that is held.
func held(number int) string { return "/proc/self/fd/" + strconv.Itoa(number) }

// close adds the step that closes a file.
func (s *script) close(what string, fd int16) {
	s.call("close "+what, unix.SYS_CLOSE, 0).from[0] = fd
}

// below adds the step that opens a path of the new root without following any symbolic
// link.
func (s *script) below(at string) int16 {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH}
	fd := s.register()
	s.call("open "+at, unix.SYS_OPENAT2, here, s.text(strings.TrimPrefix(at, "/")), addr(s, how), unsafe.Sizeof(*how)).into = fd
	return fd
}

// tree adds the steps that make a mount of an open file, and say what can be done with it.
// It has no place yet.
func (b *builder) tree(m mount, of int16) int16 {
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	recursive := uintptr(unix.AT_RECURSIVE)
	if m.device {
		attr.Attr_set |= unix.MOUNT_ATTR_NOEXEC
	} else {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if m.device || m.kind == masked {
		recursive = 0
	}
	if !m.write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	fd := b.register()
	st := b.call("bind "+m.at, unix.SYS_OPEN_TREE, 0, b.text(""), unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|recursive)
	st.from[0], st.into = of, fd
	b.call("restrict "+m.at, unix.SYS_MOUNT_SETATTR, 0, b.text(""), unix.AT_EMPTY_PATH|recursive, addr(b.script, attr), unsafe.Sizeof(*attr)).from[0] = fd
	return fd
}

// void makes what masks show.
func (b *builder) void() {
	b.call("make .void", unix.SYS_MKNODAT, here, b.text(".void"), unix.S_IFREG, 0)
	b.call("make .void-dir", unix.SYS_MKDIRAT, here, b.text(".void-dir"), 0)
	b.empty = [2]int16{b.below("/.void"), b.below("/.void-dir")}
}

// place adds the steps that put a mount where it belongs.
func (b *builder) place(m mount, i int) {
	s, l := b.script, b.layout
	at := strings.TrimPrefix(m.at, "/")
	if in := l.owner(m.at); in == nil || in.kind == memory {
		s.skeleton(m.at, m.dir)
	}
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	switch m.kind {
	case memory:
		clear(s.made) // what is made from here on may lie in it
		s.mount("make "+m.at, "tmpfs", at, "tmpfs", quiet, m.options)
		for _, k := range l.links {
			if in := l.owner(k.at); in != nil && in.at == m.at {
				s.link(l, k)
			}
		}
		return
	case layered:
		options := "lowerdir=" + held(firstHeld+3*i) + ",upperdir=" + held(firstHeld+3*i+1) + ",workdir=" + held(firstHeld+3*i+2) + ",userxattr,volatile"
		s.mount("lay a copy over "+m.at, "overlay", at, "overlay", quiet, options)
		return
	case proc:
		s.mount("mount /proc", "proc", at, "proc", quiet|unix.MS_NOEXEC|unix.MS_RDONLY, "")
		return
	case terminal:
		s.mount("mount "+m.at, "devpts", at, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, m.options)
		return
	}
	target := s.below(m.at)
	from := b.trees[i]
	switch {
	case m.kind == again:
		from = b.tree(m, target)
	case m.kind == masked && m.dir:
		from = b.tree(m, b.empty[1])
	case m.kind == masked:
		from = b.tree(m, b.empty[0])
	}
	st := s.call("mount "+m.at, unix.SYS_MOVE_MOUNT, 0, s.text(""), 0, s.text(""), unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	st.from[0], st.from[2] = from, target
	s.close(m.at, from)
	s.close(m.at, target)
}

// skeleton adds the steps that make the place of a mount in memory.
func (s *script) skeleton(at string, dir bool) {
	up := strings.Split(strings.Trim(at, "/"), "/")
	last := len(up)
	if !dir {
		last--
	}
	for i := 1; i <= last; i++ {
		if name := path.Join(up[:i]...); !s.made[name] {
			s.made[name] = true
			s.call("make /"+name, unix.SYS_MKDIRAT, here, s.text(name), 0o755).how = may
		}
	}
	if !dir {
		s.call("make "+at, unix.SYS_MKNODAT, here, s.text(path.Join(up...)), unix.S_IFREG|0o644, 0).how = may
	}
}

// link adds the steps that make a symbolic link of the new root.
func (s *script) link(l *layout, k link) {
	if parent := path.Dir(k.at); l.owner(k.at) == nil && parent != "/" {
		s.skeleton(parent, true)
	}
	s.call("link "+k.at, unix.SYS_SYMLINKAT, s.text(k.to), here, s.text(strings.TrimPrefix(k.at, "/"))).how = may
}

// abdicate adds the steps that give up what init had to set everything up: its rights,
// its files, and being looked at.
func (s *script) abdicate() {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		s.call("give up capabilities", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0).how = may // older kernels lack the last ones
	}
	s.call("give up capabilities", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	s.call("give up capabilities", unix.SYS_CAPSET, addr(s, header), addr(s, &[2]unix.CapUserData{}))
	s.call("hide itself", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	s.call("tie itself to the launcher", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	s.call("close files", unix.SYS_CLOSE_RANGE, theirs+1, uintptr(^uint32(0)), 0)
}
