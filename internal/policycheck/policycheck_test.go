package policycheck_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/policies"
	"gate/scopes"
)

var update = flag.Bool("update", false, "write what the checks find into the files")

// TestFindings checks the policies in each file of testdata and compares what
// is found with the section findings. A file named clean_… has none.
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files in testdata (%v)", len(files), err)
	}
	lib, faults := load.Lib(policies.FS())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			last := len(ar.Files) - 1
			if ar.Files[last].Name != "findings" {
				t.Fatal("the last section is not findings")
			}
			want := &ar.Files[last].Data
			fsys := fstest.MapFS{}
			for _, f := range ar.Files[:last] {
				fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
			}
			got := check(t, fsys, lib, strings.Contains(string(ar.Comment), "#place"))
			switch {
			case *update:
				*want = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			case got != string(*want):
				t.Errorf("found:\n%s\nwant:\n%s", got, *want)
			}
			if strings.HasPrefix(filepath.Base(file), "clean_") && got != "" {
				t.Errorf("these are clean, and the check found:\n%s", got)
			}
		})
	}
}

func check(t *testing.T, fsys fs.FS, lib []scopes.Module, place bool) string {
	t.Helper()
	report, err := policycheck.Check(policycheck.Options{Files: fsys, Lib: lib, Place: place})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range report.Findings {
		b.WriteString(string(f.Severity) + " " + f.Rule + ": " + f.String() + "\n")
	}
	return b.String()
}

// TestExamples holds that the examples are clean.
func TestExamples(t *testing.T) {
	lib, _ := load.Lib(policies.FS())
	if got := check(t, os.DirFS("../../examples"), lib, false); got != "" {
		t.Error(got)
	}
}

// TestLibrary holds that the policies that gate brings are clean.
func TestLibrary(t *testing.T) {
	report, err := policycheck.Check(policycheck.Options{
		Files:  policies.FS(),
		Source: scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Policies) < 20 {
		t.Errorf("only %d policies were checked", len(report.Policies))
	}
	for _, f := range report.Findings {
		t.Errorf("%s %s: %s", f.Severity, f.Rule, f)
	}
}
