//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gate/artifact"
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
	build := func() {
		t.Helper()
		if c := at.build(false); c.err != nil {
			t.Fatal(c.err)
		}
	}
	write(settings, "{}")
	if !at.outdated() {
		t.Error("what was never compiled is not outdated")
	}
	build()
	if at.outdated() {
		t.Error("what was compiled just now is outdated")
	}
	write(settings, `{"polices": {}}`)
	if !at.outdated() {
		t.Error("what has changed is not outdated")
	}
	build()
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
