package setting

import (
	"errors"
	"fmt"

	"gate/hook"
	"gate/matcher"
)

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
func (b *Bound) Level() Level { return b.level.Level }

// LevelAuthority returns whose settings Level comes from; it is not valid where they are
// silent.
func (b *Bound) LevelAuthority() hook.Authority {
	if b.level.Layer == nil {
		return 0
	}
	return b.level.Layer.Authority
}

// LevelPos returns file:line of the setting that Level comes from.
func (b *Bound) LevelPos() string { return b.level.Pos() }

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

// takesPart sets what settings say of a hook, and reports whether they leave it
// anything to say.
func (b *Bound) TakesPart(src *Source, tuned *Tuning) bool {
	layers := tuned.layersFor(b.Hook)
	b.level, b.exceptions = tuned.Settings.Level(b.Hook, layers), tuned.Settings.Exceptions(b.Hook, layers)
	if src.tried() && b.level.Level != LevelOff {
		b.level.Level = LevelRecord
	}
	return (b.Level() != LevelOff || b.level.delegated(b.Hook)) && len(src.Unset(b.Hook)) == 0
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
func (src *Source) Bind(known *Matchers) []*Bound {
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

func (b *Bound) compile(src *Source, h *hook.Hook, position int, known *Matchers) error {
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
