package scopes

import (
	"testing"
)

// TestLoosening holds the direction of changes of settings. Tightening is free, so what
// counts as tightening must hold nothing back less.
func TestLoosening(t *testing.T) {
	m := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	on, off := m("enabled", true, "minutes", 10, "keyRequired", false), m("enabled", false, "minutes", 10, "keyRequired", false)
	signed := m("key", KeyRequired, "signers", []any{"a"})
	for _, row := range []struct {
		name    string
		was, is map[string]any
		want    Direction
	}{
		{"hooks off", nil, m("disableAllHooks", true), Loosens},
		{"hooks on", m("disableAllHooks", true), nil, Tightens},
		{"hooks said to be on", nil, m("disableAllHooks", false), Same},
		{"a policy off", nil, m("policies.acme.push", "off"), Loosens},
		{"a policy asks", nil, m("policies.acme.push", "ask"), Loosens},
		{"a policy as written", m("policies.acme.push", "ask"), nil, Tightens},
		{"a policy denies", m("policies.acme.push", "warn"), m("policies.acme.push", "deny"), Tightens},
		{"a policy out of its group's level", m("policies.acme", "off"), m("policies.acme", "off", "policies.acme.push", "warn"), Tightens},
		{"a policy back to its group's level", m("policies.acme", "off", "policies.acme.push", "warn"), m("policies.acme", "off"), Loosens},
		{"a parameter", nil, m("params.acme.push", m("branches", []any{"main"})), Untold},
		{"an exception", nil, m("exceptions", []any{m("policy", "acme.push")}), Loosens},
		{"another exception", m("exceptions", []any{m("policy", "a")}), m("exceptions", []any{m("policy", "b")}), Untold},
		{"an exception less", m("exceptions", []any{m("policy", "acme.push")}), nil, Tightens},
		{"a deadline", nil, m("deadline", "1s"), Untold},
		{"faults close", nil, m("faults", "deny"), Tightens},
		{"faults do not close any more", m("faults", "deny"), nil, Loosens},
		{"no log", nil, m("log", false), Loosens},
		{"a log, as without it", nil, m("log", true), Same},
		{"approvals", nil, m("approvals", on), Loosens},
		{"approvals off", m("approvals", on), m("approvals", off), Tightens},
		{"approvals that stay off", nil, m("approvals", off), Same},
		{"a key", nil, m("consent", signed), Tightens},
		{"no key any more", m("consent", signed), nil, Loosens},
		{"one more signer", m("consent", signed), m("consent", m("key", KeyRequired, "signers", []any{"a", "b"})), Loosens},
		{"a plugin on", nil, m("plugins.fmt", true), Tightens},
		{"a plugin off", m("plugins.fmt", true), m("plugins.fmt", false), Loosens},
		{"a plugin elsewhere", m("plugins.fmt", true), m("plugins.fmt", "/x"), Untold},
		{"a program", nil, m("programs.acme", m("verbs", true)), Untold},
		{"hooks of settings", nil, m("hooks", []any{}), Untold},
		{"a key that nobody knows", nil, m("later", 1), Untold},
		{"a status line", nil, m("statusLine", m("type", "command")), Same},
	} {
		changes := Changes(row.was, row.is)
		worst := Same
		for _, c := range changes {
			worst = max(worst, c.Direction)
		}
		if worst != row.want {
			t.Errorf("%s: %d, want %d: %v", row.name, worst, row.want, changes)
		}
		if free := len(Loosening(row.was, row.is)) == 0; free != (row.want < Untold) {
			t.Errorf("%s: free is %v", row.name, free)
		}
	}
}
