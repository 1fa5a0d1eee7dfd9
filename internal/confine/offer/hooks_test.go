package offer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/hook"
)

// TestOthers holds which hooks of Claude Code beside gate's may put another line in the
// place of the confined one.
func TestOthers(t *testing.T) {
	const programs = "/PROGRAMS/"
	hooks := func(matcher, handler string) string {
		return `{"hooks": {"PreToolUse": [{"matcher": "` + matcher + `", "hooks": [` + handler + `]}]}}`
	}
	gate := `{"type": "command", "command": "` + programs + `gate-hook", "args": ["--agent", "claude"]}`
	head := func(hooks string) string {
		return "---\nname: x\ndescription: about hooks\n" + hooks + "---\n\nhooks:\n"
	}
	pre := "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./x\n"
	for name, c := range map[string]struct {
		file, text string
		agent      string
		want       string // part of it; "" is none
	}{
		"a sub-agent":               {file: "project/.claude/agents/x.md", text: head(pre), want: "hooks at the head of "},
		"the person's sub-agent":    {file: "home/.claude/agents/deep/er/x.md", text: head(pre), want: "hooks at the head of "},
		"a skill":                   {file: "project/.claude/skills/x/SKILL.md", text: head(pre), want: "hooks at the head of "},
		"a skill of a part":         {file: "project/a/b/.claude/skills/x/SKILL.md", text: head(pre), want: "hooks at the head of "},
		"a command":                 {file: "home/.claude/commands/x.md", text: head("\"hooks\": {PreToolUse: [{hooks: [{type: command, command: x}]}]}\n"), want: "hooks at the head of "},
		"another key":               {file: "home/.claude/commands/x.md", text: head("\"h\\x6foks\": {}\n"), want: "hooks at the head of "},
		"behind a mark":             {file: "home/.claude/commands/x.md", text: "\ufeff" + head(pre), want: "hooks at the head of "},
		"without an end":            {file: "home/.claude/commands/x.md", text: "---\n" + pre, want: "cannot be read for its hooks"},
		"of Claude Code in Copilot": {file: "project/.claude/skills/x/SKILL.md", text: head(pre), agent: "copilot", want: "hooks at the head of "},
		"the administrator's skill": {file: "etc/claude-code/.claude/skills/x/SKILL.md", text: head(pre), want: "hooks at the head of "},
		"a skill without":           {file: "project/.claude/skills/x/SKILL.md", text: head("")},
		"a text about hooks":        {file: "project/.claude/skills/x/hooks.md", text: "hooks: are good\n"},
		"where it asks":             {file: "home/.claude/settings.json", text: strings.ReplaceAll(hooks("*", `{"type": "command", "command": "x"}`), "PreToolUse", "PermissionRequest"), want: "another hook in "},

		"none":                 {want: ""},
		"gate's own":           {file: "home/.claude/settings.json", text: hooks("*", gate)},
		"gate as a line":       {file: "home/.claude/settings.json", text: hooks("Bash", `{"type": "command", "command": "`+programs+`gate hook --agent claude"}`)},
		"a quoted line":        {file: "home/.claude/settings.json", text: hooks("", `{"type": "command", "command": "\"`+programs+`gate-hook\" --agent claude"}`)},
		"gate and more":        {file: "home/.claude/settings.json", text: hooks("", `{"type": "command", "command": "`+programs+`gate-hook; x"}`), want: "another hook in "},
		"another gate-hook":    {file: "project/.claude/settings.json", text: hooks("", `{"type": "command", "command": "/tmp/gate-hook"}`), want: "another hook in "},
		"a relative one":       {file: "project/.claude/settings.json", text: hooks("", `{"type": "command", "command": "./gate-hook"}`), want: "another hook in "},
		"the person's":         {file: "home/.claude/settings.json", text: hooks("Bash|Write", `{"type": "command", "command": "x"}`), want: "another hook in "},
		"the project's":        {file: "project/.claude/settings.json", text: hooks("", `{"type": "command", "command": "x"}`), want: "another hook in "},
		"the local one's":      {file: "project/.claude/settings.local.json", text: hooks("Ba.*", `{"type": "http", "url": "x"}`), want: "another hook in "},
		"the administrator's":  {file: "etc/claude-code/managed-settings.json", text: hooks("*", `{"type": "command", "command": "x"}`), want: "another hook in "},
		"a drop-in":            {file: "etc/claude-code/managed-settings.d/10-x.json", text: hooks("*", `{"type": "prompt", "prompt": "x"}`), want: "another hook in "},
		"of another tool":      {file: "project/.claude/settings.json", text: hooks("Write|Edit", `{"type": "command", "command": "x"}`)},
		"after the call":       {file: "project/.claude/settings.json", text: strings.ReplaceAll(hooks("*", `{"type": "command", "command": "x"}`), "Pre", "Post")},
		"unreadable":           {file: "project/.claude/settings.json", text: "{", want: "cannot be read for its hooks"},
		"an unknown plugin":    {file: "home/.claude/settings.json", text: `{"enabledPlugins": {"x@m": true}}`, want: "the hooks of the plugin x@m are not known"},
		"a plugin that is off": {file: "home/.claude/settings.json", text: `{"enabledPlugins": {"x@m": false}}`},
		"gate's plugin":        {file: "home/.claude/settings.json", text: `{"enabledPlugins": {"gate@m": true}}`},
		"a project's gate":     {file: "project/.claude/settings.json", text: `{"enabledPlugins": {"gate@m": true}}`, want: "gate@m"},
		"another agent":        {agent: "cursor", want: "does not know the other hooks of cursor"},
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, programs, filepath.Join(dir, "bin")+"/")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("bin/gate-run", "")
		write("bin/gate-hook", "")
		if c.file != "" {
			write(c.file, c.text)
		}
		m := Machine{Root: dir, Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Launcher: filepath.Join(dir, "bin", "gate-run")}
		if c.agent == "" {
			c.agent = "claude"
		}
		if got := m.others(&hook.Event{Agent: c.agent, Native: map[string]any{"toolName": "bash"}, Fields: map[string]any{"tool_name": "Bash"}}); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPlugins holds that the hooks of a plugin are looked at where it is installed, and
// that only managed hooks count where the administrator says so.
func TestPlugins(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := Machine{Root: dir, Home: filepath.Join(dir, "home"), Launcher: filepath.Join(dir, "bin", "gate-run")}
	holds := func(want string) {
		t.Helper()
		if got := m.others(&hook.Event{Agent: "claude", Fields: map[string]any{"tool_name": "Bash"}}); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	write("home/.claude/settings.json", `{"enabledPlugins": {"x@m": true}}`)
	write("home/.claude/plugins/installed_plugins.json", `{"version": 2, "plugins": {"x@m": [{"scope": "user", "installPath": "`+dir+`/x"}]}}`)
	holds("")
	write("x/hooks/hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "y"}]}]}}`)
	holds("hooks of the plugin x@m")
	write("etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`)
	holds("")
	write("etc/claude-code/managed-settings.json", `{}`)
	write("x/hooks/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "y"}]}]}}`)
	holds("")
	write("x/skills/y/SKILL.md", "---\nname: y\n---\n")
	holds("")
	write("x/skills/y/SKILL.md", "---\nname: y\nhooks: {}\n---\n")
	holds("hooks at the head of ")
	write("x/skills/y/SKILL.md", "")
	write("home/.claude/skills/y/SKILL.md", "---\nname: y\nhooks: {}\n---\n")
	write("etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`)
	holds("")
	write("etc/claude-code/managed-settings.json", `{}`)
	write("home/.claude/skills/y/SKILL.md", "")
	write("x/.claude-plugin/plugin.json", `{"name": "x", "hooks": "./more.json"}`)
	holds("hooks of the plugin x@m")
}
