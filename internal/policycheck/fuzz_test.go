package policycheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/policies"
)

// FuzzCheck gives the checks whatever text: they end, and every finding has a
// message and a line of the file.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range ar.Files {
			if strings.HasSuffix(part.Name, ".rego") {
				f.Add(string(part.Data))
			}
		}
	}
	lib, _ := load.Lib(policies.FS())
	f.Fuzz(func(t *testing.T, text string) {
		report, err := policycheck.Check(policycheck.Options{Files: oneFile(text), Lib: lib})
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for _, x := range report.Findings {
			if x.Message == "" || x.Rule == "" || x.Line < 0 || x.Line > lines+1 {
				t.Errorf("%+v in %d lines", x, lines)
			}
		}
	})
}

func oneFile(text string) fstest.MapFS {
	return fstest.MapFS{"a.rego": &fstest.MapFile{Data: []byte(text), Mode: 0o644}}
}

// mention finds a field by its name, as policies mention it.
var mention = regexp.MustCompile(`(?:\.|lib\.(?:is|could_be|text|texts|matches|unknown)\([\w.]+, ")(tool_input|prompt|effects|commands|program|words|value|kind|access|context|branches|path|resolved|verb|host|command|area|packages|tool|image)\b`)

// TestMisspelt drops a letter of the last field that each of the examples
// mentions, and holds that the check finds it in its line.
func TestMisspelt(t *testing.T) {
	lib, _ := load.Lib(policies.FS())
	files, err := filepath.Glob("../../examples/*/*/*.rego")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d examples (%v)", len(files), err)
	}
	tried, missed := 0, 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		start := strings.Index(text, "\npackage ")
		at := 0
		for _, m := range mention.FindAllStringSubmatchIndex(text[start:], -1) {
			if !strings.HasSuffix(text[:start+m[0]], "lib") { // a function, no field
				at = start + m[3]
			}
		}
		if at == 0 {
			continue
		}
		tried++
		report, err := policycheck.Check(policycheck.Options{Files: oneFile(text[:at-1] + text[at:]), Lib: lib})
		if err != nil {
			t.Fatal(err)
		}
		line, found := strings.Count(text[:at], "\n")+1, false
		for _, x := range report.Findings {
			found = found || x.Line == line && x.Rule == "field"
		}
		if !found {
			missed++
			t.Logf("%s:%d: not found: %s", file, line, strings.Split(text, "\n")[line-1])
		}
	}
	if tried < 20 || missed > 0 {
		t.Errorf("of %d misspelt fields %d were missed", tried, missed)
	}
}
