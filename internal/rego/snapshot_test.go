package rego_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// everyForm uses what a compiled policy can consist of, and errs in one place.
const everyForm = `package acme.forms

import data.acme.helper

default level := 0

level := 2.50 if input.tool_name == "Bash"

size(x) := "none" if x == null

else := "yes" if x == true

else := "no" if x == false

else := sprintf("%d of %s", [count(x), concat(",", sort([k | some k, _ in x]))])

deny contains {"reason": text, "span": [0, 1]} if {
	some i, w in helper.words
	i > 0
	not startswith(w, "-")
	text := trim(w, "'\"` + "`" + `")
	every c in {"a", "b", "` + "\u00e9\\n" + `"} { not contains(text, c) }
}

ask contains sprintf("%v %v", [level, {size(x) | some x in [null, true, false, {"b": [1, {2}], "a": {}}]}])

context contains level if size(null) == "mock" with size as mock with input.tool_name as "Bash"

context contains n if n := count("abc") with count as 7

mock(_) := "mock"

context contains sprintf("%v", [{k: v | some k, v in {"x": 1e3, "y": helper.nested["deep"].er}}])

halt contains "never" if helper.nested.deep.missing

warn contains upper(input.nothing)
`

const formsHelper = `package acme.helper

words := split(input.tool_input.command, " ")

nested.deep.er := -1
nested.deep.other[x] := y if some x, y in words
`

// snapshotOf is a library source with its snapshot.
func snapshotOf(t *testing.T, texts ...string) (scopes.Source, string) {
	t.Helper()
	s := scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}
	s.Modules = append(s.Modules, module("p.rego", texts[0]))
	s.Hooks = append(s.Hooks, newHook(&s, s.Modules[0]))
	for _, text := range texts[1:] {
		s.Modules = append(s.Modules, module("helper.rego", text))
	}
	data, err := rego.Snapshot(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return s, string(data)
}

// saying asks the policies of a source about a call and writes down the answers.
func saying(lib []scopes.Module, s scopes.Source, ev *hook.Event, opts ...rego.Option) string {
	e := rego.New(lib, []scopes.Source{s}, opts...)
	return render(s.Hooks, e.Evaluate(context.Background(), s.Hooks, ev))
}

// TestSnapshot holds that a snapshot says what the text says, positions and
// faults included.
func TestSnapshot(t *testing.T) {
	s, data := snapshotOf(t, everyForm, formsHelper)
	for _, line := range []string{"rm -r 'x' b c", "ls", ""} {
		ev := bash(line)
		want := saying(nil, s, ev)
		if got := saying(nil, s, ev, rego.WithSnapshot(data)); got != want {
			t.Errorf("%q from the snapshot:\n%s\nfrom the text:\n%s", line, got, want)
		}
		ev.Fields["nothing"] = 1
		if want = saying(nil, s, ev); !strings.Contains(want, "fault") {
			t.Errorf("no fault: %s", want)
		}
		if got := saying(nil, s, ev, rego.WithSnapshot(data)); got != want {
			t.Errorf("%q from the snapshot:\n%s\nfrom the text:\n%s", line, got, want)
		}
	}
}

// TestSnapshotCases holds the same for the cases that compile.
func TestSnapshotCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := readCase(t, ar)
		c.source.Library = true
		for _, h := range c.source.Hooks {
			h.Library = true
		}
		data, err := rego.Snapshot(c.lib, c.source)
		if err != nil {
			continue
		}
		n++
		want := saying(c.lib, c.source, &c.event)
		if got := saying(c.lib, c.source, &c.event, rego.WithSnapshot(string(data))); got != want {
			t.Errorf("%s from the snapshot:\n%s\nfrom the text:\n%s", file, got, want)
		}
		if got := sayingSaved(t, c.lib, c.source, &c.event); got != want {
			t.Errorf("%s saved:\n%s\nfrom the text:\n%s", file, got, want)
		}
	}
	if n == 0 {
		t.Error("no case compiles")
	}
}

// TestSnapshotSaves holds that a snapshot is really used: it costs a fraction.
func TestSnapshotSaves(t *testing.T) {
	s, data := snapshotOf(t, everyForm, formsHelper)
	ev := bash("ls")
	compiled := testing.AllocsPerRun(5, func() { saying(nil, s, ev) })
	restored := testing.AllocsPerRun(5, func() { saying(nil, s, ev, rego.WithSnapshot(data)) })
	if restored > compiled/2 {
		t.Errorf("%.0f allocations with the snapshot, %.0f without", restored, compiled)
	}
}

// TestSnapshotStale holds that a snapshot of something else does not count: the
// text does.
func TestSnapshotStale(t *testing.T) {
	const text = "package acme.p\n\ndeny contains \"old\" if input.tool_name == \"Bash\"\n"
	ev := bash("ls")
	for what, change := range map[string]func(*scopes.Source){
		"text":  func(s *scopes.Source) { s.Modules[0].Text = strings.Replace(text, "old", "new", 1) },
		"file":  func(s *scopes.Source) { s.Modules[0].File = "q.rego" },
		"param": func(s *scopes.Source) { s.Hooks[0].Params = map[string]hook.Param{"x": {Type: "string", Default: "y"}} },
		"more": func(s *scopes.Source) {
			s.Modules = append(s.Modules, module("more.rego", "package acme.p\n\ndeny contains \"more\"\n"))
		},
	} {
		s, data := snapshotOf(t, text)
		change(&s)
		want := saying(nil, s, ev)
		if got := saying(nil, s, ev, rego.WithSnapshot(data)); got != want || !strings.Contains(got, "deny") {
			t.Errorf("%s changed: with the snapshot:\n%s\nwithout:\n%s", what, got, want)
		}
	}
}

// TestSnapshotDamaged changes and cuts a snapshot everywhere.
func TestSnapshotDamaged(t *testing.T) {
	s, data := snapshotOf(t, "package acme.p\n\ndeny contains \"no\" if input.tool_name == \"Bash\"\n")
	ev := bash("ls")
	want := saying(nil, s, ev)
	for i := range data {
		changed := []byte(data)
		changed[i] ^= 1 << (i % 8)
		for _, damaged := range []string{string(changed), data[:i], data + data[:i+1]} {
			if got := saying(nil, s, ev, rego.WithSnapshot(damaged)); got != want {
				t.Fatalf("damaged at byte %d:\n%s\nwant:\n%s", i, got, want)
			}
		}
	}
}

func TestSnapshotRefuses(t *testing.T) {
	s := scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}
	for text, want := range map[string]string{
		"deny contains \"x\" if nothing(1)": "p.rego:3: ",
	} {
		s.Modules = []scopes.Module{module("p.rego", "package acme.p\n\n"+text+"\n")}
		s.Hooks = []*hook.Hook{newHook(&s, s.Modules[0])}
		if _, err := rego.Snapshot(nil, s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
