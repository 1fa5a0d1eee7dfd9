package build_test

import (
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/plan/build"
	"gate/scopes"
)

// source makes a source of policies, each a package acme.p0, acme.p1 …
func source(authority hook.Authority, texts ...string) scopes.Source {
	s := scopes.Source{Name: "source", Scope: hook.Session, Authority: authority}
	for i, text := range texts {
		pkg := "acme.p" + string(rune('0'+i))
		file := pkg + ".rego"
		s.Modules = append(s.Modules, scopes.Module{File: file, Package: pkg, Text: "package " + pkg + "\n\n" + text + "\n"})
		s.Hooks = append(s.Hooks, &hook.Hook{
			ID: pkg, Kind: hook.Rego, Source: s.Name, Scope: s.Scope, Authority: authority,
			File: file, Line: 1, Events: []hook.Name{hook.PreToolUse},
		})
	}
	return s
}

// TestLeft has policies that a plan cannot hold: the others are in it all the
// same.
func TestLeft(t *testing.T) {
	for name, c := range map[string]struct{ text, why string }{
		"no plan for a builtin": {`deny contains "x" if yaml.unmarshal(input.a) == 1`, "it calls yaml.unmarshal"},
		"in a helper":           {"deny contains \"x\" if h == 1\n\nh := yaml.unmarshal(input.a)", "it calls yaml.unmarshal"},
		"behind a path":         {"deny contains \"x\" if data.acme.p1.lib[input.a] == 1\n\nlib.g := 2\n\nlib.h := yaml.unmarshal(input.a)", "it calls yaml.unmarshal"},
		"does not compile":      {`deny contains "x" if no_such(input.a)`, "undefined function"},
		"does not parse":        {`deny contains "x" if`, "unexpected eof"},
		"has no rule":           {`h := 1`, "none of the rules"},
		"order of a set":        {"deny contains x if x := concat(\" \", [w | some w in {input.a, \"a\"}])", "written with variables"},
		"order of a set in a variable": {
			"deny contains x if {\n\ty := input.a\n\ts := {y, \"a\"}\n\tx := concat(\" \", [w | some w in s])\n}", "written with variables",
		},
		"order of keys": {"deny contains x if {\n\ty := input.a\n\tx := concat(\" \", [w | some w, _ in {y: 1, \"a\": 2}])\n}", "written with variables"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := build.Policies(nil, source(hook.Managed, `deny contains "y" if input.b`, c.text, `deny contains "z" if input.c in {"a", input.b}`))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Left) != 1 || !strings.Contains(r.Left["acme.p1"], c.why) || r.Section == nil {
				t.Errorf("left %v, %d bytes", r.Left, len(r.Section))
			}
		})
	}
}

// TestNothingToPlan has sources of which nothing is left.
func TestNothingToPlan(t *testing.T) {
	for _, s := range []scopes.Source{source(hook.User), source(hook.User, "h := 1"), source(hook.User, "deny contains \"x\" if", "deny contains \"x\" if no_such(1)")} {
		r, err := build.Policies(nil, s)
		if err != nil || r.Section != nil || len(r.Left) != len(s.Hooks) {
			t.Errorf("%+v %v", r, err)
		}
	}
}

// TestReproducible holds that the same source makes the same bytes.
func TestReproducible(t *testing.T) {
	s := source(hook.User, "deny contains x if some x in input.a", "warn contains sprintf(\"%d\", [x]) if some x in [1, 2.50]\n\nask contains \"y\" if data.acme.p0.deny[input.b]")
	first := ""
	for range 5 {
		r, err := build.Policies(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(r.Section)
		}
		if string(r.Section) != first {
			t.Fatal("other bytes")
		}
	}
}
