package setting

import (
	"cmp"
	"slices"
	"time"

	"gate/hook"
)

// behind reports that a managed layer comes after the source of a hook, and so
// may not tune it.
func (s *Settings) Behind(l *Layer, h *hook.Hook) bool {
	return l.Authority == hook.Managed && h.Authority == hook.Managed && !h.Library && l.Order > s.Orders[h.Source]
}

// later reports a layer of a bundle after the first.
func (l *Layer) later() bool { return l.Authority == hook.Managed && l.Order > 1 }

// barred reports a hook of gate's library in which a later bundle may make no
// room: whoever comes first and is silent has it as gate wrote it, unless the
// machine's own files or the first bundle delegate it.
func (s *Settings) Barred(l *Layer, h *hook.Hook) bool {
	return h.Library && l.later() && !slices.ContainsFunc(s.Layers, func(o Layer) bool {
		return o.Authority == hook.Managed && !o.later() && slices.ContainsFunc(o.Delegate, func(key string) bool { return Covers(key, h.ID) })
	})
}

// leads reports that no managed layer before l says anything about a hook: only
// then may l make room in it, by an exception or by handing it to the user.
func (s *Settings) Leads(l *Layer, h *hook.Hook) bool {
	return !s.Barred(l, h) && !slices.ContainsFunc(s.Layers, func(o Layer) bool {
		return o.Authority == hook.Managed && l.Authority == hook.Managed && o.Order < l.Order && o.speaksOf(h)
	})
}

// speaksOf reports whether a layer gives a hook a level or a parameter.
func (l *Layer) speaksOf(h *hook.Hook) bool {
	for key := range l.Policies {
		if Covers(key, h.ID) {
			return true
		}
	}
	return l.Params[h.ID] != nil
}

// disables reports whether disableAllHooks of a layer counts: of bundles only
// that of the first, unless the machine's own files say false.
func (s *Settings) Disables(l *Layer) bool {
	if l.DisableAllHooks == nil || !*l.DisableAllHooks || l.later() {
		return false // also where the first bundle is on trial or broken, and so has no layer
	}
	if l.Authority != hook.Managed || l.Order == 0 {
		return true
	}
	return !slices.ContainsFunc(s.Layers, func(o Layer) bool {
		return o.Authority == hook.Managed && o.Order == 0 && o.DisableAllHooks != nil
	})
}

// mostExact returns what layers of one rank say about a hook's level: the
// longest key, and of equal keys the strictest.
func mostExact(layers []*Layer, h *hook.Hook) saying {
	var best saying
	for _, l := range layers {
		for key, level := range l.Policies {
			if s := (saying{l, key, level}); Covers(key, h.ID) && s.beats(best) {
				best = s
			}
		}
	}
	return best
}

// beats reports that s is more exact than what was found before it, or as exact
// and stricter. Within a layer the first in the order of keys counts.
func (s saying) beats(best saying) bool {
	switch {
	case best.Layer == nil:
		return true
	case len(s.Key) != len(best.Key):
		return len(s.Key) > len(best.Key)
	case s.Level.strictness() != best.Level.strictness():
		return s.Level.strictness() > best.Level.strictness()
	}
	return s.Layer == best.Layer && s.Key < best.Key
}

// sameRank reports layers between which no order decides.
func sameRank(a, b *Layer) bool {
	return Standing(a.Authority) == Standing(b.Authority) && a.Order == b.Order
}

// weighStale settles what follows when bundles grow old. The machine's own files and
// the first bundle choose; a later bundle counts where it is stricter.
func (s *Settings) weighStale(layers []*Layer) {
	chosen, strict := Stale{}, Stale{}
	for _, l := range layers {
		switch {
		case l.Stale == nil:
		case !l.later():
			chosen = chosen.stricter(*l.Stale)
		default:
			strict = strict.stricter(*l.Stale)
		}
	}
	if chosen.After == 0 {
		chosen.After = 7 * 24 * time.Hour
	}
	chosen.Then = cmp.Or(chosen.Then, StaleWarn)
	chosen.Expired = cmp.Or(chosen.Expired, StaleWarn)
	chosen.Enrolling = cmp.Or(chosen.Enrolling, StaleWarn)
	s.Stale = chosen.stricter(strict)
}

func (s Stale) stricter(o Stale) Stale {
	if s.After == 0 || o.After > 0 && o.After < s.After {
		s.After = o.After
	}
	if o.Then.strictness() > s.Then.strictness() {
		s.Then = o.Then
	}
	if o.Expired.strictness() > s.Expired.strictness() {
		s.Expired = o.Expired
	}
	if o.Enrolling.strictness() > s.Enrolling.strictness() {
		s.Enrolling = o.Enrolling
	}
	return s
}
