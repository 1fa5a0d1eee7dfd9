package scopes_test

import (
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// A later bundle makes nothing weaker where the earlier ones are silent, on
// trial or broken, and so have no layer.
func TestLaterBundleLoosensNothing(t *testing.T) {
	const day = 24 * time.Hour
	library := with("library", hook.Policy, hook.Managed, hook.Rego, "gate.git.push")
	library.Library = true
	for _, h := range library.Hooks {
		h.Library = true
		h.Params = map[string]hook.Param{"branches": {Type: "array", Default: []any{"main"}}}
	}
	company := scopes.Layer{Authority: hook.Managed, File: "company", Bundle: "company", Order: 1}
	team := scopes.Layer{
		Authority: hook.Managed, File: "team", Bundle: "team", Order: 2, DisableAllHooks: ptr(true), Switches: map[setting.Switch]bool{setting.Log: false, setting.Record: false},
		Policies: map[string]scopes.Level{"gate": setting.LevelOff}, Params: map[string]map[string]any{"gate.git.push": {"branches": []any{}}},
		Delegate: []string{"gate"}, Approvals: &setting.Approvals{Enabled: true, Minutes: 60},
		Stale: &setting.Stale{After: 30 * day},
	}
	user := scopes.Layer{Authority: hook.User, File: "user", Policies: map[string]scopes.Level{"gate": setting.LevelOff}}
	delegates := company
	delegates.Delegate = []string{"gate.git"}
	for name, row := range map[string]struct {
		layers []scopes.Layer
		runs   bool
	}{
		"company silent":    {[]scopes.Layer{company, team, user}, true},
		"company off trial": {[]scopes.Layer{team, user}, true},
		"company delegates": {[]scopes.Layer{delegates, team}, false},
	} {
		s, err := setting.Combine(row.layers...)
		if err != nil {
			t.Fatal(err)
		}
		set, err := scopes.New([]scopes.Source{library}, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(set.For(hook.PreToolUse)) > 0; got != row.runs || set.Off() != "" {
			t.Errorf("%s: runs %t, want %t; %s", name, got, row.runs, set.Off())
		}
		if params := set.Sources()[0].Params["gate.git.push"]; (params == nil) != row.runs {
			t.Errorf("%s: params %v", name, params)
		}
		if !s.On(setting.Log) || !s.On(setting.Record) || s.Approvals.Enabled || s.Stale.After != 7*day {
			t.Errorf("%s: %+v", name, s)
		}
	}
	// Stricter than the first it may be.
	company.Policies = map[string]scopes.Level{"gate": setting.LevelOff}
	team.Policies = map[string]scopes.Level{"gate.git": setting.LevelAsk}
	s, err := setting.Combine(company, team)
	if err != nil {
		t.Fatal(err)
	}
	set, err := scopes.New([]scopes.Source{library}, s)
	if err != nil || len(set.For(hook.PreToolUse)) == 0 {
		t.Error("a later bundle cannot tighten", err)
	}
}
