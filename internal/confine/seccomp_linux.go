package confine

import (
	"cmp"
	"encoding/binary"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// lastKnown is the newest system call that the filter was written with. Nobody has
// looked here at newer ones, so they do not exist for a confined program.
const lastKnown = 469 // file_setattr

// Numbers that golang.org/x/sys does not have for every architecture, but that are the
// same on all of them.
const (
	nrIOUringSetup    = 425
	nrIOUringEnter    = 426
	nrIOUringRegister = 427
	nrClone3          = 435
	nrPidfdGetfd      = 438
)

// refusedCalls are answered with EPERM. Ordinary programs make none of them; they reach
// parts of the kernel that neither namespaces nor Landlock bound, or make other
// namespaces.
var refusedCalls = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	nrPidfdGetfd, unix.SYS_KCMP,
}

// absentCalls are answered with ENOSYS, so that programs take another way.
var absentCalls = []uint32{nrIOUringSetup, nrIOUringEnter, nrIOUringRegister, nrClone3}

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// Offsets in struct seccomp_data, of the low half of an argument on a machine that stores
// the low byte first.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg1   = 24
)

const (
	actAllow = unix.SECCOMP_RET_ALLOW
	actKill  = unix.SECCOMP_RET_KILL_PROCESS
	actErrno = unix.SECCOMP_RET_ERRNO
)

// A filterFor says what a filter has to hold beside what it always holds.
type filterFor struct {
	families []uint32 // the families of sockets that can be made
	group    bool     // no signal to one's own process group, which has members outside
}

// A filter is a program of the kernel's packet filter.
type filter []unix.SockFilter

func (f *filter) add(code uint16, k uint32) {
	*f = append(*f, unix.SockFilter{Code: code, K: k})
}

func (f *filter) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }

func (f *filter) answer(action uint32) { f.add(unix.BPF_RET|unix.BPF_K, action) }

// unless skips the next n instructions where the comparison holds.
func (f *filter) unless(compare uint16, k uint32, n uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jt: n})
}

// when skips the next n instructions where the comparison does not hold.
func (f *filter) when(compare uint16, k uint32, n uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jf: n})
}

// An answered is a call that is not allowed.
type answered struct{ call, action uint32 }

// search answers the calls of a list, which is sorted, and allows all others. It halves the
// list: before a filter is in force, the kernel tries it with every call.
func (f *filter) search(list []answered) {
	if len(list) < 3 {
		for _, a := range list {
			f.when(unix.BPF_JEQ, a.call, 1)
			f.answer(a.action)
		}
		f.answer(actAllow)
		return
	}
	var below filter
	half := len(list) / 2
	below.search(list[:half])
	f.unless(unix.BPF_JGE, list[half].call, uint8(len(below)))
	*f = append(*f, below...)
	f.search(list[half:])
}

// answers are the calls that are answered whatever their arguments are, sorted.
func answers() (list []answered) {
	for _, of := range []struct {
		calls []uint32
		errno syscall.Errno
	}{{absentCalls, unix.ENOSYS}, {refusedCalls, unix.EPERM}, {portCalls, unix.EPERM}} {
		for _, call := range of.calls {
			list = append(list, answered{call, actErrno | uint32(of.errno)})
		}
	}
	slices.SortFunc(list, func(a, b answered) int { return cmp.Compare(a.call, b.call) })
	return list
}

// newFilter writes the filter for this machine's architecture. Every path through it ends
// with an answer.
func newFilter(of filterFor) filter {
	var f filter
	f.load(dataArch)
	f.unless(unix.BPF_JEQ, auditArch, 1)
	f.answer(actKill)
	f.load(dataNumber)
	f.when(unix.BPF_JGT, lastKnown, 1) // on x86-64 that is every call of x32 as well
	f.answer(actErrno | uint32(unix.ENOSYS))

	f.when(unix.BPF_JEQ, unix.SYS_SOCKET, uint8(len(of.families)+3))
	f.load(dataArg0)
	for i, family := range of.families {
		f.unless(unix.BPF_JEQ, family, uint8(len(of.families)-i))
	}
	f.answer(actErrno | uint32(unix.EAFNOSUPPORT))
	f.answer(actAllow)

	f.when(unix.BPF_JEQ, unix.SYS_CLONE, 4)
	f.load(dataArg0)
	f.when(unix.BPF_JSET, newNamespaces, 1)
	f.answer(actErrno | uint32(unix.EPERM))
	f.answer(actAllow)

	f.when(unix.BPF_JEQ, unix.SYS_IOCTL, 5)
	f.load(dataArg1)
	f.unless(unix.BPF_JEQ, unix.TIOCSTI, 1)
	f.when(unix.BPF_JEQ, tioclinux, 1)
	f.answer(actErrno | uint32(unix.EPERM))
	f.answer(actAllow)

	if of.group {
		f.when(unix.BPF_JEQ, unix.SYS_KILL, 4)
		f.load(dataArg0)
		f.when(unix.BPF_JEQ, 0, 1)
		f.answer(actErrno | uint32(unix.EPERM))
		f.answer(actAllow)
	}
	f.search(answers())
	return f
}

const tioclinux = 0x541c

// Filter is the filter of system calls of a program in namespaces of its own, as the kernel
// and bubblewrap's --seccomp read it. A comparison of costs needs it.
func Filter() []byte {
	var out []byte
	for _, i := range ofNamespaces(landlock()) {
		out = binary.NativeEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out
}

// ofNamespaces is the filter of a program in namespaces of its own, with a version of
// Landlock.
func ofNamespaces(version int) filter {
	return newFilter(filterFor{families: []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}, group: version < landlockScopes})
}
