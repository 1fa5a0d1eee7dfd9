package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"gate/hook"
)

func (t *table) inspect(m Machine) AgentStatus {
	s := AgentStatus{Agent: t.id}
	strong := false
	for _, scope := range []Scope{Managed, User, Project} {
		var views []tableView
		for _, path := range t.targets(m, scope) {
			views = append(views, t.look(m, scope, path))
		}
		if t.each {
			views = t.together(scope, views)
		}
		for _, v := range views {
			s.Findings = append(s.Findings, v.findings...)
			if v.guard.Installed {
				s.Guards = append(s.Guards, v.guard)
				s.Guarded = s.Guarded || v.guard.Complete && v.guard.InForce && v.trusted
				strong = strong || scope != Project
			}
		}
	}
	if t.plugins != "" && t.dir(m) != "" {
		t.lookAtPlugins(m, &s)
		strong = strong || slices.ContainsFunc(s.Guards, Guard.beyondProject)
	}
	s.Here = t.present(m)
	inForce := slices.DeleteFunc(slices.Clone(s.Guards), func(g Guard) bool { return g.Scope == Plugin && !g.InForce })
	report := func(id string, severity Severity, message, remedy string) {
		s.Findings = append(s.Findings, Finding{ID: id, Severity: severity, Message: message, Remedy: remedy})
	}
	switch {
	case len(s.Guards) == 0 && s.Here:
		report("gate.missing", Notice, t.title+" is here, and gate is not installed for it", "if you use it: gate install "+t.id)
	case len(s.Guards) > 0 && !strong && t.user != "":
		report("gate.project_only", Warning, "gate is installed in the project only: a change of the project's files switches it off, and so do git stash, git switch and git reset", "gate install "+t.id+" --scope user, or managed")
	case len(inForce) > 1:
		s.Findings = append(s.Findings, *twice(t.id, inForce))
	}
	for i := range s.Findings {
		s.Findings[i].Agent = t.id
	}
	return s
}

// present reports whether there are signs of the agent on the machine.
func (t *table) present(m Machine) bool {
	if t.home == "" {
		return false
	}
	dir := t.dir(m)
	return dir != "" && m.exists(dir)
}

// A tableView is what one file has of gate.
type tableView struct {
	guard    Guard
	findings []Finding
	trusted  bool // its program, directories and the file itself are nobody else's
}

func (v *tableView) report(id string, severity Severity, line int, message, remedy string) {
	v.findings = append(v.findings, Finding{ID: id, Severity: severity, Scope: v.guard.Scope, File: v.guard.File, Line: line, Message: message, Remedy: remedy})
}

func (t *table) look(m Machine, s Scope, path string) tableView {
	v := tableView{guard: Guard{Scope: s, File: path}, trusted: true}
	text, err := m.system().ReadFile(path, maxFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) || m.exists(path) {
			v.report("settings.unreadable", Error, 0, "this file cannot be read: "+err.Error(), "make it a regular file that this account can read")
		}
		return v
	}
	entries, err := t.formatOf(s).entries(t, m, s, path, text)
	if err != nil {
		v.report("settings.syntax", Error, 0, err.Error(), "correct the file")
		return v
	}
	repair := "gate install " + t.id + " --scope " + string(s)
	if len(entries) == 0 {
		if _, own := t.formatOf(s).(ownFile); own {
			v.report("gate.entry", Error, 0, "this file is where gate's would be, and does not ask gate", "move it away, then "+repair)
		}
		return v
	}
	t.checkEntries(m, entries, repair, &v)
	if info, err := m.stat(path); t.each && err == nil && m.OS != "windows" && info.Mode()&0o111 == 0 {
		v.guard.InForce = false
		v.report("gate.entry", Error, 0, "this program cannot be executed: "+t.title+" does not ask gate", repair)
	}
	for i := range v.findings {
		f := &v.findings[i]
		f.Fixable = f.Fixable || f.Remedy == repair
	}
	t.checkFile(m, s, text, &v)
	if t.beside != nil {
		t.beside(t, m, &v)
	}
	return v
}

// checkEntries says what gate's entries in a file amount to, and what is wrong with
// them.
func (t *table) checkEntries(m Machine, entries []tableEntry, repair string, v *tableView) {
	g := &v.guard
	g.Installed, g.InForce, g.Complete, g.Command = true, true, true, entries[0].words
	wrong, other := 0, 0
	sound := map[string]bool{}
	for _, x := range entries {
		g.Events = append(g.Events, hook.Name(x.event))
		sound[x.event] = sound[x.event] || x.sound
		switch {
		case !x.sound:
			if wrong++; wrong == 1 {
				v.report("gate.entry", Error, x.line, fmt.Sprintf("gate's entry for %s was changed: it may not stop anything", x.event), repair)
			}
		case !x.exact:
			if other++; other == 1 {
				v.report("gate.command", Warning, x.line, "the command line is not the one that this gate would write", repair)
			}
		}
		t.checkPrograms(m, x, v)
	}
	events := t.events
	if t.each {
		events = []string{filepath.Base(g.File)}
	}
	for _, event := range events {
		if !slices.Contains(g.Events, hook.Name(event)) {
			g.Missing = append(g.Missing, hook.Name(event))
		}
		g.Complete = g.Complete && sound[event]
	}
	if len(g.Missing) > 0 {
		v.report("gate.events", Error, 0, "gate is not asked on "+listed(g.Missing), repair)
	}
}

// together makes one view of those of the files of a directory.
func (t *table) together(s Scope, views []tableView) []tableView {
	all := tableView{guard: Guard{Scope: s, Complete: true, InForce: true}, trusted: true}
	g := &all.guard
	for i, v := range views {
		g.File = filepath.Dir(v.guard.File)
		all.findings = append(all.findings, v.findings...)
		if !v.guard.Installed {
			g.Missing = append(g.Missing, hook.Name(t.events[i]))
			continue
		}
		g.Installed, g.Events = true, append(g.Events, v.guard.Events...)
		g.InForce, g.Complete, all.trusted = g.InForce && v.guard.InForce, g.Complete && v.guard.Complete, all.trusted && v.trusted
		if g.Command == nil {
			g.Command = v.guard.Command
		}
	}
	seen := map[string]bool{} // the same of each file
	all.findings = slices.DeleteFunc(all.findings, func(f Finding) bool {
		if f.ID != "gate.unproven" && f.ID != "gate.open" && f.ID != "gate.trust" {
			return false
		}
		twice := seen[f.ID]
		seen[f.ID] = true
		return twice
	})
	if g.Installed && len(g.Missing) > 0 {
		g.Complete = false
		all.report("gate.events", Error, 0, "gate is not asked on "+listed(g.Missing), "gate install "+t.id+" --scope "+string(s))
		all.findings[len(all.findings)-1].Fixable = true
	}
	return []tableView{all}
}

// checkFile reports what in the file, or about it, weakens gate.
func (t *table) checkFile(m Machine, s Scope, text []byte, v *tableView) {
	for _, f := range t.voids(s, v.guard.File, text) {
		v.findings = append(v.findings, f)
		v.guard.InForce = v.guard.InForce && f.ID != "hooks.disabled" && f.ID != "settings.comments"
	}
	if info, err := m.stat(v.guard.File); err == nil {
		if why := m.suspect(info, s == Managed); why != "" {
			v.trusted = false
			v.report("settings.owner", Error, 0, "others than their owner can change these settings: "+why,
				m.tighten(v.guard.File, info, s == Managed))
			if real, err := m.real(v.guard.File); err == nil {
				m.fixMode(&v.findings[len(v.findings)-1], real, info)
			}
		}
	}
	if s == Managed || slices.ContainsFunc(t.wanted(Managed), func(p pin) bool { return p.managed && t.pinned(m, p) }) {
		return
	}
	for _, weaker := range []Scope{User, Project} { // a switch of another file counts, too
		for _, path := range t.targets(m, weaker) {
			other, err := m.system().ReadFile(path, maxFile)
			if err != nil || path == v.guard.File {
				continue
			}
			for _, x := range t.formatOf(weaker).switched(t, other) {
				v.findings = append(v.findings, t.offFinding(x, weaker, path))
				v.guard.InForce = false
			}
		}
	}
}

// pinned reports whether the managed file holds a setting.
func (t *table) pinned(m Machine, p pin) bool {
	for _, path := range t.targets(m, Managed) {
		text, err := m.system().ReadFile(path, maxFile)
		if err != nil {
			continue
		}
		d, err := parse(text)
		if err != nil {
			continue
		}
		if n := d.root.member(p.path...); n != nil && string(text[n.start:n.end]) == p.value {
			return true
		}
	}
	return false
}

// checkPrograms looks at the programs and directories that an entry names.
func (t *table) checkPrograms(m Machine, x tableEntry, v *tableView) {
	report := func(f *Finding) {
		if f == nil {
			return
		}
		v.trusted = v.trusted && f.Severity != Error
		f.Scope = v.guard.Scope
		if f.File == "" {
			f.File, f.Line = v.guard.File, x.line
		}
		same := func(y Finding) bool { return y.ID == f.ID && y.File == f.File && y.Message == f.Message }
		if !slices.ContainsFunc(v.findings, same) {
			v.findings = append(v.findings, *f)
		}
	}
	for _, program := range programsOf(x.words) {
		report(m.program(program, v.guard.Scope == Managed))
	}
	report(m.lasts(x.words[0]))
	for _, name := range []string{"user-dir", "state-dir"} {
		if dir := flag(x.words, name); dir != "" {
			report(m.directory(name, dir))
		}
	}
}

// pathsOf lists what a command line starts and uses: whoever changes it changes
// gate.
func pathsOf(words []string) []Path {
	var out []Path
	for _, program := range programsOf(words) {
		out = append(out, Path{Path: filepath.Clean(program), What: "gate's program"})
	}
	for _, name := range []string{"user-dir", "state-dir"} {
		out = append(out, Path{Path: filepath.Clean(flag(words, name)), Tree: true, What: "gate's own directory"})
	}
	return slices.DeleteFunc(out, func(p Path) bool { return !filepath.IsAbs(p.Path) })
}
