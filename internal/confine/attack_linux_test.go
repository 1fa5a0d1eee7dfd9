package confine

import (
	"errors"
	"fmt"
	"gate/internal/confine/profile"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Attacks run inside of a confinement, in the project's directory. The file "outside" there
// says where things lie outside: the process of a sibling, ports, sockets. An attack that
// works returns nil.

// outside is what an attacker is told.
type outside struct {
	home, socket, abstract string
	sibling, port, shm     int
}

func readOutside() (o outside) {
	text, err := os.ReadFile("outside")
	if err != nil {
		fmt.Println("outside:", err)
		os.Exit(3)
	}
	fmt.Sscan(string(text), &o.home, &o.socket, &o.abstract, &o.sibling, &o.port, &o.shm)
	return o
}

// attackAll makes the attacks of some names and prints how each ended.
func attackAll(names []string) {
	o := readOutside()
	list := attacks(o)
	for _, name := range names {
		do, ok := list[name]
		if !ok {
			fmt.Println(name, "is no attack")
			os.Exit(3)
		}
		err := do()
		var errno syscall.Errno
		switch {
		case err == nil:
			fmt.Println(name, "WORKED")
		case errors.As(err, &errno):
			fmt.Println(name, unix.ErrnoName(errno))
		default:
			fmt.Println(name, err)
		}
	}
	os.Exit(0)
}

// deepSocket lies deeper than a project is searched.
const deepSocket = "a/b/c/d/e/s"

// heldOpen is a descriptor of a secret that the launcher got from whoever started it.
const heldOpen = 200

func raw(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := syscall.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

func read(name string) func() error {
	return func() error {
		_, err := os.ReadFile(name)
		return err
	}
}

func write(name string) func() error {
	return func() error { return os.WriteFile(name, []byte("owned\n"), 0o755) }
}

func connect(family, kind, protocol int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, to)
}

func attacks(o outside) map[string]func() error {
	proc := fmt.Sprintf("/proc/%d", o.sibling)
	far := [4]byte{192, 0, 2, 1}
	return map[string]func() error{
		"read-ssh":     read(o.home + "/.ssh/id_rsa"),
		"read-aws":     read(o.home + "/.aws/credentials"),
		"read-netrc":   read(o.home + "/.netrc"),
		"read-link":    read("innocent"),
		"read-config":  read(o.home + "/.config/unknown-tool/token"),
		"read-env":     read(".env"),
		"read-cache":   read(o.home + "/.cache/huggingface/token"),
		"read-other":   read(o.home + "/other/notes"),
		"write-start":  write(o.home + "/.bashrc"),
		"trunc-start":  func() error { return os.Truncate(o.home+"/.bashrc", 0) },
		"write-etc":    write("/etc/canary"),
		"write-root":   write("/canary"),
		"write-usr":    write("/usr/bin/canary"),
		"chmod":        func() error { return os.Chmod(o.home+"/other/notes", 0o777) },
		"utime":        func() error { return os.Chtimes(o.home+"/other/notes", time.Unix(1, 0), time.Unix(1, 0)) },
		"setxattr":     func() error { return unix.Setxattr(o.home+"/other/notes", "user.x", []byte("1"), 0) },
		"stat-secret":  func() error { _, err := os.Lstat(o.home + "/.ssh/id_rsa"); return err },
		"link-secret":  func() error { return os.Link(o.home+"/.ssh/id_rsa", "stolen") },
		"move-secret":  func() error { return os.Rename(o.home+"/.ssh/id_rsa", "stolen") },
		"link-env":     func() error { return os.Link(".env", "stolen") },
		"move-env":     func() error { return os.Rename(".env", "stolen") },
		"remove-home":  func() error { return os.RemoveAll(o.home + "/other") },
		"git-hook":     write(".git/hooks/post-commit"),
		"git-config":   write(".git/config"),
		"git-move":     func() error { return os.Rename(".git", "elsewhere") },
		"git-deep":     write("sub/.git/hooks/post-commit"),
		"settings":     write(".claude/settings.json"),
		"settings-new": func() error { return os.MkdirAll(".codex/rules", 0o755) },
		"settings-mv":  func() error { return os.Rename(".claude", "elsewhere") },
		"descriptor": func() error {
			_, err := unix.Pread(heldOpen, make([]byte, 8), 0)
			return err
		},
		"list-sibling": read(proc + "/cmdline"),
		"sibling-root": read(proc + "/root" + o.home + "/.ssh/id_rsa"),
		"sibling-env":  read(proc + "/environ"),
		"init-env":     read("/proc/1/environ"),
		"init-root":    read("/proc/1/root" + o.home + "/.ssh/id_rsa"),
		"init-mem":     read("/proc/1/mem"),
		"ptrace-init":  func() error { return unix.PtraceAttach(1) },
		"ptrace":       func() error { return unix.PtraceAttach(o.sibling) },
		"pidfd-getfd": func() error {
			fd, err := unix.PidfdOpen(1, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		},
		"signal":   func() error { return unix.Kill(o.sibling, unix.SIGKILL) },
		"prlimit":  func() error { return unix.Prlimit(o.sibling, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 3}, nil) },
		"priority": func() error { return unix.Setpriority(unix.PRIO_PROCESS, o.sibling, 19) },
		"shm":      func() error { return raw(unix.SYS_SHMGET, uintptr(o.shm), 0, 0) },
		"socket":   func() error { return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: o.socket}) },
		"socket-in": func() error {
			return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: "server.sock"})
		},
		"socket-deep": func() error {
			return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: deepSocket})
		},
		"socket-cache": func() error {
			return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: o.home + "/.cache/s"})
		},
		"closed-dir": func() error { return errors.Join(os.Chmod("closed", 0o700), read("closed/.env")()) },
		"proc-write": write("/proc/self/comm"),
		"abstract": func() error {
			return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: "@" + o.abstract})
		},
		"tcp-local": func() error {
			return connect(unix.AF_INET, unix.SOCK_STREAM, 0, &unix.SockaddrInet4{Port: o.port, Addr: [4]byte{127, 0, 0, 1}})
		},
		"tcp-far": func() error {
			return connect(unix.AF_INET, unix.SOCK_STREAM, 0, &unix.SockaddrInet4{Port: 443, Addr: far})
		},
		"mptcp": func() error {
			return connect(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, &unix.SockaddrInet4{Port: 443, Addr: far})
		},
		"fast-open": func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: 443, Addr: far})
		},
		"udp": func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: 53, Addr: far})
		},
		"vsock":      func() error { _, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0); return err },
		"packet":     func() error { _, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); return err },
		"io-uring":   func() error { return raw(nrIOUringSetup, 4, uintptr(unsafe.Pointer(new([120]byte)))) },
		"keyring":    func() error { _, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "canary", 0); return err },
		"namespace":  func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"ns-clone":   func() error { return clone(unix.CLONE_NEWUSER) },
		"setns":      func() error { return unix.Setns(0, 0) },
		"mount":      func() error { return unix.Mount("none", "sub", "tmpfs", 0, "") },
		"umount":     func() error { return unix.Unmount(".git/hooks", unix.MNT_DETACH) },
		"chroot":     func() error { return unix.Chroot("sub") },
		"tiocsti":    func() error { return raw(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(new(byte)))) },
		"tiocsti-hi": func() error { return raw(unix.SYS_IOCTL, 0, unix.TIOCSTI|1<<32, uintptr(unsafe.Pointer(new(byte)))) },
		"perf":       func() error { return raw(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0) },
		"bpf":        func() error { return raw(unix.SYS_BPF, 0, 0, 0) },
		"future":     func() error { return raw(lastKnown+1, 0) },
		"mknod":      func() error { return unix.Mknod("disk", unix.S_IFBLK|0o666, int(unix.Mkdev(8, 0))) },
		"privileges": privileges,
		"fork-bomb":  forkBomb,
		"outlive":    outlive,
	}
}

func clone(flags uintptr) error {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		exit(0)
	}
	unix.Wait4(int(pid), nil, 0, nil)
	return nil
}

// privileges works where the process has any capability, or could get one.
func privileges() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		if strings.HasPrefix(name, "Cap") && strings.Trim(value, "0") != "" {
			return nil
		}
		if name == "NoNewPrivs" && value != "1" {
			return nil
		}
	}
	return errors.New("none")
}

// forkBomb works where more processes can be made than the profile lets.
func forkBomb() error {
	for n := range 400 {
		cmd := exec.Command("/bin/sleep", "30")
		if err := cmd.Start(); err != nil {
			if n < 20 {
				return fmt.Errorf("only %d processes: %w", n, err)
			}
			return err
		}
	}
	return nil
}

// outlive starts a process in a session of its own that writes a file again and again.
func outlive() error {
	cmd := exec.Command("/bin/sh", "-c", "(while :; do date +%N >> alive; sleep 0.05; done) & sleep 0.3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Run(); err != nil {
		return err
	}
	return errors.New("started")
}

// serve accepts and closes.
func serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

// launch is the test program as a launcher that is to be killed: it runs a line for ever.
func launch() {
	dir := os.Args[2]
	at := Place{Home: os.Args[3], Project: dir}
	p, _ := profile.Builtin("project")
	p, err := p.At(at)
	if err == nil {
		_, err = Command{Profile: p, Place: at, Dir: dir, Env: os.Environ(), Store: os.Getenv("STORE"), Args: []string{"/bin/sh", "-c", os.Args[4]}}.Run()
	}
	fmt.Println(err)
	os.Exit(0)
}

func number(text []byte) int {
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}
