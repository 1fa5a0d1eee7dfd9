//go:build unix

package commands

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestHookStarved gives the real programs little of what a process may use, and
// streams that are of no use: what has to be denied never comes out as a yes,
// and nothing ends with a status that agents take for one.
func TestHookStarved(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	before := []string{
		"ulimit -f 0;", "ulimit -v 200000;", "ulimit -v 700000;", "ulimit -v 1500000;", "exec <&-;", "exec </;", "exec >&-;", "exec 2>&-;", "exec >&- 2>&-;",
	}
	for n := range 14 {
		before = append(before, fmt.Sprintf("ulimit -n %d;", n+4))
	}
	dir := t.TempDir()
	for _, program := range []string{"gate hook", "gate-hook"} {
		for _, line := range []string{"ls", "git push --force origin main"} {
			for _, limit := range before {
				cmd := exec.Command(sh, "-c", limit+" exec "+program+` --agent claude --event PreToolUse --managed-dir "$0/m" --user-dir "$0/u" --state-dir "$0/s"`, dir)
				var stdout bytes.Buffer
				cmd.Stdin, cmd.Stdout = bash(line), &stdout
				if err := cmd.Run(); cmd.ProcessState == nil {
					t.Fatal(err)
				}
				status := cmd.ProcessState.ExitCode()
				if (status == 126 || status == 127) && strings.HasPrefix(limit, "ulimit") {
					continue // the shell itself found no room to start it
				}
				if status != 2 && (status != 0 || line != "ls") {
					t.Errorf("%s %s, %s: %v, stdout %q", limit, program, line, cmd.ProcessState, &stdout)
				}
			}
		}
	}
}
