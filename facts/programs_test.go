package facts_test

import (
	"fmt"
	"slices"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/strictjson"
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
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", Programs: rows})
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
