package pins_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gate/internal/consent"
	"gate/internal/format"
	"gate/internal/pins"
)

func definition(name, text string) pins.Definition {
	return pins.Definition{Name: name, Body: map[string]any{"name": name, "description": text}}
}

// used is a store with one server that has one tool.
func used(t *testing.T) pins.Store {
	t.Helper()
	s := pins.Store{Dir: t.TempDir()}
	if held, err := s.Begin(t.Context(), "shop", false, pins.Identity{pins.Command: "shop"}); err != nil || held != nil {
		t.Fatal(held, err)
	}
	if held, open, err := s.List(t.Context(), "shop", pins.Tools, false, []pins.Definition{definition("weigh", "weighs")}); err != nil || held[0] != nil || !open {
		t.Fatal(held, open, err)
	}
	return s
}

// TestDamaged flips every byte of the file, and cuts it off everywhere: it never says
// anything then, and is left as it is.
func TestDamaged(t *testing.T) {
	s := used(t)
	file := filepath.Join(s.Dir, pins.FileName)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, began := s.Begin(t.Context(), "shop", false, pins.Identity{pins.Command: "shop"})
		_, _, listed := s.List(t.Context(), "shop", pins.Tools, false, []pins.Definition{definition("weigh", "weighs")})
		_, all := s.Servers()
		for _, err := range []error{began, listed, all} {
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, data) {
			t.Fatalf("%s: the file was written: %v", what, err)
		}
	}
	for i := range whole {
		for _, bit := range []byte{1, 0x20} {
			data := bytes.Clone(whole)
			data[i] ^= bit
			refuses(fmt.Sprintf("byte %d", i), data)
		}
		refuses(fmt.Sprintf("%d bytes", i), whole[:i])
	}
	refuses("a newer one", bytes.Replace(whole, []byte(format.Pins.Mark()+" "), []byte(format.Pins.MarkOf(format.Pins.Number()+1)+" "), 1))
	if _, err := s.Servers(); !errors.Is(err, format.ErrNewer) {
		t.Error(err)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Servers(); err == nil {
		t.Error("a file that others may write counts")
	}
}

// TestList pins at the first use only, in as many parts as the list has.
func TestList(t *testing.T) {
	s := used(t)
	list := func(first bool, part ...pins.Definition) string {
		t.Helper()
		held, _, err := s.List(t.Context(), "shop", pins.Tools, first, part)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, c := range held {
			if c != nil {
				text = append(text, c.String())
			}
		}
		return strings.Join(text, ", ")
	}
	for _, c := range []struct {
		first bool
		part  []pins.Definition
		want  string
	}{
		{true, []pins.Definition{definition("pack", "packs"), definition("weigh", "weighs")}, ""},
		{false, []pins.Definition{definition("pack", "packs")}, ""},
		{false, []pins.Definition{definition("pack", "packs all"), definition("ship", "ships")}, `the tool "pack" has changed, the tool "ship" is new`},
		{true, []pins.Definition{definition("weigh", "one"), definition("weigh", "weighs")}, `the tool "weigh" has changed`},
		{false, []pins.Definition{definition("pack", "packs"), definition("", "")}, `the tool "" is new`},
	} {
		if got := list(c.first, c.part...); got != c.want {
			t.Errorf("%v: %q, not %q", c.part, got, c.want)
		}
	}
	all, err := s.Servers()
	if err != nil || len(all) != 1 || len(all[0].Held) != 1 || all[0].Held[0].Name != "ship" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestBegin holds who a server is.
func TestBegin(t *testing.T) {
	s := pins.Store{Dir: t.TempDir()}
	for _, c := range []struct {
		name string
		told bool
		is   pins.Identity
		held string
		err  string
	}{
		{"far", false, pins.Identity{pins.URL: "https://a.example"}, "", ""},
		{"far", false, pins.Identity{pins.URL: "https://a.example", pins.PublicKey: "1"}, "", ""},
		{"far", false, pins.Identity{pins.URL: "https://a.example"}, "", ""},
		{"far", false, pins.Identity{pins.URL: "https://a.example", pins.PublicKey: "2"}, "public key", ""},
		{"far", false, pins.Identity{pins.URL: "https://b.example"}, "public key, url", ""},
		{"near", true, pins.Identity{pins.Command: "near", pins.ProgramDigest: "1"}, "", ""},
		{"near", true, pins.Identity{pins.Command: "near", pins.ProgramDigest: "2"}, "program digest", ""},
		{"near", true, pins.Identity{pins.Command: "near", pins.ProgramDigest: "1"}, "", ""},
		{"new", true, pins.Identity{pins.Command: "near", pins.ProgramDigest: "1"}, "", `it called itself "near"`},
		{"named", false, pins.Identity{pins.Command: "near", pins.ProgramDigest: "1"}, "", ""},
	} {
		held, err := s.Begin(t.Context(), c.name, c.told, c.is)
		var fields []string
		for _, h := range held {
			fields = append(fields, h.Name)
		}
		if got := strings.Join(fields, ", "); got != c.held || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %v: %q, %v", c.name, c.is, got, err)
		}
	}
}

// TestUnwitnessed holds that nothing is accepted or forgotten without a person.
func TestUnwitnessed(t *testing.T) {
	s := used(t)
	for _, w := range []*consent.Witness{nil, {}} {
		if err := s.Accept(t.Context(), w, "shop", nil); err != consent.NoTerminal {
			t.Error(err)
		}
		if err := s.Forget(t.Context(), w, "shop"); err != consent.NoTerminal {
			t.Error(err)
		}
	}
}

// TestAtOnce has many processes' worth of servers pin at once.
func TestAtOnce(t *testing.T) {
	s := used(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := s.Begin(t.Context(), fmt.Sprint("s", i), false, pins.Identity{pins.Command: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if known, err := s.Servers(); err != nil || len(known) != 21 {
		t.Errorf("%d servers, %v", len(known), err)
	}
}

// TestOlderFile reads pins of format 1, whose definitions may say nothing of _meta: they hold,
// and are completed at their next use. Anything more is held.
func TestOlderFile(t *testing.T) {
	s := used(t)
	file := filepath.Join(s.Dir, pins.FileName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	older := bytes.Replace(data, []byte(format.Pins.Mark()+" "), []byte(format.Pins.MarkOf(1)+" "), 1)
	if bytes.Equal(older, data) {
		t.Fatalf("the file begins with %.20s", data)
	}
	with := func(text, meta string) []pins.Definition {
		d := definition("weigh", text)
		d.Body["_meta"] = map[string]any{"ui": meta}
		return []pins.Definition{d}
	}
	uses := func(part []pins.Definition) bool {
		t.Helper()
		held, _, err := s.List(t.Context(), "shop", pins.Tools, false, part)
		if err != nil {
			t.Fatal(err)
		}
		return held[0] == nil
	}
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(older)
	if !uses(with("weighs", "a")) {
		t.Error("a tool with _meta was withheld after an upgrade")
	}
	if uses(with("weighs", "b")) || !uses(with("weighs", "a")) {
		t.Error("_meta was not pinned at the next use")
	}
	write(older)
	if uses(with("weighs more", "a")) {
		t.Error("a changed tool passed after an upgrade")
	}
	write(older)
	if !uses([]pins.Definition{definition("weigh", "weighs")}) || uses(with("weighs", "a")) {
		t.Error("a tool got _meta after its first use with this format")
	}
	write(data)
	if uses(with("weighs", "a")) {
		t.Error("a tool got _meta")
	}
}
