package plan_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/internal/plan/builtin"
	"gate/internal/rego"
	"gate/scopes"
)

// TestDataKeys looks base documents up by keys of all kinds. OPA's storage takes
// them for parts of a path: a plan says the same, or that only OPA knows.
func TestDataKeys(t *testing.T) {
	for text, unsure := range map[string]bool{
		`data.limits.m["2"] == "b"`:                            false,
		`data.limits.m[2] == "b"`:                              true,
		`data.limits.m[input.n] == "b"`:                        true,
		`data.limits.m[3] == "b"`:                              false,
		`data.limits[input.n] == "b"`:                          true,
		`data.limits.m[2.0] == "b"`:                            false,
		`data.limits.m[true] == "b"`:                           false,
		`data.limits.m[[1]] == "b"`:                            false,
		`data.limits.list[input.s] == "q"`:                     true,
		`data.limits.list["1"] == "q"`:                         true,
		`data.limits.list["2"] == "q"`:                         false,
		`data.limits.list.x == "q"`:                            false,
		`data.limits.list[1] == "q"`:                           false,
		`data.limits.list[1.0] == "q"`:                         true,
		`data.limits.list[_] == "q"`:                           false,
		"some k\n\tdata.limits.m[k] == \"b\"":                  false,
		"some k\n\tdata.limits[k][2] == \"b\"":                 true,
		"some k in [2]\n\tdata.limits.m[k] == \"b\"":           true,
		"m := data.limits.m\n\tm[input.n] == \"b\"":            true, // a plan cannot tell
		`object.get(data.limits.m, 2, "none") == "b"`:          false,
		`input.o[2] == "b"`:                                    false,
		`input.o[input.n] == "b"`:                              false,
		`data.limits.m[2] == "b" with data.limits as {"m": 1}`: false,
	} {
		s := scopes.Source{Name: "source", Scope: hook.Session, Authority: hook.Managed}
		s.Modules = []scopes.Module{{File: "r.rego", Package: "acme.r", Text: "package acme.r\n\ndeny contains \"x\" if {\n\t" + text + "\n}\n"}}
		s.Data = map[string]any{"limits": map[string]any{"m": map[string]any{"2": "b", "true": "b"}, "2": "b", "list": []any{"p", "q"}}}
		s.Hooks = []*hook.Hook{{ID: "acme.r", Kind: hook.Rego, Source: "source", Scope: hook.Session, Authority: hook.Managed,
			File: "r.rego", Line: 1, Events: []hook.Name{hook.PreToolUse}}}
		r, err := build.Policies(nil, s)
		if err != nil || len(r.Left) > 0 {
			t.Fatal(text, err, r.Left)
		}
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"hook_event_name": "PreToolUse", "n": 2, "s": "1", "o": map[string]any{"2": "b"},
		}}
		ours := plan.NewEvaluator([]plan.Source{{Source: &s, Section: string(r.Section)}}).Evaluate(context.Background(), s.Hooks, ev)[0]
		opas := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, ev)[0]
		text = strings.ReplaceAll(text, "\n\t", "; ")
		if ours.Fault != nil && errors.Is(ours.Fault.Err, builtin.ErrUnsure) {
			if !unsure {
				t.Errorf("%s: unsure", text)
			}
			continue
		}
		if unsure {
			t.Errorf("%s: not unsure", text)
		}
		if a, b := ours.Verdict.Effect(), opas.Verdict.Effect(); a != b || (ours.Fault == nil) != (opas.Fault == nil) {
			t.Errorf("%s: %s (%v), OPA's is %s (%v)", text, a, ours.Fault, b, opas.Fault)
		}
	}
}
