package verdict

import (
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/plan/value"
)

// FuzzEdits reads members of modify: what comes out is whole, or the call is
// rejected.
func FuzzEdits(f *testing.F) {
	for _, edit := range []string{
		`{"span": [0, 3], "text": "x"}`, `{"command": 1, "program": "x"}`, `{"command": 1, "env": {"A": "1", "B": null}}`,
		`{"command": 2, "options": {"force": true, "x": "y", "z": null}}`, `{"command": 3, "operands": {"add": ["a"], "remove": ["b"]}}`,
		`{"command": 0, "program": "x"}`, `{"command": 1, "options": {"-f": 1}}`, `{"command": 1e9, "operands": []}`,
	} {
		f.Add(edit)
	}
	f.Fuzz(func(t *testing.T, edit string) {
		member, err := value.ParseJSON(`{"reason": "x", "edits": [` + edit + `]}`)
		if err != nil {
			return
		}
		r := NewReader(&hook.Hook{ID: "acme.x"}, hook.PreToolUse)
		r.Rule(Modify, "x.rego:1", value.NewSet(member))
		v, fault := r.Answer()
		switch {
		case fault != nil && (v.Effect() != hook.Deny || len(v.Rewrites) > 0):
			t.Fatalf("%s: %v beside %v", edit, v, fault)
		case fault == nil && (len(v.Rewrites) != 1 || len(v.Rewrites[0].Edits) == 0):
			t.Fatalf("%s: %v", edit, v)
		case fault != nil:
			return
		}
		for _, e := range v.Rewrites[0].Edits {
			if c := e.Command; c != nil {
				checkEdit(t, c)
			}
		}
	})
}

func checkEdit(t *testing.T, c *hook.CommandEdit) {
	t.Helper()
	if c.Command < 1 {
		t.Errorf("there is no command %d", c.Command)
	}
	for name, v := range c.Options {
		if text, isText := v.(string); name == "" || strings.HasPrefix(name, "-") || v != nil && v != true && (!isText || text == "") {
			t.Errorf("option %q: %v", name, v)
		}
	}
	for _, text := range append(c.Add, c.Remove...) {
		if text == "" {
			t.Errorf("an operand is empty: %v", c)
		}
	}
}
