package main

import (
	"maps"
	"slices"
	"strings"

	"gate/engine/rego"
	"gate/hook"
)

// A direction says what a change does to what a bundle holds back.
type direction string

const (
	weaker   direction = "weaker"   // something is held back less
	stricter direction = "stricter" // something is held back more
	unclear  direction = "unclear"  // reading does not tell
	neutral  direction = "neutral"  // nothing that decides about a call
)

// opposite is the direction of the same change to a rule that loosens.
func (d direction) opposite() direction {
	switch d {
	case weaker:
		return stricter
	case stricter:
		return weaker
	}
	return d
}

// A releaseChange is one thing in which two releases differ.
type releaseChange struct {
	Kind      string // bundle, policy, rule, data, hook, setting, test
	Name      string
	Change    string // added, removed, changed
	Direction direction
	Detail    string
	At        string // file:line, in the release that has it
}

// comparePolicies compares the hooks of two releases and the rules behind them.
func comparePolicies(old, now *release) []releaseChange {
	var out []releaseChange
	was, is := hooksByID(old), hooksByID(now)
	for _, id := range slices.Sorted(maps.Keys(merged(was, is))) {
		a, b := was[id], is[id]
		switch {
		case a == nil:
			out = append(out, releaseChange{"policy", id, "added", now.added(b), now.speaks(b), b.Pos()})
		case b == nil:
			out = append(out, releaseChange{"policy", id, "removed", old.added(a).opposite(), old.speaks(a), a.Pos()})
		default:
			out = append(out, compareHook(a, b)...)
		}
	}
	return append(out, compareRules(old, now, was, is)...)
}

func merged[V any](maps_ ...map[string]V) map[string]bool {
	all := map[string]bool{}
	for _, m := range maps_ {
		for k := range m {
			all[k] = true
		}
	}
	return all
}

func hooksByID(r *release) map[string]*hook.Hook {
	m := map[string]*hook.Hook{}
	for _, h := range r.source.Hooks {
		m[h.ID] = h
	}
	return m
}

// tightening are the rules by which a policy holds something back.
var tightening = []string{"deny", "ask", "halt", "warn", "consult"}

// verbs lists which of the eight rules a policy has.
func (r *release) verbs(h *hook.Hook) []string {
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
func (r *release) speaks(h *hook.Hook) string {
	if h.Kind != hook.Rego {
		return string(h.Kind) + " hook"
	}
	return "has " + strings.Join(r.verbs(h), ", ")
}

// added is what a new hook does.
func (r *release) added(h *hook.Hook) direction {
	if h.Kind != hook.Rego {
		return unclear
	}
	d := neutral
	for _, verb := range r.verbs(h) {
		switch {
		case verb == "allow":
			return weaker
		case verb == "modify":
			d = unclear
		case slices.Contains(tightening, verb) && d == neutral:
			d = stricter
		}
	}
	return d
}

// compareRules compares what rules mean, for policies that are in both releases
// and for everything that policies ask.
func compareRules(old, now *release, was, is map[string]*hook.Hook) []releaseChange {
	var out []releaseChange
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
			case name == "modify" && d.Direction != neutral:
				d.Direction = unclear
			case name == "context":
				d.Direction = neutral
			}
			out = append(out, d)
		}
	}
	return out
}

// asHelper says which policies a changed rule matters to.
func asHelper(d releaseChange, old, now *release, was, is map[string]*hook.Hook) releaseChange {
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
		return releaseChange{} // nobody who is in both asks it
	}
	if d.Direction = unclear; d.Change == "changed" {
		d.Detail = "a helper means something else"
	}
	d.Detail = strings.TrimPrefix(d.Detail+"; asked by ", "; ") + strings.Join(slices.Sorted(maps.Keys(users)), ", ")
	return d
}

// compareClauses compares the definitions of one rule that holds something back.
func compareClauses(path string, old, now []clause) []releaseChange {
	has := func(list []clause, c clause) bool {
		return slices.ContainsFunc(list, func(o clause) bool { return o.text == c.text })
	}
	gone := slices.DeleteFunc(slices.Clone(old), func(c clause) bool { return has(now, c) })
	come := slices.DeleteFunc(slices.Clone(now), func(c clause) bool { return has(old, c) })
	var out []releaseChange
	add := func(change string, d direction, at, detail string) {
		out = append(out, releaseChange{"rule", path, change, d, detail, at})
	}
	for _, kind := range []struct {
		fits   func(was, is *clause) bool
		d      direction
		detail string
	}{
		{func(was, is *clause) bool { return is.onlySays(was) }, neutral, "says it in other words"},
		{func(was, is *clause) bool { return is.with(was) }, weaker, "a definition wants more than before"},
		{func(was, is *clause) bool { return was.with(is) }, stricter, "a definition wants less than before"},
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
		add("changed", unclear, come[0].pos, "a definition is another one")
		gone, come = gone[1:], come[1:]
	}
	for _, c := range gone {
		add("removed", weaker, c.pos, "a definition is gone")
	}
	for _, c := range come {
		add("added", stricter, c.pos, "one more definition")
	}
	return out
}
