package commands

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/cmd/internal/document"
	"gate/internal/audit"
	"gate/internal/install"
	"gate/internal/moment"
	"gate/internal/setting"
)

// installedAgents are the agents that gate is installed for, in any scope or in the one
// that is meant.
func (f *installFlags) installedAgents(p process, scope string) []string {
	m, err := f.machine(p)
	if err != nil {
		return nil
	}
	var words []string
	for _, agent := range install.Agents() {
		scopes, err := m.Standing(agent)
		if err == nil && len(scopes) > 0 && (scope == "" || slices.Contains(scopes, install.Scope(scope))) {
			words = append(words, about(agent, "installed: "+strings.Join(texts(scopes), ", ")))
		}
	}
	return words
}

// policyNames are the names of policies, and of the groups that they are in.
func (f *placeFlags) policyNames(p process) []string {
	g, err := f.gate(p)
	if err != nil {
		return nil
	}
	titles := map[string]string{}
	for _, r := range g.Set.Policies() {
		titles[r.ID] = r.Title
		for i := strings.LastIndexByte(r.ID, '.'); i > 0; i = strings.LastIndexByte(r.ID[:i], '.') {
			if _, policy := titles[r.ID[:i]]; !policy {
				titles[r.ID[:i]] = "all below it"
			}
		}
	}
	var words []string
	for name, title := range titles {
		words = append(words, about(name, title))
	}
	return words
}

// policiesHere are the policies and groups that hold here.
func policiesHere(p process, dirs *dirFlags) func() []string {
	return func() []string { return (&placeFlags{dirs: *dirs}).policyNames(p) }
}

// complete offers the keys of settings, then the values that a key can have.
func (f *setFlags) complete(p process) completion {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return offered(f.keys(p), begun)
		case len(args) > 1 || f.unset:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offered(f.values(p, settingKey(args[0])), begun)
	}
}

// keys are those of settings: of the table, of policies and of their parameters.
func (f *setFlags) keys(p process) []string {
	var words []string
	for _, s := range setting.Table() {
		words = append(words, about(s.Key, plain(s.Says)))
	}
	for _, name := range f.policyNames(p) {
		words = append(words, "policies."+name)
	}
	if g, err := f.gate(p); err == nil {
		for _, r := range g.Set.Policies() {
			for name, param := range r.Hook.Params {
				words = append(words, about("params."+r.ID+"."+name, param.Description))
			}
		}
	}
	return words
}

// plain is a sentence of a page without its marks.
func plain(says string) string { return strings.ReplaceAll(says, "`", "") }

// values are what a key can have: the levels of a policy, the words of a setting, and
// the default of a parameter to begin with.
func (f *setFlags) values(p process, key []string) []string {
	if len(key) == 2 && key[0] == "policies" {
		return texts(setting.Levels())
	}
	if len(key) == 1 {
		return settingWords(setting.Named(key[0]))
	}
	g, err := f.gate(p)
	if err != nil || len(key) != 3 || key[0] != "params" {
		return nil
	}
	for _, r := range g.Set.Policies() {
		if param, has := r.Hook.Params[key[2]]; has && r.ID == key[1] && param.Default != nil {
			return []string{about(document.Line(param.Default), "the default")}
		}
	}
	return nil
}

// settingWords are the values of a setting that has a closed list of them.
func settingWords(s *setting.Setting) []string {
	switch {
	case s == nil || s.Type == nil:
		return nil
	case s.Type.Kind == setting.Switched || s.Type.Kind == setting.Truth:
		return []string{"true", "false"}
	}
	return slices.Clone(s.Type.Words)
}

// mostOffered is how many decisions or sessions are offered.
const mostOffered = 20

// newest calls f with the newest records of the log, until it has had enough.
func newest(p process, dirs *dirFlags, f func(audit.Record) bool) {
	h, err := openHistory(p, *dirs)
	if err != nil {
		return
	}
	read := 0
	for r, err := range h.Newest() {
		if read++; read > mostRecords || err == nil && !f(r) {
			return
		}
	}
}

// decisions are last, and the ids of the newest calls that were held back.
func decisions(p process, dirs *dirFlags) func() []string {
	return func() []string {
		words := []string{about("last", "the newest call that was held back")}
		newest(p, dirs, func(r audit.Record) bool {
			if r.HeldBack() {
				words = append(words, about(r.ID, r.Effect.String()+": "+r.Call))
			}
			return len(words) <= mostOffered
		})
		return words
	}
}

// sessions are the newest sessions in the log, of one agent or of any.
func sessions(p process, dirs *dirFlags, agent *string) func() []string {
	return func() []string {
		seen := map[string]string{}
		newest(p, dirs, func(r audit.Record) bool {
			if _, known := seen[r.Session]; !known && r.Session != "" && (agent == nil || *agent == r.Agent) {
				seen[r.Session] = about(r.Session, r.Agent+", last in "+p.tilde(r.Dir))
			}
			return len(seen) < mostOffered
		})
		return slices.Collect(maps.Values(seen))
	}
}

// toolsUsed are the tools of the newest calls in the log.
func toolsUsed(p process, dirs *dirFlags) func() []string {
	return func() []string {
		seen := map[string]bool{}
		newest(p, dirs, func(r audit.Record) bool {
			if r.Tool != "" {
				seen[r.Tool] = true
			}
			return len(seen) < mostOffered
		})
		return slices.Collect(maps.Keys(seen))
	}
}

// waiting are the ids of the calls that wait for a person.
func (f *placeFlags) waiting() []string {
	d, _, err := f.places()
	if err != nil {
		return nil
	}
	waiting, _ := d.Grants().AllPending()
	var words []string
	for _, w := range waiting {
		words = append(words, about(w.ID, w.Reasons[0].Text)) // there is at least one
	}
	return words
}

// trusted are the directories that somebody trusts.
func (f *placeFlags) trusted() []string {
	d, _, err := f.places()
	if err != nil {
		return nil
	}
	trusts, _ := d.Grants().Trusts()
	var words []string
	for _, t := range trusts {
		words = append(words, about(t.Origin.Dir, t.Origin.Authority.String()))
	}
	return words
}

// events are the names of all events.
func events() []string {
	var words []string
	for _, m := range moment.Every() {
		words = append(words, string(m.Name))
	}
	return words
}

// keyNames are the names of the keys in a set that are in force.
func keyNames(set *bundles.KeySet, err error) []string {
	if err != nil || set == nil {
		return nil
	}
	var words []string
	for id, key := range set.Keys {
		if !key.Revoked {
			words = append(words, about(id, string(key.Algorithm)))
		}
	}
	return words
}
