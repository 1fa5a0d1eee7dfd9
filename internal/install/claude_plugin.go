package install

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
)

// claudePlugins is what Claude Code notes about plugins below its directory, as observed
// with 2.1.329.
type claudePlugins struct {
	installed map[string][]struct {
		Scope, InstallPath, ProjectPath string
	}
	markets map[string]struct {
		Source          struct{ Source, Path string }
		InstallLocation string
	}
}

func (c claude) notes(m Machine) (notes claudePlugins) {
	dir := filepath.Join(c.dir(m), "plugins")
	if text, err := m.system().ReadFile(filepath.Join(dir, "installed_plugins.json"), maxFile); err == nil {
		list := struct{ Plugins any }{&notes.installed}
		_ = json.Unmarshal(text, &list) // what it cannot read is not installed
	}
	if text, err := m.system().ReadFile(filepath.Join(dir, "known_marketplaces.json"), maxFile); err == nil {
		_ = json.Unmarshal(text, &notes.markets)
	}
	return notes
}

// dirOf is the directory that Claude Code reads a plugin from, "" if it is not installed.
// A marketplace that is a directory is read in place, whatever was copied.
func (n claudePlugins) dirOf(m Machine, p switchedPlugin) string {
	if market, ok := n.markets[p.marketplace()]; ok && market.Source.Source == "directory" {
		if dir := m.sourceOf(cmp.Or(market.InstallLocation, market.Source.Path), p.name(), ".claude-plugin/marketplace.json"); dir != "" {
			return dir
		}
	}
	found := ""
	for _, x := range n.installed[p.id] {
		if x.ProjectPath == "" || m.Project != "" && filepath.Clean(x.ProjectPath) == filepath.Clean(m.Project) {
			found = x.InstallPath // that of the project comes later and counts there
		}
	}
	return found
}

// keeps reports a directory of a plugin that is installed: below the client's own, or in
// a marketplace that it reads in place.
func (c claude) keeps(m Machine, plugin string) bool {
	plugin, err := m.real(plugin)
	if err != nil {
		return true
	}
	roots := []string{filepath.Join(c.dir(m), "plugins")}
	for _, market := range c.notes(m).markets {
		roots = append(roots, cmp.Or(market.InstallLocation, market.Source.Path))
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		real, err := m.real(root)
		return root != "" && err == nil && inside(plugin, real)
	})
}

// plugins adds what gate's plugin does to the guard of Claude Code.
func (c claude) plugins(cm *claudeMachine, s *AgentStatus) {
	m := cm.m
	form := formOf(c.name())
	notes := c.notes(m)
	views := slices.Clone(cm.views)
	rank := func(s Scope) int { return slices.Index([]Scope{Managed, Local, Project, User}, s) }
	slices.SortStableFunc(views, func(a, b *claudeView) int { return cmp.Compare(rank(a.scope), rank(b.scope)) })
	for _, p := range switchedPlugins(views) {
		dir := notes.dirOf(m, p)
		v, ok := m.viewPlugin(form, dir)
		if !ok {
			if p.name() == "gate" && p.on {
				s.Findings = append(s.Findings, Finding{ID: "gate.plugin_missing", Severity: Error, Scope: Plugin, File: p.at, Line: p.row,
					Message: fmt.Sprintf("the %s settings switch the plugin %s on, and it is not installed here", p.by, p.id),
					Remedy:  "claude plugin install " + p.id + ", or: gate install claude --scope user"})
			}
			continue
		}
		if p.on {
			s.Findings = append(s.Findings, v.findings...)
		}
		forced := p.by == Managed
		v.guard.plugin, v.guard.by = p.id, p.by
		v.guard.InForce = p.on && cm.off == nil && (forced || cm.offBelow == nil && !cm.only)
		c.pluginFindings(cm, p, dir, s)
		s.Guarded = s.Guarded || v.guard.Complete && v.guard.InForce && v.trusted
		s.Guards = append(s.Guards, v.guard)
	}
}

// pluginFindings says what weakens an installed plugin of gate's.
func (c claude) pluginFindings(cm *claudeMachine, p switchedPlugin, dir string, s *AgentStatus) {
	if !p.on {
		s.Findings = append(s.Findings, p.off(*s))
		return
	}
	if f := cm.m.inProject(dir); f != nil {
		s.Findings = append(s.Findings, *f)
	}
	for _, v := range cm.views {
		if n := v.setting("extraKnownMarketplaces", p.marketplace()); n != nil && (v.scope == Project || v.scope == Local) {
			v.report("gate.plugin_project", Warning, n, "the project says where the plugin "+p.id+" comes from", "add the marketplace yourself: claude plugin marketplace add SOURCE")
			s.Findings = append(s.Findings, v.findings[len(v.findings)-1])
		}
	}
	switch off := cmp.Or(cm.off, cm.offBelow); {
	case cm.off != nil, off != nil && p.by != Managed:
		off.report("hooks.disabled", Error, off.setting("disableAllHooks"), "disableAllHooks switches gate's plugin off", "remove it, or install gate in the managed scope")
		s.Findings = append(s.Findings, off.findings[len(off.findings)-1])
	case cm.only && p.by != Managed:
		s.Findings = append(s.Findings, Finding{ID: "gate.overruled", Severity: Notice, Scope: Plugin, File: p.at, Line: p.row,
			Message: "managed settings let only managed hooks run: gate's plugin does nothing", Remedy: "claude plugin disable " + p.id})
	}
}
