package build_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/test/cases"

	"gate/internal/plan/build"
)

var update = flag.Bool("update", false, "write conformance.txt anew")

// A published case is one of OPA's module, in a version of Rego.
type published struct {
	cases.TestCase
	version ast.RegoVersion
}

// allPublished returns the cases for both versions of Rego. Many are the same
// ones; those of the old one have some builtins and forms more.
func allPublished(t *testing.T) []published {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	if err != nil {
		t.Fatalf("where OPA's module lies: %v", err)
	}
	var all []published
	for _, version := range []ast.RegoVersion{ast.RegoV0, ast.RegoV1} {
		set, err := cases.Load(filepath.Join(strings.TrimSpace(string(out)), "v1/test/cases/testdata", version.String()))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Sorted().Cases {
			all = append(all, published{c, version})
		}
	}
	return all
}

// apart are cases whose answer comes from OPA's storage, which a plan does not
// have; there it is an error.
var apart = map[string]string{
	"baseandvirtualdocs/base/virtual: conflicts": "a base document hides a rule",
}

// A group is what became of the cases in one of OPA's directories.
type group struct {
	passed  int
	skipped map[string]int // by reason
}

// TestConformance holds the list of what passes and what is left to OPA, by
// OPA's groups. No case that compiles to a plan may fail.
func TestConformance(t *testing.T) {
	groups := map[string]*group{}
	for _, c := range allPublished(t) {
		name := c.version.String() + "/" + filepath.Base(filepath.Dir(c.Filename))
		g := groups[name]
		if g == nil {
			g = &group{skipped: map[string]int{}}
			groups[name] = g
		}
		for k, v := range c.Env {
			t.Setenv(k, v)
		}
		if why := skip(t, c); why != "" {
			g.skipped[why]++
		} else {
			g.passed++
		}
	}
	got := report(groups)
	if *update {
		if err := os.WriteFile("conformance.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("conformance.txt is out of date; go test ./internal/plan/conformance -update\n%s", got)
	}
}

// skip runs a case and returns why it is left to OPA, "" if a plan answers it.
func skip(t *testing.T, c published) string {
	ours, err := compile(c)
	if lack, ok := errors.AsType[*build.LackError](err); ok {
		return lack.Builtin
	}
	opas, failed := prepare(c)
	switch {
	case failed != nil || wanted(c.TestCase, opas.answer(t.Context(), c.StrictError)) != "":
		return "OPA itself needs its own test's set-up"
	case err != nil && strings.Contains(err.Error(), "rego_recursion_error"):
		return "the query reads all of data, and so the rule that it became"
	case err != nil:
		t.Errorf("%s %s: %v", c.version, c.Note, err)
		return ""
	}
	answer := ours.answer(c.StrictError)
	if answer.code == unsure {
		return "a plan finds while it runs that only OPA can answer"
	}
	diff := wanted(c.TestCase, answer)
	if why := apart[c.Note]; why != "" {
		if diff == "" {
			t.Errorf("%s passes: it is no longer apart", c.Note)
		}
		return why
	}
	if diff != "" {
		t.Errorf("%s %s: %s", c.version, c.Note, diff)
	}
	for _, strict := range []bool{false, true} {
		if a, b := ours.answer(strict), opas.answer(t.Context(), strict); a.code != unsure && !a.same(b) {
			t.Errorf("%s %s (strict %v): %v, OPA's is %v", c.version, c.Note, strict, a, b)
		}
	}
	return ""
}

func report(groups map[string]*group) string {
	passed, skipped := 0, 0
	reasons := map[string]int{}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		passed += g.passed
		fmt.Fprintf(&lines, "%-43s %4d", name, g.passed)
		for i, why := range slices.Sorted(maps.Keys(g.skipped)) {
			n := g.skipped[why]
			skipped += n
			reasons[why] += n
			lead := "  left to OPA:"
			if i > 0 {
				lead = ";"
			}
			fmt.Fprintf(&lines, "%s %d %s", lead, n, why)
		}
		lines.WriteByte('\n')
	}
	var out strings.Builder
	out.WriteString("# OPA's published cases through compiled plans. Made by\n# go test ./internal/plan/conformance -update\n\n")
	fmt.Fprintf(&out, "passed %d\nleft to OPA %d\nfailed 0\n\n# Left to OPA, by the builtin that a plan lacks or by the reason.\n", passed, skipped)
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&out, "%4d %s\n", reasons[why], why)
	}
	return out.String() + "\n# Passed, by group.\n" + lines.String()
}
