package plan_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/internal/rego"
	"gate/scopes"
)

// ordinary makes n policies of the usual kind.
func ordinary(n int) scopes.Source {
	s := scopes.Source{Name: "source", Scope: hook.Policy, Authority: hook.Managed}
	add := func(file, pkg, text string) {
		s.Modules = append(s.Modules, scopes.Module{File: file, Package: pkg, Text: text})
	}
	for i := range n {
		pkg, file := fmt.Sprintf("acme.p%d", i), fmt.Sprintf("p%d.rego", i)
		add(file, pkg, fmt.Sprintf(`package acme.p%d

import data.acme.helper

deny contains {"reason": sprintf("no %%s here", [word]), "id": "acme.p%d.x"} if {
	some word in helper.words
	regex.match("^rm .*%d$", word)
}

deny contains "no" if {
	helper.is_bash
	glob.match("git push * %d", [], input.tool_input.command)
}

warn contains "careful" if startswith(input.tool_input.command, "sudo %d")
`, i, i, i, i, i))
		s.Hooks = append(s.Hooks, &hook.Hook{
			ID: pkg, Kind: hook.Rego, Source: s.Name, Scope: s.Scope, Authority: s.Authority,
			File: file, Line: 1, Events: []hook.Name{hook.PreToolUse},
		})
	}
	add("helper.rego", "acme.helper", `package acme.helper

is_bash if input.tool_name == "Bash"

words := split(input.tool_input.command, " ")
`)
	return s
}

func bash(line string) *hook.Event {
	return &hook.Event{
		Name: hook.PreToolUse, Agent: "claude-code",
		Fields: map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": line}},
		Facts:  &hook.Facts{},
		Gate:   hook.Gate{Now: time.Unix(1_700_000_000, 0)},
	}
}

func planned(tb testing.TB, s scopes.Source) *plan.Evaluator {
	tb.Helper()
	r, err := build.Policies(nil, s)
	if err != nil {
		tb.Fatal(err)
	}
	for pkg, why := range r.Left {
		tb.Fatalf("%s: %s", pkg, why)
	}
	return plan.NewEvaluator([]plan.Source{{Source: &s, Section: string(r.Section)}})
}

func BenchmarkEvaluate(b *testing.B) {
	ev := bash("git push origin main && rm -rf /tmp/x")
	for _, n := range []int{1, 25, 100, 1000} {
		s := ordinary(n)
		for name, e := range map[string]engine.Evaluator{"plan": planned(b, s), "opa": rego.New(nil, []scopes.Source{s}, rego.WithCompileTime(time.Minute))} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for i, a := range e.Evaluate(context.Background(), s.Hooks, ev) {
					if a.Fault != nil {
						b.Fatalf("%s: %v", s.Hooks[i].ID, a.Fault)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					e.Evaluate(context.Background(), s.Hooks, ev)
				}
			})
		}
	}
}

// BenchmarkFirst is what the first event of a program costs, with everything
// that is made then.
func BenchmarkFirst(b *testing.B) {
	ev := bash("git push origin main && rm -rf /tmp/x")
	for _, n := range []int{25, 100, 1000, 5000} {
		s := ordinary(n)
		if n > 1000 && testing.Short() {
			continue
		}
		r, err := build.Policies(nil, s)
		if err != nil {
			b.Fatal(err)
		}
		for _, asked := range []int{1, n} {
			b.Run(fmt.Sprintf("%d/%d", asked, n), func(b *testing.B) {
				routed := s
				routed.Hooks = s.Hooks[:asked]
				b.ReportAllocs()
				section := string(r.Section)
				for b.Loop() {
					e := plan.NewEvaluator([]plan.Source{{Source: &routed, Section: section}})
					e.Evaluate(context.Background(), routed.Hooks, ev)
				}
				b.ReportMetric(float64(len(section)), "section-bytes")
			})
		}
	}
}
