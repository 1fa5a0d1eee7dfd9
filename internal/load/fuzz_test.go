package load_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

const (
	sampleJSON = `{"version": 1, "policies": {"gate.git": "warn"}, "params": {"a.b": {"c": [1, "x", {"d": null}]}},
 "exceptions": [{"policy": "a.b", "if": ["Bash(git push origin dev:*)"], "project": "/w", "until": "2027-01-31", "owner": "o", "reason": "r"}],
 "approvals": {"enabled": true, "minutes": 5, "keyRequired": false}, "hooks": {"PreToolUse": [{"matcher": "Bash", "command": "x"}]}}`
	sampleTOML = "log = true\n[policies]\n\"gate.git\" = \"warn\"\n[[exceptions]]\npolicy = \"a.b\"\nif = \"Bash(git push origin dev:*)\"\n" +
		"project = \"/w\"\nuntil = 2027-01-31\nowner = \"o\"\nreason = \"\"\"\nr\"\"\"\n[[hooks.PreToolUse]]\ncommand = 'x'\nargs = [\"b\"]\n"
	sampleYAML = "log: true\npolicies: {gate.git: warn}\nexceptions:\n  - policy: a.b\n    if: Bash(git push origin dev:*)\n    project: /w\n" +
		"    until: 2027-01-31\n    owner: o\n    reason: |\n      r\nhooks:\n  PreToolUse:\n    - {command: x}\n"
)

// readable holds what is true of every settings file: it is read whole or not
// at all, mistakes say where they are, and what was read can be weighed.
func readable(t *testing.T, name, text string) {
	c := load.Settings(fstest.MapFS{name: {Data: []byte(text)}}, "etc", hook.Managed)
	if c.Source != nil {
		for _, f := range c.Source.Faults {
			if !strings.HasPrefix(f.Error(), "etc/"+name) {
				t.Fatalf("no position: %q", f.Error())
			}
		}
		if len(c.Source.Faults) > 0 && len(c.Layers)+len(c.Source.Hooks) > 0 {
			t.Fatalf("half a file counts: %v", c.Source.Faults)
		}
	}
	faults := c.Source != nil && len(c.Source.Faults) > 0
	if !faults && len(c.Layers) != 1 {
		t.Fatalf("neither read nor refused")
	}
	settings, err := setting.Combine(c.Layers...)
	if err != nil {
		t.Fatalf("what was read cannot be weighed: %v", err)
	}
	set, err := scopes.New(nil, settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.Explain() {
		if err := strictjson.Check(r.Value); err != nil {
			t.Fatalf("%s: %v", r.Key, err)
		}
	}
}

func fuzzSettings(f *testing.F, name, sample string) {
	f.Add(sample)
	for i := 0; i < len(sample); i += 11 {
		f.Add(sample[:i])
	}
	f.Fuzz(func(t *testing.T, text string) {
		readable(t, name, text)
		out, err := load.Edit(name, []byte(text), hook.User, "deny", "policies", "a.b")
		if err == nil {
			readable(t, name, string(out))
		}
	})
}

func FuzzSettingsJSON(f *testing.F) { fuzzSettings(f, "settings.json", sampleJSON) }
func FuzzSettingsTOML(f *testing.F) { fuzzSettings(f, "settings.toml", sampleTOML) }
func FuzzSettingsYAML(f *testing.F) { fuzzSettings(f, "settings.yaml", sampleYAML) }

func FuzzManifest(f *testing.F) {
	f.Add(`{"name": "fmt", "gate": {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "x"}]}]}}}`)
	f.Add(`{"name": "fmt", "gate": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		src := load.Plugin(fstest.MapFS{"plugin.json": {Data: []byte(text)}, "hooks/hooks.json": {Data: []byte(text)}}, "fmt", false, true)
		standsBelow(t, src, hook.Plugin, hook.PluginAuthor)
	})
}

func FuzzFrontmatter(f *testing.F) {
	f.Add("---\nname: x\ngate:\n  hooks:\n    Stop: [{command: x}]\n---\ntext")
	f.Add("---\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		skill := scopes.Source{Name: "skill:s", Scope: hook.Skill, Authority: hook.SkillAuthor}
		standsBelow(t, load.Skill("SKILL.md", []byte(text), skill, false), hook.Skill, hook.SkillAuthor)
		standsBelow(t, load.Agent("SKILL.md", []byte(text), skill, true), hook.Skill, hook.SkillAuthor)
		if head, err := load.Frontmatter("SKILL.md", []byte(text), true); err == nil && head.Text != "" {
			whole, part := load.Skill("SKILL.md", []byte(text), skill, true), load.Skill("SKILL.md", []byte(head.Text), skill, true)
			if describeAll(whole) != describeAll(part) {
				t.Errorf("%q\nhas other hooks than its head\n%q", text, head.Text)
			}
		}
	})
}

func FuzzHooks(f *testing.F) {
	f.Add("[[hooks]]\nevents = [\"Stop\"]\nif = \"Bash(x)\"\nurl = \"y\"\ntimeout = 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		src := load.Dir(fstest.MapFS{"hooks.toml": {Data: []byte(text)}}, scopes.Source{Name: "p", Scope: hook.Session, Authority: hook.Project})
		standsBelow(t, src, hook.Session, hook.Project)
	})
}

// standsBelow holds that no file gives its hooks more than its place.
func standsBelow(t *testing.T, src scopes.Source, s hook.Scope, a hook.Authority) {
	t.Helper()
	if src.Scope != s || src.Authority != a || src.Library || src.Trusted || src.Params != nil {
		t.Fatalf("the source became %+v", src)
	}
	for _, h := range src.Hooks {
		if h.Scope != s || h.Authority != a || h.Library || h.Source != src.Name || len(h.Events) == 0 || h.Kind == "" || h.Kind == hook.Inline {
			t.Fatalf("hook %+v", h)
		}
	}
	if _, err := scopes.New([]scopes.Source{src}, scopes.Settings{}); err != nil {
		t.Fatal(err)
	}
}

// Without the last good content, a file that is cut off must at least not say
// more than the whole one: no exception is wider, no approval easier.
func TestCutOffLoosensNothing(t *testing.T) {
	for name, text := range map[string]string{
		"settings.json": sampleJSON, "settings.toml": sampleTOML, "settings.yaml": sampleYAML,
		"settings.yml": "approvals:\n  enabled: true\n  minutes: 5\n  keyRequired: true\n  keys: [a]\n",
	} {
		read := func(text string) (scopes.Layer, bool) {
			c := load.Settings(fstest.MapFS{name: {Data: []byte(text)}}, "etc", hook.Managed)
			if len(c.Layers) == 0 {
				return scopes.Layer{}, false
			}
			return c.Layers[0], true
		}
		whole, ok := read(text)
		if !ok {
			t.Fatalf("%s is refused", name)
		}
		for i := range len(text) - 1 {
			cut, ok := read(text[:i])
			if !ok {
				continue
			}
			if strings.HasSuffix(name, ".json") {
				t.Errorf("%s cut off at %d is read", name, i)
			}
			if a, b := cut.Approvals, whole.Approvals; a != nil && (a.KeyRequired != b.KeyRequired || a.Minutes > b.Minutes) {
				t.Errorf("%s cut off at %d: approvals %+v", name, i, a)
			}
			for j, e := range cut.Exceptions {
				w := whole.Exceptions[j]
				if e.Policy != w.Policy || e.Project != w.Project || e.Until.After(w.Until) || len(e.If) > len(w.If) || e.If[0] != w.If[0] {
					t.Errorf("%s cut off at %d: exception %+v", name, i, e)
				}
			}
		}
	}
}
