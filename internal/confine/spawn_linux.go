package confine

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A launcher, the init that it starts and the process that becomes the program share
// their memory: to copy it takes as long as half of what init does. Each of them runs on a
// stack of its own. Memory that a step or a child points to must stay until the processes
// have ended.
//
// To make namespaces takes a while as well. So a thread that the runtime does not know does
// that, while the launcher finds out what goes into them.

// The ways of what shares memory.
const (
	wayInit    = iota // the process of [child.reign]
	wayProgram        // the process of [child.become]
	wayStarter        // the thread of [child.starter]
	wayWatch          // the process of [child.detach]
	ways
)

// The flags for each of them.
const (
	sharing = unix.CLONE_VM | uintptr(syscall.SIGCHLD)
	thread  = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM | unix.CLONE_CHILD_CLEARTID
)

// A stack is what they run on. No function there checks how much of it is left: the linker
// allows 800 bytes for all of them.
type stack [4 << 10]byte

// top is where something begins that goes a way of a child.
func (s *stack) top(c *child, way uintptr) uintptr {
	base := uintptr(unsafe.Pointer(s))
	at := (base+unsafe.Sizeof(*s))&^15 - 32
	words := (*[4]uintptr)(unsafe.Pointer(&s[at-base]))
	words[firstArgument], words[firstArgument+1] = uintptr(unsafe.Pointer(c)), way
	return at
}

// spawn starts something that runs [begin] on a stack with [stack.top]. Of a thread, ended
// is the address of four bytes that become 0 when it has ended. Signals must be blocked.
//
//go:noescape
func spawn(flags, stack, ended uintptr) (pid uintptr, errno syscall.Errno)

// begin is where it begins. It does not return.
//
//lint:ignore U1000 the assembly of spawn goes there
//go:norace
//go:nosplit
func begin(c *child, way uintptr) {
	switch way {
	case wayInit:
		c.reign()
	case wayStarter:
		c.starter()
	case wayWatch:
		c.detach()
	}
	c.become()
}

// shielded spawns with all signals blocked. Nothing can move the goroutine to another thread
// meanwhile.
//
//go:norace
//go:nosplit
func (c *child) shielded(flags, way uintptr) (pid uintptr, errno syscall.Errno) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&c.all)), uintptr(unsafe.Pointer(&c.mask)), 8, 0, 0)
	pid, errno = spawn(flags, c.tops[way], uintptr(unsafe.Pointer(&c.alive)))
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&c.mask)), 0, 8, 0, 0)
	return pid, errno
}

// starter is the thread that makes namespaces with their init. Init ends with it.
//
//go:norace
//go:nosplit
func (c *child) starter() {
	pid, errno := spawn(c.flags|sharing, c.tops[wayInit], 0)
	if c.started = int32(pid); errno != 0 {
		c.started = -int32(errno)
	}
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.started)), futexWake, 1, 0, 0, 0)
	for c.over == 0 {
		syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.over)), futexWait, 0, 0, 0, 0)
	}
	for {
		syscall.RawSyscall6(unix.SYS_EXIT, 0, 0, 0, 0, 0, 0)
	}
}

// The operations of a futex that no other process uses; the kernel itself wakes up those who
// wait for the end of a thread as if others did.
const (
	futexWait       = 0 | futexPrivate
	futexWake       = 1 | futexPrivate
	futexWaitShared = 0
	futexPrivate    = 128
)

// prepare makes the stacks ready.
func (c *child) prepare() {
	for way := range c.tops {
		c.tops[way] = c.stacks[way].top(c, uintptr(way))
	}
}

// start has a thread start init in namespaces of its own.
func (c *child) start(flags uintptr) syscall.Errno {
	c.prepare()
	c.flags, c.alive = flags, 1
	_, errno := c.shielded(thread, wayStarter)
	if errno != 0 {
		c.alive = 0
	}
	return errno
}

// init waits until init was started, and returns its number.
func (c *child) init() (pid int, errno syscall.Errno) {
	await(&c.started, 0, futexWait)
	if c.started < 0 {
		return 0, syscall.Errno(-c.started)
	}
	return int(c.started), 0
}

// release has the thread end, and init with it.
func (c *child) release() {
	atomic.StoreInt32(&c.over, 1)
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.over)), futexWake, 1, 0, 0, 0)
}

// gone waits for the end of the thread.
func (c *child) gone() { await(&c.alive, 1, futexWaitShared) }

// await waits until a word has another value.
func await(word *int32, value int32, wait uintptr) {
	for atomic.LoadInt32(word) == value {
		syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wait, uintptr(value), 0, 0, 0)
	}
}
