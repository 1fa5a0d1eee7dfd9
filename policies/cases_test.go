package policies_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gate/engine"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/scopes"
)

// What the sample of judged calls may cost at most: harmful calls that go
// through, and harmless ones that do not.
const (
	maxMisses      = 0
	maxFalseAlarms = 0
)

// A judgedCase is a line of testdata/cases.jsonl. Ids of harmful calls begin
// with H, of harmless ones with B.
type judgedCase struct {
	ID        string
	Tool      string         `json:"tool_name"`
	Input     map[string]any `json:"tool_input"`
	Dir       string         `json:"cwd"`
	Expect    string
	Accept    []string
	Debatable bool
	Why       string
}

func judgedCases(t testing.TB, file string) []judgedCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []judgedCase
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c judgedCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	return cases
}

// decider runs the whole pipeline over the library in a test's world.
func decider(t testing.TB, opts ...engine.Option) func(spec any) hook.Decision {
	t.Helper()
	lib, src := library(t)
	return deciderOf(t, lib, src, opts...)
}

func deciderOf(t testing.TB, lib []scopes.Module, src scopes.Source, opts ...engine.Option) func(spec any) hook.Decision {
	t.Helper()
	judge := judgeOf(t, lib, src, opts...)
	return func(spec any) hook.Decision {
		t.Helper()
		ev, w, err := policytest.Event(spec)
		if err != nil {
			t.Fatal(err)
		}
		return judge(*ev, w)
	}
}

// judgeOf is deciderOf for events that are made already.
func judgeOf(t testing.TB, lib []scopes.Module, src scopes.Source, opts ...engine.Option) func(hook.Event, policytest.World) hook.Decision {
	t.Helper()
	patient := src
	patient.Hooks = nil
	for _, h := range src.Hooks {
		h := *h
		h.Timeout = time.Minute // what a busy machine makes of one second is not tested here
		patient.Hooks = append(patient.Hooks, &h)
	}
	set, err := scopes.New([]scopes.Source{patient}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	evaluator := rego.New(lib, []scopes.Source{patient}, rego.WithCompileTime(time.Minute))
	return func(ev hook.Event, w policytest.World) hook.Decision {
		t.Helper()
		facts := engine.WithFacts(func(ev *hook.Event) *hook.Facts { return factsIn(w, ev) })
		en, err := engine.New(set, append(opts, facts, engine.WithEvaluator(hook.Rego, evaluator))...)
		if err != nil {
			t.Fatal(err)
		}
		d := en.Decide(context.Background(), ev)
		for _, s := range d.Steps {
			if s.Fault != nil {
				t.Errorf("%s %v: %s: %v", ev.Tool(), ev.ToolInput(), s.Hook.ID, s.Fault)
			}
		}
		return d
	}
}

// TestConditions holds that the conditions in METADATA only save work: without
// them every policy says the same.
func TestConditions(t *testing.T) {
	with := decider(t, engine.WithAllSteps())
	lib, src := library(t)
	for i, h := range src.Hooks {
		always := *h
		always.If = nil
		src.Hooks[i] = &always
	}
	without := deciderOf(t, lib, src, engine.WithAllSteps())
	var specs []any
	for _, c := range judgedCases(t, "testdata/cases.jsonl") {
		specs = append(specs, map[string]any{"tool": c.Tool, "input": c.Input, "cwd": c.Dir})
	}
	for _, line := range oneOfEach {
		specs = append(specs, line)
	}
	for _, spec := range specs {
		got, want := said(with(spec)), said(without(spec))
		if !slices.Equal(got, want) {
			t.Errorf("%v\nwith conditions:    %q\nwithout conditions: %q", spec, got, want)
		}
	}
}

// TestLines runs testdata/lines.txt and the files below testdata/lines, one for a
// class: a verdict and a shell line on each line. A question may become a denial as
// facts see more of it; the policies' own tests say where a question must stay one.
func TestLines(t *testing.T) {
	decide := decider(t)
	for _, l := range judgedLines(t) {
		d := decide(l.shell)
		got := d.Effect.String()
		if got != l.want && (l.want != "ask" || got != "deny") {
			t.Errorf("%s: got %s, want %s: %q", l.shell, got, l.want, said(d))
		}
	}
}

// A judgedLine is a line of testdata/lines.txt or of a file below testdata/lines.
type judgedLine struct{ want, shell string }

func judgedLines(t testing.TB) []judgedLine {
	t.Helper()
	files, err := filepath.Glob("testdata/lines/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []judgedLine
	for _, file := range append(files, "testdata/lines.txt") {
		list = append(list, linesOf(t, file)...)
	}
	return list
}

// linesOf reads one file of judged lines. In a line ⏎ is a line break.
func linesOf(t testing.TB, file string) []judgedLine {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []judgedLine
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, shell, ok := strings.Cut(line, " ")
		if !ok || !slices.Contains([]string{"deny", "ask", "pass"}, want) {
			t.Errorf("%s: no verdict: %s", file, line)
		}
		list = append(list, judgedLine{want, strings.ReplaceAll(shell, "⏎", "\n")})
	}
	if len(list) == 0 {
		t.Error("no lines")
	}
	return list
}

// TestTools runs testdata/tools.jsonl: calls of tools other than a shell, by
// the names that several agents give them.
func TestTools(t *testing.T) {
	decide := decider(t)
	for _, c := range judgedCases(t, "testdata/tools.jsonl") {
		d := decide(map[string]any{"tool": c.Tool, "input": c.Input})
		if got := verdict(d.Effect); got != c.Expect {
			t.Errorf("%s %v: got %s, want %s: %q", c.Tool, c.Input, got, c.Expect, said(d))
		}
	}
}

// said lists what policies say, sorted.
func said(d hook.Decision) []string {
	var list []string
	for _, r := range d.Reasons {
		list = append(list, r.Effect.String()+" "+r.ID+": "+r.Reason)
	}
	slices.Sort(list)
	return list
}

// verdict is what the agent makes of an effect: no opinion goes on.
func verdict(e hook.Effect) string {
	if e == hook.Pass {
		return "allow"
	}
	return e.String()
}

func TestCases(t *testing.T) {
	decide := decider(t)
	var judged, strict, lenient, misses, alarms int
	for _, c := range judgedCases(t, "testdata/cases.jsonl") {
		d := decide(map[string]any{"tool": c.Tool, "input": c.Input, "cwd": c.Dir})
		got := verdict(d.Effect)
		checkReasons(t, c, d)
		if c.Debatable {
			continue
		}
		judged++
		if got == c.Expect {
			strict++
		}
		if slices.Contains(c.Accept, got) {
			lenient++
		}
		switch harmful := strings.HasPrefix(c.ID, "H"); {
		case harmful && got == "allow":
			misses++
			t.Logf("miss %s: %v (%s)", c.ID, c.Input, c.Why)
		case !harmful && got != "allow":
			alarms++
			t.Logf("false alarm %s: %v: %s (%s)", c.ID, c.Input, d.Reasons[0].Reason, c.Why)
		}
	}
	t.Logf("%d cases: strict %d, lenient %d, misses %d, false alarms %d", judged, strict, lenient, misses, alarms)
	if misses > maxMisses || alarms > maxFalseAlarms {
		t.Errorf("misses %d, false alarms %d; at most %d and %d", misses, alarms, maxMisses, maxFalseAlarms)
	}
}

// checkReasons holds what every reason owes its readers: one sentence that says
// what is wrong and what to do instead, where it stands in a shell line, help
// for the person, and no word on how to get around gate.
func checkReasons(t *testing.T, c judgedCase, d hook.Decision) {
	t.Helper()
	id := c.ID
	line, shell := c.Input["command"].(string)
	for _, r := range d.Reasons {
		if shell && (r.Span == nil || r.Span[0] >= r.Span[1] || r.Span[1] > utf8.RuneCountInString(line)) {
			t.Errorf("%s: %s: span %v does not point into the line", id, r.ID, r.Span)
		}
		text := strings.ToLower(r.Reason + " " + r.Help)
		switch {
		case !strings.Contains(r.Reason, "; "):
			t.Errorf("%s: %s: %q does not say what to do instead", id, r.ID, r.Reason)
		case r.Help == "":
			t.Errorf("%s: %s: no help for the person", id, r.ID)
		case strings.HasSuffix(r.Reason, "."), strings.ContainsAny(r.Reason, "\n"):
			t.Errorf("%s: %s: %q is not one plain sentence", id, r.ID, r.Reason)
		}
		for _, word := range []string{"disable", "uninstall", "switch gate", "gate approve", "gate trust"} {
			if strings.Contains(text, word) {
				t.Errorf("%s: %s: %q tells a way around", id, r.ID, r.Reason)
			}
		}
	}
}
