package session

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func offered(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, OfferName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOfferTaken holds that of any number that read a text one takes it, and that a text
// which the orchestrator put there meanwhile is not lost.
func TestOfferTaken(t *testing.T) {
	dir := t.TempDir()
	offered(t, dir, `{"inject": {"content": "first"}, "sequence": 1}`)
	var taken atomic.Int64
	var all sync.WaitGroup
	var read []Offer
	for range 32 {
		offers, errs := Offers(dir, "s")
		if len(offers) != 1 || len(errs) > 0 {
			t.Fatal(offers, errs)
		}
		read = append(read, offers...)
	}
	for i := range read {
		all.Go(func() {
			ok, err := read[i].Take()
			if err != nil {
				t.Error(err)
			}
			if ok {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("taken %d times", taken.Load())
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 || Offered(dir, "s") {
		t.Errorf("left behind: %v", left)
	}

	offered(t, dir, `{"inject": {"content": "first"}, "sequence": 1}`)
	offers, _ := Offers(dir, "s")
	offered(t, dir, `{"inject": {"content": "second"}, "sequence": 2}`)
	if ok, err := offers[0].Take(); ok || err != nil {
		t.Errorf("another text was taken: %v", err)
	}
	offers, errs := Offers(dir, "s")
	if len(errs) > 0 || len(offers) != 1 || offers[0].Text != "second" || offers[0].Sequence != 2 {
		t.Errorf("%+v, %v", offers, errs)
	}
}

// TestOfferForms holds what a file may say, and that half of one is none.
func TestOfferForms(t *testing.T) {
	dir := t.TempDir()
	const printed = `{
  "inject": {"content": "…", "strategy": "tool_result"},
  "tool_matcher": "*",
  "expires_at": 1740000000.5,
  "sequence": 42
}`
	offered(t, dir, printed)
	offers, errs := Offers(dir, "s")
	if len(errs) > 0 || len(offers) != 1 {
		t.Fatal(errs)
	}
	if o := offers[0]; o.Text != "…" || o.Strategy != "tool_result" || o.Matcher != "*" || o.Expires.UnixMilli() != 1740000000500 || o.Sequence != 42 {
		t.Errorf("%+v", o)
	}
	for n := range len(printed) - 1 {
		offered(t, dir, printed[:n])
		if offers, errs := Offers(dir, "s"); len(offers) > 0 || len(errs) != 1 || !Offered(dir, "s") {
			t.Fatalf("%q: %+v, %v", printed[:n], offers, errs)
		}
	}
	for text, want := range map[string]string{
		`{"inject": {}}`:               "inject.content: it is no text",
		`{"inject": {"content": " "}}`: "there is no text",
		`{"inject": "x"}`:              "inject: it is no object",
		`{"inject": {"content": "x", "strategy": "aside"}}`:            "inject.strategy must be tool_result or user_message",
		`{"inject": {"content": "x", "role": "user"}}`:                 "there are members besides content, strategy",
		`{"inject": {"content": "x"}, "expires_at": "soon"}`:           "expires_at: it is no time",
		`{"inject": {"content": "x"}, "expires_at": -1}`:               "expires_at: it is no time",
		`{"inject": {"content": "x"}, "sequence": 1.5}`:                "sequence: it is no count",
		`{"inject": {"content": "x"}, "tool_matcher": ["a"]}`:          "tool_matcher: it is no text",
		`{"inject": {"content": "x"}, "inject": {}}`:                   "inject",
		`{"inject": {"content": "` + strings.Repeat("x", 8193) + `"}}`: "more than 8192 bytes",
		strings.Repeat(" ", 65<<10):                                    "larger than 65536 bytes",
	} {
		offered(t, dir, text)
		offers, errs := Offers(dir, "s")
		if len(offers) > 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%.60s: %+v, %v, want %s", text, offers, errs, want)
		}
	}
	for _, id := range []string{"", "..", "a/b", "../s", ".hidden", strings.Repeat("x", 200)} {
		if names := offersFor(id); len(names) != 1 {
			t.Errorf("%q is a directory: %v", id, names)
		}
	}
}

// TestGiven holds that each directory's numbers are kept by themselves, also in the file.
func TestGiven(t *testing.T) {
	m := &Memory{}
	m.Give("/a", 7)
	m.Give("/b", 2)
	m.Give("/a", 9)
	data, err := encode(Key{}, m)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = decode(&Key{}, data); err != nil {
		t.Fatal(err)
	}
	if m.Given("/a") != 9 || m.Given("/b") != 2 || m.Given("/c") != 0 {
		t.Error(m.Given("/a"), m.Given("/b"), m.Given("/c"))
	}
}
