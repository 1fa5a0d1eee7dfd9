package confine

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A typist sits before a shell with job control that runs on a terminal of its own.
type typist struct {
	t      *testing.T
	master *os.File
	shown  chan string // what the terminal shows
}

// newTypist starts a shell at a new terminal.
func newTypist(t *testing.T, dir string, env []string) *typist {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd := exec.Command("/bin/bash", "--norc", "-i")
	cmd.Dir, cmd.Env = dir, append(env, "PS1="+prompt, "TERM=dumb")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	y := &typist{t: t, master: master, shown: make(chan string, 64)}
	go func() {
		defer close(y.shown)
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			if err != nil {
				return // the shell is gone
			}
			y.shown <- string(buf[:n])
		}
	}()
	return y
}

// types types a text and waits until the terminal shows another, which was not typed.
func (y *typist) types(text, until string) {
	y.t.Helper()
	if _, err := y.master.WriteString(text); err != nil {
		y.t.Fatal(err)
	}
	said := ""
	for late := time.After(15 * time.Second); !strings.Contains(said, until); {
		select {
		case more := <-y.shown:
			said += more
		case <-late:
			y.t.Fatalf("typed %q, waited for %q, saw %q", text, until, said)
		}
	}
}

// prompt is what a shell shows when it reads.
const prompt = "pro-mpt$ "

// TestTerminal holds that a terminal and a shell's job control go on as without a
// confinement.
func TestTerminal(t *testing.T) {
	requireFull(t)
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("there is no /bin/bash, which has job control")
	}
	s := newScene(t)
	y := newTypist(t, s.at.Project, append(os.Environ(), "HOME="+s.at.Home))
	y.types(fmt.Sprintf("run() { %s launch %s %s \"$1\"; }; echo rea''dy\n", s.program, s.at.Project, s.at.Home), "ready")
	y.types("run 'trap \"echo got''int; exit 5\" INT; echo u''p; while :; do sleep 0.1; done'\n", "up")
	y.types("\x03", "gotint")
	y.types("run 'test -t 0 && stty -a > /dev/null && echo x''tty > /dev/tty'\n", "xtty")
	y.types("run 'echo u''p; read a; echo go''t-$a'\n", "up")
	y.types("\x1a", prompt) // before it the terminal is not the shell's
	y.types("jobs; echo jo''bs-end\n", "jobs-end")
	y.types("fg\n", "launch")
	y.types("word\n", "got-word")
	y.types("run 'echo u''p; kill -STOP $$; echo resu''med'\n", "Stopped")
	y.types("fg\n", "resumed")
	y.types("run 'exec bash --norc -i'; echo le''ft\n", "''ft")
	y.types("echo inn''er\n", "inner")
	y.types("sh -c 'echo slee''ping; read a; echo wo''ke-$a'\n", "sleeping")
	y.types("\x1a", prompt) // before it the terminal is not the shell's
	y.types("fg\n", "read a")
	y.types("x\n", "woke-x")
	y.types("exit\n", "left")
}
