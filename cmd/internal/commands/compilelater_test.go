//go:build linux || darwin

package commands

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/core"
)

func TestHandedOver(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"--agent", "claude"}, false},
		{[]string{"--spent=3ms", "--agent", "claude"}, true},
		{[]string{"-spent", "3ms"}, true},
		{[]string{"spent"}, false},
		{nil, false},
	} {
		if got := handedOver(c.args); got != c.want {
			t.Errorf("%q: got %t", c.args, got)
		}
	}
}

// TestClaim holds that of many calls one starts a process that compiles, and that
// one which got nowhere is not started again at once.
func TestClaim(t *testing.T) {
	state := t.TempDir()
	if err := build.Prepare(state, artifact.User); err != nil {
		t.Fatal(err)
	}
	var claims atomic.Int32
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if claim(state, time.Now()) {
				claims.Add(1)
			}
		})
	}
	calls.Wait()
	if claims.Load() != 1 {
		t.Errorf("%d calls of 20 at once would start a process", claims.Load())
	}
	for _, then := range []time.Duration{-2 * laterLimit, 2 * laterLimit} { // also after a clock was set back
		if !claim(state, time.Now().Add(then)) {
			t.Errorf("nobody may try again after %s", then)
		}
		if err := os.Chtimes(filepath.Join(state, artifact.Dir, claimFile), time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLaterCommand holds that the process is started as gate, and not by the name of the
// link to the running program: programs that are several look at that.
func TestLaterCommand(t *testing.T) {
	cmd := laterCommand("/proc/self/exe", core.Machine{})
	if cmd.Path != "/proc/self/exe" || cmd.Args[0] != "gate" || cmd.Args[1] != "build" || cmd.Args[2] != "--later" {
		t.Errorf("%s is started as %q", cmd.Path, cmd.Args)
	}
}

// TestOutdated holds when a place is compiled behind an answer's back: if that may
// help, and nobody is working on it.
func TestOutdated(t *testing.T) {
	dir := t.TempDir()
	at := compilable{kind: artifact.User, dir: filepath.Join(dir, "user")}
	at.dirs.User, at.dirs.State, at.dirs.Managed = at.dir, filepath.Join(dir, "state"), filepath.Join(dir, "managed")
	if at.outdated() {
		t.Error("a directory that is not there is outdated")
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(at.dir, "settings.json")
	compile := func() {
		t.Helper()
		if c := at.build(false); c.err != nil {
			t.Fatal(c.err)
		}
	}
	write(settings, "{}")
	if !at.outdated() {
		t.Error("what was never compiled is not outdated")
	}
	compile()
	if at.outdated() {
		t.Error("what was compiled just now is outdated")
	}
	form := filepath.Join(at.dirs.State, artifact.Dir, artifact.Name(at.kind, at.dir))
	if err := os.Truncate(form, 20); err != nil {
		t.Fatal(err)
	}
	if !at.outdated() {
		t.Error("what was damaged is not outdated")
	}
	compile()
	if err := os.Chmod(form, 0o644); err != nil {
		t.Fatal(err)
	}
	if !at.outdated() {
		t.Error("what others may read is not outdated")
	}
	compile()
	if at.outdated() {
		t.Error("what was put right is outdated")
	}
	write(settings, `{"polices": {}}`)
	if !at.outdated() {
		t.Error("what has changed is not outdated")
	}
	compile()
	if at.outdated() {
		t.Error("what is broken as before is tried again")
	}
	if at.quiet(time.Now().Add(-time.Hour)) || !at.quiet(time.Now().Add(time.Hour)) {
		t.Error("a place is quiet while somebody works on it, or is not afterwards")
	}
	link := at
	link.dir += "-link"
	if err := os.Symlink(at.dir, link.dir); err != nil {
		t.Fatal(err)
	}
	if link.outdated() {
		t.Error("a link, which has no compiled form, is tried again and again")
	}
}
