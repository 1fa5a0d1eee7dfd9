package scopes

import (
	"encoding/json"
	"testing"

	"gate/hook"
)

// A hook that waits for a parameter takes no part until it has a value, and
// nobody keeps the memory of a session for it.
func TestWhenSet(t *testing.T) {
	for _, c := range []struct {
		name   string
		given  map[string]any
		normal any // the default
		in     bool
	}{
		{"default zero", nil, json.Number("0"), false},
		{"default", nil, json.Number("3"), true},
		{"number", map[string]any{"most": json.Number("3")}, json.Number("0"), true},
		{"zero", map[string]any{"most": json.Number("0.0")}, json.Number("3"), false},
		{"null", map[string]any{"most": nil}, json.Number("3"), false},
		{"list", map[string]any{"most": []any{"a"}}, []any{}, true},
		{"empty list", nil, []any{}, false},
		{"empty object", nil, map[string]any{}, false},
		{"text", map[string]any{"most": "a"}, "", true},
		{"empty text", nil, "", false},
		{"no", nil, false, false},
		{"yes", nil, true, true},
		{"other", map[string]any{"other": json.Number("3")}, json.Number("0"), false},
	} {
		h := &hook.Hook{
			ID: "acme.a", Kind: hook.Rego, Scope: hook.Session, Authority: hook.User, Source: "user", Events: []hook.Name{hook.PreToolUse},
			Params: map[string]hook.Param{"most": {Default: c.normal}, "other": {Default: json.Number("0")}}, WhenSet: []string{"most"}, Session: true,
		}
		src := Source{Name: "user", Scope: hook.Session, Authority: hook.User, Hooks: []*hook.Hook{h}}
		if c.given != nil {
			src.Params = map[string]map[string]any{"acme.a": c.given}
		}
		set, err := New([]Source{src}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if in := len(set.For(hook.PreToolUse)) > 0; in != c.in || set.Memory() != c.in || (set.Policies()[0].Inactive == "") != c.in {
			t.Errorf("%s: it takes part: %v; the memory is needed: %v; inactive: %q", c.name, in, set.Memory(), set.Policies()[0].Inactive)
		}
	}
}
