package policies_test

import (
	"os"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/policytest"
	"gate/policies"
)

// TestTrusted: what only text from outside names, and a call makes a tool trust, is put to a person.
// Honest neighbours are not held up by a policy of flows.
func TestTrusted(t *testing.T) {
	const file = "testdata/trusted.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := policytest.ParseCases(file, data)
	if err != nil {
		t.Fatal(err)
	}
	_, src := library(t)
	suite, err := policytest.Prepare(policytest.Options{Files: policies.FS(), Source: src, Untested: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.File = "sessions.yaml" // in the library's own directory: all of it decides
		decisions, err := suite.Decide(t.Context(), &c)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		held := ""
		for _, d := range decisions {
			for _, r := range d.Reasons {
				if d.Effect >= hook.Ask && r.ID == "gate.flow.untrusted" {
					held += r.Reason + "; "
				}
			}
		}
		if pass := strings.HasPrefix(c.Name, "pass "); pass != (held == "") {
			t.Errorf("%s: held up by %q", c.Name, held)
		}
	}
}
