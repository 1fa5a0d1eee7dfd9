package confine

import (
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// judge is what the kernel makes of a filter for a call with two arguments.
func judge(t *testing.T, f filter, arch, call, arg0, arg1 uint32) uint32 {
	t.Helper()
	value := uint32(0)
	for at := 0; at < len(f); at++ {
		i := f[at]
		holds := false
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			value = map[uint32]uint32{dataNumber: call, dataArch: arch, dataArg0: arg0, dataArg1: arg1}[i.K]
			continue
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			holds = value == i.K
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			holds = value > i.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			holds = value >= i.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			holds = value&i.K != 0
		default:
			t.Fatalf("instruction %d has code %#x", at, i.Code)
		}
		if holds {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
	t.Fatalf("call %d has no answer", call)
	return 0
}

// TestAnswers holds that the filter answers each call as the lists say, and calls with
// arguments by those.
func TestAnswers(t *testing.T) {
	f := newFilter(filterFor{families: []uint32{unix.AF_UNIX, unix.AF_INET}, group: true})
	refused := func(errno syscall.Errno) uint32 { return actErrno | uint32(errno) }
	for call := range uint32(lastKnown + 40) {
		want := uint32(actAllow)
		switch {
		case call > lastKnown || slices.Contains(absentCalls, call):
			want = refused(unix.ENOSYS)
		case slices.Contains(refusedCalls, call) || slices.Contains(portCalls, call):
			want = refused(unix.EPERM)
		}
		if got := judge(t, f, auditArch, call, unix.AF_UNIX, 0); got != want {
			t.Errorf("call %d: %#x, want %#x", call, got, want)
		}
		if got := judge(t, f, auditArch+1, call, 0, 0); got != actKill {
			t.Errorf("call %d of another architecture: %#x", call, got)
		}
	}
	for _, c := range []struct{ call, arg0, arg1, want uint32 }{
		{unix.SYS_SOCKET, unix.AF_INET, 0, actAllow},
		{unix.SYS_SOCKET, unix.AF_VSOCK, 0, refused(unix.EAFNOSUPPORT)},
		{unix.SYS_SOCKET, unix.AF_INET6, 0, refused(unix.EAFNOSUPPORT)},
		{unix.SYS_CLONE, uint32(unix.SIGCHLD), 0, actAllow},
		{unix.SYS_CLONE, unix.CLONE_NEWUSER | uint32(unix.SIGCHLD), 0, refused(unix.EPERM)},
		{unix.SYS_IOCTL, 0, unix.TCGETS, actAllow},
		{unix.SYS_IOCTL, 0, unix.TIOCSTI, refused(unix.EPERM)},
		{unix.SYS_IOCTL, 0, tioclinux, refused(unix.EPERM)},
		{unix.SYS_KILL, 1, 0, actAllow},
		{unix.SYS_KILL, 0, 0, refused(unix.EPERM)},
	} {
		if got := judge(t, f, auditArch, c.call, c.arg0, c.arg1); got != c.want {
			t.Errorf("call %d with %#x, %#x: %#x, want %#x", c.call, c.arg0, c.arg1, got, c.want)
		}
	}
}
