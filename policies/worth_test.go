package policies_test

import (
	"context"
	"testing"

	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/policytest/mutate"
	"gate/policies"
	"gate/scopes"
)

func suite(t *testing.T) *policytest.Suite {
	t.Helper()
	s, err := policytest.Prepare(policytest.Options{
		Files:  policies.FS(),
		Source: scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true},
		Facts:  factsIn,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The least that tests of the library may be worth, in percent.
const (
	minCoverage = 95
	minNoticed  = 90
)

func TestCoverage(t *testing.T) {
	results, coverage, err := suite(t).Cover(context.Background(), policytest.Selection{})
	if err != nil || len(results) == 0 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, f := range coverage.Files {
		for _, lines := range f.Missing {
			t.Logf("%s:%d-%d: no test evaluates this", f.File, lines.First, lines.Last)
		}
	}
	if got := coverage.Percent(); got < minCoverage {
		t.Errorf("tests evaluate %.1f %% of the lines, of %d files; at least %d %%", got, len(coverage.Files), minCoverage)
	}
}

// TestMutation changes some policies, and holds that their tests notice. For
// all of them, run go run ./cmd/gate test --mutate --mutate-threshold 90 policies,
// as .ci/run does.
func TestMutation(t *testing.T) {
	files := []string{
		"gate/git/push/push.rego", "gate/kubernetes/change/change.rego", "gate/secrets/read/read.rego",
	}
	report, err := mutate.Run(context.Background(), suite(t), mutate.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range report.Survivors {
		t.Logf("%s\n%s", m, m.Advice())
	}
	for _, s := range report.Policies {
		if s.Killed+s.Survived < 10 || s.Percent() < minNoticed {
			t.Errorf("%s: tests notice %d of %d changes; at least %d %%", s.File, s.Killed, s.Killed+s.Survived, minNoticed)
		}
	}
}
