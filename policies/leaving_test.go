package policies_test

import (
	"os"
	"testing"

	"gate/hook"
	"gate/internal/policytest"
	"gate/policies"
)

// TestLeaving runs sessions in which data leaves that was read, seen or copied before, and their
// honest neighbours. The name of one that is held up at its last step begins with "ask".
func TestLeaving(t *testing.T) {
	_, src := library(t)
	suite, err := policytest.Prepare(policytest.Options{Files: policies.FS(), Source: src, Untested: true})
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/leaving.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := policytest.ParseCases(file, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.File = "sessions.yaml" // in the library's own directory: all of it decides
		decisions, err := suite.Decide(t.Context(), &c)
		if err != nil || len(decisions) == 0 {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		last := decisions[len(decisions)-1]
		if held := last.Effect >= hook.Ask; held != (c.Name[:3] == "ask") {
			t.Errorf("%s: %v %v", c.Name, last.Effect, last.Reasons)
		}
	}
}
