package adapters

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gate/matcher"
)

// TestInputTables holds the tables of docs/rego.md that say which fields an
// event and a tool's input have to the tables of this package. With -update it
// writes them.
func TestInputTables(t *testing.T) {
	var rows, inputs strings.Builder
	rows.WriteString("| event | fields besides the common ones | matcher is on | modify rewrites |\n|---|---|---|---|\n")
	fmt.Fprintf(&rows, "| all | %s | | |\n", fieldList(common))
	for _, e := range events {
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", e.name, fieldList(e.fields), code(matcher.Field(e.name)), code(e.name.Rewrites()))
	}
	inputs.WriteString("| tool | fields of `tool_input` |\n|---|---|\n")
	for _, tool := range tools {
		fmt.Fprintf(&inputs, "| `%s` | %s |\n", tool.name, fieldList(tool.fields))
	}
	checkPage(t, "../docs/rego.md", map[string]string{"events": rows.String() + "\n", "tools": inputs.String() + "\n"})
}

// checkPage holds the tables of a page, which stand between comments with their
// names, to what they should be. With -update it writes them.
func checkPage(t *testing.T, page string, tables map[string]string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	for name, table := range tables {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		head, rest, ok1 := strings.Cut(got, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s has no place for %s", page, name)
		}
		got = head + begin + "\n" + table + end + tail
	}
	if got == string(data) {
		return
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not list what adapters do; run: go test ./adapters -run %s -update", page, t.Name())
}

func fieldList(fields []field) string {
	var list []string
	for _, f := range fields {
		kind := [...]string{"any", "text", "number", "bool", "object", "list"}[f.kind]
		switch f.need {
		case maybe, sent:
			kind += "?"
		case orNull:
			kind += "? or null"
		}
		list = append(list, fmt.Sprintf("`%s` %s", f.name, kind))
	}
	return strings.Join(list, ", ")
}

func code(name string) string {
	if name == "" {
		return ""
	}
	return "`" + name + "`"
}
