package install

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// Plugin is gate as a plugin of an agent. Nothing is installed in this scope by gate:
// the agent's own commands do that.
const Plugin Scope = "plugin"

// A PluginFile is one file of gate's plugin for an agent.
type PluginFile struct {
	Path       string // below the plugin's directory, with slashes
	Text       string
	Executable bool
}

//go:embed launcher.sh
var launcherText string

// pluginProgram is where a plugin has gate's programs, below its own directory.
const pluginProgram = "bin/gate-hook"

// A pluginForm is how an agent has plugins.
type pluginForm struct {
	agent, title string
	root         string // the plugin's directory, as the hooks file names it
	windows      string // the same where Windows starts the program
	dir          string // where the launcher and the programs are, below root
	hooks        string // the hooks file
	manifest     string // the file that says what the plugin is; "" for none
	more         string // its further members, as JSON
}

// pluginForms are the agents that gate has a plugin for. Cursor has no plugins that
// its contract knows: its files are copied to a person's own directory.
func pluginForms() []pluginForm {
	return []pluginForm{
		{agent: "claude", title: "Claude Code", root: "${CLAUDE_PLUGIN_ROOT}", windows: "${CLAUDE_PLUGIN_ROOT}", hooks: "hooks/hooks.json", manifest: ".claude-plugin/plugin.json"},
		{agent: "copilot", title: "Copilot CLI", root: "${COPILOT_PLUGIN_ROOT}", windows: "$env:COPILOT_PLUGIN_ROOT", hooks: "hooks.json", manifest: "plugin.json", more: ",\n  \"hooks\": \"hooks.json\""},
		{agent: "cursor", title: "Cursor", root: "$HOME/.cursor", windows: `%USERPROFILE%\.cursor`, dir: "gate", hooks: "hooks.json"},
	}
}

// Plugins lists the agents that gate has a plugin for.
func Plugins() []string {
	var names []string
	for _, f := range pluginForms() {
		names = append(names, f.agent)
	}
	return names
}

// PluginFiles returns gate's plugin for an agent, without programs. The hooks of the one
// for Windows start the program in the plugin itself: there is no sh.
func PluginFiles(agent string, windows bool) ([]PluginFile, error) {
	f := formOf(agent)
	if f.agent == "" {
		return nil, fmt.Errorf("there is no plugin for %q%s", agent, meant(agent, Plugins()))
	}
	files := []PluginFile{{Path: f.hooks, Text: f.hooksText(windows)}}
	if f.manifest != "" {
		files = append(files, PluginFile{Path: f.manifest, Text: f.manifestText()})
	}
	if !windows {
		files = append(files, PluginFile{Path: path.Join(f.dir, "gate-hook"), Text: f.launcher(), Executable: true})
	}
	return files, nil
}

// formOf is an agent's form, the zero one if there is none.
func formOf(agent string) pluginForm {
	for _, f := range pluginForms() {
		if f.agent == agent {
			return f
		}
	}
	return pluginForm{}
}

// manifestText is what the agent shows of the plugin. A release adds its version;
// without one, agents go by the commit.
func (f pluginForm) manifestText() string {
	return "{\n  \"name\": \"gate\",\n  \"description\": \"Decides about each tool call of " + f.title +
		" before it runs, by policies.\",\n  \"author\": {\"name\": \"gate\"}" + f.more + "\n}\n"
}

// hooksText has the entries that gate install writes: the same events, matchers,
// time-outs and ends. Only the program is named otherwise.
func (f pluginForm) hooksText(windows bool) string {
	m := Machine{OS: "linux", Command: []string{path.Join(f.root, f.dir, "gate-hook")}}
	if windows {
		m = Machine{OS: "windows", Command: []string{strings.ReplaceAll(f.windows+"/"+path.Join(f.dir, pluginProgram)+".exe", "/", `\`)}}
	}
	st := style{blank: " "}
	var pins string
	var rows []string
	row := func(event, entry string) { rows = append(rows, "    "+jsonText(event)+": ["+entry+"]") }
	if f.agent == "claude" {
		var c claude
		for _, e := range claudeEvents() {
			row(string(e.name), c.groupOf(c.command(m, Plugin, e.name), e, st))
		}
	} else {
		t := tableOf(f.agent)
		for _, p := range t.wanted(User) {
			pins += "  " + jsonText(strings.Join(p.path, ".")) + ": " + p.value + ",\n"
		}
		for _, event := range t.events {
			words := t.words(m, Plugin, event)
			row(event, t.entryOf(f.line(words), m.OS, event, st))
		}
	}
	return "{\n" + pins + "  \"hooks\": {\n" + strings.Join(rows, ",\n") + "\n  }\n}\n"
}

// line is a command line as the agent's shell reads it, which fills in the directory.
func (pluginForm) line(words []string) string {
	return `"` + words[0] + `" ` + strings.Join(words[1:], " ")
}

func tableOf(agent string) *table {
	for _, t := range tables() {
		if t.id == agent {
			return t
		}
	}
	return nil
}

// launcher is the shell's program that finds gate-hook and starts it.
func (f pluginForm) launcher() string {
	scoped := ""
	if f.agent == "claude" { // see claude.command
		scoped = `[ "$#$1$2$3$5$6" = "6--agentclaude--event--scopeplugin" ] || `
	}
	return strings.NewReplacer("@AGENT@", f.agent, "@TITLE@", f.title, "@SCOPED@", scoped,
		"@START@", f.starts(), "@MISSING@", f.missing()).Replace(launcherText)
}

// starts are the events before which gate is started from a shell that stays, as the
// entries of gate install do it.
func (f pluginForm) starts() string {
	var b strings.Builder
	for _, event := range f.events() {
		if program := f.program(event); program != "" {
			fmt.Fprintf(&b, "\t%s) %s ;;\n", event, program)
		}
	}
	return b.String()
}

func (f pluginForm) events() []string {
	if t := tableOf(f.agent); t != nil {
		return t.events
	}
	var names []string
	for _, e := range claudeEvents() {
		names = append(names, string(e.name))
	}
	return names
}

func (f pluginForm) program(event string) string {
	if t := tableOf(f.agent); t != nil {
		return t.program(event)
	}
	return claude{}.shell(Machine{OS: "linux"}, hook.Name(event))
}

// pluginRoot stands for the plugin's directory in what is said of a missing program.
const pluginRoot = "PLUGINROOT"

// A person can get gate by the set-up script that the plugin brings along.
const (
	getGate     = "sh " + pluginRoot + "/setup.sh --programs --release DIR"
	noProgram   = "gate's program gate-hook is missing"
	whereToGet  = "A person gets it with this command, where DIR has a release of gate: " + getGate
	notRun      = noProgram + ", so this does not run. " + whereToGet
	callsNotRun = noProgram + ", so tools are not called. " + whereToGet
)

// missing says for each event what is answered without a program, in the agent's form:
// where closing stops something it stops, and where a person begins it tells them.
func (f pluginForm) missing() string {
	type answer struct {
		events []string
		text   string
	}
	var list []answer
	for _, event := range f.events() {
		text := f.answer(event)
		i := slices.IndexFunc(list, func(a answer) bool { return a.text == text })
		if i < 0 {
			list = append(list, answer{text: text})
			i = len(list) - 1
		}
		list[i].events = append(list[i].events, event)
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s)\n%s\t;;\n", strings.Join(a.events, " | "), a.text)
	}
	fmt.Fprintf(&b, "*)\n%s\texit 2\n\t;;\n", printed([]byte(notRun), " >&2"))
	return b.String()
}

// answer is the shell's program that answers an event without gate.
func (f pluginForm) answer(event string) string {
	a, _ := adapters.Lookup(f.agent)
	ev := a.Named(event)
	d := hook.Decision{Event: ev.Name}
	switch m := ev.Name.Moment(); {
	case ev.Name == hook.UserPromptSubmit, ev.Name == hook.SessionStart:
		d.Notices = []string{callsNotRun}
	case m.Closes == moment.ClosesAlways:
		d.Effect, d.Reasons = hook.Deny, []hook.Reason{{Effect: hook.Deny, Reason: notRun}}
	}
	r := a.Render(&ev, &d)
	text := printed(r.Stdout, "") + printed(r.Stderr, " >&2")
	if r.Status != 0 {
		return text + fmt.Sprintf("\texit %d\n", r.Status)
	}
	return cmp.Or(text, "\t: # nothing to stop, and nobody to tell\n")
}

// printed has a shell print a text, with the plugin's directory in it; "" for none.
func printed(text []byte, where string) string {
	if len(text) == 0 {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix(strictjson.Visible(string(text)), "\n"), pluginRoot)
	for i, part := range parts {
		parts[i] = shellQuote(part)
	}
	return "\tprintf '%s\\n' " + strings.Join(parts, `"$root"`) + where + "\n"
}

// PluginEvents lists the events that gate's plugin for an agent is asked on.
func PluginEvents(agent string) []string { return formOf(agent).events() }
