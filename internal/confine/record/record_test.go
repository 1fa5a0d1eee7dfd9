package record

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/internal/confine/profile"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func sample() Record {
	p, _ := profile.Builtin("project-net")
	return Record{
		Call: "toolu_1", Profile: p, Place: profile.Place{Home: "/home/dev", Project: "/home/dev/app"},
		Line: "make \"x\" && echo $HOME\n", Dir: "/home/dev/app", Expires: begin.Add(time.Hour),
	}
}

// TestOnce holds that a record comes back as it was, once.
func TestOnce(t *testing.T) {
	dir := Dir(t.TempDir())
	id, err := Keep(dir, sample(), begin)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Take(dir, id, "/home/dev/app", begin)
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := Take(dir, id, "/home/dev/app", begin); err == nil || !strings.Contains(err.Error(), "there is no record "+id+": it was used") {
		t.Error(err)
	}
}

// TestFixed holds that nothing runs where the record cannot be taken away, and that the
// sentence says whose doing that is.
func TestFixed(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("a mode holds nobody up here")
	}
	dir := Dir(t.TempDir())
	id, err := Keep(dir, sample(), begin)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, err := Take(dir, id, "/home/dev/app", begin); err == nil || !strings.Contains(err.Error(), dir+" cannot be changed here: that is so in a sandbox of the agent's own") {
		t.Error(err)
	}
}

// TestTogether holds that of many runs at the same time one has the record.
func TestTogether(t *testing.T) {
	dir := Dir(t.TempDir())
	id, err := Keep(dir, sample(), begin)
	if err != nil {
		t.Fatal(err)
	}
	var got atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := Take(dir, id, "/home/dev/app", begin); err == nil {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if got.Load() != 1 {
		t.Errorf("%d runs had the record", got.Load())
	}
}

// TestDifference holds that a difference runs nothing, and that the record is gone then.
func TestDifference(t *testing.T) {
	for name, c := range map[string]struct {
		start string
		now   time.Time
		with  func(t *testing.T, file string)
		said  string
	}{
		"directory": {start: "/home/dev", said: "the record is for /home/dev/app, and this is /home/dev"},
		"expired":   {now: begin.Add(time.Hour), said: "the record expired at 2026-01-02T04:04:05Z"},
		"clock":     {now: begin.Add(-48 * time.Hour), said: "later than in 24h"},
		"field":     {with: change(`{"agent"`, `{"Unconfined":true,"agent"`), said: "other fields"},
		"behind":    {with: change(`"state":""}`, `"state":""}{}`), said: "record"},
		"no line":   {with: change(`bWFrZSAieCIgJiYgZWNobyAkSE9NRQo=`, `bWFrZQ==`), said: ""},
		"mode":      {with: func(t *testing.T, file string) { os.Chmod(file, 0o666) }, said: "record"},
		"link": {with: func(t *testing.T, file string) {
			os.Rename(file, file+"x")
			if err := os.Symlink(file+"x", file); err != nil {
				t.Skip(err)
			}
		}, said: "record"},
		"directory at its place": {with: func(t *testing.T, file string) { os.Remove(file); os.Mkdir(file, 0o700) }, said: "record"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := Dir(t.TempDir())
			id, err := Keep(dir, sample(), begin)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, id)
			if c.with != nil {
				c.with(t, file)
			}
			if c.start == "" {
				c.start = "/home/dev/app"
			}
			if c.now.IsZero() {
				c.now = begin
			}
			r, err := Take(dir, id, c.start, c.now)
			if c.said == "" { // the line is what the record says: the launcher runs no other
				if err != nil || r.Line == sample().Line {
					t.Errorf("%+v %v", r, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.said) {
				t.Errorf("%v, want %q", err, c.said)
			}
			if _, err := os.Lstat(file); err == nil {
				t.Error("the record is still there")
			}
		})
	}
}

func change(from, to string) func(*testing.T, string) {
	return func(t *testing.T, file string) {
		text, err := os.ReadFile(file)
		if err != nil || strings.Count(string(text), from) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNames holds that no other file is read.
func TestNames(t *testing.T) {
	dir := Dir(t.TempDir())
	for _, id := range []string{"", ".", "..", "../x", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ABCDEFGHABCDEFGHIJKLMNOPQRSTUVWXYa", "ABCDEFGHABCDEFGHIJKLMNOPQRSTUVWX/Y"} {
		if _, err := Take(dir, id, "/", begin); err == nil || !strings.Contains(err.Error(), "is no name of a record") {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := Take(dir, "ABCDEFGHABCDEFGHIJKLMNOPQRSTUVWXYZ", "/", begin); err == nil || !strings.Contains(err.Error(), "there is no record") {
		t.Error(err)
	}
}

// TestKeep holds which records are none, and that old ones go.
func TestKeep(t *testing.T) {
	dir := Dir(t.TempDir())
	for name, r := range map[string]func(r *Record){
		"no line": func(r *Record) { r.Line = "" }, "is not absolute": func(r *Record) { r.Dir = "app" }, "no profile": func(r *Record) { r.Profile.Name = "" },
		"expired": func(r *Record) { r.Expires = begin }, "later than": func(r *Record) { r.Expires = begin.Add(25 * time.Hour) },
		"more than": func(r *Record) { r.Line = strings.Repeat("x", mostBytes) },
	} {
		bad := sample()
		r(&bad)
		if _, err := Keep(dir, bad, begin); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	id, err := Keep(dir, sample(), begin)
	if err != nil {
		t.Fatal(err)
	}
	old := begin.Add(-25 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, id), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Keep(dir, sample(), begin); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, id)); err == nil {
		t.Error("the old one is still there")
	}
}

// TestRoom holds that a session with any number of calls that never run takes no room from
// another one, that its own newest stay, and that all that is kept is bounded.
func TestRoom(t *testing.T) {
	dir := Dir(t.TempDir())
	keep := func(session, call string) string {
		t.Helper()
		r := sample()
		r.Agent, r.Session, r.Call = "claude", session, call
		id, err := Keep(dir, r, begin)
		if err != nil {
			t.Fatalf("%s %s: %v", session, call, err)
		}
		return id
	}
	age := func() { // what is there becomes older than what comes
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			old := info.ModTime().Add(-time.Second)
			os.Chtimes(filepath.Join(dir, e.Name()), old, old)
		}
	}
	first := keep("quiet", "one")
	ran := keep("quiet", "two")
	if _, err := Take(dir, ran, "/home/dev/app", begin); err != nil {
		t.Fatal(err)
	}
	if err := Tell(dir, ran, End{Level: "full"}); err != nil {
		t.Fatal(err)
	}
	age()
	var last string
	for n := range 1000 {
		last = keep("loud", fmt.Sprint(n))
		if n == 500 {
			age()
		}
	}
	files := func() int { entries, _ := os.ReadDir(dir); return len(entries) }
	if n := files(); n > mostOfSession+10 {
		t.Errorf("%d files are kept of a session that may have %d", n, mostOfSession)
	}
	for _, id := range []string{first, last} {
		if _, err := Take(dir, id, "/home/dev/app", begin); err != nil {
			t.Error(err)
		}
	}
	if _, ok := OfCall(dir, "claude", "quiet", "two"); !ok {
		t.Error("what ran is not known any more")
	}
	for n := range 3 * mostFiles / mostOfSession / 2 {
		for c := range mostOfSession/2 - 1 {
			keep(fmt.Sprint("s", n), fmt.Sprint(c))
		}
	}
	if n := files(); n > mostFiles+10 {
		t.Errorf("%d files are kept", n)
	}
	if _, ok := OfCall(dir, "claude", "quiet", "two"); !ok {
		t.Error("many sessions took the room of one that has little")
	}
}

// TestTold holds what is known of a call by the line that starts it, before, while and
// after it runs, and that no other call has it.
func TestTold(t *testing.T) {
	dir := Dir(t.TempDir())
	r := sample()
	r.Agent, r.Session, r.Launcher, r.State = "claude", "s", "/opt/it's/gate-run", "/state"
	id, err := Keep(dir, r, begin)
	if err != nil {
		t.Fatal(err)
	}
	line := r.Form(id)
	if want := `'/opt/it'\''s/gate-run' --state-dir /state --call ` + id; line != want {
		t.Errorf("%s, want %s", line, want)
	}
	for name, c := range map[string][4]string{
		"another session": {line, "claude", "t", "toolu_1"}, "another agent": {line, "codex", "s", "toolu_1"}, "another call": {line, "claude", "s", "toolu_2"},
		"more": {line + " ", "claude", "s", "toolu_1"}, "before": {"x " + line, "claude", "s", "toolu_1"}, "another program": {"gate-run --state-dir /state --call " + id, "claude", "s", "toolu_1"},
	} {
		if _, ok := OfLine(dir, c[0], c[1], c[2], c[3]); ok {
			t.Errorf("%s has the record", name)
		}
	}
	known := func(ran bool, end *End) {
		t.Helper()
		byLine, ok := OfLine(dir, line, "claude", "s", "toolu_1")
		byCall, found := OfCall(dir, "claude", "s", "toolu_1")
		if !ok || !found || byLine.ID != id || byLine.Ran != ran || !reflect.DeepEqual(byLine.End, end) || !reflect.DeepEqual(byLine, byCall) || !reflect.DeepEqual(byLine.Record, r) {
			t.Errorf("%+v %v %+v %v", byLine, ok, byCall, found)
		}
	}
	known(false, nil)
	if _, err := Take(dir, id, "/home/dev/app", begin); err != nil {
		t.Fatal(err)
	}
	known(true, nil)
	end := End{Level: "full", Status: 3, Refused: []string{"a:1 (no)"}, Git: []string{"config was not taken over"}, Nothing: ""}
	if err := Tell(dir, id, end); err != nil {
		t.Fatal(err)
	}
	known(true, &end)
	if _, ok := OfCall(dir, "claude", "s", ""); ok {
		t.Error("a call without a name has a record")
	}
}
