package plan_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/scopes"
)

// rich is a policy with every kind of statement that the planner makes.
const rich = `package acme.p

h := v if { v := input.a.b } else := "other" if input.b
f(x) := y if { some y in x; y != 2.50 }
o[k] contains v if { some k, v in input; not k == "z" }
lib.g := 1
lib.h := {"a", null}
default d := [1, -3, 12345678901234567890]

deny contains sprintf("%v", [x]) if {
	some x in input.list
	every e in input.list { e > 0 }
	h with input.a.b as x
}

ask contains {"reason": r, "id": "p"} if { r := concat(" ", [w | some w in split(input.tool_input.command, " ")]); f([r]) == r }
warn contains regex.replace(input.tool_input.command, "[0-9]$", "n") if {
	regex.match("^(git|x) +(push|[a-c]+)\\b", input.tool_input.command)
	some p in {"git *", "{push,*}x"}
	glob.match(p, [], input.tool_input.command)
}

warn contains json.marshal([o, d, lib[input.k], {k: 1 | some k in input.list}])
`

// richSource is a source with the rich policy.
func richSource() scopes.Source {
	s := ordinary(1)
	s.Modules = append(s.Modules, scopes.Module{File: "rich.rego", Package: "acme.p", Text: rich})
	h := *s.Hooks[0]
	h.ID, h.File = "acme.p", "rich.rego"
	s.Hooks = append(s.Hooks, &h)
	return s
}

func richEvent() *hook.Event {
	ev := bash("git push origin 1")
	ev.Fields["a"] = map[string]any{"b": 1}
	ev.Fields["list"] = []any{1, 2, "x"}
	ev.Fields["k"] = "h"
	return ev
}

// ask opens what may be damaged and asks all policies. It must answer, soon, and
// without a panic.
func ask(t *testing.T, s *scopes.Source, section string) {
	t.Helper()
	for _, h := range s.Hooks {
		h.Timeout = 200 * time.Millisecond
	}
	e := plan.NewEvaluator([]plan.Source{{Source: s, Section: section}}, plan.WithMemory(16<<20))
	answers := e.Evaluate(context.Background(), s.Hooks, richEvent())
	if len(answers) != len(s.Hooks) {
		t.Fatalf("%d answers", len(answers))
	}
	for _, a := range answers {
		if a.Fault != nil && a.Fault.Kind == hook.FaultInternal {
			t.Errorf("an internal fault: %v", a.Fault)
		}
	}
}

func section(t testing.TB, s scopes.Source) string {
	t.Helper()
	r, err := build.Policies(nil, s)
	if err != nil || len(r.Left) > 0 {
		t.Fatal(err, r.Left)
	}
	return string(r.Section)
}

// TestWhole holds that the policies of these tests answer while nothing is
// damaged.
func TestWhole(t *testing.T) {
	s := richSource()
	e := plan.NewEvaluator([]plan.Source{{Source: &s, Section: section(t, s)}})
	for i, a := range e.Evaluate(context.Background(), s.Hooks, richEvent()) {
		if a.Fault != nil {
			t.Errorf("%s: %v", s.Hooks[i].ID, a.Fault)
		}
		if i == 1 && (len(a.Verdict.Reasons) != 4 || len(a.Verdict.Warnings) != 2) {
			t.Errorf("%+v", a.Verdict)
		}
	}
}

// TestDamaged cuts a section off everywhere and changes each of its bytes.
func TestDamaged(t *testing.T) {
	s := richSource()
	whole := section(t, s)
	for i := range whole {
		if _, err := plan.Open(whole[:i]); err == nil {
			t.Errorf("opened with %d of %d bytes", i, len(whole))
		}
	}
	if _, err := plan.Open(whole + "\x00"); err == nil {
		t.Error("opened with a byte more")
	}
	for i := range whole {
		for _, change := range []byte{1, 0x80, 0xff} {
			b := []byte(whole)
			b[i] ^= change
			ask(t, &s, string(b))
		}
	}
}

// TestScrambled changes several bytes at once.
func TestScrambled(t *testing.T) {
	s := richSource()
	whole := section(t, s)
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		b := []byte(whole)
		for range 1 + r.IntN(6) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		ask(t, &s, string(b))
	}
}

// FuzzSection asks sections that nobody has written.
func FuzzSection(f *testing.F) {
	s := richSource()
	f.Add([]byte(section(f, s)))
	f.Fuzz(func(t *testing.T, data []byte) { ask(t, &s, string(data)) })
}
