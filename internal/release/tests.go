package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// testSuffix ends the names of the files that a machine runs before it puts a
// bundle in force.
const testSuffix = "_test.rego"

// compareTests compares the tests that a bundle brings. They decide about no
// call; but a test that is gone holds nothing any more.
func compareTests(old, now *Release) []Difference {
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(merged(old.tests, now.tests))) {
		a, b := old.tests[name], now.tests[name]
		d := Difference{Kind: "test", Name: name, Change: "changed", Direction: Neutral, At: name}
		switch {
		case a == nil:
			d.Change, d.Detail = "added", counted(b)
		case b == nil:
			d.Change, d.Detail = "removed", counted(a)
		case a.String() == b.String():
			continue
		default:
			d.Detail = fmt.Sprintf("%s → %s", counted(a), counted(b))
		}
		if testRules(b) < testRules(a) {
			d.Direction = Unclear
		}
		out = append(out, d)
	}
	return out
}

// counted says how many tests a module has.
func counted(m *ast.Module) string {
	if n := testRules(m); n != 1 {
		return fmt.Sprintf("%d tests", n)
	}
	return "1 test"
}

// testRules counts the tests of a module, none of nil.
func testRules(m *ast.Module) int {
	names := map[string]bool{}
	if m != nil {
		for _, r := range m.Rules {
			if name := r.Head.Ref()[0].Value.String(); strings.HasPrefix(strings.Trim(name, `"`), "test_") {
				names[name] = true
			}
		}
	}
	return len(names)
}
