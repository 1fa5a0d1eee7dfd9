package main

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
func compareTests(old, now *release) []releaseChange {
	var out []releaseChange
	for _, name := range slices.Sorted(maps.Keys(merged(old.tests, now.tests))) {
		a, b := old.tests[name], now.tests[name]
		d := releaseChange{Kind: "test", Name: name, Change: "changed", Direction: neutral, At: name}
		switch {
		case a == nil:
			d.Change, d.Detail = "added", counted(testRules(b), "test")
		case b == nil:
			d.Change, d.Detail = "removed", counted(testRules(a), "test")
		case a.String() == b.String():
			continue
		default:
			d.Detail = fmt.Sprintf("%s → %s", counted(testRules(a), "test"), counted(testRules(b), "test"))
		}
		if testRules(b) < testRules(a) {
			d.Direction = unclear
		}
		out = append(out, d)
	}
	return out
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
