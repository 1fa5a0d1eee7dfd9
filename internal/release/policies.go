package release

import (
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/rego"
)

// comparePolicies compares the hooks of two releases and the rules behind them.
func comparePolicies(old, now *Release) []Difference {
	var out []Difference
	was, is := hooksByID(old), hooksByID(now)
	for _, id := range slices.Sorted(maps.Keys(merged(was, is))) {
		a, b := was[id], is[id]
		switch {
		case a == nil:
			out = append(out, Difference{"policy", id, "added", now.added(b), now.speaks(b), b.Pos()})
		case b == nil:
			out = append(out, Difference{"policy", id, "removed", old.added(a).opposite(), old.speaks(a), a.Pos()})
		default:
			out = append(out, compareHook(a, b)...)
		}
	}
	return append(out, compareRules(old, now, was, is)...)
}

func hooksByID(r *Release) map[string]*hook.Hook {
	m := map[string]*hook.Hook{}
	for _, h := range r.Source.Hooks {
		m[h.ID] = h
	}
	return m
}

// tightening are the rules by which a policy holds something back.
var tightening = []string{"deny", "ask", "halt", "warn", "consult", "confine"}

// verbs lists which of the ten rules a policy has.
func (r *Release) verbs(h *hook.Hook) []string {
	var list []string
	for path := range r.program.rules {
		if name := ruleName(path, h.ID); path == h.ID+"."+name && rego.IsRule(name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// speaks says what a hook can do, in a few words.
func (r *Release) speaks(h *hook.Hook) string {
	if h.Kind != hook.Rego {
		return string(h.Kind) + " hook"
	}
	return "has " + strings.Join(r.verbs(h), ", ")
}

// added is what a new hook does.
func (r *Release) added(h *hook.Hook) Direction {
	if h.Kind != hook.Rego {
		return Unclear
	}
	d := Neutral
	for _, verb := range r.verbs(h) {
		switch {
		case verb == "allow":
			return Weaker
		case verb == "modify", verb == "remember": // what follows from a mark, other rules say
			d = Unclear
		case slices.Contains(tightening, verb) && d == Neutral:
			d = Stricter
		}
	}
	return d
}

// compareRules compares what rules mean, for policies that are in both releases
// and for everything that policies ask.
func compareRules(old, now *Release, was, is map[string]*hook.Hook) []Difference {
	var out []Difference
	for _, path := range slices.Sorted(maps.Keys(merged(old.program.rules, now.program.rules))) {
		policy := path[:max(strings.LastIndexByte(path, '.'), 0)]
		name := ruleName(path, policy)
		_, before := was[policy]
		_, after := is[policy]
		own := rego.IsRule(name) && (before || after)
		if own && before != after {
			continue // the policy as a whole was added or removed
		}
		for _, d := range compareClauses(path, old.program.rules[path], now.program.rules[path]) {
			switch {
			case !own:
				if d = asHelper(d, old, now, was, is); d.Name == "" {
					continue
				}
			case name == "allow":
				d.Direction = d.Direction.opposite()
			case (name == "modify" || name == "remember") && d.Direction != Neutral:
				d.Direction = Unclear
			case name == "context":
				d.Direction = Neutral
			}
			out = append(out, d)
		}
	}
	return out
}

// asHelper says which policies a changed rule matters to.
func asHelper(d Difference, old, now *Release, was, is map[string]*hook.Hook) Difference {
	users := map[string]bool{}
	for id := range is {
		if now.program.reach(id)[d.Name] && was[id] != nil {
			users[id] = true
		}
	}
	for id := range was {
		if old.program.reach(id)[d.Name] && is[id] != nil {
			users[id] = true
		}
	}
	if len(users) == 0 {
		return Difference{} // nobody who is in both asks it
	}
	if d.Direction = Unclear; d.Change == "changed" {
		d.Detail = "a helper means something else"
	}
	d.Detail = strings.TrimPrefix(d.Detail+"; asked by ", "; ") + strings.Join(slices.Sorted(maps.Keys(users)), ", ")
	return d
}

// compareClauses compares the definitions of one rule that holds something back.
func compareClauses(path string, old, now []clause) []Difference {
	has := func(list []clause, c clause) bool {
		return slices.ContainsFunc(list, func(o clause) bool { return o.text == c.text })
	}
	gone := slices.DeleteFunc(slices.Clone(old), func(c clause) bool { return has(now, c) })
	come := slices.DeleteFunc(slices.Clone(now), func(c clause) bool { return has(old, c) })
	var out []Difference
	add := func(change string, d Direction, at, detail string) {
		out = append(out, Difference{"rule", path, change, d, detail, at})
	}
	for _, kind := range []struct {
		fits   func(was, is *clause) bool
		d      Direction
		detail string
	}{
		{func(was, is *clause) bool { return is.onlySays(was) }, Neutral, "says it in other words"},
		{func(was, is *clause) bool { return is.with(was) }, Weaker, "a definition wants more than before"},
		{func(was, is *clause) bool { return was.with(is) }, Stricter, "a definition wants less than before"},
	} {
		for i := 0; i < len(come); i++ {
			at := slices.IndexFunc(gone, func(c clause) bool { return kind.fits(&c, &come[i]) })
			if at >= 0 {
				add("changed", kind.d, come[i].pos, kind.detail)
				gone, come = slices.Delete(gone, at, at+1), slices.Delete(come, i, i+1)
				i--
			}
		}
	}
	for len(gone) > 0 && len(come) > 0 {
		add("changed", Unclear, come[0].pos, "a definition is another one")
		gone, come = gone[1:], come[1:]
	}
	for _, c := range gone {
		add("removed", Weaker, c.pos, "a definition is gone")
	}
	for _, c := range come {
		add("added", Stricter, c.pos, "one more definition")
	}
	return out
}
