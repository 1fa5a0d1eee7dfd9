package scopes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Direction is what a change does to what is held back.
type Direction byte

// The directions.
const (
	Same     Direction = iota // nothing is held back more or less
	Tightens                  // something is held back more
	Untold                    // nobody can tell
	Loosens                   // something is held back less
)

// A Change is one value of settings that is another than it was; nil: nothing said.
type Change struct {
	Key       string // disableAllHooks, policies.acme.push, exceptions, stale.then …
	Was, Is   any    // JSON trees
	Direction Direction
}

// Said returns what a layer says, in normal form, by the keys of [Change]: each policy's
// level and each named value by itself, lists as a whole.
func (l *Layer) Said() map[string]any {
	out := map[string]any{}
	for i := range table {
		row := &table[i]
		v := row.said(l)
		if entries, ok := v.(map[string]any); ok && !row.whole() {
			for name, one := range entries {
				out[row.Key+"."+name] = one
			}
		} else if v != nil {
			out[row.Key] = v
		}
	}
	return out
}

// whole reports a setting that is compared as one value.
func (s *Setting) whole() bool {
	return s.Type.Kind != Map && (s.Type.Kind != Object || s.Type.OneValue)
}

// Changes compares what settings said with what they say, both of [Layer.Said], by key.
func Changes(was, is map[string]any) []Change {
	all := maps.Clone(is)
	if all == nil {
		all = map[string]any{}
	}
	for key := range was {
		all[key] = nil
	}
	var out []Change
	for _, key := range slices.Sorted(maps.Keys(all)) {
		a, b := was[key], is[key]
		if equal(a, b) {
			continue
		}
		top, name, _ := strings.Cut(key, ".")
		row := Named(top)
		c := Change{key, a, b, Untold}
		switch {
		case row == nil:
		case row.Key == keyPolicies:
			c.Direction = towards(cmp.Compare(levelRank(LevelOf(is, name)), levelRank(LevelOf(was, name))))
		case row.Type.Of != nil && row.Type.Of.Kind == SwitchedText: // switched on, it tightens: what else it does waits for trust
			if x, y := a != nil && a != false, b != nil && b != false; x != y {
				c.Direction = towards(truth(y) - truth(x))
			}
		case row.Type.Kind == Object && row.Type.OneValue:
			c.Direction = row.Type.direction(a, b)
		case row.Type.Kind == Object && row.Type.FieldNamed(name) != nil:
			c.Direction = row.Type.FieldNamed(name).direction(a, b)
		default:
			c.Direction = row.Field.direction(a, b)
		}
		if row != nil && row.Bearing == Neutral {
			c.Direction = Same
		}
		out = append(out, c)
	}
	return out
}

// Loosening returns the changes that a person has to agree to: those that loosen, and
// those of which nobody can tell.
func Loosening(was, is map[string]any) []Change {
	return slices.DeleteFunc(Changes(was, is), func(c Change) bool { return c.Direction < Untold })
}

// LevelOf is what settings, by the keys of [Change] or below policies, say about a policy
// or group: the longest key that covers it decides; nothing said is as written.
func LevelOf(said map[string]any, name string) Level {
	best, level := -1, LevelDeny
	for key, v := range said {
		key = strings.TrimPrefix(key, keyPolicies+".")
		text, _ := v.(string)
		covers := key == name || strings.HasPrefix(name, key+".")
		if l, err := ParseLevel(text); err == nil && covers && len(key) > best {
			best, level = len(key), l
		}
	}
	return level
}

func levelRank(l Level) int { return slices.Index(Levels(), l) }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// towards is the direction of more being held back.
func towards(more int) Direction {
	switch {
	case more > 0:
		return Tightens
	case more < 0:
		return Loosens
	}
	return Same
}

// direction says what a change of a field's value does.
func (f *Field) direction(was, is any) Direction {
	more, ok := f.Compare(was, is)
	switch {
	case f.Bearing == Neutral:
		return Same
	case f.Bearing == Unclear || !ok:
		return Untold
	case f.Bearing == Looser:
		more = -more
	}
	return towards(more)
}

// direction says what a change of an object does, by the worst of its fields. One that
// is switched off does nothing.
func (t *Type) direction(was, is any) Direction {
	a, _ := was.(map[string]any)
	b, _ := is.(map[string]any)
	if f := t.FieldNamed("enabled"); f != nil {
		switch d := f.direction(a["enabled"], b["enabled"]); {
		case d != Same:
			return d
		case a["enabled"] != true:
			return Same
		}
	}
	worst := Same
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type.Kind == List && a[f.Key] == nil {
			continue // whoever a list names has a say only where another field gives it one
		}
		if !equal(a[f.Key], b[f.Key]) {
			worst = max(worst, f.direction(a[f.Key], b[f.Key]))
		}
	}
	return worst
}
