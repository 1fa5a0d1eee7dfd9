package adapters

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gate/internal/moment"
)

// TestInputTables holds the tables of docs/rego.md that say which fields an
// event and a tool's input have to the tables of this package. With -update it
// writes them.
func TestInputTables(t *testing.T) {
	var rows, inputs strings.Builder
	rows.WriteString("| event | fields besides the common ones | matcher is on | modify rewrites | a fault rejects |\n|---|---|---|---|---|\n")
	fmt.Fprintf(&rows, "| all | %s | | | |\n", fieldList(moment.CommonFields()))
	closes := [...]string{moment.ClosesAlways: "yes", moment.ClosesForHooks: "of a hook", moment.ClosesNever: ""}
	for _, m := range moment.Every() {
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s | %s |\n", m.Name, fieldList(m.Fields), code(m.Matches), code(m.Rewrites), closes[m.Closes])
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

func fieldList(fields []moment.Field) string {
	var list []string
	for _, f := range fields {
		kind := [...]string{
			moment.Text: "text", moment.Number: "number", moment.Boolean: "bool", moment.Object: "object", moment.List: "list", moment.Texts: "list", moment.Anything: "any",
		}[f.Type]
		switch f.Need {
		case moment.Maybe, moment.Sent:
			kind += "?"
		case moment.OrNull:
			kind += "? or null"
		}
		list = append(list, fmt.Sprintf("`%s` %s", f.Name, kind))
	}
	return strings.Join(list, ", ")
}

func code(name string) string {
	if name == "" {
		return ""
	}
	return "`" + name + "`"
}
