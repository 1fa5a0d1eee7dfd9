package install

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// look inspects one agent and orders what it found.
func (m Machine) look(a agent) AgentStatus {
	s := a.inspect(m)
	if s.Findings == nil {
		s.Findings = []Finding{}
	}
	slices.SortStableFunc(s.Findings, bySeverity)
	s.Findings = slices.CompactFunc(s.Findings, func(x, y Finding) bool {
		return x.ID == y.ID && x.File == y.File && x.Line == y.Line && x.Message == y.Message
	})
	return s
}

// lookAtAll inspects the agents that there are signs of. Who is told about
// another agent need not be told that Claude Code is not there.
func (m Machine) lookAtAll(only ...string) []AgentStatus {
	var list []AgentStatus
	for _, a := range agents() {
		if len(only) > 0 && !slices.Contains(only, a.name()) {
			continue
		}
		if s := m.look(a); len(s.Guards) > 0 || len(s.Findings) > 0 {
			list = append(list, s)
		}
	}
	if slices.ContainsFunc(list, AgentStatus.installed) {
		list = slices.DeleteFunc(list, AgentStatus.absent)
	}
	return list
}

// Standing lists the scopes that gate is installed in for an agent, the strongest
// first. A plugin is the agent's to take away, and is none of them.
func (m Machine) Standing(agent string) ([]Scope, error) {
	a, err := lookup(agent)
	if err != nil {
		return nil, err
	}
	var scopes []Scope
	for _, g := range m.look(a).Guards {
		if g.Installed && g.Scope != Plugin && !slices.Contains(scopes, g.Scope) {
			scopes = append(scopes, g.Scope)
		}
	}
	return scopes, nil
}

// installed reports an agent that gate is installed for.
func (s AgentStatus) installed() bool {
	return slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.Installed })
}

// absent reports an agent of which all there is to say is that it is not there.
func (s AgentStatus) absent() bool {
	return len(s.Findings) == 1 && s.Findings[0].ID == "gate.missing" && s.Findings[0].Severity == Notice
}

// Brought lists what files of the project say that weakens the guard of one agent. A
// clone may have brought them, and nobody has looked. How gate itself stands there
// is for [Machine.Status].
func (m Machine) Brought(agent string) []Finding {
	var out []Finding
	for _, s := range m.lookAtAll(agent) {
		for _, f := range s.Findings {
			kind, _, _ := strings.Cut(f.ID, ".")
			weakens := slices.Contains([]string{"permissions", "mcp", "env", "hooks"}, kind) || f.ID == "settings.runs"
			if weakens && (f.Scope == Project || f.Scope == Local) && f.Severity != Notice {
				out = append(out, f)
			}
		}
	}
	return out
}

// Gone says why the gate of the Machine, which was installed for an agent in a scope,
// stands nowhere before it any more: "" while the entries of some scope start it for
// every event on which they can stop something, and are in force. Other events may
// lack an entry: a later gate has more of them. A plugin that is for one session, as
// with --plugin-dir, stands in no settings, and no change takes it out.
func (m Machine) Gone(agent string, was Scope) string {
	a, err := lookup(agent)
	if err != nil || was == Plugin && m.PluginRoot != "" && !(claude{}).keeps(m, m.PluginRoot) {
		return ""
	}
	s := m.look(a)
	why := "the file has no entry of gate's"
	for _, g := range s.Guards {
		switch {
		case g.stops && g.InForce:
			return ""
		case g.Scope == was && g.stops:
			why = "hooks are switched off, or the file does not count as it is"
		case g.Scope == was && g.Complete:
			why = "an entry starts another program, or with other directories"
		}
	}
	for _, f := range s.Findings {
		if f.Scope == was && f.Severity == Error && f.ID != "gate.missing" {
			return f.Message
		}
	}
	return why
}

// starts reports a command line that starts the gate of the Machine, with the
// directories that it has. Of what the Machine does not say nothing is compared.
func (m Machine) starts(words []string) bool {
	for name, dir := range map[string]string{"user-dir": m.UserDir, "state-dir": m.StateDir} {
		if given := flag(words, name); given != "" && dir != "" && filepath.Clean(given) != filepath.Clean(dir) {
			return false
		}
	}
	if m.Program == "" {
		return true
	}
	started, err := m.real(words[0])
	if err != nil {
		return false
	}
	self, err := m.real(m.Program)
	return err == nil && filepath.Dir(started) == filepath.Dir(self)
}

// A Diagnosis is what is wrong on a machine, most severe first.
type Diagnosis struct {
	Findings []Finding `json:"findings"`

	machine Machine
}

// Doctor looks at every agent and at gate's own directories. With agents, only
// those count: an agent that gate is not meant for is no finding.
func (m Machine) Doctor(only ...string) Diagnosis {
	d := Diagnosis{Findings: []Finding{}, machine: m}
	for _, s := range m.lookAtAll(only...) {
		d.Findings = append(d.Findings, s.Findings...)
	}
	for _, dir := range []struct {
		path, what string
		admin      bool
	}{
		{m.ManagedDir, "the administrator's directory", true},
		{m.UserDir, "gate's directory of policies", false},
		{m.StateDir, "gate's directory of logs", false},
	} {
		if dir.path == "" || !m.exists(dir.path) {
			continue
		}
		f := m.place("gate.directory", dir.what, dir.path, dir.admin)
		known := func(x Finding) bool { return x.ID == f.ID && x.File == f.File }
		if f != nil && !slices.ContainsFunc(d.Findings, known) {
			d.Findings = append(d.Findings, *f)
		}
	}
	d.Findings = append(d.Findings, m.managedFiles()...)
	slices.SortStableFunc(d.Findings, bySeverity)
	return d
}

// managedFiles reports what in the administrator's directory others can change:
// settings, keys, and the bundles in force.
func (m Machine) managedFiles() []Finding {
	var out []Finding
	for _, dir := range []string{m.ManagedDir, filepath.Join(m.ManagedDir, "bundles"), filepath.Join(m.ManagedDir, "policies"), filepath.Join(m.ManagedDir, "settings.d")} {
		if m.ManagedDir == "" {
			break
		}
		entries, err := m.system().ReadDir(dir)
		if err != nil {
			continue // not there
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := m.system().Lstat(path)
			if err != nil || info.Mode()&fs.ModeSymlink != 0 {
				continue // gone; links are refused where they are read
			}
			if why := m.suspect(info, true); why != "" {
				f := Finding{ID: "gate.directory", Severity: Error, File: path, Message: "the administrator's file can be changed by others: " + why,
					Remedy: m.tighten(path, info, true)}
				m.fixMode(&f, path, info)
				out = append(out, f)
			}
		}
	}
	return out
}

// Fix plans what repairs the fixable findings: gate's own entries are written
// anew where they are installed, and modes are tightened. What a person has
// chosen, such as disableAllHooks, is left to the person. Run Doctor again
// after the plans have been applied.
func (d Diagnosis) Fix() ([]Plan, error) {
	var plans []Plan
	var errs []error
	var done []Request
	modes := Plan{system: d.machine.system()}
	for _, f := range d.Findings {
		switch r := (Request{Agent: f.Agent, Scope: f.Scope, KeepBypass: true}); {
		case !f.Fixable:
		case f.mode != nil:
			if !slices.ContainsFunc(modes.Changes, func(c Change) bool { return c.Path == f.mode.Path }) {
				modes.Changes = append(modes.Changes, *f.mode)
			}
		case !slices.ContainsFunc(done, func(x Request) bool { return x.Agent == r.Agent && x.Scope == r.Scope }):
			done = append(done, r)
			plan, err := d.machine.Install(r)
			if err != nil {
				errs = append(errs, err)
			} else if !plan.Empty() {
				plans = append(plans, plan)
			}
		}
	}
	if !modes.Empty() {
		plans = append(plans, modes)
	}
	return plans, errors.Join(errs...)
}

// A Path is a file or directory that belongs to gate or guards an agent.
type Path struct {
	Path string `json:"path"`
	Real string `json:"real"` // with symbolic links followed, as far as it exists
	Tree bool   `json:"tree"` // everything below it, too
	What string `json:"what"`
}

// Paths lists what an agent must not write: gate's own files and the agents'
// configuration. Some of it may not exist yet.
func (m Machine) Paths() []Path {
	var out []Path
	for _, p := range []Path{
		{Path: first(m.Command), What: "gate's program"},
		{Path: m.Program, What: "gate's program"},
		{Path: m.Copies, Tree: true, What: "copies of gate's programs"},
		{Path: m.UserDir, Tree: true, What: "gate's directory of policies"},
		{Path: m.StateDir, Tree: true, What: "gate's directory of logs"},
		{Path: m.ManagedDir, Tree: true, What: "the administrator's directory"},
	} {
		if p.Path != "" {
			out = append(out, p)
		}
	}
	if m.ManagedDir != "" {
		out = append(out,
			Path{Path: filepath.Join(m.ManagedDir, "keys.json"), What: "the keys that sign bundles"},
			Path{Path: filepath.Join(m.ManagedDir, "seen.json"), What: "the versions of bundles that were seen"},
			Path{Path: filepath.Join(m.ManagedDir, "bundles"), Tree: true, What: "signed bundles in force, and those that wait"},
		)
	}
	if m.StateDir != "" {
		out = append(out, Path{Path: filepath.Join(m.StateDir, "decisions.jsonl"), What: "the decision log"})
	}
	for _, a := range agents() {
		out = append(out, a.places(m)...)
	}
	var unique []Path
	for _, p := range out {
		p.Real = p.Path
		if real, err := m.real(p.Path); err == nil {
			p.Real = real
		}
		if !slices.ContainsFunc(unique, func(x Path) bool { return x.Path == p.Path && x.Tree == p.Tree }) {
			unique = append(unique, p)
		}
	}
	return unique
}
