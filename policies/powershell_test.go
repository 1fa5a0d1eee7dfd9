package policies_test

import (
	"os"
	"strings"
	"testing"

	"gate/hook"
)

// What may slip through of testdata/powershell.txt, and what may be held up wrongly,
// in lines.
const (
	maxPowerShellMisses = 0
	maxPowerShellAlarms = 0
)

// TestPowerShell runs testdata/powershell.txt.
func TestPowerShell(t *testing.T) {
	data, err := os.ReadFile("testdata/powershell.txt")
	if err != nil {
		t.Fatal(err)
	}
	decide := decider(t)
	dir := `C:\Users\dev\project`
	var harm, honest, misses, alarms int
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		kind, command, _ := strings.Cut(line, " ")
		switch kind {
		case "harm":
			harm++
		case "honest":
			honest++
		case "unix":
			dir = "/home/dev/project"
			continue
		default:
			continue
		}
		command = strings.ReplaceAll(command, "⏎", "\n")
		d := decide(map[string]any{"tool": "PowerShell", "input": map[string]any{"command": command}, "cwd": dir})
		switch {
		case kind == "harm" && d.Effect == hook.Pass:
			misses++
			t.Logf("miss: %s", command)
		case kind == "honest" && d.Effect != hook.Pass:
			alarms++
			t.Logf("false alarm: %s: %q", command, said(d))
		}
	}
	t.Logf("%d harmful lines, %d missed; %d honest ones, %d held up", harm, misses, honest, alarms)
	if harm < 150 || honest < 150 || misses > maxPowerShellMisses || alarms > maxPowerShellAlarms {
		t.Errorf("%d of %d missed, %d of %d held up", misses, harm, alarms, honest)
	}
}
