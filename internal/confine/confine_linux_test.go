package confine

import (
	"bufio"
	"fmt"
	"gate/internal/confine/profile"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// requireFull ends a test that this machine cannot make, and says what it can hold.
func requireFull(t *testing.T) {
	t.Helper()
	requireOrdinary(t)
	if c := Probe(); c.Level != Full {
		t.Skipf("this machine holds level %s only: %s", c.Level, c.Missing)
	}
}

// requireOrdinary ends a test that says something about ordinary accounts only.
func requireOrdinary(t *testing.T) {
	t.Helper()
	if onlyRoot != nil {
		t.Skip("the tests cannot run as an ordinary account here: ", onlyRoot)
	}
}

// A scene is a throwaway home with a project, secrets, and a sibling process of the same
// account that has some, too.
type scene struct {
	at      Place
	program string // the attacker
	secrets map[string]string
}

const canary = "canary\n"

func newScene(t *testing.T) *scene {
	t.Helper()
	home := t.TempDir()
	s := &scene{at: Place{Home: home, Project: home + "/src/project"}, secrets: map[string]string{}}
	for name, secret := range map[string]bool{
		".ssh/id_rsa": true, ".aws/credentials": true, ".netrc": true, ".config/unknown-tool/token": true, "other/notes": true, ".bashrc": true,
		".cache/huggingface/token": true, ".cargo/registry/x": false, "src/project/.env": true,
		"src/project/.git/config": true, "src/project/.git/hooks/pre-commit": true, "src/project/sub/.git/hooks/x": true,
		"src/project/.claude/settings.json": true, "src/project/main.c": false, ".codex/config.toml": true,
	} {
		s.put(t, home+"/"+name, secret)
	}
	if err := os.Symlink(home+"/.ssh/id_rsa", s.at.Project+"/innocent"); err != nil {
		t.Fatal(err)
	}
	s.program = s.at.Project + "/attacker"
	if err := copyProgram(s.program); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) put(t *testing.T, name string, keep bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	if keep {
		s.secrets[name] = canary
	}
}

// whole reports secrets that are not as they were.
func (s *scene) whole(t *testing.T) {
	t.Helper()
	for name, want := range s.secrets {
		info, err := os.Lstat(name)
		if err != nil {
			t.Errorf("%s is gone: %v", name, err)
			continue
		}
		got, err := os.ReadFile(name)
		if string(got) != want || err != nil || info.Mode().Perm() != 0o644 || info.ModTime().Unix() < 1000 {
			t.Errorf("%s was changed: %q %v %v", name, got, info.Mode(), err)
		}
	}
}

// command is a program in the scene by a built-in profile.
func (s *scene) command(t *testing.T, named string, args ...string) Command {
	t.Helper()
	p, ok := profile.Builtin(named)
	if !ok {
		t.Fatalf("there is no profile %s", named)
	}
	p, err := p.At(s.at)
	if err != nil {
		t.Fatal(err)
	}
	return Command{Profile: p, Place: s.at, Args: args, Dir: s.at.Project, Env: append(os.Environ(), "HOME="+s.at.Home), Store: s.at.Home + "/.local/state/gate/confined"}
}

// runs runs a command and returns what it wrote.
func runs(t *testing.T, c Command) (output string, out Outcome, err error) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	saved := [2]int{}
	for i, fd := range []int{1, 2} {
		if saved[i], err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 10); err != nil {
			t.Fatal(err)
		}
		if err := unix.Dup3(int(file.Fd()), fd, 0); err != nil {
			t.Fatal(err)
		}
	}
	out, err = c.Run()
	for i, fd := range []int{1, 2} {
		unix.Dup3(saved[i], fd, 0)
		unix.Close(saved[i])
	}
	text, _ := os.ReadFile(file.Name())
	return string(text), out, err
}

// line runs a line of the shell.
func (s *scene) line(t *testing.T, profile, line string) (string, Outcome) {
	t.Helper()
	output, out, err := runs(t, s.command(t, profile, "/bin/sh", "-c", line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return output, out
}

// TestAttacks holds what each attack ends with at level full, and that nothing outside
// was touched: the rows of docs/confinement.md.
func TestAttacks(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	s.surround(t)
	for name, want := range map[string]string{
		"read-ssh": "ENOENT", "read-aws": "ENOENT", "read-netrc": "ENOENT", "read-link": "ENOENT", "read-config": "ENOENT", "read-other": "ENOENT",
		"read-env": "EACCES", "read-cache": "EACCES",
		"write-start": "EROFS", "trunc-start": "ENOENT", "write-etc": "EROFS", "write-root": "EROFS", "write-usr": "EROFS",
		"chmod": "ENOENT", "utime": "ENOENT", "setxattr": "ENOENT", "stat-secret": "ENOENT", "link-secret": "ENOENT", "move-secret": "ENOENT",
		"link-env": "EXDEV", "move-env": "EBUSY",
		"git-hook": "EROFS", "git-config": "EROFS", "git-move": "EBUSY", "git-deep": "EROFS",
		"settings": "EROFS", "settings-new": "EROFS", "settings-mv": "EBUSY",
		"descriptor": "EBADF", "list-sibling": "ENOENT", "sibling-root": "ENOENT", "sibling-env": "ENOENT",
		"init-env": "EACCES", "init-root": "EACCES", "init-mem": "EACCES", "ptrace-init": "EPERM", "ptrace": "ESRCH", "pidfd-getfd": "EPERM",
		"signal": "ESRCH", "prlimit": "ESRCH", "priority": "ESRCH", "shm": "ENOENT",
		"socket": "ENOENT", "socket-in": "EACCES", "socket-deep": "EACCES", "socket-cache": "EACCES", "closed-dir": "EROFS", "proc-write": "EROFS", "abstract": "ECONNREFUSED", "tcp-local": "ECONNREFUSED",
		"tcp-far": "ENETUNREACH", "mptcp": "ENETUNREACH", "fast-open": "ENETUNREACH", "udp": "ENETUNREACH",
		"vsock": "EAFNOSUPPORT", "packet": "EAFNOSUPPORT", "io-uring": "ENOSYS", "keyring": "EPERM",
		"namespace": "EPERM", "ns-clone": "EPERM", "setns": "EPERM", "mount": "EPERM", "umount": "EPERM", "chroot": "EPERM",
		"tiocsti": "EPERM", "tiocsti-hi": "EPERM", "perf": "EPERM", "bpf": "EPERM", "future": "ENOSYS", "mknod": "EACCES", "privileges": "none",
	} {
		t.Run(name, func(t *testing.T) {
			output, out, err := runs(t, s.command(t, "project", s.program, "attack", name))
			if got := strings.TrimSpace(output); err != nil || out.Level != Full || out.Status != 0 || got != name+" "+want {
				t.Errorf("%q, want %s: level %s, status %d, %v", got, want, out.Level, out.Status, err)
			}
			s.whole(t)
		})
	}
	for name := range attacks(outside{}) {
		if name != "fork-bomb" && name != "outlive" && !strings.Contains(sourceOf(t, "confine_linux_test.go"), `"`+name+`": "`) {
			t.Errorf("the attack %s stands in no row", name)
		}
	}
}

func sourceOf(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// surround makes what lies outside: a sibling, sockets, shared memory, a key, an open
// file.
func (s *scene) surround(t *testing.T) {
	t.Helper()
	sibling := exec.Command("/bin/sleep", "600")
	sibling.Env = []string{"SECRET=" + canary}
	if err := sibling.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sibling.Process.Kill(); err != nil {
			t.Errorf("the sibling did not live to the end: %v", err)
		}
		sibling.Wait()
	})
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go serve(l)
		return l
	}
	socket, abstract := s.at.Home+"/s", fmt.Sprintf("gate-test-%d", os.Getpid())
	listen("unix", socket)
	listen("unix", s.at.Project+"/server.sock")
	for _, name := range []string{s.at.Project + "/" + deepSocket, s.at.Home + "/.cache/s"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		listen("unix", name)
	}
	s.put(t, s.at.Project+"/closed/.env", false)
	if err := os.Chmod(s.at.Project+"/closed", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(s.at.Project+"/closed", 0o755) })
	listen("unix", "@"+abstract)
	port := listen("tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	key := 0x6a7e0000 + os.Getpid()&0xffff
	id, _, errno := syscall.Syscall(unix.SYS_SHMGET, uintptr(key), 4096, 0o1600)
	if errno != 0 {
		t.Fatal(errno)
	}
	t.Cleanup(func() { syscall.Syscall(unix.SYS_SHMCTL, id, 0, 0) })
	unix.AddKey("user", "canary", []byte(canary), unix.KEY_SPEC_USER_KEYRING)
	file, err := os.Open(s.at.Home + "/.ssh/id_rsa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := unix.Dup3(int(file.Fd()), heldOpen, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(heldOpen) })
	told := fmt.Sprintln(s.at.Home, socket, abstract, sibling.Process.Pid, port, key)
	if err := os.WriteFile(s.at.Project+"/outside", []byte(told), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAttacksOutside holds that the attacks are real: what the tests say is stopped works
// without a confinement, as far as it does no harm.
func TestAttacksOutside(t *testing.T) {
	requireOrdinary(t)
	s := newScene(t)
	s.surround(t)
	cmd := exec.Command(s.program, append([]string{"attack"}, strings.Fields(
		"read-ssh read-link read-config read-env chmod utime stat-secret socket-deep socket-cache closed-dir proc-write git-hook git-deep settings list-sibling sibling-root socket socket-in abstract tcp-local prlimit shm")...)...)
	cmd.Dir = s.at.Project
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		if !strings.HasSuffix(lines.Text(), " WORKED") {
			t.Errorf("without a confinement: %s", lines.Text())
		}
	}
}

// TestForkBomb holds that a program that starts processes for ever ends at the limit of
// its profile, and that none is left.
func TestForkBomb(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	s.surround(t)
	c := s.command(t, "project", s.program, "attack", "fork-bomb")
	c.Profile.Limits.Processes = 100
	output, _, err := runs(t, c)
	if strings.TrimSpace(output) != "fork-bomb EAGAIN" || err != nil {
		t.Errorf("%q %v", output, err)
	}
}

// TestOutlive holds that nothing goes on when the program has ended.
func TestOutlive(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	s.surround(t)
	output, _, err := runs(t, s.command(t, "project", s.program, "attack", "outlive"))
	if strings.TrimSpace(output) != "outlive started" || err != nil {
		t.Fatalf("%q %v", output, err)
	}
	s.still(t)
}

// still holds that no process writes the file "alive" any more, which one did.
func (s *scene) still(t *testing.T) {
	t.Helper()
	name := s.at.Project + "/alive"
	before, err := os.ReadFile(name)
	if err != nil || len(before) == 0 {
		t.Fatalf("no process was alive: %q %v", before, err)
	}
	time.Sleep(300 * time.Millisecond)
	if after, _ := os.ReadFile(name); string(after) != string(before) {
		t.Error("a process is still alive")
	}
}

// TestLauncherKilled holds that the program ends with a launcher that is killed.
func TestLauncherKilled(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	cmd := exec.Command(s.program, "launch", s.at.Project, s.at.Home, "while :; do date +%N >> alive; sleep 0.05; done")
	cmd.Env = append(os.Environ(), "HOME="+s.at.Home)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if text, _ := os.ReadFile(s.at.Project + "/alive"); len(text) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	time.Sleep(100 * time.Millisecond) // the kernel ends the rest
	s.still(t)
}

// TestSignals holds that a signal to the launcher alone reaches the program, once.
func TestSignals(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	cmd := exec.Command(s.program, "launch", s.at.Project, s.at.Home,
		"n=0; trap 'n=$((n+1)); echo $n > got' TERM; echo ready > alive; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do test $n -lt 2 || exit 0; sleep 0.1; done; exit 0")
	cmd.Env = append(os.Environ(), "HOME="+s.at.Home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if text, _ := os.ReadFile(s.at.Project + "/alive"); len(text) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	for range 200 { // two that wait together are one
		if got, _ := os.ReadFile(s.at.Project + "/got"); number(got) == 1 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	cmd.Wait()
	if got, _ := os.ReadFile(s.at.Project + "/got"); number(got) != 2 {
		t.Errorf("of two signals, one of them to the process group, the program got %q", got)
	}
}

// TestTogether holds that many runs in one project at the same time keep guarding what is
// not there, and that the last one leaves nothing behind, nor one that was killed.
func TestTogether(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	var runs []*exec.Cmd
	for i := range 16 {
		cmd := exec.Command(s.program, "launch", s.at.Project, s.at.Home,
			fmt.Sprintf("sleep 0.%d; mkdir .codex/rules 2>&1 | grep -q Read-only && echo held >> held; echo x > ~/.cache/own%d", i%4, i))
		cmd.Env = append(os.Environ(), "HOME="+s.at.Home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, cmd)
	}
	for _, cmd := range runs {
		cmd.Wait()
	}
	if held, _ := os.ReadFile(s.at.Project + "/held"); strings.Count(string(held), "held") != len(runs) {
		t.Errorf("of %d runs these held: %q", len(runs), held)
	}
	if exists(s.at.Project + "/.codex") {
		t.Error("a stub is left")
	}
	if err := os.Mkdir(s.at.Project+"/.codex", stubMode); err != nil { // as a killed run leaves it
		t.Fatal(err)
	}
	if output, _ := s.line(t, "project", "mkdir .codex/rules"); !strings.Contains(output, "Read-only") || exists(s.at.Project+"/.codex") {
		t.Errorf("after a killed run: %q", output)
	}
}

// TestStatus holds the exit statuses.
func TestStatus(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	for line, want := range map[string]int{
		"true": 0, "exit 7": 7, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137, "kill -SEGV $$": 139, "no-such-program": 127,
		"kill -9 -1; exit 3": 3, "kill -TERM 0; exit 3": 143,
	} {
		if output, out := s.line(t, "project", line); out.Status != want {
			t.Errorf("%s: status %d, want %d\n%s", line, out.Status, want, output)
		}
	}
	for name, found := range map[string]bool{"no-such-program": false, s.at.Project + "/main.c": true, s.at.Home + "/other/notes": false} {
		_, _, err := runs(t, s.command(t, "project", name))
		if program, ok := err.(*ProgramError); !ok || program.Found != found {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOrdinaryWork holds what a program can do by the profile project.
func TestOrdinaryWork(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	for _, line := range []string{
		"echo x > new && mkdir -p a/b && mv new a/b/ && ln -s a/b link && rm -r a link",
		"echo x > $TMPDIR/x && cat $TMPDIR/x && echo y > /var/tmp/y && echo z > /dev/shm/z",
		"echo x > /dev/null && head -c 4 /dev/urandom > r && rm r && test -c /dev/tty",
		"mkdir -p ~/.cache/tool && echo x > ~/.cache/tool/f && echo x > ~/.npm/x",
		"test ! -e ~/other && test ! -e ~/.ssh && test ! -e /root/.profile",
		"cat ~/.cargo/registry/x || true; test -z \"$SECRET_TOKEN\"",
		"sh -c 'exit 0' & wait $!",
		"test \"$(pwd -P)\" = \"$(cd . && pwd -P)\" && cat main.c > copy && rm copy",
		"! mkdir .git/objects 2> /dev/null && ls .git > /dev/null",
	} {
		if output, out := s.line(t, "project", line); out.Status != 0 {
			t.Errorf("%s: status %d\n%s", line, out.Status, output)
		}
	}
	if exists(s.at.Home+"/.npm") || exists(s.at.Home+"/.cache/tool") {
		t.Error("a cache was changed outside")
	}
	if output, _ := s.line(t, "project", "cat ~/.cache/tool/f"); output != "x\n" {
		t.Errorf("a later run finds another cache: %q", output)
	}
	s.whole(t)
}

// TestEnvironment holds what a program gets of the environment.
func TestEnvironment(t *testing.T) {
	p := Profile{}
	got := strings.Join(environ(p, []string{
		"PATH=/bin", "HOME=/h", "GITHUB_TOKEN=x", "SSH_AUTH_SOCK=/s", "https_proxy=http://p", "DATABASE_URL=postgres://u:p@h/d", "PLAIN=1",
		"HIDDEN=AKIAQWERTYUIOPASDFGH", "TMP=/elsewhere", "LD_PRELOAD=/x.so", "A=1", "A=2", "MY_PASSWORD=p",
	}, "/tmp"), " ")
	if want := "A=2 HOME=/h PATH=/bin PLAIN=1 TMP=/tmp TMPDIR=/tmp"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.Env = []string{"PATH", "GO*"}
	if got := strings.Join(environ(p, []string{"PATH=/bin", "GOFLAGS=-v", "OTHER=1", "GOPASSWORD=x"}, "/t"), " "); got != "GOFLAGS=-v PATH=/bin TMPDIR=/t" {
		t.Error(got)
	}
}

// TestLook holds that the profile look changes nothing.
func TestLook(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	output, _ := s.line(t, "look", "cat main.c; cat .env; echo x > new; echo x >> main.c; rm main.c; cat ~/.ssh/id_rsa; echo t > /tmp/t && cat /tmp/t")
	if strings.Count(output, "canary") != 1 || strings.Count(output, "Read-only") < 3 || !strings.HasSuffix(output, "t\n") {
		t.Error(output)
	}
	s.whole(t)
}

// TestLevelFiles holds what is left without namespaces: the profile look is held by
// Landlock and seccomp, and no other runs.
func TestLevelFiles(t *testing.T) {
	requireOrdinary(t)
	version := landlock()
	if version < landlockScopes {
		t.Skipf("Landlock has version %d here: level files takes %d", version, landlockScopes)
	}
	s := newScene(t)
	s.surround(t)
	c := s.command(t, "look", s.program, "attack")
	names := map[string]string{
		"read-ssh": "EACCES", "read-link": "EACCES", "read-config": "EACCES", "read-env": "EACCES", "read-other": "EACCES", "write-start": "EACCES",
		"trunc-start": "EACCES", "link-secret": "EACCES", "move-secret": "EACCES", "remove-home": "EACCES", "git-hook": "EACCES", "settings": "EACCES",
		"descriptor": "EBADF", "sibling-root": "EACCES", "sibling-env": "EACCES", "ptrace": "EPERM", "signal": "EPERM",
		"socket": "EAFNOSUPPORT", "abstract": "EAFNOSUPPORT", "tcp-local": "EAFNOSUPPORT", "udp": "EAFNOSUPPORT", "mptcp": "EAFNOSUPPORT",
		"vsock": "EAFNOSUPPORT", "io-uring": "ENOSYS", "keyring": "EPERM", "namespace": "EPERM", "mount": "EPERM", "tiocsti": "EPERM",
	}
	for name := range names {
		c.Args = append(c.Args, name)
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	saved, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		t.Fatal(err)
	}
	unix.Dup3(int(file.Fd()), 1, 0)
	out, err := c.files(version)
	unix.Dup3(saved, 1, 0)
	unix.Close(saved)
	if err != nil || out.Level != Files || out.Status != 0 {
		t.Fatalf("level %s, status %d: %v", out.Level, out.Status, err)
	}
	text, _ := os.ReadFile(file.Name())
	for line := range strings.Lines(string(text)) {
		name, got, _ := strings.Cut(strings.TrimSpace(line), " ")
		if got != names[name] {
			t.Errorf("%s: %s, want %s", name, got, names[name])
		}
		delete(names, name)
	}
	if len(names) > 0 {
		t.Errorf("nothing was said of %v", names)
	}
	s.whole(t)
	p, _ := profile.Builtin("project")
	if why := onlyFull(p, version); why == "" {
		t.Error("the profile project would run without namespaces")
	}
}

// TestRefused holds that nothing runs where namespaces are refused, and that the sentence
// says so. Inside of a confinement they are.
func TestRefused(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	output, _, err := runs(t, s.command(t, "project", s.program, "launch", s.at.Project, s.at.Home, "echo ran"))
	if err != nil || strings.Contains(output, "ran\n") || !strings.Contains(output, "cannot be held here: this account cannot make namespaces") {
		t.Errorf("%q %v", output, err)
	}
}

// TestWithout holds that nothing runs where the kernel lacks a part of the confinement, and
// that the sentence says which.
func TestWithout(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	for what, said := range map[string]string{
		"landlock":   "this kernel has no Landlock",
		"seccomp":    "cannot restrict itself by seccomp: function not implemented",
		"namespaces": "this account cannot make namespaces: operation not permitted",
	} {
		cmd := exec.Command(s.program, "without", what, "launch", s.at.Project, s.at.Home, "echo ran; echo ran > ran")
		cmd.Env = append(os.Environ(), "HOME="+s.at.Home)
		text, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(text), said) || strings.Contains(string(text), "ran\n") || exists(s.at.Project+"/ran") {
			t.Errorf("without %s: %q %v, want %q", what, text, err, said)
		}
	}
}

// TestFilter holds that every way through the filter ends with an answer.
func TestFilter(t *testing.T) {
	for _, of := range []filterFor{{}, {families: []uint32{1, 2, 10, 16}, group: true}} {
		f := newFilter(of)
		for i, ins := range f {
			if ins.Code&7 == unix.BPF_JMP && (i+1+int(ins.Jt) >= len(f) || i+1+int(ins.Jf) >= len(f)) {
				t.Errorf("instruction %d leads out of the filter", i)
			}
		}
		if last := f[len(f)-1]; last.Code != unix.BPF_RET|unix.BPF_K {
			t.Error("the filter ends without an answer")
		}
	}
	if size := unsafe.Sizeof(siginfo{}); size != 128 {
		t.Errorf("siginfo has %d bytes, and the kernel writes 128", size)
	}
}
