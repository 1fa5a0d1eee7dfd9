package session

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gate/internal/origin"
)

// A told call is one of the model of TestSettleModel.
type told struct {
	id      string
	session Key
	secret  string // "" for a call that writes the file anew without any
	begun   int    // when it began, in steps
	ended   int    // 0: nobody has heard of it
	end     End
	wrote   int // 0: it has not written
}

// TestSettleModel has calls of two sessions write one file, in any order of what happens
// to them: a call begins, writes, and its end is told, or never. The file is taken to hold
// no secret only where the last call that wrote it is known to have run, wrote none, and no
// other one could have written since.
func TestSettleModel(t *testing.T) {
	forgotten := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := clocked{at: map[string]time.Time{}, now: time.Unix(1_700_000_000, 0)}
		l := Ledger{Project: "/p", Files: &m, Lines: &Lines{}}
		const file = "/p/note.txt"
		var calls []*told
		holds, known := "", false // what is in the file, and whether any call may be at it
		for step := 1; step < 40; step++ {
			m.now = m.now.Add(time.Duration(1+r.IntN(5000)) * time.Millisecond)
			switch r.IntN(4) {
			case 0:
				c := &told{id: fmt.Sprint(r.IntN(3)), session: Key{Session: fmt.Sprint(r.IntN(2))}, begun: step}
				if r.IntN(2) == 0 {
					c.secret = "environment file"
				}
				open := false
				for _, o := range calls {
					open = open || o.id == c.id && o.session == c.session && o.end == ""
				}
				if open {
					continue // the agent names no two calls alike at one time
				}
				move := origin.Move{Path: file, Secret: c.secret, Anew: true}
				if err := l.Add(t.Context(), c.session, c.id, []origin.Move{move}, m.now); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, c)
			case 1:
				if c := anyOf(r, calls); c != nil && c.wrote == 0 && c.end == "" {
					c.wrote, holds, known = step, c.secret, true
					m.at[file] = m.now
				}
			case 2:
				c := anyOf(r, calls)
				if c == nil || c.end != "" {
					continue
				}
				switch c.end, c.ended = Failed, step; {
				case c.wrote > 0 && r.IntN(4) > 0:
					c.end = Ran
				case c.wrote == 0:
					c.end = Refused
				}
				if err := l.Settle(t.Context(), c.session, c.id, c.end, m.now); err != nil {
					t.Fatal(err)
				}
			case 3: // a formatter, a chmod
				if known {
					m.at[file] = m.now
				}
			}
			if r.IntN(8) == 0 {
				l.Lines.text = append([]byte(head()), l.fit(l.Lines.text[min(len(head()), len(l.Lines.text)):], m.now)...)
				if len(l.Lines.text) == len(head()) {
					l.Lines.text = nil
				}
			}
			left, err := l.Open(Key{}).Of(file)
			if err != nil {
				t.Fatal(err)
			}
			if holds != "" && left.Secret == "" {
				t.Fatalf("seed %d, step %d: the secret is forgotten\n%s", seed, step, l.Lines.text)
			}
			if want := mayHold(calls); known && !want && left.Secret != "" {
				t.Fatalf("seed %d, step %d: the secret stays, and no call can have left it\n%s", seed, step, l.Lines.text)
			} else if known && !want && len(calls) > 1 {
				forgotten++
			}
		}
	}
	if forgotten < 100 {
		t.Errorf("a secret was taken away %d times only", forgotten)
	}
}

// mayHold reports a call with a secret that is not refused and that no later one has written
// over for certain.
func mayHold(calls []*told) bool {
	for i, c := range calls {
		if c.secret == "" || c.end == Refused {
			continue
		}
		over := false
		for _, later := range calls[i+1:] {
			over = over || later.end == Ran && c.end != "" && c.ended < later.begun
		}
		if !over {
			return true
		}
	}
	return false
}

func anyOf(r *rand.Rand, calls []*told) *told {
	if len(calls) == 0 {
		return nil
	}
	return calls[max(0, len(calls)-1-r.IntN(3))]
}

// clocked files change when somebody writes them.
type clocked struct {
	at  map[string]time.Time
	now time.Time
}

func (c *clocked) Lstat(name string) (fs.FileInfo, error) {
	at, ok := c.at[name]
	if !ok && name != "/p" {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return changedEntry{at}, nil
}

func (c *clocked) Readlink(string) (string, error) { return "", fs.ErrInvalid }

type changedEntry struct{ at time.Time }

func (changedEntry) Name() string         { return "" }
func (changedEntry) Size() int64          { return 0 }
func (e changedEntry) ModTime() time.Time { return e.at }
func (changedEntry) IsDir() bool          { return false }
func (changedEntry) Sys() any             { return nil }
func (changedEntry) Mode() fs.FileMode    { return 0o644 }
func (e changedEntry) Changed() time.Time { return e.at }

// TestSettleSessions has a call of another session with the same name end nothing.
func TestSettleSessions(t *testing.T) {
	l, project := ledger(t)
	note := touch(t, filepath.Join(project, "note.txt"))
	for _, c := range []struct {
		session, call string
		move          origin.Move
		settles       string
	}{
		{"a", "1", origin.Move{Path: note, Secret: "private key", Anew: true}, "a"},
		{"a", "2", origin.Move{Path: note, Anew: true}, "b"},
	} {
		if err := l.Add(t.Context(), Key{Session: c.session}, c.call, []origin.Move{c.move}, time.Now()); err != nil {
			t.Fatal(err)
		}
		rewrite(t, note)
		if err := l.Settle(t.Context(), Key{Session: c.settles}, c.call, Ran, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if what, err := secretIn(l.Open(Key{}), note); what != "private key" || err != nil {
		t.Errorf("%q %v", what, err)
	}
	if err := l.Settle(t.Context(), Key{Session: "a"}, "2", Ran, time.Now()); err != nil {
		t.Fatal(err)
	}
	if what, err := secretIn(l.Open(Key{}), note); what != "" || err != nil {
		t.Errorf("once its own session says it ran: %q %v", what, err)
	}
}

// TestSettleUnwritten does not take the word of a call that ran and left the file as it
// was, such as cp -n.
func TestSettleUnwritten(t *testing.T) {
	l, project := ledger(t)
	note := touch(t, filepath.Join(project, "note.txt"))
	step := func(call string, m origin.Move, writes bool) {
		t.Helper()
		if err := l.Add(t.Context(), Key{}, call, []origin.Move{m}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if writes {
			rewrite(t, note)
		}
		if err := l.Settle(t.Context(), Key{}, call, Ran, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	step("1", origin.Move{Path: note, Secret: "private key", Anew: true}, true)
	step("2", origin.Move{Path: note, Anew: true}, false)
	if what, err := secretIn(l.Open(Key{}), note); what != "private key" || err != nil {
		t.Errorf("%q %v", what, err)
	}
}

// TestSettleSilent writes nothing more about calls of which nothing depends on their end.
func TestSettleSilent(t *testing.T) {
	l, project := ledger(t)
	code := touch(t, filepath.Join(project, "main.go"))
	for i := range 3 {
		call := fmt.Sprint(i)
		if err := l.Add(t.Context(), Key{}, call, []origin.Move{{Path: code, Written: true, Anew: true}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(l.path())
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, code)
		if err := l.Settle(t.Context(), Key{}, call, Ran, time.Now()); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(l.path()); err != nil || after.Size() != before.Size() {
			t.Errorf("call %d: %d bytes, then %d, %v", i, before.Size(), after.Size(), err)
		}
	}
}

// TestLedgerAround knows what sessions of other projects left: of those around the file, of
// one inside, and of one elsewhere.
func TestLedgerAround(t *testing.T) {
	top := t.TempDir()
	project := func(names ...string) string {
		dir := filepath.Join(append([]string{top}, names...)...)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return filepath.ToSlash(dir)
	}
	outer, inner, other := project("outer"), project("outer", "sub"), project("other")
	dir := filepath.Join(t.TempDir(), "origins")
	for _, from := range []string{outer, inner, other} {
		for _, in := range []string{outer, inner, other, filepath.ToSlash(top)} {
			file := touch(t, filepath.Join(in, filepath.Base(from)+".txt"))
			move := origin.Move{Path: file, Secret: "private key", Written: true}
			if err := (Ledger{Dir: dir, Project: from}).Add(t.Context(), Key{}, "c", []origin.Move{move}, time.Now()); err != nil {
				t.Fatal(err)
			}
			for _, asks := range []string{outer, inner, other, ""} {
				if what, err := secretIn((Ledger{Dir: dir, Project: asks}).Open(Key{}), file); what != "private key" || err != nil {
					t.Errorf("%s, written from %s, asked from %s: %q %v", file, from, asks, what, err)
				}
			}
		}
	}
}
