package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gate/hook"
)

// A switched plugin is one that settings of an agent name, by NAME@MARKETPLACE.
type switchedPlugin struct {
	id  string
	on  bool
	by  Scope  // whose settings decide
	at  string // their file
	row int    // its line there
}

// switchedPlugins reads enabledPlugins. Each view is a settings file, the one that
// decides first: of several that name a plugin, its word counts.
func switchedPlugins(views []*claudeView) []switchedPlugin {
	var out []switchedPlugin
	for _, v := range views {
		n := v.setting("enabledPlugins")
		if v.void || !n.is('{') {
			continue
		}
		for _, it := range n.items {
			on := !it.value.is('f') // a list holds versions
			switch i := slices.IndexFunc(out, func(p switchedPlugin) bool { return p.id == it.key.str }); {
			case i >= 0 && on && out[i].on && v.scope == User && out[i].by != Managed:
				out[i].by = User // and whatever the project says, the person has it on
			case i < 0 && strings.Contains(it.key.str, "@"):
				out = append(out, switchedPlugin{it.key.str, on, v.scope, v.path, v.doc.line(it.key)})
			}
		}
	}
	return out
}

// marketplace is where a plugin comes from, as its id says.
func (p switchedPlugin) marketplace() string { return p.id[strings.LastIndexByte(p.id, '@')+1:] }

func (p switchedPlugin) name() string { return p.id[:strings.LastIndexByte(p.id, '@')] }

// sourceOf is a plugin's directory in a marketplace that is a directory of this machine,
// "" if it names none.
func (m Machine) sourceOf(market, plugin string, manifests ...string) string {
	for _, name := range manifests {
		text, err := m.system().ReadFile(filepath.Join(market, filepath.FromSlash(name)), maxFile)
		var list struct {
			Plugins []struct {
				Name   string
				Source any
			}
		}
		if err != nil || json.Unmarshal(text, &list) != nil {
			continue
		}
		for _, p := range list.Plugins {
			if below, ok := p.Source.(string); ok && p.Name == plugin && filepath.IsLocal(filepath.FromSlash(below)) {
				return filepath.Join(market, filepath.FromSlash(below))
			}
		}
		return ""
	}
	return ""
}

// A pluginView is gate's plugin as it lies on the machine.
type pluginView struct {
	guard    Guard
	findings []Finding
	trusted  bool // nobody but its owner can change what it starts
}

// viewPlugin looks at a plugin's directory. ok is false if it is no plugin of gate's.
func (m Machine) viewPlugin(f pluginForm, dir string) (v pluginView, ok bool) {
	file := filepath.Join(dir, filepath.FromSlash(f.hooks))
	text, err := m.system().ReadFile(file, maxFile)
	if err != nil || !strings.Contains(string(text), "gate-hook") || !strings.Contains(string(text), f.agent) {
		return v, false
	}
	v.trusted = true
	v.guard = Guard{Scope: Plugin, File: file, Installed: true}
	report := func(found *Finding) {
		if found != nil {
			found.Scope, found.Agent = Plugin, f.agent
			if found.File == "" {
				found.File = file
			}
			v.trusted = v.trusted && found.Severity != Error
			v.findings = append(v.findings, *found)
		}
	}
	windows := m.OS == "windows"
	if string(text) == f.hooksText(windows) {
		for _, event := range f.events() {
			v.guard.Events = append(v.guard.Events, hook.Name(event))
		}
	} else {
		v.guard.Events = f.sound(text, windows)
		report(&Finding{ID: "gate.plugin_version", Severity: Warning, Message: "the plugin's hooks are not those of this gate",
			Remedy: "update the plugin, or gate, so that both are of one release"})
	}
	for _, event := range f.events() {
		if !slices.Contains(v.guard.Events, hook.Name(event)) {
			v.guard.Missing = append(v.guard.Missing, hook.Name(event))
		}
	}
	if len(v.guard.Missing) > 0 {
		report(&Finding{ID: "gate.events", Severity: Error, Message: "the plugin does not ask gate on " + listed(v.guard.Missing), Remedy: "update the plugin"})
	}
	v.guard.Complete = len(v.guard.Missing) == 0
	v.guard.stops = v.guard.Complete
	m.viewLauncher(f, dir, &v, report)
	report(m.place("settings.owner", "the plugin's hooks file", file, false))
	return v, true
}

// viewLauncher looks at what the plugin starts.
func (m Machine) viewLauncher(f pluginForm, dir string, v *pluginView, report func(*Finding)) {
	inside := filepath.Join(dir, filepath.FromSlash(f.dir), filepath.FromSlash(pluginProgram))
	launcher := filepath.Join(dir, filepath.FromSlash(f.dir), "gate-hook")
	if m.OS == "windows" {
		inside += ".exe"
		launcher = inside
	}
	v.guard.Command = []string{launcher, "--agent", f.agent, "--event", f.events()[0]}
	if m.OS == "windows" || m.exists(inside) {
		report(m.program(inside, false))
	}
	if m.OS == "windows" {
		return
	}
	report(m.program(launcher, false))
	text, err := m.system().ReadFile(launcher, maxFile)
	v.guard.Launcher = err == nil && string(text) == f.launcher()
	if err == nil && !v.guard.Launcher {
		report(&Finding{ID: "gate.plugin_version", Severity: Warning, File: launcher, Message: "the plugin's launcher is not that of this gate",
			Remedy: "update the plugin, or gate, so that both are of one release"})
	}
	if !m.exists(inside) && !slices.ContainsFunc(m.packaged(), m.exists) {
		report(&Finding{ID: "gate.plugin_program", Severity: Warning, File: launcher,
			Message: "the plugin has no program, and none is where packages put it: without one on PATH no call runs",
			Remedy:  "in the directory of a gate release: sh " + filepath.Join(filepath.Dir(launcher), "setup.sh") + " --programs"})
	}
}

// packaged are the places of gate-hook that a plugin's launcher looks at before PATH.
func (m Machine) packaged() []string {
	var list []string
	for _, dir := range []string{"usr/bin", "usr/local/bin", "usr/local/lib/gate"} {
		list = append(list, filepath.Join(m.root(), filepath.FromSlash(dir), "gate-hook"))
	}
	if m.Home != "" {
		list = append(list, filepath.Join(m.Home, ".local", "share", "gate", "programs", "gate-hook"))
	}
	return list
}

// sound are the events for which a hooks file has the entry of this gate, or one that
// stops as much.
func (f pluginForm) sound(text []byte, windows bool) (events []hook.Name) {
	d, err := parse(text)
	if err != nil || !d.root.is('{') {
		return nil
	}
	if f.agent == "claude" {
		var c claude
		for _, x := range c.entries(d) {
			e, known := claudeEventOf(x.event)
			faulty := slices.ContainsFunc(x.faults(d, e), func(f entryFault) bool { return f.severity == Error })
			if known && !faulty && c.fits(x) && strings.HasPrefix(x.words[0], f.root) && !slices.Contains(events, x.event) {
				events = append(events, x.event)
			}
		}
		return events
	}
	want, err := parse([]byte(f.hooksText(windows)))
	if err != nil {
		return nil
	}
	for _, event := range f.events() {
		// One line is one entry, so that equal texts are equal entries.
		is, entry := d.root.member("hooks", event), want.root.member("hooks", event)
		if is.is('[') && string(d.text[is.start:is.end]) == string(want.text[entry.start:entry.end]) {
			events = append(events, hook.Name(event))
		}
	}
	return events
}

// inProject is the finding about a plugin that the agent reads from the project.
func (m Machine) inProject(dir string) *Finding {
	project, err := m.real(m.Project)
	real, err2 := m.real(dir)
	if m.Project == "" || err != nil || err2 != nil || !inside(real, project) {
		return nil
	}
	return &Finding{ID: "gate.plugin_project", Severity: Warning, Scope: Plugin, File: dir,
		Message: "the plugin is read from the project, where a change of its files switches gate off",
		Remedy:  "add the marketplace from a directory outside the project, or install gate in the user scope"}
}

// off is the finding about a plugin that settings switch off.
func (p switchedPlugin) off(s AgentStatus) Finding {
	f := Finding{ID: "gate.plugin_off", Severity: Error, Agent: s.Agent, Scope: Plugin, File: p.at, Line: p.row,
		Message: fmt.Sprintf("gate's plugin %s is switched off by the %s settings", p.id, p.by),
		Remedy:  fmt.Sprintf("%s plugin enable %s", s.Agent, p.id)}
	if slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.InForce }) {
		f.Severity = Notice // installed entries guard
	}
	return f
}
