package commands

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/origin"
	"gate/internal/session"
)

// TestCrowd has 200 processes judge calls of one session at once, each of which leaves a
// secret in a file of its own, in a project of whose files 10 000 hold one already: every
// call is counted, and every file is known afterwards, the old ones and the new ones.
func TestCrowd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are those of a shell")
	}
	const known, crowd = 10_000, 200
	begun := time.Now()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	note := func(kind string, n int) string { return filepath.Join(project, fmt.Sprintf("%s-%d.txt", kind, n)) }
	err = errors.Join(os.Mkdir(project, 0o700), os.MkdirAll(filepath.Join(dir, "u", "policies"), 0o700),
		os.WriteFile(filepath.Join(project, ".env"), []byte("TOKEN=x\n"), 0o600),
		os.Mkdir(filepath.Join(project, ".git"), 0o700),
		os.WriteFile(filepath.Join(dir, "u", "policies", "calls.rego"), []byte(metadata("acme.calls")+`
deny contains "too many" if input.session.calls > 1000
`), 0o600))
	ledger := session.Ledger{Dir: filepath.Join(dir, "s", "origins"), Project: filepath.ToSlash(project)}
	moves := make([]origin.Move, known)
	for n := range moves {
		moves[n] = origin.Move{Path: filepath.ToSlash(note("old", n)), Secret: "environment file"}
		err = errors.Join(err, os.WriteFile(note("old", n), nil, 0o600))
	}
	if err = errors.Join(err, ledger.Add(t.Context(), session.Key{}, "", moves, begun)); err != nil {
		t.Fatal(err)
	}
	dirs := []string{"--managed-dir", dir + "/m", "--user-dir", dir + "/u", "--state-dir", dir + "/s"}
	if out, err := exec.Command("gate", append([]string{"build"}, dirs...)...).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	var group sync.WaitGroup
	for n := range crowd {
		group.Go(func() {
			line := "cp .env " + filepath.Base(note("new", n))
			event := strings.Replace(strings.Replace(bashEvent, "LINE", quoteJSON(line), 1), `"cwd":"/tmp"`, `"cwd":`+quoteJSON(project), 1)
			if status, answer := answerOf(t, "gate-hook", event, append([]string{"--agent", "claude"}, dirs...)...); status != 0 {
				t.Errorf("%s: status %d: %s", line, status, answer)
			}
		})
	}
	group.Wait()

	m, err := session.Store{Dir: filepath.Join(dir, "s", "sessions")}.Read(session.Key{Agent: "claude", Session: "s"})
	if err != nil || m.Calls != crowd {
		t.Errorf("%v; %d calls were counted of %d", err, m.Calls, crowd)
	}
	for n := range crowd {
		if err := os.WriteFile(note("new", n), nil, 0o600); err != nil { // as the calls do
			t.Fatal(err)
		}
	}
	entries := ledger.Open(session.Key{})
	lost := 0
	for n := range known + crowd {
		path := note("old", n)
		if n >= known {
			path = note("new", n-known)
		}
		if left, err := entries.Of(filepath.ToSlash(path)); left.Secret != "environment file" || err != nil {
			if lost++; lost < 5 {
				t.Errorf("%s: %q, %v", path, left.Secret, err)
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d files were lost", lost)
	}
}
