package serve

import (
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"gate/hook"
)

var update = flag.Bool("update", false, "rewrite what is expected")

// TestMetrics holds the whole text against the file that shows it.
func TestMetrics(t *testing.T) {
	m := newMetrics()
	m.decided(&hook.Decision{Effect: hook.Pass}, 300*time.Microsecond)
	m.decided(&hook.Decision{Effect: hook.Deny, Steps: []hook.Step{{Fault: hook.Faultf(hook.FaultEval, "x")}}}, time.Millisecond)
	m.decided(&hook.Decision{Effect: hook.Deny, Fault: hook.Faultf(hook.FaultLoad, "x")}, 2*time.Second)
	m.decided(nil, 2*time.Minute)
	m.refused("unauthorized")
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	got := m.text(State{
		Err: errors.New("settings contradict each other"), Policies: 120, Reloads: 3, Failures: 1,
		Bundles: []Bundle{{Name: `odd "name"\`, Version: 12, Synced: now.Add(-time.Hour)}, {Name: "never-synced", Version: 1}},
	}, 2, 1, now)
	const file = "testdata/metrics.txt"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got %s", got)
	}
}
