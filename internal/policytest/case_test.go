package policytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// TestFormatCases holds that what is written reads as what it was.
func TestFormatCases(t *testing.T) {
	for seed := range uint64(500) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		want := []policytest.Case{g.oneCase("first"), g.oneCase("second")}
		text, err := policytest.FormatCases(want...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := policytest.ParseCases("x_cases.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for i := range got {
			got[i].File, got[i].Line = "", 0
			for j := range got[i].Session {
				got[i].Session[j].Line = 0
			}
		}
		if a, b := show(want), show(got); a != b {
			t.Fatalf("seed %d: wrote\n%s\nof\n%s\nand read\n%s", seed, text, a, b)
		}
	}
}

// show writes a case so that two of them can be compared: a missing name of
// the default event is the same as the name.
func show(cases []policytest.Case) string {
	for i := range cases {
		events := []map[string]any{cases[i].Event}
		for _, s := range cases[i].Session {
			events = append(events, s.Event)
		}
		for _, ev := range events {
			if ev != nil && ev["hook_event_name"] == nil {
				ev["hook_event_name"] = "PreToolUse"
			}
		}
	}
	text, err := json.MarshalIndent(cases, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A generator makes cases.
type generator struct{ *rand.Rand }

func (g generator) maybe() bool { return g.IntN(2) == 0 }

func (g generator) text() string {
	texts := []string{"ls", "yes", "12", "null", "~", "- a: b", "2026-01-01", "two\nlines\n", "tab\there", "\x01", "ä “q”", "# no", "a: b",
		"'", `"`, " leading", "0x1f", "{}", "!!str x", "&a", "*a", "%"}
	return texts[g.IntN(len(texts))]
}

func (g generator) value(depth int) any {
	switch n := g.IntN(7); {
	case n == 0:
		return nil
	case n == 1:
		return g.maybe()
	case n == 2:
		return json.Number(fmt.Sprint(g.IntN(2000) - 1000))
	case n == 3 && depth > 0:
		list := []any{}
		for range g.IntN(3) {
			list = append(list, g.value(depth-1))
		}
		return list
	case n == 4 && depth > 0:
		return g.object(depth - 1)
	}
	return g.text()
}

func (g generator) object(depth int) map[string]any {
	m := map[string]any{}
	for _, key := range []string{"a", "true", "12", "b c"} {
		if g.maybe() {
			m[key] = g.value(depth)
		}
	}
	return m
}

func (g generator) list() []string {
	list := []string{}
	for range g.IntN(3) {
		list = append(list, g.text())
	}
	return list
}

// step makes a step of a session.
func (g generator) step() policytest.Step {
	one := g.oneEvent("")
	s := policytest.Step{Event: one.Event, Expect: &one.Expect}
	if one.Lines != nil {
		s.Event = map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": g.text()}
	}
	if g.maybe() {
		s.Agent, s.Session, s.After, s.Event["agent_id"] = "codex", "b", 90*time.Second, g.text()
	}
	if name := s.Event["hook_event_name"]; name != nil && name != "PreToolUse" {
		return s
	}
	switch g.IntN(4) {
	case 0:
		s.NotRun = true
	case 1:
		s.Output, s.Left = &policytest.Value{Value: g.value(2)}, &policytest.Left{Writes: map[string]string{"a/b": g.text()}, Removes: []string{"x"}}
	case 2:
		s.Left = &policytest.Left{Writes: map[string]string{}}
	}
	return s
}

func (g generator) oneCase(name string) policytest.Case {
	c := g.oneEvent(name)
	if g.IntN(3) > 0 {
		return c
	}
	c.Event, c.Lines, c.Expect, c.World.Session = nil, nil, policytest.Expectation{}, nil
	for range 1 + g.IntN(3) {
		c.Session = append(c.Session, g.step())
	}
	return c
}

func (g generator) oneEvent(name string) policytest.Case {
	c := policytest.Case{Name: name, Event: map[string]any{}}
	switch g.IntN(6) {
	case 0:
		c.Event["tool_name"], c.Event["tool_input"] = "Bash", map[string]any{"command": g.text()}
	case 1:
		c.Lines = []string{g.text(), g.text()}
	case 2:
		c.Event["tool_name"], c.Event["tool_input"] = "Write", map[string]any{"file_path": g.text(), "content": g.text()}
	case 3:
		c.Event["hook_event_name"], c.Event["prompt"] = "UserPromptSubmit", g.text()
	case 4:
		c.Event["tool_name"], c.Event["tool_input"] = "mcp__x__y", g.object(3)
	case 5:
		c.Event["hook_event_name"], c.Event["tool_name"] = "PostToolUse", "Bash"
		c.Event["tool_response"] = g.value(3)
	}
	if g.maybe() {
		c.Event["cwd"] = g.text()
	}
	if g.maybe() {
		c.Expect.Marks = g.object(2)
	}
	effect := hook.Effect(g.IntN(4))
	c.Expect.Effect = &effect
	if g.maybe() {
		c.Expect.IDs, c.Expect.Reasons, c.Expect.Rewrite = g.list(), g.list(), &policytest.Value{Value: g.value(2)}
		halt := g.maybe()
		c.Expect.Halt = &halt
	}
	if g.maybe() {
		library, trusted := g.maybe(), g.maybe()
		c.World = policytest.CaseWorld{
			Head: g.text(), Files: map[string]string{"a/b": g.text()}, Env: map[string]string{"X": g.text()}, Library: &library,
			Trusted: &trusted, As: "managed", Session: map[string]any{"calls": g.value(1)},
			Sources: map[string][]string{"plugin:x": {"dir"}},
			Setting: map[string]map[string]any{"user": {"policies": map[string]any{"a.b": "off"}}},
		}
	}
	return c
}

// TestDecide looks at what a case comes to, without an expectation.
func TestDecide(t *testing.T) {
	suite, err := policytest.Prepare(policytest.Options{Files: twoPolicies(), Facts: oneEffect})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"git push -f", "git push"} {
		c := policytest.Case{File: "x_cases.yaml", Lines: []string{line}}
		decisions, err := suite.Decide(context.Background(), &c)
		if err != nil || len(decisions) != 1 {
			t.Fatal(decisions, err)
		}
		want := hook.Pass
		if strings.Contains(line, "-f") {
			want = hook.Deny
		}
		if got := decisions[0].Effect; got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestCaseNotices holds that a changed policy is noticed by cases, too.
func TestCaseNotices(t *testing.T) {
	files := twoPolicies()
	files["all_cases.yaml"] = &fstest.MapFile{Data: []byte("cases:\n  - {name: a push passes, bash: git push, expect: pass}\n")}
	suite, err := policytest.Prepare(policytest.Options{Files: files, Facts: oneEffect})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := suite.With("shared.rego", "package acme.shared\n\nforced(push) if push.kind\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := changed.Concerning("shared.rego"); !reflect.DeepEqual(got, []string{"one_test.rego", "two_test.rego", "all_cases.yaml"}) {
		t.Errorf("concerning: %q", got)
	}
	for s, want := range map[*policytest.Suite]bool{suite: true, changed: false} {
		results, err := s.Run(context.Background(), policytest.Selection{Files: []string{"all_cases.yaml"}})
		if err != nil || len(results) != 1 || results[0].Passed() != want {
			t.Errorf("%+v, %v", results, err)
		}
	}
}

func FuzzParseCases(f *testing.F) {
	for _, name := range []string{"testdata/cases.txtar", "testdata/cases_mistakes.txtar"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n-- ")[1:] {
			if _, body, ok := strings.Cut(part, "_cases.yaml --\n"); ok {
				f.Add(body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		cases, err := policytest.ParseCases("x_cases.yaml", []byte(text))
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "x_cases.yaml") {
					t.Fatalf("no position: %q of %q", line, err)
				}
			}
			if cases != nil {
				t.Fatal("cases and an error")
			}
			return
		}
		if len(cases) == 0 {
			t.Fatal("neither cases nor an error")
		}
		written, err := policytest.FormatCases(cases...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := policytest.ParseCases("x_cases.yaml", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		for i := range cases {
			if !strictjsonEqual(cases[i].Event["tool_input"], again[i].Event["tool_input"]) {
				t.Fatalf("%v became %v\n%s", cases[i].Event, again[i].Event, written)
			}
		}
	})
}

func strictjsonEqual(a, b any) bool {
	return string(strictjson.Append(nil, a)) == string(strictjson.Append(nil, b))
}

// TestModuleText holds that event cases see a changed module: its text means
// what it means.
func TestModuleText(t *testing.T) {
	files := twoPolicies()
	files["all_cases.yaml"] = &fstest.MapFile{Data: []byte("cases:\n  - {name: forced pushes are denied, bash: git push -f, expect: deny}\n")}
	suite, err := policytest.Prepare(policytest.Options{Files: files, Facts: oneEffect})
	if err != nil {
		t.Fatal(err)
	}
	same, err := suite.WithModule("shared.rego", suite.Module("shared.rego").Copy())
	if err != nil {
		t.Fatal(err)
	}
	never := suite.Module("shared.rego").Copy()
	never.Rules = nil
	changed, err := suite.WithModule("shared.rego", never)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*policytest.Suite]bool{same: true, changed: false} {
		results, err := s.Run(context.Background(), policytest.Selection{Files: []string{"all_cases.yaml"}})
		if err != nil || len(results) != 1 || results[0].Passed() != want {
			t.Errorf("%+v, %v", results, err)
		}
	}
}
