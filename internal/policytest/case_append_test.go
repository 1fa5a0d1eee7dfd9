package policytest_test

import (
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/policytest"
)

// TestAppendCase adds a case to files as people write them.
func TestAppendCase(t *testing.T) {
	pass := hook.Pass
	added := policytest.Case{
		Name: "new", Event: map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}},
		Expect: policytest.Expectation{Effect: &pass},
	}
	const item = "- name: new\n  bash: ls\n  expect: pass\n"
	deep := "  " + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n  ") + "\n"
	old := "- {name: old, bash: id, expect: pass}\n"
	for name, test := range map[string]struct{ before, after, err string }{
		"at the end":          {"cases:\n" + old, "cases:\n" + old + item, ""},
		"indented":            {"cases:\n  " + old, "cases:\n  " + old + deep, ""},
		"no line feed":        {"cases:\n  " + strings.TrimSuffix(old, "\n"), "cases:\n  " + old + deep, ""},
		"comments":            {"cases:\n" + old + "  # about old\n\n# the end\n", "cases:\n" + old + "  # about old\n" + item + "\n# the end\n", ""},
		"another key behind":  {"cases:\n  " + old + "\n# all\nworld: {head: main}\n", "cases:\n  " + old + deep + "\n# all\nworld: {head: main}\n", ""},
		"another key before":  {"world: {head: main}\ncases:\n" + old, "world: {head: main}\ncases:\n" + old + item, ""},
		"in brackets":         {"cases: [{name: old, bash: id, expect: pass}]\n", "", "stand in brackets"},
		"there already":       {"cases:\n- {name: new, bash: id, expect: pass}\n", "", `line 2: the case "new" is there already`},
		"no cases":            {"world: {head: main}\n", "", "cases must be a list"},
		"not understood":      {"cases:\n- {nmae: old}\n", "", "nmae"},
		"nothing but a blank": {"\n", "", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := policytest.AppendCase("x_cases.yaml", []byte(test.before), added)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %s", err, test.err)
				}
				return
			}
			if err != nil || string(got) != test.after {
				t.Errorf("%v\n%s\nwant:\n%s", err, got, test.after)
			}
		})
	}
}
