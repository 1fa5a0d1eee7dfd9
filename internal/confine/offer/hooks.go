package offer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gate/internal/strictjson"
)

// claude names a hook of Claude Code's.
func (m Machine) claude(tool, dir string) string {
	c := claudeHooks{m: m, tool: tool}
	managed, onlyManaged := c.managed()
	found := managed
	if !onlyManaged {
		for _, dir := range m.userDirs() {
			found = append(found, c.file(filepath.Join(dir, "settings.json"), true)...)
		}
		if m.Project != "" {
			for _, name := range []string{"settings.json", "settings.local.json"} {
				found = append(found, c.file(filepath.Join(m.Project, ".claude", name), false)...)
			}
		}
	}
	switch {
	case len(found) > 0:
		return found[0]
	case onlyManaged: // and those of skills and sub-agents do not run
		return ""
	}
	return m.heads(append(m.userDirs(), filepath.Join(m.Root, "etc", "claude-code", ".claude")), dir, ".claude")
}

// userDirs are where the person's settings of Claude Code may lie.
func (m Machine) userDirs() []string {
	var dirs []string
	if m.LookupEnv != nil {
		if dir, _ := m.LookupEnv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if m.Home != "" {
		dirs = append(dirs, filepath.Join(m.Home, ".claude"))
	}
	return dirs
}

// claudeHooks looks for hooks of Claude Code before calls of a tool.
type claudeHooks struct {
	m    Machine
	tool string
}

// managed looks into the administrator's settings, and reports that only their hooks run.
func (c claudeHooks) managed() (found []string, only bool) {
	for _, name := range claudeManaged(c.m.Root) {
		settings, err := settingsOf(name)
		if err != nil {
			found = append(found, err.Error())
		}
		only = only || settings["allowManagedHooksOnly"] == true
		found = append(found, c.of(settings, name, true)...)
	}
	return found, only
}

// claudeManaged are the administrator's files of settings, in the client's order.
func claudeManaged(root string) []string {
	dir := filepath.Join(root, "etc", "claude-code")
	files := []string{filepath.Join(dir, "managed-settings.json")}
	entries, _ := os.ReadDir(filepath.Join(dir, "managed-settings.d"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, "managed-settings.d", e.Name()))
		}
	}
	return files
}

func (c claudeHooks) file(name string, trusted bool) []string {
	settings, err := settingsOf(name)
	if err != nil {
		return []string{err.Error()}
	}
	return c.of(settings, name, trusted)
}

// settingsOf reads a file of settings, which need not be there.
func settingsOf(name string) (map[string]any, error) {
	data, err := textOf(name)
	if err != nil || data == nil {
		return nil, err
	}
	var settings map[string]any
	if data, err = withoutComments(data); err == nil {
		settings, err = strictjson.Object(data, strictjson.Limits{})
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read for its hooks: %w", name, err)
	}
	return settings, nil
}

// of are the hooks of settings that are not gate's. trusted says that the project has no
// say in them.
func (c claudeHooks) of(settings map[string]any, name string, trusted bool) (found []string) {
	hooks, _ := settings["hooks"].(map[string]any)
	if c.foreign(hooks) {
		found = append(found, another(name))
	}
	plugins, _ := settings["enabledPlugins"].(map[string]any)
	for id, on := range plugins {
		if on == false || on == nil || trusted && isGate(id) {
			continue
		}
		if why := c.plugin(id); why != "" {
			found = append(found, why)
		}
	}
	slices.Sort(found)
	return found
}

// isGate reports the id of gate's own plugin.
func isGate(id string) bool { name, _, _ := strings.Cut(id, "@"); return name == "gate" }

// plugin says why a plugin that is on may rewrite the call.
func (c claudeHooks) plugin(id string) string {
	for _, dir := range c.m.userDirs() {
		notes, err := settingsOf(filepath.Join(dir, "plugins", "installed_plugins.json"))
		if err != nil {
			return err.Error()
		}
		installed, _ := notes["plugins"].(map[string]any)
		list, _ := installed[id].([]any)
		for _, one := range list {
			at, _ := one.(map[string]any)["installPath"].(string)
			if !filepath.IsAbs(at) {
				return "the hooks of the plugin " + id + " are not known"
			}
			manifest, err := settingsOf(filepath.Join(at, ".claude-plugin", "plugin.json"))
			if err != nil {
				return err.Error()
			}
			doc, err := settingsOf(filepath.Join(at, "hooks", "hooks.json"))
			if err != nil {
				return err.Error()
			}
			hooks, _ := doc["hooks"].(map[string]any)
			if manifest["hooks"] != nil || c.foreign(hooks) {
				return "hooks of the plugin " + id + " see the same call, and may put their own line in the place of this one"
			}
			if why := headsIn(at, new(int)); why != "" {
				return why
			}
		}
		if len(list) > 0 {
			return ""
		}
	}
	return "the hooks of the plugin " + id + " are not known"
}

// foreign reports a hook, before calls of the tool or at the agent's question, that does
// not start the gate that asks. Either may give the call another line.
func (c claudeHooks) foreign(hooks map[string]any) bool {
	before, _ := hooks["PreToolUse"].([]any)
	asked, _ := hooks["PermissionRequest"].([]any)
	groups := slices.Concat(before, asked)
	for _, g := range groups {
		group, ok := g.(map[string]any)
		if !ok {
			continue // the client takes it for none
		}
		matcher, _ := group["matcher"].(string)
		if !mayMatch(matcher, c.tool) {
			continue
		}
		handlers, _ := group["hooks"].([]any)
		for _, h := range handlers {
			handler, _ := h.(map[string]any)
			if !c.starts(handler) {
				return true
			}
		}
	}
	return false
}

// mayMatch reports a matcher that can be one for a tool. A matcher that is no list of
// names is an expression, and may.
func mayMatch(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	if strings.Trim(matcher, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-|, ") != "" {
		return true
	}
	return slices.Contains(strings.FieldsFunc(matcher, func(r rune) bool { return strings.ContainsRune("|, ", r) }), tool)
}

// starts reports a handler that starts a program of the gate that asks, by its path.
func (c claudeHooks) starts(handler map[string]any) bool {
	command, _ := handler["command"].(string)
	if kind, _ := handler["type"].(string); kind != "command" || command == "" {
		return false
	}
	if _, listed := handler["args"]; listed {
		return c.m.isGate(command)
	}
	return c.m.startsGate(command)
}

// sameDir reports two names of a directory.
func sameDir(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
