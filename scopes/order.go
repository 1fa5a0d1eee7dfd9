package scopes

import (
	"cmp"
	"slices"
	"time"

	"gate/hook"
)

// Sources of managed authority are ranked: the machine's own files, then the
// bundles in force in their order. Whoever signs a later bundle, a team's, may
// be somebody else than whoever signs an earlier one, the company's: what stands
// there, a later one may make stricter and nothing else.

func ordersOf(sources []Source) map[string]int {
	orders := map[string]int{}
	for _, src := range sources {
		if src.Authority == hook.Managed && !src.Library {
			orders[src.Name] = src.Order
		}
	}
	return orders
}

// behind reports that a managed layer comes after the source of a hook, and so
// may not tune it.
func (s *Settings) behind(l *Layer, h *hook.Hook) bool {
	return l.Authority == hook.Managed && h.Authority == hook.Managed && !h.Library && l.Order > s.orders[h.Source]
}

// later reports a layer of a bundle after the first.
func (l *Layer) later() bool { return l.Authority == hook.Managed && l.Order > 1 }

// barred reports a hook of gate's library in which a later bundle may make no
// room: whoever comes first and is silent has it as gate wrote it, unless the
// machine's own files or the first bundle delegate it.
func (s *Settings) barred(l *Layer, h *hook.Hook) bool {
	return h.Library && l.later() && !slices.ContainsFunc(s.layers, func(o Layer) bool {
		return o.Authority == hook.Managed && !o.later() && slices.ContainsFunc(o.Delegate, func(key string) bool { return covers(key, h.ID) })
	})
}

// leads reports that no managed layer before l says anything about a hook: only
// then may l make room in it, by an exception or by handing it to the user.
func (s *Settings) leads(l *Layer, h *hook.Hook) bool {
	return !s.barred(l, h) && !slices.ContainsFunc(s.layers, func(o Layer) bool {
		return o.Authority == hook.Managed && l.Authority == hook.Managed && o.Order < l.Order && o.speaksOf(h)
	})
}

// speaksOf reports whether a layer gives a hook a level or a parameter.
func (l *Layer) speaksOf(h *hook.Hook) bool {
	for key := range l.Policies {
		if covers(key, h.ID) {
			return true
		}
	}
	return l.Params[h.ID] != nil
}

// disables reports whether disableAllHooks of a layer counts: of bundles only
// that of the first, unless the machine's own files say false.
func (s *Settings) disables(l *Layer) bool {
	if l.DisableAllHooks == nil || !*l.DisableAllHooks || l.later() {
		return false // also where the first bundle is on trial or broken, and so has no layer
	}
	if l.Authority != hook.Managed || l.Order == 0 {
		return true
	}
	return !slices.ContainsFunc(s.layers, func(o Layer) bool {
		return o.Authority == hook.Managed && o.Order == 0 && o.DisableAllHooks != nil
	})
}

// mostExact returns what layers of one rank say about a hook's level: the
// longest key, and of equal keys the strictest.
func mostExact(layers []*Layer, h *hook.Hook) saying {
	var best saying
	for _, l := range layers {
		for key, level := range l.Policies {
			if s := (saying{l, key, level}); covers(key, h.ID) && s.beats(best) {
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
	case best.layer == nil:
		return true
	case len(s.key) != len(best.key):
		return len(s.key) > len(best.key)
	case s.level.strictness() != best.level.strictness():
		return s.level.strictness() > best.level.strictness()
	}
	return s.layer == best.layer && s.key < best.key
}

// sameRank reports layers between which no order decides.
func sameRank(a, b *Layer) bool {
	return standing(a.Authority) == standing(b.Authority) && a.Order == b.Order
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
	chosen.Expired = cmp.Or(chosen.Expired, StaleClose)
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
	return s
}
