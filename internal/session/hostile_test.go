package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gate/internal/origin"
)

// TestLedgerKilled has a process that is killed at any step of a write leave what was there,
// or all of what was to come, and hold nobody back.
func TestLedgerKilled(t *testing.T) {
	killed := errors.New("killed")
	for _, step := range []string{"write", "rename"} {
		for _, old := range []bool{false, true} { // one that is made, and one that is written anew
			l, project := ledger(t)
			note, key := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "key.txt"))
			if old {
				if err := l.Add(t.Context(), Key{}, "1", []origin.Move{{Path: note, Secret: "environment file"}}, time.Now()); err != nil {
					t.Fatal(err)
				}
				grow(t, l)
			}
			l.at = func(s string) error {
				if s == step {
					return killed
				}
				return nil
			}
			if err := l.Add(t.Context(), Key{}, "2", []origin.Move{{Path: key, Secret: "private key"}}, time.Now()); !errors.Is(err, killed) {
				t.Fatalf("%s: %v", step, err)
			}
			l.at = nil
			want := ""
			if old {
				want = "environment file"
			}
			if what, err := secretIn(l.Open(Key{}), note); what != want || err != nil {
				t.Errorf("%s: %q, %v", step, what, err)
			}
			if err := l.Add(t.Context(), Key{}, "3", []origin.Move{{Path: key, Secret: "private key"}}, time.Now()); err != nil {
				t.Fatal(err)
			}
			if what, err := secretIn(l.Open(Key{}), key); what != "private key" || err != nil {
				t.Errorf("%s, afterwards: %q, %v", step, what, err)
			}
		}
	}
}

// grow makes a ledger so long that the next line has it written anew.
func grow(t *testing.T, l Ledger) {
	t.Helper()
	var text []byte
	for i := range 20_000 {
		text = append((&line{Move: origin.Move{Path: fmt.Sprintf("/gone/%0100d", i), Written: true}, at: time.Unix(1, 0), was: missing}).append(text), '\n')
	}
	f, err := os.OpenFile(l.path(), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.Write(text[:maxLedger/2-4096])
	}
	if err == nil { // up to the last whole line
		end := maxLedger/2 - 4096
		for text[end-1] != '\n' {
			end++
			_, err = f.Write(text[end-1 : end])
		}
	}
	pad := (&line{Move: origin.Move{Path: "/gone/" + string(make([]byte, 700))}, at: time.Unix(1, 0), was: missing}).append(nil)
	if err == nil {
		_, err = f.Write(append(pad, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestLedgerClock forgets nothing when somebody sets the clock back, or forward and back.
func TestLedgerClock(t *testing.T) {
	l, project := ledger(t)
	for name, at := range map[string]time.Duration{"ahead": 30 * 24 * time.Hour, "back": -30 * 24 * time.Hour} {
		file, next := filepath.ToSlash(filepath.Join(project, name)), filepath.ToSlash(filepath.Join(project, name+"2"))
		for call, m := range []origin.Move{{Path: file, Secret: "private key", Anew: true}, {Path: next, Secret: "private key", From: file, Anew: true}} {
			if err := l.Add(t.Context(), Key{}, fmt.Sprint(name, call), []origin.Move{m}, time.Now().Add(at)); err != nil {
				t.Fatal(err)
			}
			touch(t, m.Path)
			if what, err := secretIn(l.Open(Key{}), m.Path); what != "private key" || err != nil {
				t.Errorf("%s: %q, %v", name, what, err)
			}
			if call == 0 {
				if err := l.Settle(t.Context(), Key{}, fmt.Sprint(name, call), Ran, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestLedgerRefused has PermissionDenied take back what a call was expected to leave, and
// nothing that other calls left.
func TestLedgerRefused(t *testing.T) {
	l, project := ledger(t)
	note, code := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "run.sh"))
	age(t, note)
	moves := []origin.Move{{Path: note, Secret: "private key", Anew: true}, {Path: code, Written: true, Anew: true}}
	if err := l.Add(t.Context(), Key{}, "1", moves, time.Now()); err != nil {
		t.Fatal(err)
	}
	rewrite(t, note) // a formatter
	rewrite(t, code)
	if what, _ := secretIn(l.Open(Key{}), note); what != "private key" {
		t.Errorf("while nobody knows: %q", what)
	}
	if err := l.Settle(t.Context(), Key{}, "1", Refused, time.Now()); err != nil {
		t.Fatal(err)
	}
	what, err := secretIn(l.Open(Key{}), note)
	files, wrong := l.Open(Key{}).Written()
	if what != "" || len(files) > 0 || err != nil || wrong != nil {
		t.Errorf("refused: %q, %v, %q, %v", what, err, files, wrong)
	}
}

// TestLedgerMany keeps the secrets of 10 000 files and more, by name or by directory, and
// stays small enough to be read.
func TestLedgerMany(t *testing.T) {
	project := t.TempDir()
	at := time.Unix(1_700_000_000, 0)
	m := clocked{at: map[string]time.Time{}, now: at}
	l := Ledger{Project: project, Files: &m, Lines: &Lines{}}
	name := func(i int) string { return fmt.Sprintf("/p/d%d/%d", i%10, i) }
	for i := 0; i < 12_000; i += 100 {
		var moves []origin.Move
		for k := i; k < i+100; k++ {
			moves = append(moves, origin.Move{Path: name(k), Secret: "private key", Anew: true})
		}
		if err := l.Add(t.Context(), Key{}, fmt.Sprint(i), moves, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		for k := i; k < i+100; k++ {
			m.at[name(k)] = at.Add(time.Duration(i)*time.Second + time.Millisecond)
		}
	}
	for i := range 10 {
		m.at[fmt.Sprintf("/p/d%d", i)] = at
	}
	if len(l.Lines.text) > maxLedger {
		t.Errorf("%d bytes", len(l.Lines.text))
	}
	e := l.Open(Key{})
	for i := 0; i < 12_000; i += 37 {
		if what, err := secretIn(e, name(i)); what != "private key" || err != nil {
			t.Fatalf("%s: %q, %v", name(i), what, err)
		}
	}
}
