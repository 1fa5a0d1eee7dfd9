package scopes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// ranked makes a set of the library, the company's bundle and a team's, each
// with one policy, and the layers that they bring.
func ranked(t *testing.T, layers ...scopes.Layer) *scopes.Set {
	t.Helper()
	policy := func(src scopes.Source, id string) scopes.Source {
		src.Scope, src.Authority = hook.Policy, hook.Managed
		src.Hooks = []*hook.Hook{{
			ID: id, Kind: hook.Rego, Scope: hook.Policy, Authority: hook.Managed, Source: src.Name, Library: src.Library,
			Events: []hook.Name{hook.PreToolUse}, Params: map[string]hook.Param{"n": {Type: "number", Default: 0}},
		}}
		return src
	}
	for i := range layers {
		layers[i].Authority, layers[i].File = hook.Managed, layers[i].Bundle
	}
	settings, err := setting.Combine(layers...)
	if err != nil {
		t.Fatal(err)
	}
	set, err := scopes.New([]scopes.Source{
		policy(scopes.Source{Name: "library", Library: true}, "gate.push"),
		policy(scopes.Source{Name: "managed:company", Order: 1, Bundle: &hook.Bundle{Name: "company"}}, "company.a"),
		policy(scopes.Source{Name: "managed:team", Order: 2, Bundle: &hook.Bundle{Name: "team"}}, "team.b"),
	}, settings)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestLaterBundlesOnlyTighten gives the company's bundle and the team's what they
// say, and asks what is left of the three policies.
func TestLaterBundlesOnlyTighten(t *testing.T) {
	levels := func(pairs ...string) map[string]scopes.Level {
		m := map[string]scopes.Level{}
		for _, p := range pairs {
			key, level, _ := strings.Cut(p, "=")
			m[key] = scopes.Level(level)
		}
		return m
	}
	n := func(policy string, v int) map[string]map[string]any {
		return map[string]map[string]any{policy: {"n": v}}
	}
	yes, no := ptr(true), ptr(false)
	const asWritten = "gate.push= company.a= team.b="
	for name, c := range map[string]struct {
		machine, company, team scopes.Layer
		want                   string
	}{
		"nobody says anything":            {want: asWritten},
		"a team switches the company off": {team: scopes.Layer{Policies: levels("company=off", "company.a=off")}, want: asWritten},
		"a team switches itself off":      {team: scopes.Layer{Policies: levels("team=off")}, want: "gate.push= company.a= team.b=off"},
		"the company tunes a team":        {company: scopes.Layer{Policies: levels("team=record")}, want: "gate.push= company.a= team.b=record"},
		"a team takes that back": {company: scopes.Layer{Policies: levels("team=record")}, team: scopes.Layer{Policies: levels("team.b=off")},
			want: "gate.push= company.a= team.b=record"},
		"a team loosens the library": {company: scopes.Layer{Policies: levels("gate=ask")}, team: scopes.Layer{Policies: levels("gate.push=off")},
			want: "gate.push=ask company.a= team.b="},
		"a team tightens the library": {company: scopes.Layer{Policies: levels("gate.push=warn")}, team: scopes.Layer{Policies: levels("gate=deny")},
			want: "gate.push=deny company.a= team.b="},
		"the first parameter counts": {company: scopes.Layer{Params: n("gate.push", 1)}, team: scopes.Layer{Params: n("gate.push", 2)},
			want: "gate.push=(1) company.a= team.b="},
		"a parameter of the company's":           {team: scopes.Layer{Params: n("company.a", 2)}, want: asWritten},
		"a team switches everything off":         {team: scopes.Layer{DisableAllHooks: yes}, want: asWritten},
		"the company switches everything off":    {company: scopes.Layer{DisableAllHooks: yes}, want: ""},
		"the machine says that it must not":      {machine: scopes.Layer{DisableAllHooks: no}, company: scopes.Layer{DisableAllHooks: yes}, want: asWritten},
		"the machine's own files come before":    {machine: scopes.Layer{Policies: levels("company=off")}, want: "gate.push= company.a=off team.b="},
		"and a bundle may be stricter than they": {machine: scopes.Layer{Policies: levels("gate=off")}, team: scopes.Layer{Policies: levels("gate=warn")}, want: "gate.push=warn company.a= team.b="},
	} {
		c.company.Bundle, c.company.Order = "company", 1
		c.team.Bundle, c.team.Order = "team", 2
		set := ranked(t, c.team, c.machine, c.company)
		var got []string
		for _, row := range set.Policies() {
			if strings.Contains(row.Inactive, "disable") {
				continue
			}
			text := row.ID + "=" + string(row.Level)
			if v, _ := row.Params["n"].(int); v != 0 {
				text += fmt.Sprintf("(%d)", v)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

func TestLabelsAreTheMachinesOwn(t *testing.T) {
	label := func(ring string) map[string]string { return map[string]string{"ring": ring} }
	set := ranked(t, scopes.Layer{Labels: label("slow")}, scopes.Layer{Bundle: "company", Order: 1, Labels: label("canary")})
	if got := set.Settings().Labels["ring"]; got != "slow" {
		t.Errorf("the ring is %q", got)
	}
	for _, row := range set.Explain() {
		if row.Counts != (row.Bundle == "") || !row.Counts && row.Why == "" {
			t.Errorf("%+v", row)
		}
	}
}

func TestStaleOnlyTightens(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		machine, company, team *setting.Stale
		want                   setting.Stale
	}{
		"nobody":       {want: setting.Stale{After: 7 * day, Then: setting.StaleWarn, Expired: setting.StaleWarn, Enrolling: setting.StaleWarn}},
		"a team alone": {team: &setting.Stale{After: 30 * day, Expired: setting.StaleWarn}, want: setting.Stale{After: 7 * day, Then: setting.StaleWarn, Expired: setting.StaleWarn, Enrolling: setting.StaleWarn}},
		"the company":  {company: &setting.Stale{After: 30 * day, Expired: setting.StaleWarn}, want: setting.Stale{After: 30 * day, Then: setting.StaleWarn, Expired: setting.StaleWarn, Enrolling: setting.StaleWarn}},
		"a stricter team": {company: &setting.Stale{After: 30 * day, Expired: setting.StaleWarn}, team: &setting.Stale{After: day, Then: setting.StaleAsk, Expired: setting.StaleClose},
			want: setting.Stale{After: day, Then: setting.StaleAsk, Expired: setting.StaleClose, Enrolling: setting.StaleWarn}},
		"a machine that closes, and the company": {machine: &setting.Stale{Expired: setting.StaleClose, Enrolling: setting.StaleClose}, company: &setting.Stale{Expired: setting.StaleWarn, Enrolling: setting.StaleWarn},
			want: setting.Stale{After: 7 * day, Then: setting.StaleWarn, Expired: setting.StaleClose, Enrolling: setting.StaleClose}},
		"the machine and the company": {machine: &setting.Stale{Then: setting.StaleClose}, company: &setting.Stale{Then: setting.StaleWarn, After: day},
			want: setting.Stale{After: day, Then: setting.StaleClose, Expired: setting.StaleWarn, Enrolling: setting.StaleWarn}},
	} {
		set := ranked(t, scopes.Layer{Stale: c.machine}, scopes.Layer{Bundle: "company", Order: 1, Stale: c.company}, scopes.Layer{Bundle: "team", Order: 2, Stale: c.team})
		if got := set.Settings().Stale; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestBundleOnTrial has no part in what happens, even when it is broken.
func TestBundleOnTrial(t *testing.T) {
	src := scopes.Source{
		Name: "managed:company", Scope: hook.Policy, Authority: hook.Managed, Order: 1, Bundle: &hook.Bundle{Name: "company", Trial: true},
		Hooks: []*hook.Hook{{
			ID: "company.a", Kind: hook.Rego, Scope: hook.Policy, Authority: hook.Managed, Source: "managed:company", Events: []hook.Name{hook.PreToolUse},
		}},
	}
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.For(hook.PreToolUse)[0][0].Level(); got != setting.LevelRecord {
		t.Errorf("its level is %q", got)
	}
	if !set.Empty() {
		t.Error("a bundle on trial is enough to decide by")
	}
	src.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "broken")}
	if src.Closes() || !src.Inactive() {
		t.Error("a broken bundle on trial closes")
	}
}
