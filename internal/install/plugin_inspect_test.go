package install_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/internal/install"
)

// plug puts gate's plugin of an agent into a directory, with a program if that is wanted.
func plug(t *testing.T, agent, dir string, program bool) {
	t.Helper()
	files, err := install.PluginFiles(agent, false)
	must(t, err)
	for _, f := range files {
		write(t, filepath.Join(dir, f.Path), f.Text)
		if f.Executable {
			must(t, os.Chmod(filepath.Join(dir, f.Path), 0o755))
		}
	}
	if program {
		for _, name := range []string{"gate", "gate-hook"} {
			write(t, filepath.Join(dir, "bin", name), "#!/bin/sh\n")
			must(t, os.Chmod(filepath.Join(dir, "bin", name), 0o755))
		}
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// said is what a status says of an agent: whether it is guarded, the plugin's guard, and
// the findings that are of interest.
func said(m install.Machine, agent string) (guarded bool, plugin *install.Guard, ids string) {
	var list []string
	for _, s := range m.Status().Agents {
		if s.Agent != agent {
			continue
		}
		guarded = s.Guarded
		for _, g := range s.Guards {
			if g.Scope == install.Plugin {
				plugin = &g
			}
		}
		for _, f := range s.Findings {
			if strings.HasPrefix(f.ID, "gate.") || f.ID == "hooks.disabled" {
				list = append(list, fmt.Sprintf("%s %s", f.Severity, f.ID))
			}
		}
	}
	slices.Sort(list)
	return guarded, plugin, strings.Join(list, ", ")
}

// TestClaudePlugin holds what a status says of gate as a plugin of Claude Code, whose
// files are as the client 2.1.329 wrote them.
func TestClaudePlugin(t *testing.T) {
	on, off := `{"enabledPlugins":{"gate@acme":true}}`, `{"enabledPlugins":{"gate@acme":false}}`
	const market = `,"extraKnownMarketplaces":{"acme":{"source":{"source":"github","repo":"x/y"}}}}`
	for _, c := range []struct {
		name                       string
		user, project, managed     string // settings
		entries, bare, live, other bool   // installed entries; no program; a marketplace in the project; of another release
		absent                     bool   // the plugin is not installed
		guarded, inForce           bool
		ids                        string
	}{
		{name: "on", user: on, guarded: true, inForce: true},
		{name: "without a program", user: on, bare: true, guarded: true, inForce: true, ids: "warning gate.plugin_program"},
		{name: "of another release", user: on, other: true, guarded: true, inForce: true, ids: "warning gate.plugin_version, warning gate.plugin_version"},
		{name: "and installed", user: on, entries: true, guarded: true, inForce: true, ids: "warning gate.twice"},
		{name: "off, and installed", user: off, entries: true, guarded: true, ids: "notice gate.plugin_off"},
		{name: "off", user: off, ids: "error gate.plugin_off"},
		{name: "off by the project", user: on, project: off, ids: "error gate.plugin_off"},
		{name: "on by the project", project: on, guarded: true, inForce: true, ids: "warning gate.project_only"},
		{name: "on by both", user: on, project: on, guarded: true, inForce: true},
		{name: "from where the project says", user: on, project: on[:len(on)-1] + market, guarded: true, inForce: true, ids: "warning gate.plugin_project"},
		{name: "read from the project", user: on, live: true, inForce: true, ids: "error gate.program, error gate.program, warning gate.plugin_project"},
		{name: "not installed", user: on, absent: true, ids: "error gate.missing, error gate.plugin_missing"},
		{name: "hooks off", user: on[:len(on)-1] + `,"disableAllHooks":true}`, ids: "error hooks.disabled"},
		{name: "hooks off by the project", user: on, project: `{"disableAllHooks":true}`, ids: "error hooks.disabled, warning hooks.disabled"},
		{name: "hooks off, and forced", user: `{"disableAllHooks":true}`, managed: on, guarded: true, inForce: true},
		{name: "managed hooks only", user: on, managed: `{"allowManagedHooksOnly":true}`, ids: "notice gate.overruled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t)
			dir := filepath.Join(m.Home, ".claude", "plugins")
			at := filepath.Join(dir, "cache", "acme", "gate", "1")
			source := map[string]any{"source": "github"}
			if c.live {
				at = filepath.Join(m.Project, "market", "gate")
				source = map[string]any{"source": "directory", "path": filepath.Join(m.Project, "market")}
				write(t, filepath.Join(m.Project, "market", ".claude-plugin", "marketplace.json"), `{"plugins":[{"name":"gate","source":"./gate"}]}`)
			}
			if !c.absent {
				plug(t, "claude", at, !c.bare)
				write(t, filepath.Join(dir, "installed_plugins.json"), asJSON(map[string]any{"version": 2, "plugins": map[string]any{"gate@acme": []any{map[string]any{"scope": "user", "installPath": at}}}}))
				write(t, filepath.Join(dir, "known_marketplaces.json"), asJSON(map[string]any{"acme": map[string]any{"source": source}}))
			}
			if c.other {
				for _, name := range []string{"gate-hook", "hooks/hooks.json"} {
					name = filepath.Join(at, name)
					must(t, os.WriteFile(name, []byte(read(t, name)+"\n"), 0o755))
				}
			}
			for path, text := range map[string]string{
				filepath.Join(m.Home, ".claude", "settings.json"):                              c.user,
				filepath.Join(m.Project, ".claude", "settings.json"):                           c.project,
				filepath.Join(m.Root, "etc", "claude-code", "managed-settings.d", "00-x.json"): c.managed,
			} {
				if text != "" {
					write(t, path, text)
				}
			}
			if c.entries {
				plan, err := m.Install(install.Request{Agent: "claude", Scope: install.User})
				must(t, err)
				must(t, plan.Apply())
			}
			guarded, g, ids := said(m, "claude")
			if guarded != c.guarded || ids != c.ids || (g != nil && g.InForce) != c.inForce {
				t.Errorf("guarded %v, %+v, %s; want %v, in force %v, %s", guarded, g, ids, c.guarded, c.inForce, c.ids)
			}
			if c.inForce && g.Launcher == c.other {
				t.Errorf("the launcher is this gate's: %v", g.Launcher)
			}
			if gone := m.Gone("claude", install.Plugin); (gone == "") != (c.inForce || c.entries) {
				t.Errorf("a change of settings to these: %q", gone)
			}
			for root, gone := range map[string]bool{at: !c.inForce && !c.entries, filepath.Join(m.Root, "opt", "plugin"): false} {
				m.PluginRoot = root
				if why := m.Gone("claude", install.Plugin); (why != "") != gone {
					t.Errorf("a change of settings to these, the plugin in %s: %q", root, why)
				}
			}
			if scopes, err := m.Standing("claude"); err != nil || slices.Contains(scopes, install.Plugin) {
				t.Errorf("to be uninstalled: %v %v", scopes, err)
			}
		})
	}
}

// TestPluginWeakened holds that a plugin whose hooks let calls run guards nothing.
func TestPluginWeakened(t *testing.T) {
	m := machine(t)
	dir := filepath.Join(m.Home, ".claude", "plugins")
	plug(t, "claude", filepath.Join(dir, "x"), true)
	write(t, filepath.Join(dir, "installed_plugins.json"), asJSON(map[string]any{"plugins": map[string]any{"gate@acme": []any{map[string]any{"installPath": filepath.Join(dir, "x")}}}}))
	write(t, filepath.Join(m.Home, ".claude", "settings.json"), `{"enabledPlugins":{"gate@acme":true}}`)
	file := filepath.Join(dir, "x", "hooks", "hooks.json")
	whole := read(t, file)
	for _, edit := range [][2]string{
		{`"matcher": "*"`, `"matcher": "Nothing"`},
		{`"timeout": 70, "onFailure": "block"`, `"timeout": 70`},
		{"${CLAUDE_PLUGIN_ROOT}/gate-hook", "/tmp/gate-hook"},
		{`"PreToolUse":`, `"PostTool":`},
	} {
		write(t, file, strings.ReplaceAll(whole, edit[0], edit[1]))
		guarded, g, ids := said(m, "claude")
		if guarded || g == nil || g.Complete || !strings.Contains(ids, "error gate.events") {
			t.Errorf("%q: guarded %v, %+v, %s", edit, guarded, g, ids)
		}
	}
}

// TestCopilotPlugin holds the same of Copilot CLI 1.0.102.
func TestCopilotPlugin(t *testing.T) {
	for _, c := range []struct {
		name, value string
		directory   bool
		entries     bool
		edit        string // is left out of the hooks file
		guarded     bool
		ids         string
	}{
		{name: "a copy", value: "true", guarded: true},
		{name: "in its marketplace's directory", value: "true", directory: true, guarded: true},
		{name: "off", value: "false", ids: "error gate.plugin_off"},
		{name: "and installed", value: "true", entries: true, guarded: true, ids: "warning gate.twice"},
		{name: "off, and installed", value: "false", entries: true, guarded: true, ids: "notice gate.plugin_off"},
		{name: "weakened", value: "true", edit: "preToolUse", ids: "error gate.events, warning gate.plugin_version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t)
			dir := filepath.Join(m.Home, ".copilot")
			at := filepath.Join(dir, "installed-plugins", "acme", "gate")
			settings := `{"enabledPlugins":{"gate@acme":` + c.value + `}}`
			if c.directory {
				market := filepath.Join(m.Root, "srv", "market")
				at = filepath.Join(market, "gate")
				write(t, filepath.Join(market, ".github", "plugin", "marketplace.json"), `{"plugins":[{"name":"gate","source":"./gate"}]}`)
				write(t, filepath.Join(market, ".claude-plugin", "marketplace.json"), `{"plugins":[{"name":"gate","source":"./other"}]}`)
				settings = strings.TrimSuffix(settings, "}") + `,"extraKnownMarketplaces":{"acme":{"source":{"source":"directory","path":` + asJSON(market) + `}}}}`
			}
			plug(t, "copilot", at, true)
			write(t, filepath.Join(dir, "settings.json"), settings)
			if c.edit != "" {
				file := filepath.Join(at, "hooks.json")
				write(t, file, strings.ReplaceAll(read(t, file), c.edit, "x"))
			}
			if c.entries {
				plan, err := m.Install(install.Request{Agent: "copilot", Scope: install.User})
				must(t, err)
				must(t, plan.Apply())
			}
			guarded, g, ids := said(m, "copilot")
			ids = strings.ReplaceAll(strings.ReplaceAll(ids, ", notice gate.open", ""), "notice gate.open", "")
			ids = strings.TrimPrefix(ids, ", ")
			if g == nil || guarded != c.guarded || ids != c.ids {
				t.Errorf("guarded %v, %+v, %q; want %v, %q", guarded, g, ids, c.guarded, c.ids)
			}
		})
	}
}
