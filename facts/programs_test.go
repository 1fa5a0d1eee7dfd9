package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/facts/catalogue"
	"gate/hook"
	"gate/strictjson"
)

// TestPrograms adds rows for programs of somebody's own.
func TestPrograms(t *testing.T) {
	rows := map[string]any{}
	for name, text := range map[string]string{
		"acme":        `{"verbs": true}`,
		"acme deploy": `{"options": "-e,--environment=text --key=use -n,--dry-run", "operands": ["text"], "effects": [{"kind": "acme.deploy", "environment": "$opt:environment", "if": ["!has:dry-run"]}]}`,
		"acme wipe":   `{"operands": ["delete*"]}`,
		"in-venv":     `{"stop": true, "operands": ["text", "command*"]}`,
	} {
		entry, err := strictjson.Object([]byte(text), strictjson.Limits{})
		if err == nil {
			err = catalogue.Check(name, entry)
		}
		if err != nil {
			t.Fatal(err)
		}
		rows[name] = entry
	}
	r := New(World{Home: "/home/dev", Project: "/p", Programs: rows})
	for line, want := range map[string]string{
		"acme deploy -e prod web":             "[acme.deploy]",
		"acme deploy --dry-run web":           "[]",
		"sudo acme deploy -e prod web":        "[acme.deploy]",
		"acme wipe /var/data":                 "[fs.delete]",
		"in-venv 3.12 rm -rf /":               "[fs.delete]",
		"acme deploy ~/.ssh/id_rsa":           "[acme.deploy secret.read]",
		"acme deploy --key ~/.ssh/id_rsa web": "[acme.deploy secret.read]",
		"other deploy":                        "[]",
	} {
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "cwd": "/p",
		}}
		var kinds []string
		for _, e := range r.Of(&ev).Effects {
			if !slices.Contains(kinds, e.Kind) {
				kinds = append(kinds, e.Kind)
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
	files, err := filepath.Glob("catalogue/*.rows")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	c, found := catalogue.New(nil), 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			names, _, _ := strings.Cut(line, " {")
			if row, ok := c.Lookup(strings.TrimSpace(strings.Split(names, ",")[0])); ok && row.Special != "" {
				found++
				if special(row.Special) == nil {
					t.Errorf("%s: %s: no function %q", file, row.Name, row.Special)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d rows with a function", found)
	}
}
