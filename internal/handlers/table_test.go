package handlers

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the tables expect")

// A table is a file of cases in testdata:
//
//	== name
//	key: value
//	means: what a test finds, to the end of the case
type table struct {
	file, head string
	rows       []row
}

// A row is one case.
type row struct {
	name   string
	fields [][2]string // all but what it means, in order
	means  string
}

func readTable(t testing.TB, file string) table {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), "== ")
	tab := table{file: file, head: head}
	seen := map[string]bool{}
	for block := range strings.SplitSeq("\n== "+rest, "\n== ") {
		name, body, _ := strings.Cut(block, "\n")
		if name == "" {
			continue
		}
		if seen[name] {
			t.Errorf("%s: two cases %q", file, name)
		}
		seen[name] = true
		r := row{name: name}
		lines := strings.Split(strings.TrimSpace(body), "\n")
		for i, line := range lines {
			key, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			if key == "means" {
				r.means = strings.TrimPrefix(strings.Join(lines[i:], "\n")[len("means:"):], " ")
				break
			}
			r.fields = append(r.fields, [2]string{key, value})
		}
		tab.rows = append(tab.rows, r)
	}
	return tab
}

// hold compares what each case means with what it was found to mean, or writes
// that into the table.
func (tab *table) hold(t *testing.T, found []string) {
	t.Helper()
	var out strings.Builder
	out.WriteString(tab.head)
	for i, r := range tab.rows {
		if found[i] != r.means && !*update {
			t.Errorf("%s: got  %s\nwant %s", r.name, found[i], r.means)
		}
		out.WriteString("== " + r.name + "\n")
		for _, f := range r.fields {
			out.WriteString(strings.TrimSuffix(f[0]+": "+f[1], " ") + "\n")
		}
		out.WriteString("means: " + found[i] + "\n")
	}
	if !*update {
		return
	}
	if err := os.WriteFile(tab.file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
