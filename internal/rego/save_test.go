package rego_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// saved makes the saved form of all policies of a source.
func saved(t testing.TB, lib []scopes.Module, s scopes.Source) rego.Option {
	t.Helper()
	var pkgs []string
	for _, h := range s.Hooks {
		pkgs = append(pkgs, h.ID)
	}
	data, err := rego.Save(lib, s, pkgs)
	if err != nil {
		t.Fatal(err)
	}
	return rego.WithSaved(map[string]string{s.Name: string(data)})
}

// sayingSaved is saying without the text of the source.
func sayingSaved(t testing.TB, lib []scopes.Module, s scopes.Source, ev *hook.Event) string {
	t.Helper()
	form := saved(t, lib, s)
	s.Modules = nil
	return saying(nil, s, ev, form)
}

func userSource(text string) scopes.Source {
	s := scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}
	s.Modules = []scopes.Module{module("p.rego", text)}
	s.Hooks = []*hook.Hook{newHook(&s, s.Modules[0])}
	return s
}

// unusable reports that a policy was not asked, for want of its text.
func unusable(a engine.Answer) bool { return a.Fault != nil && errors.Is(a.Fault, rego.ErrSaved) }

// TestSaved holds that policies say the same when their text is not there, if
// they can be compiled, and nothing else.
func TestSaved(t *testing.T) {
	s, _ := snapshotOf(t, everyForm, formsHelper)
	for _, line := range []string{"rm -r 'x' b c", "ls", ""} {
		ev := bash(line)
		if got, want := sayingSaved(t, nil, s, ev), saying(nil, s, ev); got != want {
			t.Errorf("%q saved:\n%s\nfrom the text:\n%s", line, got, want)
		}
	}

	both := userSource("package acme.p\n\ndeny contains \"no\" if input.tool_name == \"Bash\"\n")
	both.Modules = append(both.Modules, module("q.rego", "package acme.q\n\ndeny contains \"no\" if nothing(1)\n"))
	both.Hooks = append(both.Hooks, newHook(&both, both.Modules[1]))
	form := saved(t, nil, both)
	both.Modules = nil
	answers := rego.New(nil, []scopes.Source{both}, form).Evaluate(context.Background(), both.Hooks[:1], bash("ls"))
	if len(answers[0].Verdict.Reasons) != 1 || answers[0].Fault != nil {
		t.Errorf("%+v", answers[0])
	}
	answers = rego.New(nil, []scopes.Source{both}, form).Evaluate(context.Background(), both.Hooks[1:], bash("ls"))
	if !unusable(answers[0]) {
		t.Errorf("a policy that does not compile: %+v", answers[0])
	}
	if data, err := rego.Save(nil, userSource("package acme.q\n\ndeny contains \"no\" if nothing(1)\n"), []string{"acme.q"}); data != nil || err != nil {
		t.Errorf("%d bytes of nothing, %v", len(data), err)
	}
}

// TestSavedGrants holds that a saved form calls nothing that its source may not
// call, whoever wrote it.
func TestSavedGrants(t *testing.T) {
	text := "package acme.p\n\ndeny contains \"no\" if yaml.is_valid(input.tool_input.command)\n"
	managed := userSource(text)
	managed.Authority, managed.Scope = hook.Managed, hook.Policy
	for _, h := range managed.Hooks {
		h.Authority, h.Scope = hook.Managed, hook.Policy
	}
	if got := sayingSaved(t, nil, managed, bash("ls")); !strings.Contains(got, "no") {
		t.Errorf("managed: %s", got)
	}
	data, err := rego.Save(nil, managed, []string{"acme.p"})
	if err != nil {
		t.Fatal(err)
	}
	user := userSource(text)
	for what, form := range map[string]string{"as it is": string(data), "forged": rego.Forge(string(data))} {
		e := rego.New(nil, []scopes.Source{user}, rego.WithSaved(map[string]string{"user": form}))
		if a := e.Evaluate(context.Background(), user.Hooks, bash("ls"))[0]; !unusable(a) {
			t.Errorf("what was saved for the administrator, %s: %+v", what, a)
		}
	}
}

// TestSavedDamaged changes and cuts a saved form everywhere: the policy says what
// it says, or nothing.
func TestSavedDamaged(t *testing.T) {
	s := userSource("package acme.p\n\ndeny contains \"no\" if input.tool_name == \"Bash\"\n")
	ev := bash("ls")
	want := saying(nil, s, ev)
	data, err := rego.Save(nil, s, []string{"acme.p"})
	if err != nil {
		t.Fatal(err)
	}
	s.Modules = nil
	for i := range data {
		changed := append([]byte(nil), data...)
		changed[i] ^= 1 << (i % 8)
		for _, damaged := range []string{string(changed), string(data[:i])} {
			e := rego.New(nil, []scopes.Source{s}, rego.WithSaved(map[string]string{s.Name: damaged}))
			answers := e.Evaluate(context.Background(), s.Hooks, ev)
			if !unusable(answers[0]) && render(s.Hooks, answers) != want {
				t.Fatalf("damaged at byte %d: %+v", i, answers[0])
			}
		}
	}
}
