package facts

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gate/facts/catalogue"
	"gate/hook"
	"gate/strictjson"

	"gate/facts/flow"
)

// TestPrograms adds rows for programs of somebody's own.
func TestPrograms(t *testing.T) {
	programs, err := strictjson.Object([]byte(`{
		"let wipes": ["wipe", "purge"],
		"let common": "-n,--dry-run --key=use",
		"acme": {"verbs": true},
		"acme deploy": {
			"options": ["<common>", "-e,--environment=text"],
			"operands": ["text"],
			"effects": [{"kind": "acme.deploy", "environment": "$opt:environment", "if": ["!has:dry-run", "!operand:0=<wipes>"]}]
		},
		"acme <wipes>": {"operands": ["delete*"]},
		"in-venv, in-env": {"stop": true, "operands": ["text", "command*"]},
		"acmectl": "acme",
		"kube": "kubectl",
		"say": "echo"
	}`), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := catalogue.Read(programs, func(key string, err error) { t.Errorf("%s: %v", key, err) })
	r := New(World{Home: "/home/dev", Project: "/p", Programs: rows})
	for line, want := range map[string]string{
		"acme deploy -e prod web":             "[acme.deploy]",
		"acme deploy --dry-run web":           "[]",
		"sudo acme deploy -e prod web":        "[acme.deploy]",
		"acme wipe /var/data":                 "[fs.delete]",
		"in-venv 3.12 rm -rf /":               "[fs.delete]",
		"acme deploy ~/.ssh/id_rsa":           "[acme.deploy secret.read]",
		"acme deploy --key ~/.ssh/id_rsa web": "[acme.deploy secret.read]",
		"acme deploy purge":                   "[]",
		"acme purge /var/data":                "[fs.delete]",
		"in-env 3.12 rm -rf /":                "[fs.delete]",
		"acmectl deploy -e prod web":          "[acme.deploy]",
		"acmectl deploy -n web":               "[]",
		"acmectl wipe /var/data":              "[fs.delete]",
		"kube delete ns prod":                 "[kubernetes]",
		"kube exec web -- rm -rf /":           "[fs.delete kubernetes]",
		"say hello":                           "[]",
		"say ~/.ssh/id_rsa":                   "[secret.read]",
		"other deploy":                        "[]",
	} {
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "cwd": "/p",
		}}
		var kinds []string
		for _, e := range r.Of(&ev).Effects {
			if !slices.Contains(kinds, e.Kind()) {
				kinds = append(kinds, e.Kind())
			}
		}
		slices.Sort(kinds)
		if got := fmt.Sprint(kinds); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// TestSpecials holds that package facts has each function that a row names.
func TestSpecials(t *testing.T) {
	data, err := os.ReadFile("catalogue/catalogue.compact")
	if err != nil {
		t.Fatal(err)
	}
	c, found := catalogue.New(nil), 0
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(line, " {")
		name, _, _ = strings.Cut(name, ",")
		if row, ok := c.Lookup(name); ok && row.Special != "" {
			found++
			if find(specials[:], row.Special) == nil {
				t.Errorf("%s: no function %q", row.Name, row.Special)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d rows with a function", found)
	}
}

// TestNamedOrder holds that [find] finds every function.
func TestNamedOrder(t *testing.T) {
	if !slices.IsSortedFunc(specials[:], func(a, b named[func(*use)]) int { return strings.Compare(a.name, b.name) }) {
		t.Error("specials are not in the order of names")
	}
	if !slices.IsSortedFunc(builtins[:], func(a, b named[func(*call) (flow.Stream, bool)]) int { return strings.Compare(a.name, b.name) }) {
		t.Error("builtins are not in the order of names")
	}
}
