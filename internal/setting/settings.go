// Package setting weighs settings: the table of them, who may set each, how the layers
// of several files make one, and what that leaves of sources and of their hooks. Package
// scopes shows the types that programs use.
//
// It reads no files: package load does. Start with [Table] and [Combine].
package setting

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
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

	// PolicyRewritesOnly is allowPolicyRewritesOnly: see [Settings.HoldsRewrites].
	PolicyRewritesOnly bool

	FaultsClose bool                 // faults of every authority close
	Deadline    time.Duration        // of one decision; zero: none beside the engine's own
	Approvals   Approvals            // zero: none
	Consent     Consent              // what a person has to show
	Stale       Stale                // when bundles grow old
	Labels      map[string]string    // of this machine
	Plugins     map[string]bool      // the ones that are switched on or off; others are off
	PluginDirs  map[string]PluginDir // of those that do not lie with the other plugins of gate
	Providers   map[string]Provider  // of language models, by name; see [Settings.JudgesOf]
	Programs    map[string]any       // what in-house programs do, by name: rows for the catalogue of facts; of a [Set] only those that count beside its sources

	MCPServers map[string]MCPServer // whose tools hooks may call, by name

	TrustedServers []string // MCP servers of agents whose results count as the person's own text

	DecisionLogs DecisionLogs // of managed settings
	Sync         []Feed       // where bundles come from, in the order in which they are to be in force

	StatusLine, FileSuggestion Script // of the highest authority that is not switched off

	on       map[Switch]bool // of those that somebody speaks of
	Orders   map[string]int  // of managed sources but the library, by name
	governed bool            // something is managed, as far as [New] knows
	Layers   []Layer         // by standing, then file: what else hooks are tuned by
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
		Providers: map[string]Provider{}, MCPServers: map[string]MCPServer{}, Layers: slices.Clone(layers)}
	sort.SliceStable(s.Layers, func(i, j int) bool { // slices has a body for each type
		a, b := &s.Layers[i], &s.Layers[j]
		return cmp.Or(int(a.Authority)-int(b.Authority), cmp.Compare(a.Order, b.Order), strings.Compare(a.File, b.File)) < 0
	})
	var errs []error
	for i := range s.Layers {
		l := &s.Layers[i]
		if !HasSettings(l.Authority) {
			errs = append(errs, fmt.Errorf("%s: %s authority has no settings", l.File, l.Authority))
			continue
		}
		for j, e := range l.Exceptions {
			if err := e.Check(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", l.Pos(indexed(KeyExceptions, j)), err))
			}
		}
	}
	for i := range TableOf {
		row := &TableOf[i]
		switch {
		case row.weigh != nil:
			row.weigh(&s, s.speakers(row))
		case row.At == nil && row.Type.Kind == Switched:
			s.switches(row, s.speakers(row))
		}
	}
	return s, errors.Join(append(errs, s.contradictions()...)...)
}

// speakers are the layers that may have a say about a setting, the highest first.
func (s *Settings) speakers(row *Setting) (out []*Layer) {
	for i := range s.Layers {
		if l := &s.Layers[i]; HasSettings(l.Authority) && row.Who.May(l.Authority) == "" && row.Who.Bars(s, l) == "" {
			out = append(out, l)
		}
	}
	return out
}

func HasSettings(a hook.Authority) bool {
	return a == hook.Managed || a == hook.User || a == hook.Project || a == hook.Local
}

func (s *Settings) weighDisable(layers []*Layer) {
	for _, l := range layers {
		if s.Disables(l) {
			s.DisableAllHooks[l.Authority] = true
		}
	}
}

func (s *Settings) weighOnly(layers []*Layer) {
	for _, l := range layers {
		s.ManagedHooksOnly = s.ManagedHooksOnly || l.AllowManagedHooksOnly != nil && *l.AllowManagedHooksOnly
	}
}

func (s *Settings) weighRewrites(layers []*Layer) {
	for _, l := range layers {
		s.PolicyRewritesOnly = s.PolicyRewritesOnly || l.PolicyRewritesOnly != nil && *l.PolicyRewritesOnly
	}
}

// HeldRewrites is why rewrites below the scope Policy do not count where settings say so.
const HeldRewrites = keyRewrites + " lets only hooks of the scope Policy rewrite"

// HoldsRewrites says why rewrites of a source do not count, which otherwise would; "" if
// they do. Trust in hooks must not be more than trust in what they are there for.
func (s *Settings) HoldsRewrites(src *Source) string {
	if !s.PolicyRewritesOnly || src.Scope == hook.Policy {
		return ""
	}
	return HeldRewrites
}

func (s *Settings) weighDeadline(layers []*Layer) {
	for _, l := range layers {
		if l.Deadline > 0 && (s.Deadline == 0 || l.Deadline < s.Deadline) {
			s.Deadline = l.Deadline
		}
	}
}

func (s *Settings) weighFaults(layers []*Layer) {
	s.FaultsClose = slices.ContainsFunc(layers, func(l *Layer) bool { return l.Faults == hook.FaultDeny })
}

// faults is what FaultsClose is in a file.
func (s *Settings) faults() any {
	word := string(hook.FaultContinue)
	if s.FaultsClose {
		word = string(hook.FaultDeny)
	}
	return &word
}

func (s *Settings) weighLabels(layers []*Layer) {
	for _, l := range layers {
		if len(l.Labels) > 0 && s.Labels == nil {
			s.Labels = map[string]string{}
		}
		maps.Copy(s.Labels, l.Labels)
	}
}

func (s *Settings) weighPlugins(layers []*Layer) {
	for _, l := range layers {
		for name, want := range l.Plugins {
			if said := s.managedSay(func(o *Layer) bool { _, ok := o.Plugins[name]; return ok }); said && l.Authority == hook.User {
				continue
			}
			on, said := s.Plugins[name]
			s.Plugins[name] = want && (on || !said)
			if dir := l.PluginDir[name]; dir != "" && s.PluginDirs[name].By != hook.Managed {
				s.PluginDirs[name] = PluginDir{dir, l.Authority}
			}
		}
	}
}

// pluginsNow are those that are spoken of, as a file would say it.
func (s *Settings) pluginsNow() any {
	dirs := map[string]string{}
	for name, dir := range s.PluginDirs {
		if s.Plugins[name] {
			dirs[name] = dir.Dir
		}
	}
	return plugins{&s.Plugins, &dirs}
}

// firstOf takes in those of a map that no layer before has named.
func firstOf[T any](into, from map[string]T, own func(T) T) {
	for name, v := range from {
		if _, said := into[name]; !said {
			into[name] = own(v)
		}
	}
}

func (s *Settings) weighTrusted(layers []*Layer) {
	for _, l := range layers {
		for _, name := range l.TrustedServers {
			if !slices.Contains(s.TrustedServers, name) {
				s.TrustedServers = append(s.TrustedServers, name)
			}
		}
	}
}

// TrustsServer reports an MCP server whose results are no untrusted text.
func (s *Settings) TrustsServer(name string) bool { return slices.Contains(s.TrustedServers, name) }

func (s *Settings) weighServers(layers []*Layer) {
	for _, l := range layers {
		firstOf(s.MCPServers, l.MCPServers, func(m MCPServer) MCPServer { m.Authority = l.Authority; return m })
	}
}

func (s *Settings) weighProviders(layers []*Layer) {
	for _, l := range layers {
		firstOf(s.Providers, l.Providers, func(p Provider) Provider { p.Authority = l.Authority; return p })
	}
}

func (s *Settings) weighPrograms(layers []*Layer) {
	for _, l := range layers {
		firstOf(s.Programs, l.Programs, func(row any) any { return row })
	}
}

// managedSay reports whether a managed layer says something.
func (s *Settings) managedSay(says func(*Layer) bool) bool {
	for i := range s.Layers {
		if s.Layers[i].Authority == hook.Managed && says(&s.Layers[i]) {
			return true
		}
	}
	return false
}

// weighApprovals settles who answers asks: of several files the strictest counts.
func (s *Settings) weighApprovals(layers []*Layer) {
	first := true
	for _, l := range layers {
		a := l.Approvals
		if a == nil || first && l.later() {
			continue
		}
		if first {
			s.Approvals, first = *a, false
			s.Approvals.Keys, s.Approvals.Approvers = slices.Clone(a.Keys), slices.Clone(a.Approvers)
			continue
		}
		// Whoever answers stands in each file. Who is told, and where answers come from, says
		// the first that speaks of it: it is where the text of calls goes.
		s.Approvals.Approvers = slices.DeleteFunc(s.Approvals.Approvers, func(k string) bool { return !slices.Contains(a.Approvers, k) })
		if !l.later() {
			s.Approvals.elsewhere(a)
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

// elsewhere takes in what b says of people elsewhere, where a is silent.
func (a *Approvals) elsewhere(b *Approvals) {
	if len(a.Deliver) == 0 {
		a.Deliver = b.Deliver
	}
	if a.Poll == "" {
		a.Poll, a.PollToken = b.Poll, b.PollToken
	}
	a.When = cmp.Or(a.When, b.When)
	a.Wait = cmp.Or(a.Wait, b.Wait)
}

// weighConsent settles what a person has to show: of several files the strictest counts.
func (s *Settings) weighConsent(layers []*Layer) {
	first := true
	for _, l := range layers {
		switch c := l.Consent; {
		case c == nil || first && l.later():
		case first:
			s.Consent, first = Consent{c.Key, slices.Clone(c.Signers)}, false
		case c.Key == KeyRequired && s.Consent.Key == KeyRequired:
			s.Consent.Signers = slices.DeleteFunc(s.Consent.Signers, func(k string) bool { return !slices.Contains(c.Signers, k) })
		case c.Key == KeyRequired:
			s.Consent = Consent{c.Key, slices.Clone(c.Signers)}
		}
	}
}

// govern leaves it to managed settings to say what programs do where anything is
// managed: policies judge by the facts that follow from it.
func (s *Settings) Govern(sources []Source) {
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
		if old, ok := seen[id]; ok && !Equal(old.value, value) {
			errs = append(errs, fmt.Errorf("%s: %s has another value at %s", l.Pos(key), key, old.pos))
		}
		seen[id] = word{value, l.Pos(key)}
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		for j := range TableOf {
			row := &TableOf[j]
			if row.Weigh != ByParam && (l.Authority != hook.Managed || row.Weigh != byName && row.Weigh != oneValue) {
				continue
			}
			row.Values(row.said(l), func(key string, value any, way ...string) {
				_, isSwitch := value.(bool) // of which the strict one counts, as of what has a bearing
				if f := row.Type.FieldNamed(strings.Join(way, ".")); row.Weigh == ByParam || !isSwitch && (f == nil || f.Bearing == Unclear) {
					say(l, key, value)
				}
			})
		}
	}
	return errs
}

func (s Settings) Check() error {
	var errs []error
	for a := range s.DisableAllHooks {
		if !HasSettings(a) {
			errs = append(errs, fmt.Errorf("disableAllHooks of %s: only managed, user, project and local settings have it", a))
		}
	}
	slices.SortFunc(errs, compareText)
	return errors.Join(errs...)
}

// off reports whether sources of an authority are switched off.
func (s Settings) Off(a hook.Authority) bool {
	if s.ManagedHooksOnly && a != hook.Managed {
		return true
	}
	for by, disabled := range s.DisableAllHooks {
		if disabled && Standing(a) >= Standing(by) {
			return true
		}
	}
	return false
}

// PluginEnabled reports whether managed or user settings enabled a plugin.
func (s Settings) PluginEnabled(name string) bool { return s.Plugins[name] }

// disabled says whose settings disable hooks, the highest first.
func (s Settings) Disabled() string {
	for a := hook.Managed; a.Valid(); a++ {
		if s.DisableAllHooks[a] {
			return fmt.Sprintf("%s settings disable hooks of %s authority and below", a, a)
		}
	}
	return ""
}
