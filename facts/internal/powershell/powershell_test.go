package powershell

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
)

// A recorder is an outside that notes what it is asked to run.
type recorder struct{ ran []string }

func (r *recorder) Run(inv *draft.Invocation, _ draft.Where, name string) flow.Stream {
	inv.ID = 1
	said := []string{name}
	for _, f := range inv.Given() {
		said = append(said, f.Written())
	}
	r.ran = append(r.ran, strings.Join(said, " "))
	return flow.Stream{Some: true}
}

func (r *recorder) Sets(_ int, name string, v flow.Word) string {
	r.ran = append(r.ran, name+"="+v.Written())
	return ""
}

// run follows a line, and returns what it ran and what was not understood.
func run(line string) (ran, unknown []string) {
	d := &draft.Draft{World: world.World{Home: "/c:/users/dev", Dir: "/c:/users/dev/project"}, Facts: &hook.Facts{}}
	r := &recorder{}
	New(d, r).Follow(line)
	for _, u := range d.Facts.Unknown {
		unknown = append(unknown, u.Kind)
	}
	return r.ran, unknown
}

// TestRun reads testdata/run.txt: a line, and below it, indented, what it runs. Behind
// a question mark stand the kinds of what is not understood.
func TestRun(t *testing.T) {
	data, err := os.ReadFile("testdata/run.txt")
	if err != nil {
		t.Fatal(err)
	}
	var line string
	var want []string
	count := 0
	check := func() {
		if line == "" {
			return
		}
		count++
		ran, unknown := run(strings.ReplaceAll(line, "⏎", "\n"))
		if len(unknown) > 0 {
			ran = append(ran, "? "+strings.Join(unknown, " "))
		}
		if fmt.Sprint(ran) != fmt.Sprint(want) {
			t.Errorf("%s\n got  %q\n want %q", line, ran, want)
		}
		line, want = "", nil
	}
	for text := range strings.Lines(string(data)) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "    "):
			want = append(want, text[4:])
		default:
			check()
			if !strings.HasPrefix(text, "##") {
				line = text
			}
		}
	}
	check()
	if count < 30 {
		t.Errorf("%d lines", count)
	}
}

// FuzzRun holds that no text makes the shell panic or run without an end, and that
// spans lie in the line.
func FuzzRun(f *testing.F) {
	for _, file := range []string{"testdata/read.txt", "testdata/unread.txt", "../../../policies/testdata/powershell.txt"} {
		for _, line := range lines(f, file) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := &draft.Draft{World: world.World{Home: "/c:/users/dev", Dir: "/c:/users/dev/project"}, Facts: &hook.Facts{}}
		w := New(d, &recorder{})
		w.Follow(s)
		for _, u := range d.Facts.Unknown {
			if u.Span != nil && (u.Span[0] < 0 || u.Span[0] > u.Span[1] || u.Span[1] > len(s)) {
				t.Errorf("%v lies outside the line", *u.Span)
			}
		}
		w.Run("cmd", flow.Literal(s), d.Here(), flow.Stream{})
	})
}
