package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/origin"
)

func ledger(t testing.TB) (l Ledger, project string) {
	t.Helper()
	project = t.TempDir()
	return Ledger{Dir: filepath.Join(t.TempDir(), "origins"), Project: project}, project
}

// secretIn is the kind of secret that a file holds.
func secretIn(e *Entries, path string) (string, error) {
	left, err := e.Of(path)
	return left.Secret, err
}

// entriesOf are those of one ledger.
func entriesOf(text []byte) (*Entries, error) {
	b, err := readBook(text)
	return &Entries{books: []*book{b}, err: err}, err
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
	if what, err := secretIn(l.Open(Key{}), note); what != "" || err != nil {
		t.Errorf("no ledger: %q %v", what, err)
	}
	call := 0
	add := func(end End, moves ...origin.Move) {
		t.Helper()
		call++
		if err := l.Add(t.Context(), Key{}, fmt.Sprint(call), moves, time.Now()); err != nil {
			t.Fatal(err)
		}
		if end != Refused {
			for _, m := range moves {
				rewrite(t, m.Path)
			}
		}
		if err := l.Settle(t.Context(), Key{}, fmt.Sprint(call), end, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	age(t, old)
	add(Ran, origin.Move{Path: note, Secret: "environment file"}, origin.Move{Path: odd, Secret: "private key"})
	add(Refused, origin.Move{Path: gone, Secret: "private key"}, origin.Move{Path: old, Secret: "private key"})
	for path, want := range map[string]string{note: "environment file", odd: "private key", gone: "", old: "", note + "x": "", project: ""} {
		if what, err := secretIn(l.Open(Key{}), path); what != want || err != nil {
			t.Errorf("%s: %q %v, want %q", path, what, err, want)
		}
	}
	for _, end := range []End{Refused, Failed} {
		add(end, origin.Move{Path: note, Anew: true})
		if what, err := secretIn(l.Open(Key{}), note); what != "environment file" || err != nil {
			t.Errorf("a call that would have written it anew %s: %q %v", end, what, err)
		}
	}
	rewrite(t, note) // somebody else
	if what, err := secretIn(l.Open(Key{}), note); what != "environment file" || err != nil {
		t.Errorf("touched afterwards: %q %v", what, err)
	}
	add(Ran, origin.Move{Path: note})
	if what, err := secretIn(l.Open(Key{}), note); what != "environment file" || err != nil {
		t.Errorf("written to, though not anew: %q %v", what, err)
	}
	add(Ran, origin.Move{Path: note, Anew: true})
	if what, err := secretIn(l.Open(Key{}), note); what != "" || err != nil {
		t.Errorf("written anew: %q %v", what, err)
	}
	if what, err := secretIn((Ledger{Dir: l.Dir, Project: "/other"}).Open(Key{}), odd); what != "private key" || err != nil {
		t.Errorf("from another project: %q %v", what, err)
	}
}

// rewrite changes a file for certain, also on a clock that stands still.
func rewrite(t testing.TB, path string) {
	t.Helper()
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(text, 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// age makes a file one that nobody has changed for a while: nobody can set the time of its
// last change, so it waits.
func age(t testing.TB, path string) {
	t.Helper()
	for {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(hostfs.Changed(info)) > clockSlack+10*time.Millisecond {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestLedgerLinks knows a file by each name that leads to it.
// TestLedgerHeld holds that a secret which a call read in a file counts, however long ago
// the file changed, and no longer than the file is there.
func TestLedgerHeld(t *testing.T) {
	l, project := ledger(t)
	read, put := touch(t, filepath.Join(project, "all.yml")), touch(t, filepath.Join(project, "put.txt"))
	later := time.Now().Add(3 * time.Hour)
	if err := l.Add(t.Context(), Key{}, "1", []origin.Move{{Path: read, Secret: origin.Held("credentials")}, {Path: put, Secret: "credentials"}}, later); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{read: origin.Held("credentials"), put: ""} {
		if what, err := secretIn(l.Open(Key{}), path); what != want || err != nil {
			t.Errorf("%s: %q %v", path, what, err)
		}
	}
	if err := os.Remove(read); err != nil {
		t.Fatal(err)
	}
	if what, err := secretIn(l.Open(Key{}), read); what != "" || err != nil {
		t.Errorf("the file is gone: %q %v", what, err)
	}
}

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
		if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: path, Secret: "private key"}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if others != nil {
			touch(t, path)
		}
		for _, other := range append(others, path) {
			if what, err := secretIn((Ledger{Dir: l.Dir, Project: at("self")}).Open(Key{}), other); what != "private key" || err != nil {
				t.Errorf("%s, written as %s: %q %v", other, path, what, err)
			}
		}
	}
	if what, _ := secretIn(l.Open(Key{}), at("sub", "other")); what != "" {
		t.Error("a file beside it counts")
	}
	if err := l.Add(t.Context(), Key{}, "c", []origin.Move{{Path: at("sub", "a"), Anew: true}}, time.Now().Add(2*expected)); err != nil {
		t.Fatal(err)
	}
	rewrite(t, at("sub", "a"))
	if err := l.Settle(t.Context(), Key{}, "c", Ran, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at("sub", "a"), at("dir", "a")} {
		if what, err := secretIn(l.Open(Key{}), path); what != "" || err != nil {
			t.Errorf("%s, written anew: %q %v", path, what, err)
		}
	}
}

// TestLedgerDamaged cuts and changes a ledger at every byte: it says so, or what it says
// is what was written.
func TestLedgerDamaged(t *testing.T) {
	l, project := ledger(t)
	note, key := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "key.txt"))
	for _, m := range []origin.Move{{Path: note, Secret: "environment file"}, {Path: key, Secret: "private key"}} {
		if err := l.Add(t.Context(), Key{}, "", []origin.Move{m}, time.Now()); err != nil {
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
		e := l.Open(Key{})
		first, wrong := secretIn(e, note)
		second, _ := secretIn(e, key)
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
	if what, err := secretIn(l.Open(Key{}), key); what != "private key" || err == nil {
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
		text = append((&line{Move: origin.Move{Path: path, Secret: "private key"}, at: now.Add(time.Duration(i) * time.Millisecond)}).append(text), '\n')
	}
	e, err := entriesOf(append([]byte(head()), Ledger{}.compact(text, 20, now)...))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(e.books[0].text, []byte("\n")) - 1; n > 20 {
		t.Errorf("%d lines are left", n)
	}
	for i := range 30 {
		path := filepath.ToSlash(filepath.Join(project, fmt.Sprint("d", i/10), fmt.Sprint(i)))
		if what, err := secretIn(e, path); what != "private key" || err != nil {
			t.Errorf("%s: %q %v", path, what, err)
		}
	}
	if what, _ := secretIn(e, filepath.ToSlash(filepath.Join(project, "d0", "of nobody"))); what != "private key" {
		t.Error("a directory does not stand for all of its files")
	}
	if what, _ := secretIn(e, filepath.ToSlash(filepath.Join(project, "other"))); what != "" {
		t.Error("a file beside the directories counts")
	}
}

// TestLedgerGivesUp forgets who wrote a text before it is coarser about a secret.
func TestLedgerGivesUp(t *testing.T) {
	l, project := ledger(t)
	now := time.Now()
	text := []byte("\n")
	for i := range 30 {
		m := origin.Move{Path: touch(t, filepath.Join(project, fmt.Sprint(i))), Written: true}
		if i%3 == 0 {
			m.Secret = "private key"
		}
		text = append((&line{Move: m, at: now.Add(time.Duration(i) * time.Millisecond)}).append(text), '\n')
	}
	e, err := entriesOf(append([]byte(head()), Ledger{}.compact(text, 20, now)...))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		want := ""
		if i%3 == 0 {
			want = "private key"
		}
		if what, err := secretIn(e, filepath.ToSlash(filepath.Join(l.Project, fmt.Sprint(i)))); what != want || err != nil {
			t.Errorf("%d: %q %v, want %q", i, what, err, want)
		}
	}
	if files, _ := e.Written(); len(files) < 10 || len(files) > 20 {
		t.Errorf("%d files are left", len(files))
	}
}

// TestLedgerGivesUpParts has a whole archive stand for its members.
func TestLedgerGivesUpParts(t *testing.T) {
	l, project := ledger(t)
	now := time.Now()
	archive := filepath.ToSlash(touch(t, filepath.Join(project, "all.tar")))
	text := []byte("\n")
	for i := range 30 {
		m := origin.Move{Path: origin.Part(archive, fmt.Sprint(i)), Secret: "private key"}
		text = append((&line{Move: m, at: now.Add(time.Duration(i) * time.Millisecond)}).append(text), '\n')
	}
	e, err := entriesOf(append([]byte(head()), l.compact(text, 20, now)...))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if what, err := secretIn(e, origin.Part(archive, fmt.Sprint(i))); what != "private key" || err != nil {
			t.Errorf("%d: %q %v", i, what, err)
		}
	}
	if list, err := e.Below(archive); len(list) == 0 || err != nil {
		t.Errorf("below: %v %v", list, err)
	}
}

// TestLedgerWritten names the files whose text agents decided about: those of the event's
// session always, those of others until they change from outside.
func TestLedgerWritten(t *testing.T) {
	l, project := ledger(t)
	now := time.Now()
	of := map[string]string{}
	add := func(session, name string, at time.Time, m origin.Move) {
		t.Helper()
		if of[name] == "" {
			of[name] = touch(t, filepath.Join(project, name))
		}
		m.Path = of[name]
		if err := l.Add(t.Context(), Key{Session: session}, "", []origin.Move{m}, at); err != nil {
			t.Fatal(err)
		}
	}
	written, before := origin.Move{Written: true}, now.Add(-2*expected)
	add("a", "fresh", now, written)
	add("a", "changed", before, written) // it has a time of now
	add("a", "read", now, origin.Move{Secret: "private key"})
	add("a", "again", before, written)
	add("a", "again", now.Add(-time.Second), origin.Move{Secret: "private key"})
	add("a", "refused", now.Add(-time.Minute), written)
	add("a", "refused", now.Add(time.Minute), origin.Move{}) // never ran
	add("a", "never", now.Add(time.Minute), written)
	add("a", "both", before, written)
	add("b", "both", before.Add(time.Second), written)
	for session, want := range map[string]string{"a": "again both changed fresh refused", "b": "both fresh refused", "c": "fresh refused"} {
		files, err := l.Open(Key{Session: session}).Written()
		var names []string
		for _, f := range files {
			names = append(names, filepath.Base(f))
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("session %s: %q %v, want %q", session, got, err, want)
		}
	}
}

// BenchmarkLedgerWritten reads a large ledger.
func BenchmarkLedgerWritten(b *testing.B) {
	l, project := ledger(b)
	var moves []origin.Move
	const n = 4000
	before := time.Now()
	for i := range n {
		moves = append(moves, origin.Move{Path: touch(b, filepath.Join(project, fmt.Sprintf("%06d.go", i))), Written: i%4 == 0})
	}
	if err := l.Add(b.Context(), Key{Session: "s"}, "", moves, before); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if files, err := l.Open(Key{Session: "s"}).Written(); len(files) != n/4 || err != nil {
			b.Fatal(len(files), err)
		}
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
			if err := l.Add(context.Background(), Key{}, "", []origin.Move{{Path: path, Secret: "private key"}}, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e := l.Open(Key{})
	for _, path := range paths {
		if what, err := secretIn(e, path); what != "private key" || err != nil {
			t.Errorf("%s: %q %v", path, what, err)
		}
	}
}

// TestLedgerOwner refuses a ledger that is a link.
func TestLedgerOwner(t *testing.T) {
	l, project := ledger(t)
	note := touch(t, filepath.Join(project, "note.txt"))
	move := []origin.Move{{Path: note, Secret: "private key"}}
	if err := l.Add(t.Context(), Key{}, "", move, time.Now()); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(project, "other")
	if err := errors.Join(os.Rename(l.path(), other), os.Symlink(other, l.path())); err != nil {
		t.Skip(err)
	}
	if _, err := secretIn(l.Open(Key{}), note); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("read: %v", err)
	}
	if err := l.Add(t.Context(), Key{}, "", move, time.Now()); err == nil {
		t.Error("written through a link")
	}
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte("gate.ledger/1\n"))
	f.Add([]byte("gate.ledger/2\n/a/b\",\n")) // a line that was cut off behind its path
	f.Add(append([]byte(head()+"\n"), append((&line{Move: origin.Move{Path: "/a/b", Secret: "private key"}, at: time.Unix(1, 0)}).append(nil), '\n')...))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, _ := entriesOf(text)
		secretIn(e, "/a/b")
		e.Written()
		if len(e.books[0].text) > 0 {
			if again, err := entriesOf(append([]byte(head()), Ledger{}.compact(e.books[0].text, 4, time.Now())...)); err != nil {
				t.Fatal(err, string(again.books[0].text))
			}
		}
	})
}

// TestLedgerOlder goes on with a ledger of format 2, which did not know which calls ran.
func TestLedgerOlder(t *testing.T) {
	l, project := ledger(t)
	note, other := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "other.txt"))
	if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: note, Secret: "x"}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	text := format.Ledger.MarkOf(format.Ledger.Number()-1) + "\n"
	for _, secret := range []string{"private key", ""} { // the second may never have run
		line := fmt.Sprintf("[%q,%d,\"\",\"c\",%q,\"\",\"\",true]", note, now.UnixMilli(), secret)
		text += fmt.Sprintf("%s %016x\n", line, xxhash.Sum64String(line))
	}
	if err := os.WriteFile(l.path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if what, err := secretIn(l.Open(Key{}), note); what != "private key" || err != nil {
			t.Errorf("%q %v", what, err)
		}
		move := origin.Move{Path: other, Secret: "environment file", Host: "a.example", From: note, Written: true}
		if err := l.Add(t.Context(), Key{Session: "s"}, "c1", []origin.Move{move}, now); err != nil {
			t.Fatal(err)
		}
		move.Call, move.Session = "c1", Key{Session: "s"}.Name()
		if left, err := l.Open(Key{}).Of(other); left != move || err != nil {
			t.Errorf("got  %+v %v\nwant %+v", left, err, move)
		}
	}
}

// TestHeld has a ledger in this process follow files of a machine that is not this one.
func TestHeld(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	files := machine{"/p": "", "/p/late": "", "/p/old": "", "/p/link": "sub/real", "/p/sub": "", "/p/loop": "loop", "/p/sub/real": ""}
	l := Ledger{Project: "/p", Files: files, Lines: &Lines{}}
	for _, path := range []string{"/p/link", "/p/gone", "/p/loop"} {
		if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: path, Secret: "private key"}}, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: "/p/old", Secret: "private key"}}, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/p/link": "private key", "/p/sub/real": "private key", "/p/gone": "", "/p/loop": "private key", "/p/old": "", "/p/late": ""} {
		if what, err := secretIn(l.Open(Key{}), path); what != want || err != nil {
			t.Errorf("%s: %q %v, want %q", path, what, err, want)
		}
	}
	other := l
	other.Lines = &Lines{}
	if what, err := secretIn(other.Open(Key{}), "/p/link"); what != "" || err != nil {
		t.Errorf("another ledger: %q %v", what, err)
	}
	for range 40_000 { // more than a file may have
		if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: "/p/" + strings.Repeat("x", 100), Secret: "private key"}}, at); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.Lines.text); n > maxLedger {
		t.Errorf("it has grown to %d bytes", n)
	}
	if what, err := secretIn(l.Open(Key{}), "/p/sub/real"); what != "private key" || err != nil {
		t.Errorf("after compacting: %q %v", what, err)
	}
}

// A machine has files, all changed at one moment, and where links lead to.
type machine map[string]string

func (m machine) Lstat(name string) (fs.FileInfo, error) {
	to, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return entry{to != ""}, nil
}

func (m machine) Readlink(name string) (string, error) { return m[name], nil }

type entry struct{ link bool }

func (entry) Name() string       { return "" }
func (entry) Size() int64        { return 0 }
func (entry) ModTime() time.Time { return time.Time{} }
func (entry) IsDir() bool        { return false }
func (entry) Sys() any           { return nil }
func (entry) Changed() time.Time { return time.Unix(1_700_000_000, 1) }
func (e entry) Mode() fs.FileMode {
	if e.link {
		return fs.ModeSymlink | 0o777
	}
	return 0o644
}

// TestLedgerDirectory has a line about a directory count for each file below it, as long
// as it is there.
func TestLedgerDirectory(t *testing.T) {
	l, project := ledger(t)
	dir := filepath.ToSlash(filepath.Join(project, "out"))
	add := []origin.Move{{Path: dir + "/", Secret: "private key", From: filepath.ToSlash(filepath.Join(project, "a.tgz"))}}
	if err := l.Add(context.Background(), Key{}, "c", add, time.Now()); err != nil {
		t.Fatal(err)
	}
	if what, err := secretIn(l.Open(Key{}), dir+"/deep/key"); what != "" || err != nil {
		t.Errorf("a directory that is not there holds %q, %v", what, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	left, err := l.Open(Key{}).Of(dir + "/deep/key")
	if left.Secret != "private key" || left.Path != dir+"/" || left.Call != "c" || err != nil {
		t.Errorf("a file in it: %+v, %v", left, err)
	}
	if what, _ := secretIn(l.Open(Key{}), dir+"er"); what != "" {
		t.Errorf("a file beside it holds %q", what)
	}
}

// TestLedgerBelow tells of what lies below a directory, and of the parts of a file: by
// the last line that happened, through links, and as long as the file is there.
func TestLedgerBelow(t *testing.T) {
	l, project := ledger(t)
	in := func(name string) string { return filepath.ToSlash(filepath.Join(project, name)) }
	for _, dir := range []string{"logs/deep", "logs2"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"logs/a", "logs/deep/b", "logs/mine", "logs/anew", "logs2/c", "all.tar"} {
		touch(t, filepath.Join(project, file))
	}
	if err := os.Symlink("logs", filepath.Join(project, "link")); err != nil {
		t.Skip(err)
	}
	add := func(at time.Time, moves ...origin.Move) {
		t.Helper()
		call := at.Format(time.RFC3339Nano)
		if err := l.Add(t.Context(), Key{}, call, moves, at); err != nil {
			t.Fatal(err)
		}
		for _, m := range moves {
			if _, err := os.Stat(m.Path); err == nil && !strings.HasSuffix(m.Path, "/logs") {
				touch(t, m.Path)
			}
		}
		if err := l.Settle(t.Context(), Key{}, call, Ran, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	add(now.Add(-time.Minute), origin.Move{Path: in("logs/anew"), Secret: "private key"})
	add(now, origin.Move{Path: origin.Part(in("all.tar"), "/logs/a"), Secret: "private key"}, origin.Move{Path: origin.Part(in("gone.tar"), "x"), Secret: "private key"},
		origin.Move{Path: origin.Part(in("logs"), "commit/x"), Secret: "private key"}, origin.Move{Path: in("logs/a"), Secret: "environment file", Written: true},
		origin.Move{Path: in("logs/deep/b"), Host: "x.example"},
		origin.Move{Path: in("logs/gone"), Secret: "private key"}, origin.Move{Path: in("logs/mine"), Written: true}, origin.Move{Path: in("logs2/c"), Secret: "private key"})
	add(now.Add(time.Second), origin.Move{Path: in("logs/anew"), Written: true, Anew: true})
	for dir, want := range map[string]string{
		"logs": "//commit/x /a /deep/b", "link": "//commit/x /a /deep/b", "logs/deep": "/b", "all.tar": "//logs/a", "gone.tar": "", "other": "",
	} {
		list, err := l.Open(Key{}).Below(in(dir))
		var got []string
		for _, m := range list {
			got = append(got, strings.TrimPrefix(m.Path, in(dir)))
		}
		if got := strings.Join(got, " "); got != want || err != nil {
			t.Errorf("%s: %q %v, want %q", dir, got, err, want)
		}
	}
}
