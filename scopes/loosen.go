package scopes

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gate/internal/setting"
)

// A Change is one value of settings that is another than it was; nil: nothing said.
type Change struct {
	Key       string // disableAllHooks, policies.acme.push, exceptions, stale.then …
	Was, Is   any    // JSON trees
	Direction setting.Direction
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
		if setting.Equal(a, b) {
			continue
		}
		top, name, _ := strings.Cut(key, ".")
		row := setting.Named(top)
		c := Change{key, a, b, setting.Untold}
		switch {
		case row == nil:
		case row.Key == setting.KeyPolicies:
			more := cmp.Compare(levelRank(LevelOf(is, name)), levelRank(LevelOf(was, name)))
			if name == setting.Quiet || strings.HasPrefix(name, setting.Quiet+".") {
				more = -more
			}
			c.Direction = setting.Towards(more)
		case row.Type.Of != nil && row.Type.Of.Kind == setting.SwitchedText: // switched on, it tightens: what else it does waits for trust
			if x, y := a != nil && a != false, b != nil && b != false; x != y {
				c.Direction = setting.Towards(truth(y) - truth(x))
			}
		case row.Type.Kind == setting.Object && row.Type.OneValue:
			c.Direction = row.Type.Direction(a, b)
		case row.Type.Kind == setting.Object && row.Type.FieldNamed(name) != nil:
			c.Direction = row.Type.FieldNamed(name).Direction(a, b)
		default:
			c.Direction = row.Field.Direction(a, b)
		}
		if row != nil && row.Bearing == setting.Neutral {
			c.Direction = setting.Same
		}
		out = append(out, c)
	}
	return out
}

// Loosening returns the changes that a person has to agree to: those that loosen, and
// those of which nobody can tell.
func Loosening(was, is map[string]any) []Change {
	return slices.DeleteFunc(Changes(was, is), func(c Change) bool { return c.Direction < setting.Untold })
}

// LevelOf is what settings, by the keys of [Change] or below policies, say about a policy
// or group: the longest key that covers it decides; nothing said is as written.
func LevelOf(said map[string]any, name string) Level {
	best, level := -1, setting.LevelDeny
	for key, v := range said {
		key = strings.TrimPrefix(key, setting.KeyPolicies+".")
		text, _ := v.(string)
		covers := key == name || strings.HasPrefix(name, key+".")
		if l, err := setting.ParseLevel(text); err == nil && covers && len(key) > best {
			best, level = len(key), l
		}
	}
	return level
}

func levelRank(l Level) int { return slices.Index(setting.Levels(), l) }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
