package install

import (
	"fmt"
	"path/filepath"
)

// lookAtPlugins adds what gate's plugin does to the guard of an agent.
func (t *table) lookAtPlugins(m Machine, s *AgentStatus) {
	file := filepath.Join(t.dir(m), t.plugins)
	text, err := m.system().ReadFile(file, maxFile)
	if err != nil {
		return
	}
	d, err := parse(text)
	if err != nil {
		return // the agent reads no plugin there either
	}
	settings := &claudeView{scope: User, path: file, doc: d}
	for _, p := range switchedPlugins([]*claudeView{settings}) {
		dir := filepath.Join(t.dir(m), t.copies, p.marketplace(), p.name())
		if at := settings.setting("extraKnownMarketplaces", p.marketplace(), "source"); at.member("source").text() == "directory" {
			dir = m.sourceOf(at.member("path").text(), p.name(), t.markets...)
		}
		v, ok := m.viewPlugin(formOf(t.id), dir)
		switch {
		case ok:
			v.guard.plugin, v.guard.by, v.guard.InForce = p.id, p.by, p.on
			if !p.on {
				s.Findings = append(s.Findings, p.off(*s))
			} else {
				s.Findings = append(s.Findings, v.findings...)
				if f := m.inProject(dir); f != nil {
					s.Findings = append(s.Findings, *f)
				}
			}
			s.Guarded = s.Guarded || v.guard.Complete && v.guard.InForce && v.trusted
			s.Guards = append(s.Guards, v.guard)
		case p.on && p.name() == "gate":
			s.Findings = append(s.Findings, Finding{ID: "gate.plugin_missing", Severity: Error, Scope: Plugin, File: p.at, Line: p.row,
				Message: fmt.Sprintf("the %s settings switch the plugin %s on, and it is not installed here", p.by, p.id),
				Remedy:  t.id + " plugin install " + p.id + ", or: gate install " + t.id + " --scope user"})
		}
	}
}
