package scopes

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/setting"
)

// A Set is the compiled, ordered hooks of all sources, less what settings
// switch off. It is immutable and safe for concurrent use.
type Set struct {
	given    []Source // as New got them
	settings Settings
	sources  []*Source
	tiers    map[hook.Name][]Tier
	bounds   map[*Source][]*Bound
	off      string
	empty    bool
	memory   bool
	beside   bool
}

// A Tier is a group of hooks that are run together on the same input: policies
// of one source and one priority, or one handler. It may be several handlers of one
// source and priority where the source wants that, and of one scope and priority
// on events where nothing can be rewritten.
type Tier []*Bound

// New checks the sources and puts their hooks in order. It reports all
// mistakes that make a set meaningless, joined: nameless and duplicate sources,
// and scopes and authorities that are not among the constants or do not go
// together. A mistake inside a source, such as a bad pattern, becomes a fault
// of that source, so that one plugin cannot stop the rest. The
// sources' hooks must not be changed afterwards.
func New(sources []Source, settings Settings, options ...Option) (*Set, error) {
	if err := errors.Join(checkSources(sources), settings.Check()); err != nil {
		return nil, err
	}
	settings.Orders = ordersOf(sources)
	settings.Govern(sources)
	s := &Set{
		given: slices.Clone(sources), settings: settings, off: settings.Disabled(), empty: true,
		tiers: map[hook.Name][]Tier{}, bounds: map[*Source][]*Bound{},
	}
	tuned := setting.Tuning{Settings: &settings}
	for _, src := range sources {
		if settings.Off(src.Authority) {
			continue
		}
		src.Faults = slices.Clone(src.Faults)
		tuned.Tune(&src)
		if settings.FaultsClose {
			src.Close()
		}
		s.empty = s.empty && !src.Decides()
		s.sources = append(s.sources, &src)
	}
	s.empty = s.empty && !settings.DisableAllHooks[hook.Managed] && !settings.DisableAllHooks[hook.User]
	slices.SortStableFunc(s.sources, compareSources)
	byName := map[hook.Name][]*Bound{}
	var known setting.Matchers
	for _, o := range options {
		o(&known)
	}
	for _, src := range s.sources {
		bounds := src.Bind(&known)
		if src.Inactive() {
			continue
		}
		s.bounds[src] = bounds
		s.list(src, &tuned, byName)
	}
	for name, bounds := range byName {
		s.tiers[name] = tiers(name, bounds)
	}
	return s, nil
}

// list adds the hooks of a source that take part to those of their events. Hooks
// that are consulted run for no event by themselves.
func (s *Set) list(src *Source, tuned *setting.Tuning, byName map[hook.Name][]*Bound) {
	bounds := s.bounds[src]
	for _, b := range bounds {
		if !b.TakesPart(src, tuned) {
			continue
		}
		s.memory = s.memory || b.Session || b.Once
		s.beside = s.beside || b.Beside || b.Kind != hook.Rego
		if b.Consult {
			continue
		}
		for i, name := range b.Events {
			if slices.Contains(b.Events[:i], name) {
				continue
			}
			if byName[name] == nil {
				byName[name] = make([]*Bound, 0, len(bounds))
			}
			byName[name] = append(byName[name], b)
		}
	}
}

// Settings returns what the set was made with.
func (s *Set) Settings() Settings { return s.settings }

// Sources returns the sources that take part, in running order. Their Params
// are what settings and their givers say together: evaluators must be made
// from these.
func (s *Set) Sources() []*Source { return s.sources }

// Off says who disabled hooks, "" when nobody did.
func (s *Set) Off() string { return s.off }

// Empty reports that there is nothing to decide by, although neither the
// administrator nor the user disabled hooks: there is no managed source, no
// user source and no library. The others only tighten what those say. Whoever
// runs an empty set must not let calls pass.
func (s *Set) Empty() bool { return s.empty }

// Memory reports whether a hook that takes part needs the memory of the session:
// it reads input.session, has something remembered, or runs only once.
func (s *Set) Memory() bool { return s.memory }

// Beside reports whether a hook that takes part may read what decides beside the words
// of a command of git. A policy that names it may, and any handler, which gets all
// facts.
func (s *Set) Beside() bool { return s.beside }

// For returns the hooks that listen for name, in running order:
// scope, priority, policies before handlers, source, position, without those that
// run only when they are consulted. Where tool output is rewritten the scopes run
// in reverse, so that Policy has the last word. The caller must not change the
// result.
func (s *Set) For(name hook.Name) []Tier { return s.tiers[name] }

// Handler finds the handler that a consult of src's policies means: one of the
// same source, else one in Policy scope.
func (s *Set) Handler(src *Source, id string) *Bound {
	if b := find(s.bounds[src], id); b != nil {
		return b
	}
	for _, other := range s.sources {
		if other.Scope == hook.Policy {
			if b := find(s.bounds[other], id); b != nil {
				return b
			}
		}
	}
	return nil
}

func find(bounds []*Bound, id string) *Bound {
	for _, b := range bounds {
		if b.Kind != hook.Rego && b.ID == id {
			return b
		}
	}
	return nil
}

func compareSources(a, b *Source) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Authority, b.Authority), cmp.Compare(a.Order, b.Order),
		strings.Compare(a.Name, b.Name))
}

// tiers orders the hooks of one event, whose sources are in order already.
func tiers(name hook.Name, bounds []*Bound) []Tier {
	reverse := reversed(name)
	slices.SortStableFunc(bounds, func(a, b *Bound) int {
		scope := cmp.Compare(a.Scope, b.Scope)
		if reverse {
			scope = -scope
		}
		return cmp.Or(scope, -cmp.Compare(a.Priority, b.Priority), cmp.Compare(rank(a), rank(b)))
	})
	var out []Tier
	for from := 0; from < len(bounds); {
		to := from + 1
		for to < len(bounds) && together(name, bounds[to-1], bounds[to]) {
			to++
		}
		out, from = append(out, Tier(bounds[from:to:to])), to
	}
	return out
}

// reversed reports events on which the last scope to run is the highest.
func reversed(name hook.Name) bool { return name.Rewrites() == "tool_response" }

// rank puts policies before handlers.
func rank(b *Bound) int {
	if b.Kind == hook.Rego {
		return 0
	}
	return 1
}

func together(name hook.Name, a, b *Bound) bool {
	if a.Scope != b.Scope || a.Priority != b.Priority || rank(a) != rank(b) {
		return false
	}
	if rank(a) == 0 {
		return a.Source == b.Source
	}
	return name.Rewrites() == "" || a.Source == b.Source && a.Parallel && b.Parallel
}
