package consent

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FarEndOf looks who holds the other end of terminals, without running anything: on
// Linux, by what /proc shows. A console and a serial line have no such end. Elsewhere
// its Note says that nothing was checked. Files that are no terminal are passed over.
func FarEndOf(files ...*os.File) FarEnd {
	view := procView{root: "/proc", self: os.Getpid(), uid: os.Geteuid()}
	var notes []string
	for _, f := range files {
		device, err := unix.IoctlGetUint32(int(f.Fd()), unix.TIOCGDEV)
		if err != nil {
			continue // whether these are terminals at all is for the caller to ask
		}
		note, err := view.terminal(decodeDevice(device), 0)
		if err != nil {
			return FarEnd{Err: err}
		}
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return FarEnd{Note: strings.Join(notes, "; ")}
}

// A device is a terminal's number, zero for none.
type device struct{ major, minor uint32 }

// decodeDevice reads the form that the kernel shows device numbers in.
func decodeDevice(n uint32) device {
	return device{n >> 8 & 0xfff, n&0xff | n>>12&0xfff00}
}

// The kernel's numbers of pseudo-terminals.
const (
	oldPseudo = 3   // of BSD, which nothing tells the holder of
	pseudo    = 136 // the minor number is the index below /dev/pts
)

// maxRelays bounds how many terminals stand behind one another.
const maxRelays = 6

// A procView is /proc as one account sees it.
type procView struct {
	root string
	self int // the process that asks
	uid  int
}

// A proc is what /proc shows of a process.
type proc struct {
	pid, parent, session int
	tty                  device
	short                string // the kernel's name of it, which the process may choose
	uid                  int    // -1: not known
	program              string // the path of its file; "": it cannot be seen
}

// terminal returns why the other end of a terminal is no person's, or a note about
// what cannot be checked.
func (v procView) terminal(d device, depth int) (note string, err error) {
	switch {
	case depth > maxRelays:
		return "", noPerson("a chain of terminals", "")
	case d.major == oldPseudo:
		return "", noPerson("a pseudo-terminal of an old kind", "")
	case d.major != pseudo:
		return "", nil
	}
	held := v.holdersOf(d)
	if len(held) == 0 {
		return v.unseen(d, depth)
	}
	for _, p := range held {
		one, err := v.holds(p, d, depth)
		if err != nil {
			return "", err
		}
		note = one
	}
	return note, nil
}

// holds judges a process whose program can be seen.
func (v procView) holds(p proc, d device, depth int) (note string, err error) {
	name := path.Base(p.program)
	row := holderNamed(name, false)
	if row == nil {
		return "", noPerson(name, "")
	}
	if err := v.ownProgram(p); err != nil {
		return "", noPerson(p.program, ", and "+err.Error())
	}
	switch row.kind {
	case login:
		if v.uid != 0 && p.uid == v.uid {
			return "", noPerson(name, ", and this account started it itself")
		}
	case multiplexer:
		return v.client(p, d, depth)
	case relay:
		return v.behind(p, d, depth)
	}
	return "", nil
}

// ownProgram refuses a program's file that this account may have written: any
// program can have any name.
func (v procView) ownProgram(p proc) error {
	info, err := os.Stat(v.file(p.pid, "exe"))
	if err != nil {
		return errors.New("its file cannot be looked at")
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if v.uid != 0 && (!ok || int(stat.Uid) == v.uid || info.Mode().Perm()&0o022 != 0) {
		return errors.New("its file is this account's to write")
	}
	return nil
}

// client looks for somebody at a multiplexer: a process of the same program at a
// terminal of a person.
func (v procView) client(server proc, d device, depth int) (string, error) {
	last := noPerson(path.Base(server.program), ", and no client of it is at a terminal")
	for _, p := range v.all() {
		if p.pid == server.pid || p.tty == (device{}) || p.tty == d || p.program != server.program {
			continue
		}
		note, err := v.terminal(p.tty, depth+1)
		if err == nil {
			return note, nil
		}
		last = err
	}
	return "", last
}

// behind looks at the terminal that a relay itself has.
func (v procView) behind(p proc, d device, depth int) (string, error) {
	if p.tty == (device{}) || p.tty == d {
		// The one that runs the command has the new terminal; the one that relays, the old.
		for _, q := range v.all() {
			if q.pid == p.parent && q.tty != d && q.tty != (device{}) && (q.program == p.program || q.short == p.short) {
				return v.terminal(q.tty, depth+1)
			}
		}
		return "", noPerson(p.name(), ", which has no terminal of its own")
	}
	return v.terminal(p.tty, depth+1)
}

// unseen judges a terminal whose holder cannot be seen, because it is another
// account's or keeps itself private. It must stand above the leader of the session, and
// the account must not be able to put it there.
func (v procView) unseen(d device, depth int) (string, error) {
	leader, ok := v.leader(d)
	if !ok {
		return "", noPerson("a program that cannot be seen", "")
	}
	p := leader
	for range 2 { // a relay may lead the session itself
		if p.uid != v.uid && p.uid >= 0 {
			if row := holderNamed(p.short, true); row != nil && row.kind == relay {
				return v.behind(p, d, depth)
			} else if row != nil {
				return "", nil
			}
		}
		if p == leader && p.parent == 0 {
			return v.outside()
		}
		parent, ok := v.read(p.parent)
		if !ok {
			break
		}
		p = parent
		if p.uid == v.uid && p.program == "" {
			// sshd serves the account as the account, below a process of root's.
			above, ok := v.read(p.parent)
			if row := holderNamed(above.short, true); ok && above.uid == 0 && v.uid != 0 && row != nil && row.kind == login {
				return "", nil
			}
			return "", noPerson(p.name(), ", which keeps itself from being seen")
		}
		if p.uid == v.uid {
			break
		}
	}
	return "", noPerson(p.name(), ", as far as can be seen")
}

// outside judges a session that was begun from outside of this container. Who can
// make such a one without being root is in a user namespace.
func (v procView) outside() (string, error) {
	whole := strings.Join(strings.Fields(v.text(v.self, "uid_map")), " ") == "0 0 4294967295"
	if !whole {
		return "", noPerson("a program outside of this container", ", and the container is not root's")
	}
	return "the program at the other end of this terminal is outside of this container and was not checked", nil
}

// leader finds the process that leads the session of a terminal.
func (v procView) leader(d device) (proc, bool) {
	self, ok := v.read(v.self)
	if !ok {
		return proc{}, false
	}
	if self.tty == d {
		return v.read(self.session)
	}
	for _, p := range v.all() {
		if p.tty == d && p.session == p.pid {
			return p, true
		}
	}
	return proc{}, false
}

// holdersOf finds the processes that have the other end of a pseudo-terminal open, as
// far as they can be seen.
func (v procView) holdersOf(d device) (list []proc) {
	for _, p := range v.all() {
		fds, err := os.ReadDir(v.file(p.pid, "fd"))
		if err != nil {
			continue
		}
		for _, fd := range fds {
			to, err := os.Readlink(v.file(p.pid, "fd", fd.Name()))
			if err != nil || !strings.HasSuffix(to, "/ptmx") {
				continue
			}
			if index, ok := ttyIndex(v.text(p.pid, "fdinfo", fd.Name())); ok && index == d.minor {
				list = append(list, p)
				break
			}
		}
	}
	return list
}

// ttyIndex reads which terminal a descriptor is the other end of.
func ttyIndex(info string) (uint32, bool) {
	for line := range strings.Lines(info) {
		if text, ok := strings.CutPrefix(line, "tty-index:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
			return uint32(n), err == nil
		}
	}
	return 0, false
}

// all reads every process there is.
func (v procView) all() (list []proc) {
	entries, _ := os.ReadDir(v.root)
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := v.read(pid); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// read reads what is known of a process; false where there is none.
func (v procView) read(pid int) (proc, bool) {
	stat := v.text(pid, "stat")
	begin, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if pid <= 0 || begin < 0 || end < begin {
		return proc{}, false
	}
	fields := strings.Fields(stat[end+1:]) // state, parent, group, session, terminal
	if len(fields) < 5 {
		return proc{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	p := proc{pid: pid, parent: number(1), session: number(3), tty: decodeDevice(uint32(number(4))), short: stat[begin+1 : end], uid: -1}
	for line := range strings.Lines(v.text(pid, "status")) {
		if text, ok := strings.CutPrefix(line, "Uid:"); ok {
			if ids := strings.Fields(text); len(ids) > 0 {
				p.uid, _ = strconv.Atoi(ids[0])
			}
		}
	}
	if file, err := os.Readlink(v.file(pid, "exe")); err == nil {
		p.program = strings.TrimSuffix(file, " (deleted)")
	}
	return p, true
}

func (v procView) file(pid int, names ...string) string {
	return filepath.Join(append([]string{v.root, strconv.Itoa(pid)}, names...)...)
}

func (v procView) text(pid int, names ...string) string { return readProc(v.file(pid, names...)) }

func (p proc) name() string {
	if p.program != "" {
		return path.Base(p.program)
	}
	return p.short
}
