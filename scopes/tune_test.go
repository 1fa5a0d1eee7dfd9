package scopes_test

import (
	"math/rand/v2"
	"testing"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// TestLibraryOff holds that settings which switch off the library in one word
// switch off each of its policies, whatever else they say.
func TestLibraryOff(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	keys := []string{"gate", "gate", "gate.git", "gate.git.push", "acme", "gateway.git"}
	levels := []scopes.Level{setting.LevelOff, setting.LevelOff, setting.LevelWarn, setting.LevelDeny}
	authorities := []hook.Authority{hook.Managed, hook.User, hook.Project, hook.Local}
	whole := 0
	for range 40_000 {
		layers := make([]scopes.Layer, 1+r.IntN(3))
		for i := range layers {
			l := &layers[i]
			l.Authority, l.Order, l.Policies = authorities[r.IntN(4)], r.IntN(3), map[string]scopes.Level{}
			for range r.IntN(3) {
				l.Policies[keys[r.IntN(len(keys))]] = levels[r.IntN(len(levels))]
			}
			if r.IntN(2) == 0 {
				l.Delegate = []string{keys[r.IntN(len(keys))]}
			}
		}
		managed := r.IntN(2) == 0
		off, err := setting.Off(layers...)
		if err != nil || !setting.LibraryOff(off, managed, layers...) {
			continue
		}
		whole++
		for _, id := range []string{"gate.git.push", "gate.git.tag", "gate.net.fetch"} {
			h := &hook.Hook{ID: id, Kind: hook.Rego, Library: true, Scope: hook.Policy, Authority: setting.LibraryAuthority(managed), Source: "library"}
			if !off(h) {
				t.Fatalf("%s is not off: managed %t, %+v", id, managed, layers)
			}
		}
	}
	if whole < 100 {
		t.Errorf("the library was off %d times: too few to prove anything", whole)
	}
	if off, err := setting.Off(scopes.Layer{Authority: hook.User, Policies: map[string]scopes.Level{"gate": setting.LevelOff}}); err != nil || !setting.LibraryOff(off, false) {
		t.Errorf("off in one word is not: %v", err)
	}
}
