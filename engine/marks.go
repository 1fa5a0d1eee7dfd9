package engine

import (
	"slices"

	"gate/hook"
	"gate/internal/mark"
)

// signed says of marks whose they are.
func signed(h due, marks []mark.Mark) []mark.Mark {
	marks = slices.Clone(marks)
	for i := range marks {
		m := &marks[i]
		m.Source, m.By = h.Source.Name, h.ID
		m.Policy, m.Trial = h.Scope == hook.Policy, h.tried()
	}
	return marks
}

// tried reports a hook of a bundle on trial.
func (h due) tried() bool { return h.Source.Bundle != nil && h.Source.Bundle.Trial }

// remembered are the marks of all steps, one a source and name: the last counts.
func remembered(steps []hook.Step) (all []mark.Mark) {
	type key struct{ source, name string }
	var places map[key]int
	for i := range steps {
		for _, m := range steps[i].Verdict.Remember {
			k := key{m.Source, m.Name}
			if at, known := places[k]; known {
				all[at] = m
				continue
			}
			if places == nil {
				places = map[key]int{}
			}
			places[k] = len(all)
			all = append(all, m)
		}
	}
	return all
}
