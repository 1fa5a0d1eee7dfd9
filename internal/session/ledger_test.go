package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/hook"
)

func ledger(t testing.TB) (l Ledger, project string) {
	t.Helper()
	project = t.TempDir()
	return Ledger{Dir: filepath.Join(t.TempDir(), "origins"), Project: project}, project
}

func touch(t testing.TB, path string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(path)
}

func TestLedger(t *testing.T) {
	l, project := ledger(t)
	odd := touch(t, filepath.Join(project, "a \"b\"\n[\"c"))
	note, gone, old := touch(t, filepath.Join(project, "note.txt")), filepath.ToSlash(filepath.Join(project, "gone.txt")), touch(t, filepath.Join(project, "old.txt"))
	if what, err := l.Open().Of(note); what != "" || err != nil {
		t.Errorf("no ledger: %q %v", what, err)
	}
	now := time.Now()
	add := func(at time.Time, moves ...hook.Move) {
		t.Helper()
		if err := l.Add(t.Context(), moves, at); err != nil {
			t.Fatal(err)
		}
	}
	add(now, hook.Move{Path: note, What: "environment file"}, hook.Move{Path: odd, What: "private key"})
	add(now, hook.Move{Path: gone, What: "private key"})
	add(now.Add(time.Minute), hook.Move{Path: old, What: "private key"}) // the file has not changed since
	for path, want := range map[string]string{note: "environment file", odd: "private key", gone: "", old: "", note + "x": "", project: ""} {
		if what, err := l.Open().Of(path); what != want || err != nil {
			t.Errorf("%s: %q %v, want %q", path, what, err, want)
		}
	}
	add(now.Add(time.Second), hook.Move{Path: note})
	if what, err := l.Open().Of(note); what != "environment file" || err != nil {
		t.Errorf("a call that would have written it anew never ran: %q %v", what, err)
	}
	add(now.Add(-time.Minute), hook.Move{Path: note})
	if what, err := l.Open().Of(note); what != "" || err != nil {
		t.Errorf("written anew: %q %v", what, err)
	}
	if what, err := (Ledger{Dir: l.Dir, Project: "/other"}).Open().Of(odd); what != "" || err != nil {
		t.Errorf("another project: %q %v", what, err)
	}
}

// TestLedgerLinks knows a file by each name that leads to it.
func TestLedgerLinks(t *testing.T) {
	l, project := ledger(t)
	at := func(names ...string) string {
		return filepath.ToSlash(filepath.Join(append([]string{project}, names...)...))
	}
	if err := errors.Join(
		os.Mkdir(at("sub"), 0o700), os.Symlink("sub", at("dir")), os.Symlink("data", at("link")),
		os.Symlink(project, at("self")), os.Symlink("circle", at("circle")),
	); err != nil {
		t.Skip(err)
	}
	for path, others := range map[string][]string{
		at("dir", "a"): {at("sub", "a"), at("self", "sub", "a")},
		at("sub", "b"): {at("dir", "b"), at("self", "dir", "b")},
		at("link"):     {at("data"), at("self", "data"), at("self", "link")},
		at("circle"):   nil,
	} {
		if err := l.Add(t.Context(), []hook.Move{{Path: path, What: "private key"}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if others != nil {
			touch(t, path)
		}
		for _, other := range append(others, path) {
			if what, err := (Ledger{Dir: l.Dir, Project: at("self")}).Open().Of(other); what != "private key" || err != nil {
				t.Errorf("%s, written as %s: %q %v", other, path, what, err)
			}
		}
	}
	if what, _ := l.Open().Of(at("sub", "other")); what != "" {
		t.Error("a file beside it counts")
	}
	if err := l.Add(t.Context(), []hook.Move{{Path: at("sub", "a")}}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at("sub", "a"), at("dir", "a")} {
		if what, err := l.Open().Of(path); what != "" || err != nil {
			t.Errorf("%s, written anew: %q %v", path, what, err)
		}
	}
}

// TestLedgerDamaged cuts and changes a ledger at every byte: it says so, or what it says
// is what was written.
func TestLedgerDamaged(t *testing.T) {
	l, project := ledger(t)
	note, key := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "key.txt"))
	for _, m := range []hook.Move{{Path: note, What: "environment file"}, {Path: key, What: "private key"}} {
		if err := l.Add(t.Context(), []hook.Move{m}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(l.path())
	if err != nil {
		t.Fatal(err)
	}
	lines := 1 + bytes.IndexByte(whole, '\n')
	lines += 1 + bytes.IndexByte(whole[lines:], '\n')
	check := func(text []byte, how string, at int) {
		t.Helper()
		if err := os.WriteFile(l.path(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		e := l.Open()
		first, wrong := e.Of(note)
		second, _ := e.Of(key)
		if wrong == nil && (first != "environment file" || second != "private key") {
			t.Errorf("%s at byte %d: %q %q without an error", how, at, first, second)
		}
	}
	for at := range whole {
		if cut := whole[:at]; at != lines && at != bytes.IndexByte(whole, '\n')+1 { // there whole lines are missing
			check(cut, "cut", at)
		}
		other := bytes.Clone(whole)
		other[at] ^= 1
		check(other, "changed", at)
	}
	if err := os.WriteFile(l.path(), append(bytes.Clone(whole), "half a line"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(l.Broken()) != 1 {
		t.Errorf("broken: %v", l.Broken())
	}
	if what, err := l.Open().Of(key); what != "private key" || err == nil {
		t.Errorf("what is whole: %q %v", what, err)
	}
}

// TestLedgerFull gives the oldest files up for their directories.
func TestLedgerFull(t *testing.T) {
	project := t.TempDir()
	now := time.Now()
	text := []byte("\n")
	for i := range 30 {
		dir := filepath.Join(project, fmt.Sprint("d", i/10))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := touch(t, filepath.Join(dir, fmt.Sprint(i)))
		text = append((&line{hook.Move{Path: path, What: "private key"}, now.Add(time.Duration(i) * time.Millisecond)}).append(text), '\n')
	}
	e, err := readEntries(append([]byte(head()), compact(text, 20, now)...))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(e.text, []byte("\n")) - 1; n > 20 {
		t.Errorf("%d lines are left", n)
	}
	for i := range 30 {
		path := filepath.ToSlash(filepath.Join(project, fmt.Sprint("d", i/10), fmt.Sprint(i)))
		if what, err := e.Of(path); what != "private key" || err != nil {
			t.Errorf("%s: %q %v", path, what, err)
		}
	}
	if what, _ := e.Of(filepath.ToSlash(filepath.Join(project, "d0", "of nobody"))); what != "private key" {
		t.Error("a directory does not stand for all of its files")
	}
	if what, _ := e.Of(filepath.ToSlash(filepath.Join(project, "other"))); what != "" {
		t.Error("a file beside the directories counts")
	}
}

// TestLedgerParallel loses nothing of many at once.
func TestLedgerParallel(t *testing.T) {
	l, project := ledger(t)
	var paths []string
	for i := range 200 {
		paths = append(paths, touch(t, filepath.Join(project, fmt.Sprint(i))))
	}
	var wg sync.WaitGroup
	for _, path := range paths {
		wg.Go(func() {
			if err := l.Add(context.Background(), []hook.Move{{Path: path, What: "private key"}}, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e := l.Open()
	for _, path := range paths {
		if what, err := e.Of(path); what != "private key" || err != nil {
			t.Errorf("%s: %q %v", path, what, err)
		}
	}
}

// TestLedgerOwner refuses a ledger that is a link.
func TestLedgerOwner(t *testing.T) {
	l, project := ledger(t)
	note := touch(t, filepath.Join(project, "note.txt"))
	move := []hook.Move{{Path: note, What: "private key"}}
	if err := l.Add(t.Context(), move, time.Now()); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(project, "other")
	if err := errors.Join(os.Rename(l.path(), other), os.Symlink(other, l.path())); err != nil {
		t.Skip(err)
	}
	if _, err := l.Open().Of(note); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("read: %v", err)
	}
	if err := l.Add(t.Context(), move, time.Now()); err == nil {
		t.Error("written through a link")
	}
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte("gate.ledger/1\n"))
	f.Add(append([]byte(head()+"\n"), append((&line{hook.Move{Path: "/a/b", What: "private key"}, time.Unix(1, 0)}).append(nil), '\n')...))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, _ := readEntries(text)
		e.Of("/a/b")
		if e.text != nil {
			if again, err := readEntries(append([]byte(head()), compact(e.text, 4, time.Now())...)); err != nil {
				t.Fatal(err, string(again.text))
			}
		}
	})
}
