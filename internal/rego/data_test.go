package rego_test

import (
	"context"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// TestData gives a source data of its own, and tries to read another's.
func TestData(t *testing.T) {
	source := func(name, pkg, body string, data map[string]any) scopes.Source {
		return scopes.Source{
			Name: name, Scope: hook.Policy, Authority: hook.Managed, Data: data,
			Hooks: []*hook.Hook{{
				ID: pkg, Kind: hook.Rego, Scope: hook.Policy, Authority: hook.Managed, Source: name, Events: []hook.Name{hook.PreToolUse},
			}},
			Modules: []scopes.Module{{File: pkg + ".rego", Package: pkg, Text: "package " + pkg + "\n\n" + body + "\n"}},
		}
	}
	frozen := map[string]any{"company": map[string]any{"frozen": []any{"prod"}}}
	const reads = `deny contains stage if some stage in data.company.frozen`
	for name, c := range map[string]struct {
		source scopes.Source
		deny   string
		fault  string
	}{
		"its own":             {source("a", "company.freeze", reads, frozen), "prod", ""},
		"another's":           {source("b", "team.freeze", reads, nil), "", "team.freeze.rego:3: nothing here defines data.company.frozen; write a rule of package company, or a data.json with it"},
		"misspelt":            {source("e", "team.freeze", `deny contains "x" if data.company.frozn`, frozen), "", `did you mean "data.company.frozen"?`},
		"nothing to find":     {source("f", "team.freeze", `deny contains "x" if object.get(data.company, "none", "x") == "x"`, frozen), "x", ""},
		"a rule in its place": {source("c", "company", "frozen := []\n\n"+reads, frozen), "", "conflict"},
		"the product's place": {source("d", "company.freeze", reads, map[string]any{"gate": map[string]any{"params": map[string]any{}}}), "", "product's own"},
	} {
		sources := []scopes.Source{c.source, source("a2", "other.freeze", "deny contains \"no\" if false", frozen)}
		answer := rego.New(nil, sources).Evaluate(context.Background(), c.source.Hooks, &hook.Event{Name: hook.PreToolUse})[0]
		got := ""
		for _, r := range answer.Verdict.Reasons {
			got += r.Reason
		}
		if got != c.deny {
			t.Errorf("%s: denied with %q, want %q", name, got, c.deny)
		}
		if (answer.Fault != nil) != (c.fault != "") || answer.Fault != nil && !strings.Contains(answer.Fault.Error(), c.fault) {
			t.Errorf("%s: fault %v, want %q", name, answer.Fault, c.fault)
		}
	}
}
