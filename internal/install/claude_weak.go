package install

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gate/hook"
)

// weaknesses reports what a file says that weakens gate,
// apart from gate's own entries.
func (c claude) weaknesses(cm *claudeMachine, v *claudeView) {
	if v.doc == nil || v.void && v.scope != Managed {
		return
	}
	c.foreign(cm, v)
	if v.scope == Managed {
		return
	}
	told := slices.ContainsFunc(v.findings, func(f Finding) bool { return f.ID == "hooks.disabled" })
	if v == cm.offBelow && v.scope != User && !told {
		v.report("hooks.disabled", Warning, v.setting("disableAllHooks"), "disableAllHooks switches off every hook that is not managed", "remove it")
	}
	if n := v.setting("permissions", "defaultMode"); n.text() == "bypassPermissions" && !cm.locked {
		v.report("permissions.bypass", Warning, n, "sessions begin in bypassPermissions: nothing but hooks is asked", "remove it")
	}
	if n := v.setting("skipDangerousModePermissionPrompt"); n.is('t') {
		v.report("permissions.dangerous", Warning, n, "nobody is asked before a session that asks nothing begins", "remove it")
	}
	if n := mention(v.doc.root, "dangerously-skip-permissions"); n != nil {
		v.report("permissions.dangerous", Warning, n, "something here starts sessions that ask nothing but hooks (--dangerously-skip-permissions)", "remove it")
	}
	if n := v.setting("enableAllProjectMcpServers"); n.is('t') {
		v.report("mcp.auto", Warning, n, "every MCP server that a repository names is started without a question", "remove it")
	}
	if n := v.setting("enabledMcpjsonServers"); v.scope == Project && n.is('[') && len(n.items) > 0 {
		v.report("mcp.auto", Warning, n, "the repository approves its own MCP servers", "remove it, and approve them yourself")
	}
	c.environment(v)
	c.runs(cm, v)
}

// mention finds the first text that contains a word.
func mention(n *node, word string) *node {
	if n == nil {
		return nil
	}
	if strings.Contains(n.text(), word) {
		return n
	}
	for _, it := range n.items {
		if found := mention(it.value, word); found != nil {
			return found
		}
	}
	return nil
}

// ownership reports a file that others can change, and whether there is none
// such.
func (c claude) ownership(m Machine, v *claudeView) bool {
	admin := v.scope == Managed
	info, err := m.stat(v.path)
	if err != nil {
		return true // there is no file, or that is reported
	}
	why := m.suspect(info, admin)
	if why == "" {
		return true
	}
	v.report("settings.owner", Error, nil, "others than their owner can change these settings: "+why,
		m.tighten(v.path, info, admin))
	if real, err := m.real(v.path); err == nil {
		m.fixMode(&v.findings[len(v.findings)-1], real, info)
	}
	return false
}

// claudeRewriters are the events on which a hook can change the call that gate judged.
// After the call a hook formats a file or adds a message, which changes no call.
var claudeRewriters = [...]hook.Name{hook.PreToolUse, hook.PermissionRequest}

// foreign reports hooks that can rewrite what gate has judged: of one stage all
// see the original input, and nobody judges the result.
func (c claude) foreign(cm *claudeMachine, v *claudeView) {
	if v.scope != Managed && cm.only {
		return
	}
	n, first := 0, (*node)(nil)
	c.handlers(v.doc, func(x claudeEntry) {
		if slices.Contains(claudeRewriters[:], x.event) && !c.isGate(c.words(x.handler)) {
			if n++; first == nil {
				first = x.handler
			}
		}
	})
	if n == 0 {
		return
	}
	severity := Notice
	if v.scope == Project || v.scope == Local {
		severity = Warning
	}
	v.report("hooks.foreign", severity, first, fmt.Sprintf("%s beside gate can rewrite a call after gate has judged it", count(n, "other hook")),
		"install gate in the managed scope, where allowManagedHooksOnly keeps other hooks out")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// environment reports variables that lead the agent, or gate, somewhere else.
func (c claude) environment(v *claudeView) {
	env := v.setting("env")
	if !env.is('{') {
		return
	}
	severity := Warning
	if v.scope == User {
		severity = Notice // the person's own
	}
	for _, it := range env.items {
		name := strings.ToUpper(it.key.str)
		switch {
		case strings.HasSuffix(name, "_BASE_URL"):
			v.report("env.base_url", severity, it.key, it.key.str+" sends the conversation, and the key, to another server; "+
				"settings from the vendor's server are skipped then", "remove it unless you know that server")
		case isSwitch(name):
			v.report("env.switch", severity, it.key, it.key.str+" reaches every hook and changes the programs that run", "remove it")
		}
	}
}

func isSwitch(name string) bool {
	switch name {
	case "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATH", "TMPDIR", "ENV", "BASH_ENV", "SHELL", "NODE_OPTIONS",
		"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX",
		"GODEBUG", "GOMAXPROCS", "GOMEMLIMIT", "GOGC", "GOTRACEBACK": // what the runtime of gate's program obeys before gate runs
		return true
	}
	return slices.ContainsFunc([]string{"GATE_", "XDG_", "LD_", "DYLD_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// claudeRuns are settings that hold a command which runs outside any call.
var claudeRuns = [...]string{
	"statusLine", "subagentStatusLine", "fileSuggestion", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh",
	"otelHeadersHelper",
}

func (c claude) runs(cm *claudeMachine, v *claudeView) {
	if v.scope == User {
		return
	}
	for _, name := range claudeRuns {
		if n := v.setting(name); n != nil && !(cm.only && strings.HasSuffix(name, "Line")) {
			v.report("settings.runs", Warning, n, name+" runs a program of the project's choice that no hook is asked about", "remove it")
		}
	}
}

// clients finds copies of Claude Code by their files. Nothing is run.
func (c claude) clients(m Machine) []Client {
	var out []Client
	if m.Home == "" {
		return nil
	}
	versions := filepath.Join(m.Home, ".local", "share", "claude", "versions")
	entries, _ := m.system().ReadDir(versions)
	for _, e := range entries {
		if strings.Count(e.Name(), ".") == 2 && '0' <= e.Name()[0] && e.Name()[0] <= '9' {
			out = append(out, Client{Version: e.Name(), File: filepath.Join(versions, e.Name())})
		}
	}
	for _, dir := range c.packages(m) {
		file := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code", "package.json")
		text, err := m.system().ReadFile(file, 1<<20)
		var about struct{ Version string }
		if err == nil && json.Unmarshal(text, &about) == nil && about.Version != "" {
			out = append(out, Client{Version: about.Version, File: file})
		}
	}
	return out
}

// packages lists where npm puts programs.
func (c claude) packages(m Machine) []string {
	root := m.root()
	out := []string{
		filepath.Join(c.dir(m), "local"), filepath.Join(m.Home, ".npm-global", "lib"),
		filepath.Join(root, "usr", "lib"), filepath.Join(root, "usr", "local", "lib"), filepath.Join(root, "opt", "homebrew", "lib"),
		filepath.Join(m.Home, "AppData", "Roaming", "npm"),
	}
	nodes := filepath.Join(m.Home, ".nvm", "versions", "node")
	entries, _ := m.system().ReadDir(nodes)
	for _, e := range entries {
		out = append(out, filepath.Join(nodes, e.Name(), "lib"))
	}
	return out
}

// places lists the files that decide about Claude Code.
func (c claude) places(m Machine) []Path {
	out := []Path{{Path: c.managedDir(m), Tree: true, What: "Claude Code's managed settings"}}
	for _, s := range []Scope{User, Local, Project} {
		for _, path := range c.targets(m, s) {
			out = append(out, Path{Path: path, What: "Claude Code's " + string(s) + " settings"})
		}
	}
	if dir := c.dir(m); dir != "" {
		out = append(out,
			Path{Path: filepath.Join(dir, "plugins"), Tree: true, What: "Claude Code's plugins"},
			Path{Path: filepath.Join(dir, "hooks"), Tree: true, What: "Claude Code's hook programs"},
			Path{Path: filepath.Join(dir, ".claude.json"), What: "Claude Code's state"},
		)
	}
	if m.Home != "" {
		out = append(out, Path{Path: filepath.Join(m.Home, ".claude.json"), What: "Claude Code's state"})
	}
	if m.Project != "" {
		out = append(out,
			Path{Path: filepath.Join(m.Project, ".claude", "hooks"), Tree: true, What: "the project's hook programs"},
			Path{Path: filepath.Join(m.Project, ".mcp.json"), What: "the project's MCP servers"},
		)
	}
	return append(out, c.programs(m)...)
}

// programs lists what the installed entries start: whoever changes it changes
// gate.
func (c claude) programs(m Machine) []Path {
	var out []Path
	for _, v := range c.views(m) {
		if v.doc == nil {
			continue
		}
		for _, x := range c.entries(v.doc) {
			for _, p := range pathsOf(x.words) {
				if !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

func isOwn(path string) bool { return filepath.Base(path) == claudeOwn }

// programsOf lists what a command line of gate's may start: gate-hook hands over
// to the gate beside it.
func programsOf(words []string) []string {
	program := words[0]
	if baseName(program) != "gate-hook" {
		return []string{program}
	}
	at := strings.LastIndexAny(program, `/\`) + 1
	return []string{program, program[:at] + strings.Replace(program[at:], "-hook", "", 1)}
}

// program is the finding about gate's program, nil if it is fine.
func (m Machine) program(path string, admin bool) *Finding {
	bad := func(message string) *Finding {
		return &Finding{ID: "gate.program", Severity: Error, Message: message, Remedy: "install gate again and run: gate doctor --fix"}
	}
	if !filepath.IsAbs(path) {
		return bad(fmt.Sprintf("gate is started as %q; that depends on PATH and on the directory", path))
	}
	info, err := m.stat(path)
	switch {
	case err != nil:
		f := bad(fmt.Sprintf("gate's program %s is missing", path))
		if own := first(m.Command); own != path && (m.exists(own) || m.Source != "") {
			f.Remedy, f.Fixable = "gate doctor --fix", true
		}
		return f
	case !info.Mode().IsRegular():
		return bad(fmt.Sprintf("gate's program %s is no file", path))
	case info.Size() == 0:
		return bad(fmt.Sprintf("gate's program %s is empty", path))
	case m.OS != "windows" && info.Mode()&fs.FileMode(0o111) == 0:
		return bad(fmt.Sprintf("gate's program %s is not executable", path))
	}
	return m.place("gate.program", "gate's program", path, admin)
}

// directory is the finding about a directory that a command line names.
func (m Machine) directory(name, path string) *Finding {
	if !filepath.IsAbs(path) {
		return &Finding{ID: "gate.directory", Severity: Error, Message: fmt.Sprintf("--%s %s depends on the directory of the agent", name, path),
			Remedy: "gate doctor --fix"}
	}
	return m.place("gate.directory", "gate's directory (--"+name+")", path, false)
}
