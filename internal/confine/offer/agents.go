package offer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// codex looks at Codex's hooks: in files of their own, in every layer of its
// configuration, and in plugins.
func (m Machine) codex(dir string) string {
	e := entries{m: m, events: []string{"PreToolUse", "PermissionRequest"}, tools: strings.Fields("Bash shell local_shell exec_command unified_exec exec"), line: []string{"command"}}
	etc := filepath.Join(m.Root, "etc", "codex")
	required := filepath.Join(etc, "requirements.toml")
	managed, err := tomlOf(required)
	if err != nil {
		return err.Error()
	}
	if why := e.of(managed, required); why != "" || managed["allow_managed_hooks_only"] == true {
		return why
	}
	own := m.own("CODEX_HOME", ".codex")
	if why := first(append(below(above(dir), ".codex/hooks.json"), filepath.Join(own, "hooks.json")), e.file); why != "" {
		return why
	}
	layers := append(below(above(dir), ".codex/config.toml"), filepath.Join(own, "config.toml"), filepath.Join(etc, "config.toml"), filepath.Join(etc, "managed_config.toml"))
	return first(layers, func(name string) string {
		doc, err := tomlOf(name)
		if err != nil {
			return err.Error()
		}
		why := e.of(doc, name)
		profiles, _ := doc["profiles"].(map[string]any)
		for _, p := range profiles {
			if profile, _ := p.(map[string]any); why == "" {
				why = e.of(profile, name)
			}
		}
		plugins, _ := doc["plugins"].(map[string]any)
		for id, p := range plugins {
			if plugin, _ := p.(map[string]any); why == "" && plugin["enabled"] != false {
				why = "the hooks of the plugin " + id + " are not known"
			}
		}
		return why
	})
}

// mostTranscript is how much of a transcript is read for the sandbox of the turn, from its
// end, in bytes.
const mostTranscript = 16 << 20

// codexConfines says that Codex confines the line itself, "" where it does not or nobody can
// tell. In its sandbox gate-run can make no namespaces, and nothing would run. The event says
// nothing of it. The session's transcript does, at the beginning of each turn.
func codexConfines(ev *hook.Event) string {
	file, err := os.Open(ev.Text("transcript_path"))
	if err != nil {
		return ""
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		file.Seek(max(0, size-mostTranscript), io.SeekStart)
	}
	text, err := io.ReadAll(io.LimitReader(file, mostTranscript))
	if err != nil {
		return ""
	}
	policy := ""
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(`"turn_context"`)) {
			continue
		}
		var entry struct {
			Type    string
			Payload struct {
				Sandbox struct{ Type string } `json:"sandbox_policy"`
			}
		}
		if json.Unmarshal(line, &entry) == nil && entry.Type == "turn_context" {
			policy = entry.Payload.Sandbox.Type
		}
	}
	switch policy {
	case "", "danger-full-access", "external-sandbox": // what lies outside of Codex, the machine's own try tells
		return ""
	}
	return fmt.Sprintf("Codex confines its shell itself (%s), and nothing can be confined once more in there", strictjson.Visible(policy))
}

// tomlOf reads a file of settings, which need not be there.
func tomlOf(name string) (map[string]any, error) {
	data, err := textOf(name)
	if err != nil || data == nil {
		return nil, err
	}
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s cannot be read for its hooks: %w", name, err)
	}
	return doc, nil
}

// gemini looks at Gemini CLI's hooks: in its settings, and in extensions.
func (m Machine) gemini(dir string) string {
	e := entries{m: m, events: []string{"BeforeTool"}, tools: strings.Fields("run_shell_command Bash ShellTool"), line: []string{"command"}}
	own := filepath.Join(m.own("GEMINI_CLI_HOME", ""), ".gemini")
	etc := filepath.Join(m.Root, "etc", "gemini-cli")
	files := append(below(above(dir), ".gemini/settings.json"), filepath.Join(own, "settings.json"), filepath.Join(etc, "settings.json"), filepath.Join(etc, "system-defaults.json"))
	for _, variable := range []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"} {
		if name := m.variable(variable); name != "" {
			files = append(files, name)
		}
	}
	if why := first(files, e.file); why != "" {
		return why
	}
	extensions := listed(append(below(above(dir), ".gemini/extensions"), filepath.Join(own, "extensions")))
	return first(extensions, func(at string) string {
		unknown := "the hooks of the extension " + at + " are not known"
		install, err := settingsOf(filepath.Join(at, ".gemini-extension-install.json"))
		if err != nil || install["type"] == "link" {
			return unknown
		}
		manifest, err := settingsOf(filepath.Join(at, "gemini-extension.json"))
		if err != nil || manifest["hooks"] != nil {
			return unknown
		}
		return e.file(filepath.Join(at, "hooks", "hooks.json"))
	})
}

// copilot looks at Copilot CLI's hooks: in files of their own, in settings (its own, Claude
// Code's that it may read, the machine's), and in plugins.
func (m Machine) copilot(dir string) string {
	e := entries{m: m, events: []string{"preToolUse", "PreToolUse", "permissionRequest", "PermissionRequest"}, tools: strings.Fields("bash Bash"), line: []string{"bash", "command"}}
	own := m.own("COPILOT_HOME", ".copilot")
	etc := filepath.Join(m.Root, "etc", "github-copilot")
	files := listed(append(below(above(dir), ".github/hooks"), filepath.Join(own, "hooks"), filepath.Join(etc, "policy.d")), ".json")
	personal := below([]string{own}, "settings.json", "config.json")
	files = append(files, below(above(dir), ".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json")...)
	files = append(files, filepath.Join(etc, "managed-settings.json"))
	plugins := func(name string, trusted bool) string {
		doc, err := settingsOf(name)
		if err != nil {
			return err.Error()
		}
		why := e.of(doc, name)
		on, _ := doc["enabledPlugins"].(map[string]any)
		for id, is := range on {
			if why == "" && is != false && is != nil && !(trusted && isGate(id)) {
				why = "the hooks of the plugin " + id + " are not known"
			}
		}
		return why
	}
	if why := first(personal, func(name string) string { return plugins(name, true) }); why != "" {
		return why
	}
	if why := first(files, func(name string) string { return plugins(name, false) }); why != "" {
		return why
	}
	return m.heads([]string{own}, dir, ".claude", ".github")
}

// opencode looks at OpenCode's plugins: any but gate's may change a call.
func (m Machine) opencode(dir string) string {
	for _, variable := range []string{"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT"} {
		if m.variable(variable) != "" {
			return "the plugins that " + variable + " brings are not known"
		}
	}
	own := filepath.Join(m.own("XDG_CONFIG_HOME", ".config"), "opencode")
	roots := append(below(above(dir), ".opencode"), own)
	plugins := listed(below(roots, "plugin", "plugins"), ".js", ".ts", ".mjs", ".mts", ".cjs", ".cts")
	if why := first(plugins, func(name string) string {
		if text, err := textOf(name); err != nil || !m.isPlugin(string(text)) {
			return "the plugin " + name + " sees the same call, and may put its own line in the place of this one"
		}
		return ""
	}); why != "" {
		return why
	}
	return first(below(append(above(dir), roots...), "opencode.json", "opencode.jsonc", "config.json"), func(name string) string {
		if filepath.Base(name) == "config.json" && filepath.Dir(name) != own {
			return "" // no file of OpenCode's
		}
		doc, err := settingsOf(name)
		if err != nil {
			return err.Error()
		}
		if list, is := doc["plugin"].([]any); doc["plugin"] != nil && (!is || len(list) > 0) {
			return "the plugins of " + name + " see the same call, and may put their own line in the place of this one"
		}
		return ""
	})
}

// isPlugin reports the text of gate's plugin that starts the gate that asks.
func (m Machine) isPlugin(text string) bool {
	value := func(name string) string {
		_, rest, _ := strings.Cut(text, "\nconst "+name+" = ")
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	var words []string
	wait, err := strconv.Atoi(value("WAIT"))
	if err != nil || wait <= 0 || json.Unmarshal([]byte(value("COMMAND")), &words) != nil || len(words) == 0 {
		return false
	}
	return m.isGate(words[0]) && text == string(adapters.OpenCodePlugin(words, time.Duration(wait)*time.Millisecond))
}

// textOf reads a file that need not be there: nil then, or where it is empty.
func textOf(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > 1<<20:
		return nil, fmt.Errorf("%s cannot be read for its hooks", name)
	}
	data, err := os.ReadFile(name)
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil, err
	}
	return data, err
}
