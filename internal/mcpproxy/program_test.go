//go:build unix

package mcpproxy_test

import (
	"bufio"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gate/internal/mcpproxy"
)

// TestProgramLeavesNothing stops a program that ignores being asked to end, and
// what it started.
func TestProgramLeavesNothing(t *testing.T) {
	for name, script := range map[string]string{
		"it ends by itself":       `sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; read line`,
		"it ignores to be asked":  `trap '' TERM; sleep 1000 & echo $!; while :; do wait; done`,
		"its child holds streams": `sleep 1000 & echo $!; exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", script)
			p, err := mcpproxy.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(p.Stream().In).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			p.CloseInput()
			p.Stop()
			select {
			case <-p.Done():
			default:
				t.Error("the program is still there")
			}
			gone(t, child)
		})
	}
}

// gone waits until a process is no more. A container without an init may keep
// it as a zombie, which runs nothing.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 3000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if s := strings.TrimSpace(string(out)); s == "" || strings.HasPrefix(s, "Z") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// TestProgramDies reports how a program ended, and that it cannot be started.
func TestProgramDies(t *testing.T) {
	p, err := mcpproxy.Start(exec.Command("sh", "-c", "exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := p.Stop(); err == nil || err.Error() != "exit status 3" {
		t.Error(err)
	}
	if _, err := mcpproxy.Start(exec.Command("/no/such/program")); err == nil {
		t.Error("a program that is not there was started")
	}
}
