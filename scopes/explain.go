package scopes

import (
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// A Row is one value that a settings file gives, for gate settings: where it
// stands and what became of it.
type Row struct {
	Key       string // disableAllHooks, policies.acme.push, params.acme.push.branches, exceptions.0 …
	Value     any    // a JSON tree
	Authority hook.Authority
	Pos       string // file:line
	Counts    bool
	Why       string // why it does not count, or what it overrides; "" if there is nothing to say
	Bundle    string // the signed bundle that it stands in; "" for a file of the machine's own
	Breaks    string // the policy that cannot answer while it stands; "" if it does no such harm

	layer *Layer
}

// A PolicyRow is one hook for gate policies.
type PolicyRow struct {
	*hook.Hook
	Level    Level          // LevelNone: as written
	LevelPos string         // where the level was set
	Params   map[string]any // of its parameters, as settings leave them
	Inactive string         // why it does not run; "" if it does
}

// Policies lists the hooks of all sources, those that do not run too, in the
// order of scope, authority, source and file.
func (s *Set) Policies() []PolicyRow {
	given := slices.Clone(s.given)
	slices.SortStableFunc(given, func(a, b Source) int { return compareSources(&a, &b) })
	var rows []PolicyRow
	for i := range given {
		src := &given[i]
		live := s.live(src.Name)
		for _, h := range src.Hooks {
			said := s.settings.level(h, s.settings.precedence(h))
			row := PolicyRow{Hook: h, Level: said.level, LevelPos: said.pos(), Params: map[string]any{}}
			for name, p := range h.Params {
				row.Params[name] = p.Default
			}
			maps.Copy(row.Params, s.settings.params(h, s.settings.precedence(h), src.Params[h.ID]))
			switch {
			case live == nil && s.off != "":
				row.Inactive = s.off
			case live == nil:
				row.Inactive = "only managed hooks are allowed"
			case live.Inactive():
				row.Inactive = "its source could not be loaded"
			case said.level == LevelOff:
				row.Inactive = "off"
			default:
				if names := live.unset(h); len(names) > 0 {
					row.Inactive = "off until it has a value for " + strings.Join(names, " or ")
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (s *Set) live(name string) *Source {
	for _, src := range s.sources {
		if src.Name == name {
			return src
		}
	}
	return nil
}

// Explain lists every value that a settings file gives, by key and then from
// the highest authority down, and says which of them count.
func (s *Set) Explain() []Row {
	var rows []Row
	for i := range s.settings.layers {
		rows = append(rows, s.settings.layers[i].rows()...)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return strings.Compare(a.Key, b.Key) })
	for i := range rows {
		s.judge(&rows[i], rows)
	}
	return rows
}

// rows lists what one layer says, not yet in order.
func (l *Layer) rows() []Row {
	var rows []Row
	for i := range table {
		table[i].Values(table[i].said(l), func(key string, value any, _ ...string) {
			rows = append(rows, Row{Key: key, Value: value, Authority: l.Authority, Pos: l.Pos(key), Bundle: l.Bundle, layer: l})
		})
	}
	return rows
}
