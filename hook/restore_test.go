package hook_test

import (
	"testing"

	"gate/hook"
)

// TestFactsOfRefuses spoils a document in every way that a log may. FuzzLine of
// package facts restores whole ones.
func TestFactsOfRefuses(t *testing.T) {
	whole := func() map[string]any { return (&hook.Facts{Shell: &hook.Shell{}}).Document() }
	for name, spoil := range map[string]func(map[string]any){
		"schema":  func(doc map[string]any) { doc["schema"] = 99 },
		"missing": func(doc map[string]any) { delete(doc, "effects") },
		"type":    func(doc map[string]any) { doc["paths"] = "none" },
		"element": func(doc map[string]any) { doc["hosts"] = []any{"example.com"} },
		"command": func(doc map[string]any) {
			doc["shell"].(map[string]any)["commands"] = []any{map[string]any{"id": "one"}}
		},
	} {
		doc := whole()
		if _, err := hook.FactsOf(doc, nil, ""); err != nil {
			t.Fatal(err)
		}
		spoil(doc)
		if _, err := hook.FactsOf(doc, nil, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
