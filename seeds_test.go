package gate_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSeeds holds that each row of docs/seeds.md names tests that there are.
func TestSeeds(t *testing.T) {
	page, err := os.ReadFile("docs/seeds.md")
	if err != nil {
		t.Fatal(err)
	}
	section, rows, proofs := "", map[string]int{}, 0
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(page)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(name)
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "| feature" {
			continue
		}
		rows[section]++
		if section == "Open" {
			continue
		}
		found := quoted.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 2 || len(found) == 0 {
			t.Errorf("a row without a test: %s", line)
		}
		for _, m := range found {
			proofs++
			if why := unproven(t, m[1]); why != "" {
				t.Errorf("%s: %s: %s", strings.TrimPrefix(cells[0], "| "), m[1], why)
			}
		}
	}
	if len(rows) < 5 || proofs < 100 {
		t.Errorf("only %d proofs in %v", proofs, rows)
	}
}

var proof = regexp.MustCompile(`^(script) (\w+)$|^([a-z/]+):(test_\w+)$|^([a-z/]+)\.((?:Test|Example)\w*)(?:/(.+))?$`)

// unproven says why a test that the page names is none, "" if it is one.
func unproven(t *testing.T, ref string) string {
	t.Helper()
	m := proof.FindStringSubmatch(ref)
	switch {
	case m == nil:
		return "neither script NAME, nor DIR:test_name, nor DIR.TestName/case"
	case m[1] != "":
		if _, err := os.Stat("cmd/internal/commands/testdata/script/" + m[2] + ".txtar"); err != nil {
			return "there is no such script"
		}
	case m[3] != "":
		if !anyFile(t, m[3], "*_test.rego", func(text, _ string) bool { return strings.Contains(text, "\n"+m[4]+" if") }) {
			return "there is no such Rego test"
		}
	default:
		if !anyFile(t, m[5], "*_test.go", func(text, _ string) bool { return strings.Contains(text, "\nfunc "+m[6]+"(") }) {
			return "there is no such test"
		}
		if m[7] != "" && !isCase(t, m[5], m[7]) {
			return "the test has no such case"
		}
	}
	return ""
}

// isCase reports a case of a test in a directory: a file that is called so, a
// heading in a file of cases, or a text in the tests.
func isCase(t *testing.T, dir, name string) bool {
	file, heading, within := strings.Cut(name, "/")
	heads := func(text, heading string) bool { return strings.Contains("\n"+text, "\n== "+heading+"\n") }
	return anyFile(t, dir+"/testdata", "*.txt*", func(text, at string) bool {
		stem := strings.TrimSuffix(path.Base(at), path.Ext(at))
		return stem == name || within && stem == file && heads(text, heading) || !within && heads(text, name)
	}) || anyFile(t, dir, "*_test.go", func(text, _ string) bool { return strings.Contains(text, `"`+name+`"`) })
}

// anyFile looks at the files of a package's directory, or at all below one with
// testdata.
func anyFile(t *testing.T, dir, pattern string, is func(text, name string) bool) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != filepath.FromSlash(dir) && path.Base(dir) != "testdata":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if ok, _ := filepath.Match(pattern, e.Name()); !ok {
			return nil
		}
		text, err := os.ReadFile(name)
		if found = found || is(string(text), filepath.ToSlash(name)); found {
			return fs.SkipAll
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
	return found
}
