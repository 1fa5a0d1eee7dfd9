package install

import (
	"cmp"
	"fmt"
	"slices"

	"gate/hook"
)

// A claudeMachine is what all settings files say together.
type claudeMachine struct {
	m        Machine
	views    []*claudeView
	only     bool        // allowManagedHooksOnly is in force
	locked   bool        // managed settings forbid bypassPermissions
	off      *claudeView // managed disableAllHooks: nothing runs
	offBelow *claudeView // disableAllHooks of another file: only managed hooks run
}

func (c claude) inspect(m Machine) AgentStatus {
	cm := c.together(m)
	s := AgentStatus{Agent: c.name(), Clients: c.clients(m)}
	for _, v := range cm.views {
		safe := c.ownership(cm.m, v)
		g := c.guard(cm, v)
		if !g.Installed && v.scope == Managed {
			continue
		}
		trusted := c.checkEntries(cm, v, g)
		s.Guarded = s.Guarded || g.Complete && g.InForce && trusted && safe
		s.Guards = append(s.Guards, g)
	}
	for _, v := range cm.views {
		c.weaknesses(cm, v)
		s.Findings = append(s.Findings, v.findings...)
	}
	c.plugins(cm, &s)
	s.Here = c.present(cm, s)
	s.Findings = append(s.Findings, c.overall(cm, s)...)
	for i := range s.Findings {
		s.Findings[i].Agent = c.name()
	}
	return s
}

// together reads all files and what follows from them together.
func (c claude) together(m Machine) *claudeMachine {
	cm := &claudeMachine{m: m, views: c.views(m)}
	for _, v := range cm.views {
		if v.scope != Managed {
			continue
		}
		if n := v.setting("allowManagedHooksOnly"); n != nil {
			cm.only = !n.is('f') // any other value reads as true
		}
		if n := v.setting("disableAllHooks"); n != nil {
			if cm.off = nil; n.is('t') {
				cm.off = v
			}
		}
		if n := v.setting("permissions", "disableBypassPermissionsMode"); n != nil {
			cm.locked = n.text() == "disable"
		}
	}
	// A weaker file's false beats a stronger one's true.
	for _, s := range []Scope{Local, Project, User} {
		for _, v := range cm.views {
			n := v.setting("disableAllHooks")
			if v.scope != s || v.void || !n.is('t') && !n.is('f') {
				continue
			}
			if n.is('t') {
				cm.offBelow = v
			}
			return cm
		}
	}
	return cm
}

// guard says what one file has of gate.
func (c claude) guard(cm *claudeMachine, v *claudeView) Guard {
	g := Guard{Scope: v.scope, File: v.path, Only: v.scope == Managed && cm.only}
	if v.doc == nil || !v.doc.root.is('{') {
		return g
	}
	sound, ours := map[hook.Name]bool{}, map[hook.Name]bool{}
	for _, x := range c.entries(v.doc) {
		g.Installed = true
		if g.Command == nil {
			g.Command = x.words
		}
		if !slices.Contains(g.Events, x.event) {
			g.Events = append(g.Events, x.event)
		}
		e, _ := claudeEventOf(x.event)
		if !slices.ContainsFunc(x.faults(v.doc, e), func(f entryFault) bool { return f.severity == Error }) && c.fits(x) {
			sound[x.event] = true
			ours[x.event] = ours[x.event] || cm.m.starts(x.words)
		}
	}
	g.Complete, g.stops = g.Installed, g.Installed
	for _, e := range claudeEvents() {
		if !slices.Contains(g.Events, e.name) {
			g.Missing = append(g.Missing, e.name)
		}
		g.Complete = g.Complete && sound[e.name]
		g.stops = g.stops && (ours[e.name] || !e.block)
	}
	below := v.scope != Managed && (cm.offBelow != nil || cm.only)
	g.InForce = g.Installed && !v.void && cm.off == nil && !below
	return g
}

// fits reports whether the command line names the event that it is for.
func (claude) fits(x claudeEntry) bool {
	named := flag(x.words, "event")
	return named == "" || named == string(x.event)
}

// overall says what no single file is to blame for.
func (c claude) overall(cm *claudeMachine, s AgentStatus) []Finding {
	var out []Finding
	installed := slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.Installed })
	strong := slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.Installed && g.beyondProject() })
	managed := slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.Installed && g.Scope == Managed })
	switch {
	case !installed && !s.Here:
		out = append(out, Finding{ID: "gate.missing", Severity: Notice,
			Message: "Claude Code was not found here, and gate does not guard it", Remedy: "if you use it: gate install claude --scope user"})
	case !installed:
		out = append(out, Finding{ID: "gate.missing", Severity: Error,
			Message: "gate is installed in no scope: nothing is judged", Remedy: "gate install claude --scope user"})
	case !strong && slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.Installed && (g.InForce || g.Scope != Plugin) }):
		out = append(out, Finding{ID: "gate.project_only", Severity: Warning,
			Message: "gate is installed in the project only: a change of the project's files switches it off, and so do git stash, git switch and git reset",
			Remedy:  "gate install claude --scope user, or managed"})
	case managed && !cm.only:
		out = append(out, Finding{ID: "managed.not_only", Severity: Warning, Scope: Managed,
			Message: "allowManagedHooksOnly is not set: a hook of a user or project can rewrite what gate has judged",
			Remedy:  "gate install claude --scope managed"})
	}
	if f := c.twice(s); f != nil {
		out = append(out, *f)
	}
	for _, client := range s.Clients {
		if olderThan(client.Version, "2.1.295") {
			out = append(out, Finding{ID: "client.old", Severity: Warning, File: client.File,
				Message: fmt.Sprintf("Claude Code %s does not know onFailure: a call goes on when gate is missing or late", client.Version),
				Remedy:  "update Claude Code to 2.1.295 or later, or remove this copy"})
		}
	}
	return out
}

// twice reports entries in several scopes: each starts gate once more, and an
// approval is good for one decision only. Equal ones the client runs once.
func (c claude) twice(s AgentStatus) *Finding {
	var inForce []Guard
	for _, g := range s.Guards {
		if g.InForce && !slices.ContainsFunc(inForce, func(x Guard) bool { return slices.Equal(x.Command, g.Command) }) {
			inForce = append(inForce, g)
		}
	}
	if len(inForce) < 2 {
		return nil
	}
	return twice(c.name(), inForce)
}

// present reports whether there are signs of Claude Code on the machine.
func (c claude) present(cm *claudeMachine, s AgentStatus) bool {
	dir := c.dir(cm.m)
	return len(s.Clients) > 0 || dir != "" && cm.m.exists(dir) || slices.ContainsFunc(cm.views, func(v *claudeView) bool { return v.exists })
}

// checkEntries reports what is wrong with a file's entries. It returns whether
// their program can be trusted.
func (c claude) checkEntries(cm *claudeMachine, v *claudeView, g Guard) bool {
	if !g.Installed {
		return false
	}
	t := &tally{v: v}
	for _, x := range c.entries(v.doc) {
		c.checkEntry(cm.m, v, x, t)
	}
	t.flush()
	if len(g.Missing) > 0 {
		v.report("gate.events", Error, nil, "gate is not asked on "+listed(g.Missing), "gate install claude --scope "+string(v.scope))
		v.findings[len(v.findings)-1].Fixable = true
	}
	for _, off := range []*claudeView{cm.off, cm.offBelow} {
		if off != nil && (off == cm.off || v.scope != Managed) {
			off.report("hooks.disabled", Error, off.setting("disableAllHooks"),
				fmt.Sprintf("disableAllHooks switches gate off in the %s scope", v.scope), "remove it, or install gate in the managed scope")
		}
	}
	if v.scope != Managed && cm.only {
		v.report("gate.overruled", Notice, nil, "managed settings let only managed hooks run: gate's entries in this file do nothing",
			"gate uninstall claude --scope "+string(v.scope))
	}
	return c.checkPrograms(cm.m, v)
}

func (c claude) checkEntry(m Machine, v *claudeView, x claudeEntry, t *tally) {
	e, known := claudeEventOf(x.event)
	if !known {
		t.add("gate.event", Error, x.handler, x.event, "gate must not hook this event: a hook there replaces the client's own work")
		return
	}
	for _, f := range x.faults(v.doc, e) {
		t.add(f.id, f.severity, f.at, x.event, f.message)
	}
	switch {
	case !c.fits(x):
		t.add("gate.event", Error, x.handler, x.event, "gate is told that this is another event, and refuses it")
	case !slices.Equal(argv(x.handler), c.line(m, v.scope, x.event)):
		t.add("gate.command", Warning, x.handler, x.event, "the command line is not the one that this gate would write")
	}
}

// checkPrograms looks at the programs and directories that the entries name.
func (c claude) checkPrograms(m Machine, v *claudeView) bool {
	trusted := true
	seen := map[string]bool{"": true}
	report := func(f *Finding, at *node) {
		if f == nil {
			return
		}
		trusted = trusted && f.Severity != Error
		f.Scope = v.scope
		if f.File == "" {
			f.File, f.Line = v.path, v.doc.line(at)
		}
		v.findings = append(v.findings, *f)
	}
	for _, x := range c.entries(v.doc) {
		for _, program := range programsOf(x.words) {
			if !seen[program] {
				seen[program] = true
				report(m.program(program, v.scope == Managed), x.handler)
			}
		}
		if program := x.words[0]; !seen["lasts "+program] {
			seen["lasts "+program] = true
			report(m.lasts(program), x.handler)
		}
		for _, name := range []string{"user-dir", "state-dir"} {
			if dir := flag(x.words, name); !seen[dir] {
				seen[dir] = true
				report(m.directory(name, dir), x.handler)
			}
		}
	}
	return trusted
}

// A tally gathers equal findings about many entries into one.
type tally struct {
	v    *claudeView
	rows []tallyRow
}

type tallyRow struct {
	id       string
	severity Severity
	at       *node
	message  string
	events   []hook.Name
}

func (t *tally) add(id string, s Severity, at *node, n hook.Name, message string) {
	i := slices.IndexFunc(t.rows, func(r tallyRow) bool { return r.id == id && r.severity == s && r.message == message })
	if i < 0 {
		t.rows = append(t.rows, tallyRow{id, s, at, message, nil})
		i = len(t.rows) - 1
	}
	t.rows[i].events = append(t.rows[i].events, n)
}

func (t *tally) flush() {
	for _, r := range t.rows {
		t.v.report(r.id, r.severity, r.at, r.message+" ("+listed(r.events)+")", "gate install claude --scope "+string(t.v.scope))
		_, known := claudeEventOf(r.events[0])
		f := &t.v.findings[len(t.v.findings)-1]
		f.Fixable = known && !(t.v.scope == Managed && !isOwn(t.v.path))
		if !known {
			f.Remedy = "remove the entry"
		}
	}
}

// listed names up to three events.
func listed(events []hook.Name) string {
	text := ""
	for i, n := range events {
		if i == 3 && len(events) > 4 {
			return text + fmt.Sprintf(" and %d more", len(events)-3)
		}
		if i > 0 {
			text += ", "
		}
		text += string(n)
	}
	return text
}

// bySeverity orders findings, most severe first.
func bySeverity(a, b Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) }

func rank(s Severity) int { return slices.Index([]Severity{Error, Warning, Notice}, s) }
