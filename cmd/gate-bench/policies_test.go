package main

import (
	"os"
	"path/filepath"
	"testing"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/rego"
	"gate/scopes"
)

// TestPolicies: what is measured is what gate takes without a word, and as many
// policies as it says.
func TestPolicies(t *testing.T) {
	dir := t.TempDir()
	if err := writePolicies(dir, 12); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "beyond.rego"), []byte(beyond), 0o600); err != nil {
		t.Fatal(err)
	}
	s := load.Rego(os.DirFS(dir), scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed})
	if len(s.Faults) > 0 || len(s.Hooks) != 13 {
		t.Fatalf("%d hooks, faults %v", len(s.Hooks), s.Faults)
	}
	if err := rego.Check(nil, s); err != nil {
		t.Fatal(err)
	}
}

func TestNumbers(t *testing.T) {
	if got, err := numbers("25, 100"); err != nil || len(got) != 2 || got[0] != 25 || got[1] != 100 {
		t.Errorf("numbers: %v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "0", "-1", "1,,2", "1e9", "1000000"} {
		if got, err := numbers(bad); err == nil {
			t.Errorf("numbers(%q): %v", bad, got)
		}
	}
}

// TestPaired: a round in which the machine was slow does not count against
// anybody.
func TestPaired(t *testing.T) {
	floor := []measure{{wall: 2}, {wall: 20}, {wall: 2}}
	if got := paired([]measure{{wall: 3}, {wall: 30}, {wall: 3}}, floor); got != 1.5 {
		t.Errorf("paired: %v", got)
	}
}
