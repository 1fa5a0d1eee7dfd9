package mutate_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/rogpeppe/go-internal/txtar"

	"gate/internal/policytest/mutate"
)

var update = flag.Bool("update", false, "write testdata anew")

func parse(t testing.TB, name, text string) *ast.Module {
	t.Helper()
	m, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMutants runs testdata/mutants/*.txtar: a module, and its mutants with the
// lines that each changes once both are written by OPA.
func TestMutants(t *testing.T) {
	eachCase(t, "testdata/mutants/*.txtar", "mutants", func(t *testing.T, archive *txtar.Archive) string {
		return mutants(t, string(archive.Files[0].Data))
	})
}

// eachCase compares what a test makes of archives with the file of a name in
// them. With -update it writes that.
func eachCase(t *testing.T, pattern, name string, test func(t *testing.T, archive *txtar.Archive) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := test(t, archive)
			at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
			if at < 0 {
				t.Fatalf("%s has no file %s", file, name)
			}
			if *update {
				archive.Files[at].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[at].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func mutants(t *testing.T, text string) string {
	m := parse(t, "p.rego", text)
	original := written(t, m)
	var b strings.Builder
	for mutant := range mutate.Of(m) {
		fmt.Fprintf(&b, "%d:%d %s: %s\n", mutant.Line, mutant.Column, mutant.Text, mutant.Change)
		changed := written(t, mutant.Module)
		if changed == original {
			t.Errorf("%d:%d %s: %s: nothing changed", mutant.Line, mutant.Column, mutant.Text, mutant.Change)
		}
		b.WriteString(difference(original, changed))
	}
	if now := written(t, m); now != original {
		t.Fatalf("the module itself was changed:\n%s", now)
	}
	return b.String()
}

func written(t *testing.T, m *ast.Module) string {
	t.Helper()
	text, err := format.AstWithOpts(m.Copy(), format.Opts{RegoVersion: ast.RegoV1, IgnoreLocations: true})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// difference shows the lines between the first and the last that differ.
func difference(a, b string) string {
	old, now := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	var out bytes.Buffer
	for _, line := range old {
		fmt.Fprintf(&out, "\t- %s\n", strings.TrimSpace(line))
	}
	for _, line := range now {
		fmt.Fprintf(&out, "\t+ %s\n", strings.TrimSpace(line))
	}
	return out.String()
}
