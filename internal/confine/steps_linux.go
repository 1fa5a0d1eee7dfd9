package confine

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A step is one system call of a process that the runtime does not know. Such a process
// must not allocate, lock, or grow a stack. Everything that it does is laid out before as a
// list of steps.
type step struct {
	nr   uintptr
	arg  [6]uintptr
	from [6]int16 // where it is not 0, the argument is what the register of this number holds
	into int16    // the register that keeps the result, where it is not 0
	how  manner
	what string // for people, after "cannot"
}

// A manner says what follows from the outcome of a step.
type manner uint8

const (
	must       manner = iota // a failure ends the list
	may                      // a failure is passed over
	unlessMore               // a result above 0 ends the process: there is nothing left to do
	store                    // no call: the register from[0] is written to the four bytes at arg[1]
)

// A script is a list of steps with what they point to.
type script struct {
	steps []step
	regs  []uintptr // the first is not used
	keep  []any     // what arguments point to
	made  map[string]bool
}

func newScript() *script {
	const usual = 512 // steps and what they point to
	return &script{steps: make([]step, 0, usual), regs: make([]uintptr, 1, usual/2), keep: make([]any, 0, usual), made: map[string]bool{}}
}

// A part is what a process does of a script.
type part struct {
	steps []step
	regs  []uintptr
}

func (s *script) part() part { return part{s.steps, s.regs} }

// register is a new place for the result of a step.
func (s *script) register() int16 {
	s.regs = append(s.regs, 0)
	return int16(len(s.regs) - 1)
}

// call adds a step.
func (s *script) call(what string, nr uintptr, args ...uintptr) *step {
	s.steps = append(s.steps, step{nr: nr, what: what})
	st := &s.steps[len(s.steps)-1]
	copy(st.arg[:], args)
	return st
}

// text is the address of a text that ends with a zero byte.
func (s *script) text(t string) uintptr {
	b := append([]byte(t), 0)
	s.keep = append(s.keep, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// addr is the address of a value, which stays where it is.
func addr[T any](s *script, v *T) uintptr {
	s.keep = append(s.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// texts is the address of a list of texts that ends with a null pointer.
func (s *script) texts(list []string) uintptr {
	pointers := make([]*byte, len(list)+1)
	for i, t := range list {
		b := append([]byte(t), 0)
		pointers[i] = &b[0]
	}
	s.keep = append(s.keep, pointers)
	return uintptr(unsafe.Pointer(&pointers[0]))
}

// perform makes the calls in order. It returns the number of the step that failed with
// why; -1 for none.
//
//go:nocheckptr
//go:norace
//go:nosplit
func perform(p *part) (failed int, errno syscall.Errno) {
	regs := p.regs
	for i := 0; i < len(p.steps); i++ {
		st := &p.steps[i]
		for k := 0; k < len(st.arg); k++ {
			if st.from[k] != 0 {
				st.arg[k] = regs[st.from[k]]
			}
		}
		if st.how == store {
			**(**int32)(unsafe.Pointer(&st.arg[1])) = int32(st.arg[0])
			continue
		}
		result, _, e := syscall.RawSyscall6(st.nr, st.arg[0], st.arg[1], st.arg[2], st.arg[3], st.arg[4], st.arg[5])
		if e != 0 && st.how != may {
			return i, e
		}
		if st.how == unlessMore && result != 0 {
			exit(0)
		}
		if st.into != 0 {
			regs[st.into] = result
		}
	}
	return -1, 0
}

// The kinds of news that a process sends.
const (
	newsEarly    = 1 + iota // a step of the namespace's init failed
	newsSetup               // a later step of init failed
	newsProgram             // a step of the program's process failed, before the program ran
	newsStopped             // the program was stopped
	newsEnded               // the program ended; the detail is its wait status
	newsListener            // a listener of the namespace comes with it
	newsReady               // everything is set up
)

// A news is a message of a process.
type news struct {
	kind, step, detail int32
}

// A child is what the processes and the thread need that share the launcher's memory.
type child struct {
	early   part // of init, before it is known what the program is to see
	setup   part // of init
	program part
	fd      uintptr // where news go, and where the launcher says that init can go on
	flags   uintptr // the namespaces of init

	stacks  [ways]stack
	tops    [ways]uintptr
	started int32  // the number of init, or what kept it from being started, less than 0
	over    int32  // the thread is to end
	alive   int32  // the thread has not ended
	mask    uint64 // the signals that the launcher's thread blocks

	news   news
	info   siginfo
	status int32
	direct [65]bool // signals that came to the whole process group
	all    uint64
	one    uint64
	soon   unix.Timespec
}

// A siginfo is what the kernel says of a signal; the rest is not looked at.
type siginfo struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	_                  [108]byte
}

// codeQueue is SI_QUEUE: the signal was handed on by the launcher.
const codeQueue = -1

// tell sends a message.
//
//go:norace
//go:nosplit
func (c *child) tell(kind, step, detail int32) syscall.Errno {
	c.news.kind, c.news.step, c.news.detail = kind, step, detail
	_, _, errno := syscall.RawSyscall6(unix.SYS_WRITE, c.fd, uintptr(unsafe.Pointer(&c.news)), unsafe.Sizeof(c.news), 0, 0, 0)
	return errno
}

// told waits until the launcher says that init can go on. It reports false where the launcher
// has ended.
//
//go:norace
//go:nosplit
func (c *child) told() bool {
	n, _, errno := syscall.RawSyscall6(unix.SYS_READ, c.fd, uintptr(unsafe.Pointer(&c.news)), unsafe.Sizeof(c.news), 0, 0, 0)
	return errno == 0 && n > 0
}

// exit ends the process.
//
//go:norace
//go:nosplit
func exit(status uintptr) {
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0)
	}
}

// become is the way of the program's process. It does not return.
//
//go:norace
//go:nosplit
func (c *child) become() {
	failed, errno := perform(&c.program)
	c.tell(newsProgram, int32(failed), int32(errno))
	exit(127)
}

// detach is the way of a process that starts another one, with memory of its own, which goes
// the way of the program, and ends at once. So that one has no parent that anybody could
// find it by, and lives on when the kernel takes the launcher's memory away with all who share
// it. It does not return.
//
//go:norace
//go:nosplit
func (c *child) detach() {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	switch {
	case errno != 0:
		exit(uintptr(errno))
	case pid == 0:
		perform(&c.program)
	}
	exit(0)
}

// reign is the way of the namespace's init: it sets everything up, starts the program and
// reaps until the program ends. Its own end takes everything with it that is left in the
// namespace. It does not return.
//
//go:norace
//go:nosplit
func (c *child) reign() {
	if failed, errno := perform(&c.early); failed >= 0 {
		c.tell(newsEarly, int32(failed), int32(errno))
		exit(1)
	}
	if !c.told() {
		exit(1)
	}
	if failed, errno := perform(&c.setup); failed >= 0 {
		c.tell(newsSetup, int32(failed), int32(errno))
		exit(1)
	}
	// From its first step on init ends with the launcher. One that had ended before hears
	// nothing any more.
	if c.tell(newsReady, 0, 0) != 0 || !c.told() {
		exit(1)
	}
	pid, errno := spawn(sharing|unix.CLONE_VFORK, c.tops[wayProgram], 0)
	if errno != 0 {
		c.tell(newsSetup, int32(len(c.setup.steps)), int32(errno))
		exit(1)
	}
	for {
		sig, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&c.all)), uintptr(unsafe.Pointer(&c.info)), 0, 8, 0, 0)
		switch {
		case errno != 0 || sig > 64:
		case sig == uintptr(syscall.SIGCHLD):
			c.reap(pid)
		case c.info.code == codeQueue && c.info.pid == 0:
			c.handOn(pid, sig)
		default:
			c.direct[sig] = true
		}
	}
}

// reap takes the ended processes away, and says how the program is.
//
//go:norace
//go:nosplit
func (c *child) reap(program uintptr) {
	for {
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&c.status)), unix.WNOHANG|unix.WUNTRACED, 0, 0, 0)
		if errno != 0 || pid == 0 {
			return
		}
		if pid != program {
			continue
		}
		if c.status&0xff == 0x7f {
			c.tell(newsStopped, 0, c.status)
			continue
		}
		c.tell(newsEnded, 0, c.status)
		exit(0)
	}
}

// handOn gives the launcher's signal to the program. It does not where the signal went
// to their process group, for then the program has it already.
//
//go:norace
//go:nosplit
func (c *child) handOn(program, sig uintptr) {
	theirs, _, _ := syscall.RawSyscall6(unix.SYS_GETPGID, program, 0, 0, 0, 0, 0)
	ours, _, _ := syscall.RawSyscall6(unix.SYS_GETPGID, 0, 0, 0, 0, 0, 0)
	if theirs == ours {
		if sig == uintptr(syscall.SIGTSTP) || sig == uintptr(syscall.SIGTTIN) || sig == uintptr(syscall.SIGTTOU) {
			return // of the terminal, for all of the group: handed on late, it would stop the program again
		}
		if c.direct[sig] {
			c.direct[sig] = false
			return
		}
		c.one = 1 << (sig - 1)
		got, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&c.one)), uintptr(unsafe.Pointer(&c.info)), uintptr(unsafe.Pointer(&c.soon)), 8, 0, 0)
		if errno == 0 && got == sig {
			return
		}
	}
	syscall.RawSyscall6(unix.SYS_KILL, program, sig, 0, 0, 0, 0)
}
