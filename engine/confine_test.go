package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// TestConfineLevel holds whose settings may spare a question by confining the call, and
// that the level does nothing further.
func TestConfineLevel(t *testing.T) {
	at := func(a hook.Authority, name string) scopes.Layer {
		return scopes.Layer{Authority: a, File: "s", Policies: map[string]scopes.Level{name + ".policy": setting.LevelConfine}}
	}
	managed, user := source("managed", hook.Policy, hook.Managed), source("user", hook.Session, hook.User)
	project := source("project", hook.Session, hook.Project)
	project.Trusted = true
	for _, c := range []struct {
		name    string
		layers  []scopes.Layer
		sources []scopes.Source
		says    map[string]hook.Effect
		event   hook.Event
		want    string // effect, and the profile
		reason  string // part of it
	}{
		{"managed", []scopes.Layer{at(hook.Managed, "managed")}, []scopes.Source{managed}, map[string]hook.Effect{"managed.policy": hook.Ask}, call("make"), "allow project", "r; it runs confined by the profile project"},
		{"user", []scopes.Layer{at(hook.User, "user")}, []scopes.Source{user}, map[string]hook.Effect{"user.policy": hook.Ask}, call("make"), "allow project", "r; it runs confined"},
		{"project", []scopes.Layer{at(hook.Project, "project")}, []scopes.Source{managed, project}, map[string]hook.Effect{"project.policy": hook.Ask}, call("make"), "ask", "r"},
		{"denied", []scopes.Layer{at(hook.Managed, "managed")}, []scopes.Source{managed}, map[string]hook.Effect{"managed.policy": hook.Deny}, call("make"), "ask", "r"},
		{"others ask", []scopes.Layer{at(hook.User, "user")}, []scopes.Source{managed, user}, map[string]hook.Effect{"managed.policy": hook.Ask, "user.policy": hook.Ask}, call("make"), "ask project", "r\nonce approved it runs confined by the profile project: make"},
		{"others deny", []scopes.Layer{at(hook.Managed, "managed")}, []scopes.Source{managed, user}, map[string]hook.Effect{"managed.policy": hook.Ask, "user.policy": hook.Deny}, call("make"), "deny", "r"},
		{"cannot", []scopes.Layer{at(hook.Managed, "managed")}, []scopes.Source{managed}, map[string]hook.Effect{"managed.policy": hook.Ask}, call("cd x"), "ask", "r; it cannot run confined: it changes the shell"},
		{"passes", []scopes.Layer{at(hook.Managed, "managed")}, []scopes.Source{managed}, nil, call("make"), "pass", ""},
	} {
		answers := engine.WithEvaluator(hook.Rego, evalFunc(func(_ context.Context, h *hook.Hook, _ *hook.Event) (a engine.Answer) {
			if e, ok := c.says[h.ID]; ok {
				a.Verdict.Reasons = reason(e)
			}
			return a
		}))
		d := newEngine(t, c.sources, combine(t, c.layers...), answers, engine.WithConfiner(jail{})).Decide(t.Context(), c.event)
		got := d.Effect.String()
		if d.Confined != nil {
			got += " " + d.Confined.Profile
		}
		if got != c.want || !strings.HasPrefix(d.Reason(), c.reason) || c.reason == "" && d.Reason() != "" {
			t.Errorf("%s: %s %q, want %s %q", c.name, got, d.Reason(), c.want, c.reason)
		}
		if (d.Confined != nil) != (d.Rewrite != nil) || d.Confined != nil && d.Facts.Confined != d.Confined.Profile || d.Confined == nil && d.Facts.Confined != "" && d.Effect != hook.Deny {
			t.Errorf("%s: rewrite %v, facts say %q", c.name, d.Rewrite, d.Facts.Confined)
		}
	}
}

// TestConfineOtherwise holds that a rule with otherwise: pass asks nobody where the call
// cannot be confined. A call that was allowed for being confined is never allowed without.
// The library's allow is about the call as it came: being confined is no change of that,
// and what another policy makes of it is one.
func TestConfineOtherwise(t *testing.T) {
	user, managed := source("user", hook.Session, hook.User), source("managed", hook.Policy, hook.Managed)
	answers := engine.WithEvaluator(hook.Rego, evalFunc(func(_ context.Context, h *hook.Hook, ev *hook.Event) (a engine.Answer) {
		switch {
		case h.Authority == hook.User:
			a.Verdict.Confine = []hook.Confinement{{Profile: "project", Reason: "r", Spared: true}}
			if ev.Confined != "" {
				a.Verdict.Reasons = reason(hook.Allow)
			}
		case ev.ToolInput()["command"] == "change":
			a.Verdict.Rewrites = []hook.Rewrite{{Reason: "r", Input: map[string]any{"command": "changed"}}}
		}
		return a
	}))
	for _, c := range []struct {
		line    string
		library bool
		want    string
	}{
		{"make", false, "allow project"}, {"cd x", false, "pass"}, {"make full", false, "ask"},
		{"make", true, "allow project"}, {"cd x", true, "pass"}, {"make full", true, "ask"}, {"change", true, "pass project"},
	} {
		user.Library, user.Hooks[0].Library = c.library, c.library
		d := newEngine(t, []scopes.Source{user, managed}, combine(t), answers, engine.WithConfiner(jail{})).Decide(t.Context(), call(c.line))
		got := d.Effect.String()
		if d.Confined != nil {
			got += " " + d.Confined.Profile
		}
		if got != c.want {
			t.Errorf("%+v: %s: %s", c, got, d.Reason())
		}
	}
	d := newEngine(t, []scopes.Source{user}, combine(t), answers).Decide(t.Context(), call("make"))
	if d.Effect != hook.Pass {
		t.Errorf("with nothing that confines: %v %s", d.Effect, d.Reason())
	}
}

// TestCameConfined holds that a call that comes confined stays as it is, and is confined
// again where somebody changes it.
func TestCameConfined(t *testing.T) {
	managed := source("managed", hook.Policy, hook.Managed)
	for line, want := range map[string]string{"make": "pass <nil> project", "change": "pass map[command:run project 7] project"} {
		answers := engine.WithEvaluator(hook.Rego, evalFunc(func(_ context.Context, _ *hook.Hook, ev *hook.Event) (a engine.Answer) {
			a.Verdict.Confine = []hook.Confinement{{Profile: "project", Reason: "r"}}
			if ev.ToolInput()["command"] == "change" {
				a.Verdict.Rewrites = []hook.Rewrite{{Reason: "r", Input: map[string]any{"command": "changed"}}}
			}
			return a
		}))
		ev := call(line)
		ev.Confined = "project"
		d := newEngine(t, []scopes.Source{managed}, combine(t), answers, engine.WithConfiner(jail{})).Decide(t.Context(), ev)
		got := strings.TrimSpace(d.Effect.String() + " " + strings.ReplaceAll(fmt.Sprint(d.Rewrite), "\n", " "))
		if d.Confined != nil {
			got += " " + d.Confined.Profile
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
