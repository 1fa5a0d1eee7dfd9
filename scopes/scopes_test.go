package scopes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/setting"
	"gate/matcher"
	"gate/scopes"
)

// with returns a source whose hooks, given as "id" or "id@priority", listen
// for the usual events.
func with(name string, s hook.Scope, a hook.Authority, kind hook.Kind, ids ...string) scopes.Source {
	src := scopes.Source{Name: name, Scope: s, Authority: a}
	for i, id := range ids {
		h := &hook.Hook{
			ID: id, Kind: kind, Scope: s, Authority: a, Source: name, File: name, Line: i + 1,
			Events: []hook.Name{hook.PreToolUse, hook.PostToolUse, hook.Stop},
		}
		if base, p, ok := strings.Cut(id, "@"); ok {
			h.ID = base
			fmt.Sscan(p, &h.Priority)
		}
		src.Hooks = append(src.Hooks, h)
	}
	return src
}

// order writes the tiers of an event: hooks of one tier joined by "+".
func order(s *scopes.Set, n hook.Name) string {
	var tiers []string
	for _, t := range s.For(n) {
		var ids []string
		for _, b := range t {
			ids = append(ids, b.ID)
		}
		tiers = append(tiers, strings.Join(ids, "+"))
	}
	return strings.Join(tiers, " ")
}

func TestOrder(t *testing.T) {
	sources := []scopes.Source{
		with("z", hook.Policy, hook.Managed, hook.Rego, "z1", "z2", "z3@5"),
		with("a", hook.Policy, hook.Managed, hook.Command, "a1", "a2"),
		with("plugin", hook.Plugin, hook.PluginAuthor, hook.Rego, "p@99"),
		with("user", hook.Session, hook.User, hook.Rego, "u"),
		with("project", hook.Session, hook.Project, hook.Rego, "r", "r2@1"),
		with("local", hook.Session, hook.Local, hook.Command, "l"),
		with("skill", hook.Skill, hook.SkillAuthor, hook.Rego, "s"),
	}
	want := map[hook.Name]string{
		hook.PreToolUse:  "z3 z1+z2 a1 a2 p r2 u r l s",
		hook.PostToolUse: "s r2 u r l p z3 z1+z2 a1 a2",
		hook.Stop:        "z3 z1+z2 a1+a2 p r2 u r l s",
		"Unheard":        "",
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		r.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		set, err := scopes.New(sources, scopes.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for n, w := range want {
			if got := order(set, n); got != w {
				t.Fatalf("%s: got %q, want %q", n, got, w)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	sources := []scopes.Source{
		with("m", hook.Policy, hook.Managed, hook.Rego, "m"),
		with("plugin", hook.Plugin, hook.PluginAuthor, hook.Rego, "p"),
		with("user", hook.Session, hook.User, hook.Rego, "u"),
		with("project", hook.Session, hook.Project, hook.Rego, "r"),
		with("local", hook.Session, hook.Local, hook.Rego, "l"),
		with("skill", hook.Skill, hook.SkillAuthor, hook.Rego, "s"),
	}
	off := func(a ...hook.Authority) scopes.Settings {
		s := scopes.Settings{DisableAllHooks: map[hook.Authority]bool{}}
		for _, a := range a {
			s.DisableAllHooks[a] = true
		}
		return s
	}
	for _, row := range []struct {
		settings   scopes.Settings
		want, says string
	}{
		{scopes.Settings{}, "m p u r l s", ""},
		{scopes.Settings{DisableAllHooks: map[hook.Authority]bool{hook.User: false}}, "m p u r l s", ""},
		{off(hook.Managed), "", "managed settings"},
		{off(hook.User), "m", "user settings"},
		{off(hook.Project), "m p u", "project settings"},
		{off(hook.Local), "m p u", "local settings"},
		{off(hook.User, hook.Project), "m", "user settings"},
		{scopes.Settings{ManagedHooksOnly: true}, "m", ""},
	} {
		set, err := scopes.New(sources, row.settings)
		if err != nil {
			t.Fatal(err)
		}
		if got := order(set, hook.PreToolUse); got != row.want {
			t.Errorf("%+v: %q, want %q", row.settings, got, row.want)
		}
		if got := set.Off(); !strings.HasPrefix(got, row.says) || (got == "") != (row.says == "") {
			t.Errorf("%+v: off %q, want %q", row.settings, got, row.says)
		}
		if set.Empty() {
			t.Errorf("%+v: empty", row.settings)
		}
	}
}

// No lower settings reach a higher source, whatever they are.
func TestSettingsNeverReachUpwards(t *testing.T) {
	sources := []scopes.Source{
		with("m", hook.Policy, hook.Managed, hook.Rego, "m"), with("user", hook.Session, hook.User, hook.Rego, "u"),
	}
	for _, a := range []hook.Authority{hook.Project, hook.Local} {
		set, err := scopes.New(sources, scopes.Settings{DisableAllHooks: map[hook.Authority]bool{a: true}})
		if err != nil || order(set, hook.PreToolUse) != "m u" {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []hook.Authority{hook.PluginAuthor, hook.SkillAuthor, 0, 77} {
		if _, err := scopes.New(sources, scopes.Settings{DisableAllHooks: map[hook.Authority]bool{a: true}}); err == nil {
			t.Errorf("%s has settings", a)
		}
	}
}

func TestNewReportsAll(t *testing.T) {
	_, err := scopes.New([]scopes.Source{
		with("twice", hook.Policy, hook.Managed, hook.Rego), with("twice", hook.Plugin, hook.PluginAuthor, hook.Rego),
		with("", hook.Policy, hook.Managed, hook.Rego), with("zero", 0, 0, hook.Rego),
		with("forged", hook.Policy, hook.Project, hook.Rego), with("climber", hook.Skill, hook.Managed, hook.Rego),
		with("users", hook.Policy, hook.User, hook.Rego),
	}, scopes.Settings{DisableAllHooks: map[hook.Authority]bool{hook.SkillAuthor: false}})
	want := []string{
		`two sources are named "twice"`, "source 3 has no name", `"zero"`, `"forged"`, `"climber"`, `"users"`, "disableAllHooks of skill",
	}
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nwant %q", err, w)
		}
	}
	library := with("library", hook.Policy, hook.User, hook.Rego)
	library.Library = true
	if _, err := scopes.New([]scopes.Source{library}, scopes.Settings{}); err != nil {
		t.Errorf("the library may be the user's: %v", err)
	}
}

// Mistakes inside a source are its own: the rest holds, unless a broken source
// closes.
func TestFaultsOfASource(t *testing.T) {
	spoil := map[string]func(*hook.Hook){
		"bad matcher":      func(h *hook.Hook) { h.Matcher = "(" },
		"bad condition":    func(h *hook.Hook) { h.If = []string{"Bash(x:*)", "Bash(x"} },
		"no id":            func(h *hook.Hook) { h.ID = "" },
		"same id":          func(h *hook.Hook) { h.ID = "b" },
		"claims authority": func(h *hook.Hook) { h.Authority = hook.Managed },
		"claims scope":     func(h *hook.Hook) { h.Scope = hook.Policy },
		"claims library":   func(h *hook.Hook) { h.Library = true },
		"claims source":    func(h *hook.Hook) { h.Source = "managed" },
	}
	for name, f := range spoil {
		plugin := with("plugin", hook.Plugin, hook.PluginAuthor, hook.Rego, "a", "b")
		f(plugin.Hooks[0])
		managed := with("m", hook.Policy, hook.Managed, hook.Rego, "m")
		set, err := scopes.New([]scopes.Source{managed, plugin}, scopes.Settings{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := order(set, hook.PreToolUse); got != "m" {
			t.Errorf("%s: %q runs", name, got)
		}
		if src := set.Sources()[1]; len(src.Faults) == 0 || !src.Inactive() || !strings.Contains(src.Faults[0].Error(), "plugin:") {
			t.Errorf("%s: faults %v", name, src.Faults)
		}
		if len(plugin.Faults) != 0 {
			t.Errorf("%s: the caller's source was changed", name)
		}
	}
}

func TestHandler(t *testing.T) {
	managed := with("m", hook.Policy, hook.Managed, hook.Command, "judge", "shared")
	user := with("user", hook.Session, hook.User, hook.Command, "own", "shared")
	rego := with("project", hook.Session, hook.Project, hook.Rego, "policy")
	set, err := scopes.New([]scopes.Source{managed, user, rego}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ from, id, want string }{
		{"user", "own", "user"}, {"user", "shared", "user"}, {"user", "judge", "m"}, {"project", "shared", "m"},
		{"project", "own", ""}, {"project", "policy", ""}, {"m", "own", ""},
	} {
		for _, src := range set.Sources() {
			if src.Name != row.from {
				continue
			}
			got := ""
			if b := set.Handler(src, row.id); b != nil {
				got = b.Source.Name
			}
			if got != row.want {
				t.Errorf("%s consults %s: handler of %q, want %q", row.from, row.id, got, row.want)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	src := with("m", hook.Policy, hook.Managed, hook.Rego, "m")
	src.Hooks[0].Matcher = "Bash|Read"
	src.Hooks[0].If = []string{"Read(.env)", "mcp__x__*", "Bash"}
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	b := set.For(hook.PreToolUse)[0][0]
	env := "/work/.env"
	read := &hook.Facts{Paths: []hook.Path{{Path: &env, Access: "read"}}}
	for _, row := range []struct {
		tool  any
		facts *hook.Facts
		want  matcher.Truth
	}{
		{"Bash", &hook.Facts{}, matcher.Yes},
		{"Read", &hook.Facts{}, matcher.No},
		{"Read", read, matcher.Yes},
		{"Read", &hook.Facts{Opaque: true}, matcher.Unsure},
		{"mcp__x__y", &hook.Facts{}, matcher.No},
		{nil, read, matcher.Unsure},
	} {
		ev := hook.Event{Name: hook.PreToolUse, Facts: row.facts, Fields: map[string]any{}}
		if row.tool != nil {
			ev.Fields["tool_name"] = row.tool
		}
		if got := b.Match(&ev); got != row.want {
			t.Errorf("%v: %v, want %v", row.tool, got, row.want)
		}
	}
}

func TestLibraryAuthority(t *testing.T) {
	if setting.LibraryAuthority(true) != hook.Managed || setting.LibraryAuthority(false) != hook.User {
		t.Error("the library is managed exactly on machines with managed sources")
	}
}

func BenchmarkNew(b *testing.B) {
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprint("acme.p", i)
	}
	src := with("m", hook.Policy, hook.Managed, hook.Rego, ids...)
	for _, h := range src.Hooks {
		h.Matcher = "Bash|Write"
	}
	for b.Loop() {
		if _, err := scopes.New([]scopes.Source{src}, scopes.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}
