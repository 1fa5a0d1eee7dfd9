package commands

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal makes a pseudo-terminal: the side of the person, and the one of
// the program.
func openTerminal(t *testing.T) (person, program *os.File) {
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close() })
	control := func(request uintptr, n *int32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(n))); errno != 0 {
			t.Skip(errno)
		}
	}
	var unlock, number int32
	control(syscall.TIOCSPTLCK, &unlock)
	control(syscall.TIOCGPTN, &number)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// TestTrustAtTerminal trusts a project with the real program at a terminal, by
// typing what it shows; and not by typing yes.
func TestTrustAtTerminal(t *testing.T) {
	m := newMachine(t)
	m.write("project/.gate/policies/shorten.rego", shorten)
	trust := func(env []string, answer func(code string) string) (stdout string, err error) {
		person, program := openTerminal(t)
		cmd := exec.Command("gate", "trust", "--managed-dir", filepath.Join(m.dir, "managed"),
			"--user-dir", filepath.Join(m.dir, "user"), "--state-dir", filepath.Join(m.dir, "state"), m.project)
		cmd.Env = append([]string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH")}, env...)
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = program, &out, program
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		program.Close()
		go func() {
			var seen strings.Builder
			buf := make([]byte, 4096)
			for {
				n, err := person.Read(buf)
				seen.Write(buf[:n])
				if found := codeOnScreen.FindStringSubmatch(seen.String()); found != nil {
					io.WriteString(person, answer(found[1])+"\n")
					seen.Reset()
				}
				if err != nil {
					return
				}
			}
		}()
		err = cmd.Wait()
		return out.String(), err
	}
	same := func(code string) string { return code }
	if out, err := trust(nil, func(string) string { return "yes" }); err == nil {
		t.Errorf("yes was enough: %s", out)
	}
	if out, err := trust([]string{"CLAUDECODE=1"}, same); err == nil {
		t.Errorf("trusted within an agent's session: %s", out)
	}
	if out, err := trust(nil, same); err != nil || !strings.Contains(out, "is trusted, as it is") {
		t.Errorf("%v: %s", err, out)
	}
}
