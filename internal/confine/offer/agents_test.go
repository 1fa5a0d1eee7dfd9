package offer

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
)

// refusing is the line of gate install for agents that let a call run where a hook dies.
const refusing = `/bin/sh -c '\"$@\" && [ -s \"$1\" ] || { [ $? = 2 ] || echo gate gave no answer >&2; exit 2; }' gate /PROGRAMS/gate-hook --agent codex`

// TestAgents holds where agents other than Claude Code keep hooks that may put another
// line in the place of the confined one, and that gate's own are none of these.
func TestAgents(t *testing.T) {
	const none, other = "", "another hook in "
	group := func(event, matcher, line string) string {
		return `{"hooks": {"` + event + `": [{"matcher": "` + matcher + `", "hooks": [{"type": "command", "command": "` + line + `"}]}]}}`
	}
	codex := func(line string) string { return group("PreToolUse", ".*", line) }
	table := func(line string) string {
		return "[[hooks.PreToolUse]]\nmatcher = \".*\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"" + line + "\"\n"
	}
	flat := func(line string) string {
		return `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "` + line + `"}]}}`
	}
	turn := func(sandbox string) string {
		return `{"timestamp":"x","type":"turn_context","payload":{"cwd":"/x","sandbox_policy":{"type":"` + sandbox + `"}}}` + "\n"
	}
	const output = `{"type":"response_item","payload":{"output":"{\"type\":\"turn_context\"}","turn_context":{"sandbox_policy":{"type":"x"}}}}` + "\n"
	plugin := string(adapters.OpenCodePlugin([]string{"/PROGRAMS/gate-hook", "--agent", "opencode"}, time.Minute))
	for name, c := range map[string]struct {
		agent string
		files map[string]string
		env   map[string]string
		want  string // part of it
	}{
		"codex: none":             {"codex", nil, nil, none},
		"codex: gate's":           {"codex", map[string]string{"home/.codex/hooks.json": codex(refusing)}, nil, none},
		"codex: gate's, and more": {"codex", map[string]string{"home/.codex/hooks.json": codex(refusing + "; x")}, nil, other},
		"codex: a like shell":     {"codex", map[string]string{"home/.codex/hooks.json": codex(strings.Replace(refusing, "gate gave", "$(x)", 1))}, nil, other},
		"codex: another shell":    {"codex", map[string]string{"home/.codex/hooks.json": codex(strings.Replace(refusing, "&& [", "; [", 1))}, nil, other},
		"codex: another gate":     {"codex", map[string]string{"home/.codex/hooks.json": codex("/tmp/gate-hook --agent codex")}, nil, other},
		"codex: the person's":     {"codex", map[string]string{"home/.codex/hooks.json": codex("x")}, nil, other},
		"codex: elsewhere":        {"codex", map[string]string{"moved/hooks.json": codex("x"), "home/.codex/hooks.json": codex("y")}, map[string]string{"CODEX_HOME": "/ROOT/moved"}, other + "/ROOT/moved"},
		"codex: the project's":    {"codex", map[string]string{"project/.codex/hooks.json": codex("x")}, nil, other},
		"codex: of patches":       {"codex", map[string]string{"project/.codex/hooks.json": group("PreToolUse", "apply_patch|Write", "x")}, nil, none},
		"codex: part of a name":   {"codex", map[string]string{"project/.codex/hooks.json": group("PreToolUse", "Write|exec", "x")}, nil, other},
		"codex: after the call":   {"codex", map[string]string{"project/.codex/hooks.json": group("PostToolUse", ".*", "x")}, nil, none},
		"codex: settings":         {"codex", map[string]string{"project/.codex/config.toml": table("x")}, nil, other},
		"codex: gate's table":     {"codex", map[string]string{"etc/codex/requirements.toml": table("/PROGRAMS/gate-hook")}, nil, none},
		"codex: only managed": {"codex", map[string]string{"etc/codex/requirements.toml": "allow_managed_hooks_only = true\n" + table("/PROGRAMS/gate-hook"),
			"project/.codex/hooks.json": codex("x")}, nil, none},
		"codex: a profile":          {"codex", map[string]string{"home/.codex/config.toml": "[profiles.p]\n" + strings.ReplaceAll(table("x"), "[[hooks", "[[profiles.p.hooks")}, nil, other},
		"codex: a plugin":           {"codex", map[string]string{"home/.codex/config.toml": "[plugins.\"a@b\"]\nenabled = true\n"}, nil, "the plugin a@b"},
		"codex: one that is off":    {"codex", map[string]string{"home/.codex/config.toml": "[plugins.\"a@b\"]\nenabled = false\n"}, nil, none},
		"codex: its sandbox":        {"codex", map[string]string{"t.jsonl": turn("danger-full-access") + turn("workspace-write") + output}, nil, "Codex confines its shell itself (workspace-write)"},
		"codex: without":            {"codex", map[string]string{"t.jsonl": turn("read-only") + turn("danger-full-access") + output}, nil, none},
		"codex: nothing said":       {"codex", map[string]string{"t.jsonl": output}, nil, none},
		"codex: unreadable":         {"codex", map[string]string{"home/.codex/config.toml": "["}, nil, "cannot be read for its hooks"},
		"gemini: gate's":            {"gemini", map[string]string{"home/.gemini/settings.json": group("BeforeTool", "*", refusing)}, nil, none},
		"gemini: the project's":     {"gemini", map[string]string{"project/.gemini/settings.json": group("BeforeTool", "shell", "x")}, nil, other},
		"gemini: the machine's":     {"gemini", map[string]string{"etc/gemini-cli/settings.json": group("BeforeTool", "*", "x")}, nil, other},
		"gemini: named":             {"gemini", map[string]string{"own.json": group("BeforeTool", "*", "x")}, map[string]string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/ROOT/own.json"}, other},
		"gemini: of writes":         {"gemini", map[string]string{"project/.gemini/settings.json": group("BeforeTool", "write_file", "x")}, nil, none},
		"gemini: an extension":      {"gemini", map[string]string{"home/.gemini/extensions/a/hooks/hooks.json": group("BeforeTool", "*", "x")}, nil, other},
		"gemini: a quiet one":       {"gemini", map[string]string{"home/.gemini/extensions/a/gemini-extension.json": `{"name": "a"}`}, nil, none},
		"gemini: a linked one":      {"gemini", map[string]string{"home/.gemini/extensions/a/.gemini-extension-install.json": `{"type": "link", "source": "/x"}`}, nil, "the extension"},
		"copilot: gate's":           {"copilot", map[string]string{"home/.copilot/hooks/gate.json": flat("/PROGRAMS/gate-hook --agent copilot --event preToolUse")}, nil, none},
		"copilot: gate's plugin":    {"copilot", map[string]string{"home/.copilot/settings.json": `{"enabledPlugins": {"gate@m": true}}`}, nil, none},
		"copilot: its own settings": {"copilot", map[string]string{"home/.copilot/config.json": "// This file is managed automatically.\n{\"trustedFolders\": []}"}, nil, none},
		"copilot: hooks in them":    {"copilot", map[string]string{"home/.copilot/config.json": "// This file is managed automatically.\n" + flat("x")}, nil, other},
		"copilot: another":          {"copilot", map[string]string{"home/.copilot/settings.json": `{"enabledPlugins": {"x@m": true}}`}, nil, "the plugin x@m"},
		"copilot: the project's":    {"copilot", map[string]string{"project/.github/hooks/x.json": flat("x")}, nil, other},
		"copilot: Claude's layout":  {"copilot", map[string]string{"project/.github/hooks/x.json": group("PreToolUse", "*", "x")}, nil, other},
		"copilot: the machine's":    {"copilot", map[string]string{"etc/github-copilot/policy.d/x.json": flat("x")}, nil, other},
		"opencode: gate's":          {"opencode", map[string]string{"home/.config/opencode/plugin/gate.js": plugin}, nil, none},
		"opencode: changed":         {"opencode", map[string]string{"home/.config/opencode/plugin/gate.js": plugin + "x()"}, nil, "the plugin "},
		"opencode: another":         {"opencode", map[string]string{"project/.opencode/plugins/x.ts": "x"}, nil, "the plugin "},
		"opencode: a package":       {"opencode", map[string]string{"project/opencode.json": `{"plugin": ["x"]}`}, nil, "the plugins of "},
		"opencode: settings":        {"opencode", map[string]string{"project/opencode.json": `{"plugin": [], "theme": "x"}`}, nil, none},
		"opencode: a variable":      {"opencode", nil, map[string]string{"OPENCODE_CONFIG_CONTENT": "{}"}, "OPENCODE_CONFIG_CONTENT"},
		"qwen":                      {"qwen", nil, nil, "gate does not know the other hooks of qwen"},
	} {
		dir := t.TempDir()
		put := strings.NewReplacer("/PROGRAMS", dir+"/bin", "/ROOT", dir)
		files := map[string]string{"bin/gate-hook": "", "project/sub/x": ""}
		maps.Copy(files, c.files)
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(put.Replace(text)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m := Machine{Root: dir, Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Launcher: filepath.Join(dir, "bin", "gate-run")}
		m.LookupEnv = func(key string) (string, bool) { value, ok := c.env[key]; return put.Replace(value), ok }
		ev := &hook.Event{Agent: c.agent, Native: map[string]any{"toolName": "bash"}, Fields: map[string]any{"tool_name": "Bash", "cwd": filepath.Join(dir, "project", "sub"), "transcript_path": filepath.Join(dir, "t.jsonl")}}
		if got, want := m.others(ev), put.Replace(c.want); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	ev := &hook.Event{Agent: "copilot", Native: map[string]any{"tool_name": "Bash"}}
	if got := (Machine{}).others(ev); !strings.Contains(got, "takes no other line") {
		t.Errorf("copilot in Claude Code's dialect: %q", got)
	}
}
