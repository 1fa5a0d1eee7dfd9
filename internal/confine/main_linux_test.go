package confine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ordinary is an account that nobody has, where the tests run as root: what confinement
// holds must hold for those who have no rights to give up.
const ordinaryAccount = 59_713

// onlyRoot says why the tests cannot run as an ordinary account, which root is not.
var onlyRoot error

// TestMain is also the program that is confined: it attacks, or launches, as its first
// argument says.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == SweepFlag:
		fd, err := strconv.Atoi(os.Args[2])
		if err != nil || Sweep(fd) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 1 && os.Args[1] == "attack":
		attackAll(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "fetch":
		fetch(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "launch":
		launch()
	case len(os.Args) > 2 && os.Args[1] == "without":
		without(os.Args[2])
		os.Args = append(os.Args[:1], os.Args[3:]...)
		launch()
	case os.Geteuid() == 0:
		status, err := asOrdinary()
		if err == nil {
			os.Exit(status)
		}
		onlyRoot = err // in a container that has no other account
	}
	os.Exit(m.Run())
}

// without has the kernel say that it lacks something, or refuses it to this account, as
// other machines do.
func without(what string) {
	number, answer := map[string]uint32{"landlock": unix.SYS_LANDLOCK_CREATE_RULESET, "seccomp": unix.SYS_SECCOMP, "namespaces": unix.SYS_CLONE}[what], uint32(unix.ENOSYS)
	flags := uint32(0)
	if what == "namespaces" {
		flags, answer = unix.CLONE_NEWUSER, uint32(unix.EPERM)
	}
	f := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // its first argument
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: flags, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | answer},
	}
	prog := &unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	if _, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(prog))); errno != 0 {
		fmt.Println(errno)
		os.Exit(3)
	}
}

// asOrdinary runs the tests again, as an account without rights and with a home of its
// own.
func asOrdinary() (status int, err error) {
	dir, err := os.MkdirTemp("", "confine-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "tests")
	if err := copyProgram(program); err != nil {
		return 0, err
	}
	temp := filepath.Join(dir, "temp")
	if err := os.Mkdir(temp, 0o755); err != nil {
		return 0, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return 0, err
	}
	if err := os.Chown(temp, ordinaryAccount, ordinaryAccount); err != nil {
		return 0, err
	}
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { // root's file, which says what a result to be kept rests on
		return strings.HasPrefix(arg, "-test.testlogfile=")
	})
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "HOME="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryAccount, Gid: ordinaryAccount}}
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// copyProgram copies the running program.
func copyProgram(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, from); err != nil {
		return err
	}
	return out.Close()
}
