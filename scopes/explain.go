package scopes

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"gate/hook"
	"gate/internal/setting"
)

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
			said := s.settings.Level(h, s.settings.Precedence(h))
			row := PolicyRow{Hook: h, Level: said.Level, LevelPos: said.Pos(), Params: map[string]any{}}
			for name, p := range h.Params {
				row.Params[name] = p.Default
			}
			maps.Copy(row.Params, s.settings.Params(h, s.settings.Precedence(h), src.Params[h.ID]))
			switch {
			case live == nil && s.off != "":
				row.Inactive = s.off
			case live == nil:
				row.Inactive = "only managed hooks are allowed"
			case live.Inactive():
				row.Inactive = "its source could not be loaded"
			case said.Level == setting.LevelOff:
				row.Inactive = "off"
			default:
				if names := live.Unset(h); len(names) > 0 {
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
func (s *Set) Explain() []setting.Row {
	var rows []setting.Row
	for i := range s.settings.Layers {
		rows = append(rows, s.settings.Layers[i].Rows()...)
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Key < rows[j].Key }) // slices has a body for each type
	for i := range rows {
		s.judge(&rows[i], rows)
	}
	return rows
}
