package examples_test

import (
	"context"
	"testing"

	"gate/internal/policytest"
	"gate/internal/policytest/attack"
)

// TestAttack disguises a call of each example that holds calls back: none passes,
// and none that is only mentioned is held back.
func TestAttack(t *testing.T) {
	s := suite(t)
	if _, err := s.Run(context.Background(), policytest.Selection{}); err != nil {
		t.Fatal(err)
	}
	report, err := attack.Run(context.Background(), s, attack.Options{Most: 1})
	if err != nil {
		t.Fatal(err)
	}
	attacked := 0
	for _, one := range report.Results {
		if one.Tried > 0 {
			attacked++
		}
		for _, a := range one.Passed {
			t.Errorf("%s: passes: %s (%s)", one.ID, a.Call, a.At)
		}
		for _, a := range one.Alarms {
			t.Errorf("%s: only mentioned: %s (%s)", one.ID, a.Call, a.At)
		}
	}
	if attacked < 20 {
		t.Errorf("only %d examples hold a call back", attacked)
	}
}
