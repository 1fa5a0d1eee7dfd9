package scopes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/matcher"
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
}

// A Tier is a group of hooks that are run together on the same input: policies
// of one source and one priority, or one handler. On events where nothing can
// be rewritten, it may be several handlers of one scope and priority.
type Tier []*Bound

// A Bound is a hook with its compiled conditions and its source.
type Bound struct {
	*hook.Hook
	Source *Source

	matcher    *matcher.Matcher
	conditions []matcher.Condition
	position   int
	level      saying
	exceptions []*exception
}

// Level returns the level that settings give the hook, [LevelNone] if they are
// silent about it.
func (b *Bound) Level() Level { return b.level.level }

// LevelPos returns file:line of the setting that Level comes from.
func (b *Bound) LevelPos() string { return b.level.pos() }

// Excepted returns what an exception says that settings make for this very
// call, and where it stands; ok is false if there is none. It must be asked
// about the input that is judged, with its facts.
func (b *Bound) Excepted(ev *hook.Event) (e Exception, pos string, ok bool) {
	for _, c := range b.exceptions {
		if c.applies(ev) {
			return c.Exception, c.pos, true
		}
	}
	return Exception{}, "", false
}

// New checks the sources and puts their hooks in order. It reports all
// mistakes that make a set meaningless, joined: nameless and duplicate sources,
// and scopes and authorities that are not among the constants or do not go
// together. A mistake inside a source, such as a bad pattern, becomes a fault
// of that source, so that one plugin cannot stop the rest. The
// sources' hooks must not be changed afterwards.
func New(sources []Source, settings Settings, options ...Option) (*Set, error) {
	if err := errors.Join(checkSources(sources), settings.check()); err != nil {
		return nil, err
	}
	settings.orders = ordersOf(sources)
	settings.govern(sources)
	s := &Set{
		given: slices.Clone(sources), settings: settings, off: settings.disabled(), empty: true,
		tiers: map[hook.Name][]Tier{}, bounds: map[*Source][]*Bound{},
	}
	tuned := tuning{settings: &settings}
	for _, src := range sources {
		if settings.off(src.Authority) {
			continue
		}
		src.Faults = slices.Clone(src.Faults)
		tuned.tune(&src)
		if settings.FaultsClose {
			src.close()
		}
		s.empty = s.empty && !src.decides()
		s.sources = append(s.sources, &src)
	}
	s.empty = s.empty && !settings.DisableAllHooks[hook.Managed] && !settings.DisableAllHooks[hook.User]
	slices.SortStableFunc(s.sources, compareSources)
	byName := map[hook.Name][]*Bound{}
	var known matchers
	for _, o := range options {
		o(&known)
	}
	for _, src := range s.sources {
		bounds := src.bind(&known)
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
func (s *Set) list(src *Source, tuned *tuning, byName map[hook.Name][]*Bound) {
	bounds := s.bounds[src]
	for _, b := range bounds {
		if !b.takesPart(src, tuned) {
			continue
		}
		s.memory = s.memory || b.Session || b.Once
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

// takesPart sets what settings say of a hook, and reports whether they leave it
// anything to say.
func (b *Bound) takesPart(src *Source, tuned *tuning) bool {
	layers := tuned.layersFor(b.Hook)
	b.level, b.exceptions = tuned.settings.level(b.Hook, layers), tuned.settings.exceptions(b.Hook, layers)
	if src.records() && b.level.level != LevelOff {
		b.level.level = LevelRecord
	}
	return b.Level() != LevelOff && len(src.unset(b.Hook)) == 0
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
// it reads input.session, or it runs only once.
func (s *Set) Memory() bool { return s.memory }

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

// Match reports whether the hook concerns the event: its matcher and, if it
// has any, one of its conditions. Unsure must not loosen anything.
func (b *Bound) Match(ev *hook.Event) matcher.Truth {
	t := matcher.Yes
	if !b.matcher.All() {
		switch subject, matched, missing := matcher.Subject(ev); {
		case missing:
			t = matcher.Unsure
		case matched:
			t = b.matcher.Match(subject)
		}
	}
	if t == matcher.No || len(b.conditions) == 0 {
		return t
	}
	met := matcher.No
	for i := range b.conditions {
		met = max(met, b.conditions[i].Match(ev))
	}
	return min(t, met)
}

// bind compiles the hooks of a source. What does not compile is a fault.
func (src *Source) bind(known *matchers) []*Bound {
	ifs := 0
	for _, h := range src.Hooks {
		ifs += len(h.If)
	}
	bounds := make([]*Bound, 0, len(src.Hooks))
	all, conditions := make([]Bound, len(src.Hooks)), make([]matcher.Condition, ifs) // in one piece: most sources have many
	ids := make(map[string]bool, len(src.Hooks))
	for i, h := range src.Hooks {
		b := &all[i]
		b.conditions, conditions = conditions[:0:len(h.If)], conditions[len(h.If):]
		err := b.compile(src, h, i, known)
		if err == nil && ids[h.ID] {
			err = errors.New("a second hook with this id")
		}
		ids[h.ID] = true
		if err != nil {
			src.Faults = append(src.Faults, *hook.Faultf(hook.FaultLoad, "%s: hook %q: %w", h.Pos(), h.ID, err))
			continue
		}
		bounds = append(bounds, b)
	}
	return bounds
}

func (b *Bound) compile(src *Source, h *hook.Hook, position int, known *matchers) error {
	if h.ID == "" {
		return errors.New("it has no id")
	}
	if h.Scope != src.Scope || h.Authority != src.Authority || h.Library != src.Library || h.Source != src.Name {
		return fmt.Errorf("it claims scope %s and authority %s of source %q, but stands in %q",
			h.Scope, h.Authority, h.Source, src.Name)
	}
	b.Hook, b.Source, b.position = h, src, position
	var errs []error
	var err error
	if b.matcher, err = known.compile(h.Matcher); err != nil {
		errs = append(errs, err)
	}
	for _, text := range h.If {
		c, err := matcher.ParseCondition(text)
		if err != nil {
			errs = append(errs, err)
		}
		b.conditions = append(b.conditions, c)
	}
	return errors.Join(errs...)
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
	return name.Rewrites() == ""
}
