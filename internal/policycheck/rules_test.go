package policycheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/policies"
)

// TestRules holds the list of rules to what the checks find, and the table of
// docs/checking.md to the list.
func TestRules(t *testing.T) {
	var ids []string
	var table strings.Builder
	table.WriteString("| rule | example | instead |\n|---|---|---|\n")
	for _, r := range policycheck.Rules() {
		ids = append(ids, r.ID)
		if len(r.Cases) == 0 || !strings.HasSuffix(r.Says, ".") || strings.Contains(r.Says, "\n") {
			t.Errorf("rule %s says %q and has %d cases", r.ID, r.Says, len(r.Cases))
		}
		for _, c := range r.Cases {
			fmt.Fprintf(&table, "| `%s` | %s | %s |\n", r.ID, c.Wrong, c.Instead)
		}
	}
	found := map[string]bool{}
	for _, f := range allFindings(t) {
		found[f.Rule] = true
		if !slices.Contains(ids, f.Rule) {
			t.Errorf("no rule is called %s: %s", f.Rule, f)
		}
	}
	for _, id := range ids {
		if !found[id] {
			t.Errorf("nothing in testdata is found by %s", id)
		}
	}

	const page, begin, end = "../../docs/checking.md", "<!-- rules -->\n", "<!-- end of rules -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the table")
	}
	want := before + begin + table.String() + end + after
	switch {
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Error("the table is not what rules.md says: go test ./internal/policycheck -run TestRules -update")
	}
}

// allFindings are those of all files of testdata.
func allFindings(t *testing.T) (list []policycheck.Finding) {
	t.Helper()
	eachFile(t, func(_ fstest.MapFS, found []policycheck.Finding) { list = append(list, found...) })
	return list
}

// eachFile calls do with the policies in each file of testdata and what is found.
func eachFile(t *testing.T, do func(fstest.MapFS, []policycheck.Finding)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files in testdata (%v)", len(files), err)
	}
	lib, _ := load.Lib(policies.FS())
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{}
		for _, f := range ar.Files[:len(ar.Files)-1] {
			fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
		}
		report, err := policycheck.Check(policycheck.Options{Files: fsys, Lib: lib, Place: strings.Contains(string(ar.Comment), "#place")})
		if err != nil {
			t.Fatal(err)
		}
		do(fsys, report.Findings)
	}
}

// TestColumns holds that a column is a place on the line, counted in characters.
func TestColumns(t *testing.T) {
	with := 0
	eachFile(t, func(fsys fstest.MapFS, found []policycheck.Finding) {
		for _, f := range found {
			if f.Column == 0 {
				continue
			}
			with++
			lines := strings.Split(string(fsys[f.File].Data), "\n")
			if line := []rune(lines[f.Line-1]); f.Column > len(line) || line[f.Column-1] == ' ' {
				t.Errorf("%s: column %d of %q", f, f.Column, string(line))
			}
		}
	})
	if with < 50 {
		t.Errorf("only %d findings have a column", with)
	}

	const line = `deny contains "äöü𝄞" if contains(input.tool_input.commnd, "x")`
	lib, _ := load.Lib(policies.FS())
	report, err := policycheck.Check(policycheck.Options{Lib: lib, Files: fstest.MapFS{"a.rego": &fstest.MapFile{Data: []byte(
		"# METADATA\n# title: a\n# description: b\n# custom:\n#   gate:\n#     events: [PreToolUse]\n#     matcher: Bash\npackage acme.a\n\n" + line + "\n")}}})
	if err != nil || len(report.Findings) != 1 {
		t.Fatal(err, report.Findings)
	}
	if got, want := report.Findings[0].Column, len([]rune(line[:strings.Index(line, "input.")]))+1; got != want {
		t.Errorf("column %d, not %d", got, want)
	}
}
