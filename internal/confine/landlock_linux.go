package confine

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock that concern files.
const (
	rightsRun  = unix.LANDLOCK_ACCESS_FS_EXECUTE
	rightsLook = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsRead = rightsRun | rightsLook
	rightsMake = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	rightsChange  = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	rightsWrite   = rightsRead | rightsMake | rightsChange
	rightsProc    = rightsRead // root could change settings of the kernel, which are those of the machine
	rightsDevices = rightsLook | rightsChange | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsMore    = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	rightsAll     = rightsWrite | rightsDevices | rightsMore
	rightsOfFile  = rightsRun | unix.LANDLOCK_ACCESS_FS_READ_FILE | rightsChange | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// The versions of Landlock from which on something is held.
const (
	landlockTruncate = 3 // before, any file could be emptied
	landlockDevices  = 5
	landlockScopes   = 6 // signals, and sockets without a path
)

// landlock is the version of the running kernel, 0 without it.
func landlock() int {
	version, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// handled are the rights that a version knows, of those that are used here.
func handled(version int) uint64 {
	rights := uint64(rightsAll)
	if version < landlockDevices {
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// A grant is a rule of Landlock.
type grant struct {
	at     string
	dir    bool
	rights uint64
}

// landlock adds the steps that restrict the process to some grants.
func (s *script) landlock(version int, grants []grant) {
	attr := &unix.LandlockRulesetAttr{Handled_access_fs: handled(version)}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= landlockScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	rules := s.register()
	s.call("make a rule set of Landlock", unix.SYS_LANDLOCK_CREATE_RULESET, addr(s, attr), size, 0).into = rules
	for _, g := range grants {
		rights := g.rights & attr.Handled_access_fs
		if !g.dir {
			rights &= rightsOfFile
		}
		fd := s.open("open "+g.at, g.at)
		rule := &unix.LandlockPathBeneathAttr{Allowed_access: rights}
		s.store(fd, &rule.Parent_fd)
		s.keep = append(s.keep, rule)
		s.call("add a rule of Landlock for "+g.at, unix.SYS_LANDLOCK_ADD_RULE, 0, unix.LANDLOCK_RULE_PATH_BENEATH, addr(s, rule), 0).from[0] = rules
		s.call("close "+g.at, unix.SYS_CLOSE, 0).from[0] = fd
	}
	s.call("give up new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	s.call("restrict itself by Landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 0).from[0] = rules
}

// open adds the step that opens a path without following any symbolic link.
func (s *script) open(what, name string) int16 {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd := s.register()
	s.call(what, unix.SYS_OPENAT2, ^uintptr(99), s.text(name), addr(s, how), unsafe.Sizeof(*how)).into = fd
	return fd
}

// store adds the step that writes a register to memory.
func (s *script) store(reg int16, to *int32) {
	st := s.call("", 0, 0, addr(s, to))
	st.how, st.from[0] = store, reg
}

// seccomp adds the step that has a filter judge every call that follows.
func (s *script) seccomp(f filter) {
	prog := &unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	s.call("restrict itself by seccomp", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, addr(s, prog))
}
