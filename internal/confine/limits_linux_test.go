package confine

import (
	"strings"
	"testing"
	"time"
)

// TestLimits holds each limit of a profile by a program that goes beyond it.
func TestLimits(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	for name, c := range map[string]struct {
		limits Limits
		line   string
		status int // of the program that is stopped
		said   string
	}{
		"temp":      {Limits{Temp: 1 << 20}, "head -c 4000000 /dev/zero > /tmp/x", 1, "No space left"},
		"temp-shm":  {Limits{Temp: 1 << 20}, "head -c 4000000 /dev/zero > /dev/shm/x", 1, "No space left"},
		"files":     {Limits{Files: 6}, "exec 3</dev/null 4</dev/null 5</dev/null; cat /etc/passwd > /dev/null", 2, "Too many open files"},
		"memory":    {Limits{Memory: 64 << 20}, "head -c 200000000 /dev/zero | tr '\\0' x | tail -n 1 > /dev/null", 1, "memory"},
		"cpu":       {Limits{CPU: time.Second}, "while :; do :; done", 137, ""},
		"within":    {Limits{Processes: 64, Files: 64, Memory: 256 << 20, Temp: 1 << 20, CPU: 30 * time.Second}, "echo x > /tmp/x; cat /tmp/x; exit 4", 4, "x"},
		"unlimited": {Limits{}, "head -c 4000000 /dev/zero > /tmp/x; exit 5", 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			command := s.command(t, "project", "/bin/sh", "-c", c.line)
			command.Profile.Limits = c.limits
			output, out, err := runs(t, command)
			if err != nil || out.Status != c.status || !strings.Contains(output, c.said) {
				t.Errorf("status %d, want %d: %q %v", out.Status, c.status, output, err)
			}
		})
	}
}

// TestPrograms holds that no program is started that the profile does not name.
func TestPrograms(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	c := s.command(t, "project", "/bin/sh", "-c", "cat main.c; head -n 1 main.c; ./attacker attack")
	c.Profile.Programs = []string{"/bin/sh", "/bin/dash", "/usr/bin/dash", "/bin/cat"}
	output, out, err := runs(t, c)
	if err != nil || out.Status != 126 || strings.Count(output, "canary") != 1 || strings.Count(output, "Permission denied") != 2 {
		t.Errorf("status %d: %q %v", out.Status, output, err)
	}
}
