package scopes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/hook"
)

// Settings are the values that decide which sources take part and what of a
// hook's answer counts. [Combine] makes them from what files say. Who may set
// what is decided here, not in the files. The zero Settings switch nothing off
// and tune nothing.
type Settings struct {
	// DisableAllHooks holds disableAllHooks by the authority of the settings
	// file it stands in. It switches off everything of its own authority and
	// below. Plugins and skills have none.
	DisableAllHooks map[hook.Authority]bool

	// ManagedHooksOnly is allowManagedHooksOnly of the managed settings; the
	// reader must not fill it from any other. Only managed sources take part.
	ManagedHooksOnly bool

	FaultsClose bool                 // faults of every authority close
	Deadline    time.Duration        // of one decision; zero: none beside the engine's own
	Approvals   Approvals            // zero: none
	Stale       Stale                // when bundles grow old
	Labels      map[string]string    // of this machine
	NoLog       bool                 // decisions are not logged
	NoRecord    bool                 // the log keeps no events
	Plugins     map[string]bool      // the ones that are switched on or off; others are off
	PluginDirs  map[string]PluginDir // of those that do not lie with the other plugins of gate
	Providers   map[string]Provider  // of language models, by name; see [Settings.JudgesOf]
	Programs    map[string]any       // what in-house programs do, by name: rows for the catalogue of facts; of a [Set] only those that count beside its sources

	MCPServers map[string]MCPServer // whose tools hooks may call, by name

	DecisionLogs DecisionLogs // of managed settings
	Sync         []Feed       // where bundles come from, in the order in which they are to be in force

	StatusLine, FileSuggestion Script // of the highest authority that is not switched off

	orders   map[string]int // of managed sources but the library, by name
	governed bool           // something is managed, as far as [New] knows
	layers   []Layer        // by standing, then file: what else hooks are tuned by
}

// A PluginDir is where settings say that a plugin lies.
type PluginDir struct {
	Dir string         // absolute
	By  hook.Authority // whose settings say so: whose the files must be
}

// Combine weighs the layers against each other. A key that an authority may not
// set does not count, and [Set.Explain] says so. Between files of one standing
// the strictest word counts, so that their order does not matter; two managed
// files that give one parameter or label two values, and settings of plugins
// and skills, are errors. Of signed bundles, which have an order, the first that
// gives such a value decides. Whoever gets an error must let no call pass.
func Combine(layers ...Layer) (Settings, error) {
	s := Settings{DisableAllHooks: map[hook.Authority]bool{}, Plugins: map[string]bool{}, PluginDirs: map[string]PluginDir{}, Programs: map[string]any{},
		Providers: map[string]Provider{}, MCPServers: map[string]MCPServer{}, layers: slices.Clone(layers)}
	slices.SortStableFunc(s.layers, func(a, b Layer) int {
		return cmp.Or(int(a.Authority)-int(b.Authority), cmp.Compare(a.Order, b.Order), strings.Compare(a.File, b.File))
	})
	var errs []error
	for i := range s.layers {
		l := &s.layers[i]
		if !hasSettings(l.Authority) {
			errs = append(errs, fmt.Errorf("%s: %s authority has no settings", l.File, l.Authority))
			continue
		}
		for j, e := range l.Exceptions {
			if err := e.Check(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", l.Pos(indexed(keyExceptions, j)), err))
			}
		}
		s.weigh(l)
	}
	errs = append(errs, s.contradictions()...)
	s.approvals()
	s.stale()
	s.scripts()
	s.decisionLogs()
	return s, errors.Join(errs...)
}

func hasSettings(a hook.Authority) bool {
	return a == hook.Managed || a == hook.User || a == hook.Project || a == hook.Local
}

// weigh takes one layer in; those above it came before.
func (s *Settings) weigh(l *Layer) {
	if s.disables(l) {
		s.DisableAllHooks[l.Authority] = true
	}
	if l.Authority == hook.Managed {
		s.ManagedHooksOnly = s.ManagedHooksOnly || l.AllowManagedHooksOnly != nil && *l.AllowManagedHooksOnly
		if l.Bundle == "" {
			if len(l.Labels) > 0 && s.Labels == nil {
				s.Labels = map[string]string{}
			}
			maps.Copy(s.Labels, l.Labels)
			s.feeds(l)
		}
	}
	if l.Authority != hook.Managed && l.Authority != hook.User {
		return
	}
	if l.Deadline > 0 && (s.Deadline == 0 || l.Deadline < s.Deadline) {
		s.Deadline = l.Deadline
	}
	s.FaultsClose = s.FaultsClose || l.Faults == hook.FaultDeny
	for _, name := range slices.Sorted(maps.Keys(l.Plugins)) {
		if said := s.managedSay(func(o *Layer) bool { _, ok := o.Plugins[name]; return ok }); said && l.Authority == hook.User {
			continue
		}
		on, said := s.Plugins[name]
		s.Plugins[name] = l.Plugins[name] && (on || !said)
		if dir := l.PluginDir[name]; dir != "" && s.PluginDirs[name].By != hook.Managed {
			s.PluginDirs[name] = PluginDir{dir, l.Authority}
		}
	}
	for name, server := range l.MCPServers {
		if _, said := s.MCPServers[name]; !said {
			server.Authority = l.Authority
			s.MCPServers[name] = server
		}
	}
	for name, row := range l.Programs {
		if _, said := s.Programs[name]; !said { // managed settings came before the user's
			s.Programs[name] = row
		}
	}
	s.providers(l)
	if l.Authority == hook.Managed || !s.managedSay(func(*Layer) bool { return true }) {
		s.without(l, &s.NoLog, func(o *Layer) *bool { return o.wants(o.Log) })
	}
	s.without(l, &s.NoRecord, func(o *Layer) *bool { return o.wants(o.Record) })
}

// wants is a word about the log that counts: a later bundle keeps no log away.
func (l *Layer) wants(said *bool) *bool {
	if l.later() && said != nil && !*said {
		return nil
	}
	return said
}

// without settles what a layer may do without: where managed settings speak of
// it, only they count, and one managed file that wants it is enough.
func (s *Settings) without(l *Layer, off *bool, wants func(*Layer) *bool) {
	managed := s.managedSay(func(o *Layer) bool { return wants(o) != nil })
	switch want := wants(l); {
	case want == nil, managed && l.Authority == hook.User:
	case managed:
		*off = !s.managedSay(func(o *Layer) bool { w := wants(o); return w != nil && *w })
	default:
		*off = !*want
	}
}

// managedSay reports whether a managed layer says something.
func (s *Settings) managedSay(says func(*Layer) bool) bool {
	for i := range s.layers {
		if s.layers[i].Authority == hook.Managed && says(&s.layers[i]) {
			return true
		}
	}
	return false
}

// approvals settles who answers asks. Where there are managed settings, only
// they switch approvals on; of several files the strictest counts.
func (s *Settings) approvals() {
	by := hook.User
	if s.managedSay(func(*Layer) bool { return true }) {
		by = hook.Managed
	}
	first := true
	for _, l := range s.layers {
		a := l.Approvals
		if l.Authority != by || a == nil || first && l.later() {
			continue
		}
		if first {
			s.Approvals, first = *a, false
			s.Approvals.Keys = slices.Clone(a.Keys)
			continue
		}
		s.Approvals.Enabled = s.Approvals.Enabled && a.Enabled
		s.Approvals.Minutes = min(s.Approvals.Minutes, a.Minutes)
		if a.KeyRequired && s.Approvals.KeyRequired {
			s.Approvals.Keys = slices.DeleteFunc(s.Approvals.Keys, func(k string) bool { return !slices.Contains(a.Keys, k) })
		} else if a.KeyRequired {
			s.Approvals.KeyRequired, s.Approvals.Keys = true, slices.Clone(a.Keys)
		}
	}
	s.Approvals.Minutes = min(max(s.Approvals.Minutes, 0), maxApproval)
}

// govern leaves it to managed settings to say what programs do where anything is
// managed: policies judge by the facts that follow from it.
func (s *Settings) govern(sources []Source) {
	s.governed = slices.ContainsFunc(sources, func(src Source) bool { return src.Authority == hook.Managed }) ||
		s.managedSay(func(*Layer) bool { return true })
	if !s.governed {
		return
	}
	all := s.Programs
	s.Programs = map[string]any{}
	for name, row := range all {
		if s.managedSay(func(l *Layer) bool { _, ok := l.Programs[name]; return ok }) {
			s.Programs[name] = row // managed settings came first
		}
	}
}

// contradictions finds what files of one authority say differently and no
// order makes one of them the stricter.
func (s *Settings) contradictions() []error {
	var errs []error
	type word struct {
		value any
		pos   string
	}
	seen := map[string]word{}
	say := func(l *Layer, key string, value any) {
		id := fmt.Sprintf("%s %d %s", l.Authority, l.Order, key)
		if old, ok := seen[id]; ok && !equal(old.value, value) {
			errs = append(errs, fmt.Errorf("%s: %s has another value at %s", l.Pos(key), key, old.pos))
		}
		seen[id] = word{value, l.Pos(key)}
	}
	for i := range s.layers {
		l := &s.layers[i]
		for _, p := range slices.Sorted(maps.Keys(l.Params)) {
			for _, name := range slices.Sorted(maps.Keys(l.Params[p])) {
				say(l, keyParams+"."+p+"."+name, l.Params[p][name])
			}
		}
		if l.Authority == hook.Managed {
			for _, name := range slices.Sorted(maps.Keys(l.Labels)) {
				say(l, keyLabels+"."+name, l.Labels[name])
			}
			for _, f := range l.Sync {
				say(l, keySync+"."+f.Name, f.tree())
			}
			for _, name := range slices.Sorted(maps.Keys(l.PluginDir)) {
				say(l, keyPlugins+"."+name, l.PluginDir[name])
			}
			for _, name := range slices.Sorted(maps.Keys(l.Programs)) {
				say(l, keyPrograms+"."+name, l.Programs[name])
			}
			for _, name := range slices.Sorted(maps.Keys(l.Providers)) {
				say(l, keyProviders+"."+name, l.Providers[name].tree())
			}
			if l.Judges != nil && l.Judges.Provider != "" {
				say(l, keyJudges+".provider", l.Judges.Provider)
			}
			if l.DecisionLogs != nil {
				say(l, keyDecisionLogs, l.DecisionLogs.tree())
			}
			scriptsOf(l, func(key string, value any) { say(l, key, value) })
			for _, name := range slices.Sorted(maps.Keys(l.MCPServers)) {
				say(l, keyMCPServers+"."+name, l.MCPServers[name].tree())
			}
		}
	}
	return errs
}

func (s Settings) check() error {
	var errs []error
	for a := range s.DisableAllHooks {
		if !hasSettings(a) {
			errs = append(errs, fmt.Errorf("disableAllHooks of %s: only managed, user, project and local settings have it", a))
		}
	}
	slices.SortFunc(errs, compareText)
	return errors.Join(errs...)
}

// off reports whether sources of an authority are switched off.
func (s Settings) off(a hook.Authority) bool {
	if s.ManagedHooksOnly && a != hook.Managed {
		return true
	}
	for by, disabled := range s.DisableAllHooks {
		if disabled && standing(a) >= standing(by) {
			return true
		}
	}
	return false
}

// PluginEnabled reports whether managed or user settings enabled a plugin.
func (s Settings) PluginEnabled(name string) bool { return s.Plugins[name] }

// disabled says whose settings disable hooks, the highest first.
func (s Settings) disabled() string {
	for a := hook.Managed; a.Valid(); a++ {
		if s.DisableAllHooks[a] {
			return fmt.Sprintf("%s settings disable hooks of %s authority and below", a, a)
		}
	}
	return ""
}
