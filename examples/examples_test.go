// Package examples_test runs every example as its users would: the Rego tests
// and the event cases beside each policy.
package examples_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/policies"
	"gate/scopes"
)

// patience is for machines that do other things as well.
const patience = 10 * time.Minute

// suite holds the examples as a person's own policies.
func suite(t *testing.T) *policytest.Suite {
	t.Helper()
	lib, faults := load.Lib(policies.FS())
	for i := range faults {
		t.Fatal(&faults[i])
	}
	s, err := policytest.Prepare(policytest.Options{
		Files: os.DirFS("."), Lib: lib, Timeout: patience,
		Source: scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestExamples runs the Rego tests and the event cases.
func TestExamples(t *testing.T) {
	results, err := suite(t).Run(context.Background(), policytest.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[policytest.Kind]int{}
	for _, r := range results {
		kinds[r.Kind]++
		if !r.Passed() {
			t.Errorf("%s:%d: %s: %s %v", r.File, r.Line, r.Name, r.Message, r.Err)
		}
	}
	if kinds[policytest.RegoTest] < 100 || kinds[policytest.EventCase] < 40 {
		t.Errorf("only %v were run", kinds)
	}
}

// TestCheck holds that gate check finds nothing in the examples.
func TestCheck(t *testing.T) {
	lib, _ := load.Lib(policies.FS())
	report, err := policycheck.Check(policycheck.Options{Files: os.DirFS("."), Lib: lib})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Error(f)
	}
	if len(report.Policies) < 28 {
		t.Errorf("only %d policies were checked", len(report.Policies))
	}
}

// maxLines is how long a company's rule may be and still be an example, not
// counting METADATA, comments and empty lines.
const maxLines = 19

// TestForm holds every Rego file to the form of opa fmt, and every policy to
// being short and having a title, a description and tests of what it lets
// through.
func TestForm(t *testing.T) {
	policies := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".rego" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		want, err := format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
		if err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s is not formatted as opa fmt does: %v", name, err)
		}
		if strings.HasSuffix(name, "_test.rego") {
			return nil
		}
		policies++
		if n := lines(string(text)); n > maxLines {
			t.Errorf("%s has %d lines of Rego, at most %d", name, n, maxLines)
		}
		for _, key := range []string{"# title: ", "# description: "} {
			if !strings.Contains(string(text), "\n"+key) {
				t.Errorf("%s has no %s", name, strings.Trim(key, "# "))
			}
		}
		if !testsPassing(name, len(rulesOf(string(text))) == 0) {
			t.Errorf("%s: no test of what it lets through", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if policies < 28 {
		t.Errorf("only %d policies", policies)
	}
}

// testsPassing reports that a test beside a policy is about what it lets through. A policy
// that is a schema has event cases only.
func testsPassing(name string, schema bool) bool {
	suffix, marks := "_test.rego", []string{") == 0 with", "== set()"}
	if schema {
		suffix, marks = policytest.CasesSuffix, []string{"expect: pass"}
	}
	tests, err := os.ReadFile(strings.TrimSuffix(name, ".rego") + suffix)
	return err == nil && slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(string(tests), mark) })
}

func lines(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			n++
		}
	}
	return n
}
