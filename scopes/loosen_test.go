package scopes

import (
	"testing"

	"gate/internal/setting"
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
	with := func(key string, value any) map[string]any {
		return m("enabled", true, "minutes", 10, "keyRequired", false, key, value)
	}
	signed := m("key", setting.KeyRequired, "signers", []any{"a"})
	for _, row := range []struct {
		name    string
		was, is map[string]any
		want    setting.Direction
	}{
		{"hooks off", nil, m("disableAllHooks", true), setting.Loosens},
		{"hooks on", m("disableAllHooks", true), nil, setting.Tightens},
		{"hooks said to be on", nil, m("disableAllHooks", false), setting.Same},
		{"a policy off", nil, m("policies.acme.push", "off"), setting.Loosens},
		{"a policy asks", nil, m("policies.acme.push", "ask"), setting.Loosens},
		{"a policy as written", m("policies.acme.push", "ask"), nil, setting.Tightens},
		{"a policy denies", m("policies.acme.push", "warn"), m("policies.acme.push", "deny"), setting.Tightens},
		{"a policy out of its group's level", m("policies.acme", "off"), m("policies.acme", "off", "policies.acme.push", "warn"), setting.Tightens},
		{"a policy back to its group's level", m("policies.acme", "off", "policies.acme.push", "warn"), m("policies.acme", "off"), setting.Loosens},
		{"no more allowing", nil, m("policies.gate.quiet", "off"), setting.Tightens},
		{"allowing again", m("policies.gate.quiet.look", "off"), nil, setting.Loosens},
		{"one that allows in a group that does not", m("policies.gate.quiet", "off"), m("policies.gate.quiet", "off", "policies.gate.quiet.git", "deny"), setting.Loosens},
		{"a parameter", nil, m("params.acme.push", m("branches", []any{"main"})), setting.Untold},
		{"an exception", nil, m("exceptions", []any{m("policy", "acme.push")}), setting.Loosens},
		{"another exception", m("exceptions", []any{m("policy", "a")}), m("exceptions", []any{m("policy", "b")}), setting.Untold},
		{"an exception less", m("exceptions", []any{m("policy", "acme.push")}), nil, setting.Tightens},
		{"a deadline", nil, m("deadline", "1s"), setting.Untold},
		{"faults close", nil, m("faults", "deny"), setting.Tightens},
		{"faults do not close any more", m("faults", "deny"), nil, setting.Loosens},
		{"no log", nil, m("log", false), setting.Loosens},
		{"a log, as without it", nil, m("log", true), setting.Same},
		{"approvals", nil, m("approvals", on), setting.Loosens},
		{"approvals off", m("approvals", on), m("approvals", off), setting.Tightens},
		{"approvals that stay off", nil, m("approvals", off), setting.Same},
		{"a first approver", m("approvals", on), m("approvals", with("approvers", []any{"a"})), setting.Loosens},
		{"one more approver", m("approvals", with("approvers", []any{"a"})), m("approvals", with("approvers", []any{"a", "b"})), setting.Loosens},
		{"an approver less", m("approvals", with("approvers", []any{"a", "b"})), m("approvals", with("approvers", []any{"a"})), setting.Tightens},
		{"a first receiver", m("approvals", on), m("approvals", with("deliver", []any{m("form", "mail")})), setting.Untold},
		{"another address for answers", m("approvals", with("poll", "https://a")), m("approvals", with("poll", "https://b")), setting.Untold},
		{"a key", nil, m("consent", signed), setting.Tightens},
		{"no key any more", m("consent", signed), nil, setting.Loosens},
		{"one more signer", m("consent", signed), m("consent", m("key", setting.KeyRequired, "signers", []any{"a", "b"})), setting.Loosens},
		{"a plugin on", nil, m("plugins.fmt", true), setting.Tightens},
		{"a plugin off", m("plugins.fmt", true), m("plugins.fmt", false), setting.Loosens},
		{"a plugin elsewhere", m("plugins.fmt", true), m("plugins.fmt", "/x"), setting.Untold},
		{"a program", nil, m("programs.acme", m("verbs", true)), setting.Untold},
		{"hooks of settings", nil, m("hooks", []any{}), setting.Untold},
		{"a key that nobody knows", nil, m("later", 1), setting.Untold},
		{"a status line", nil, m("statusLine", m("type", "command")), setting.Same},
	} {
		changes := Changes(row.was, row.is)
		worst := setting.Same
		for _, c := range changes {
			worst = max(worst, c.Direction)
		}
		if worst != row.want {
			t.Errorf("%s: %d, want %d: %v", row.name, worst, row.want, changes)
		}
		if free := len(Loosening(row.was, row.is)) == 0; free != (row.want < setting.Untold) {
			t.Errorf("%s: free is %v", row.name, free)
		}
	}
}
