package engine

import (
	"slices"

	"gate/hook"
	"gate/internal/mark"
)

// signed says of marks whose they are. Those of a bundle on trial are nobody's but its
// own: nothing follows from it for others.
func signed(h due, marks []mark.Mark) []mark.Mark {
	marks = slices.Clone(marks)
	for i := range marks {
		m := &marks[i]
		m.Source, m.By = h.Source.Name, h.ID
		m.Shared = h.Scope == hook.Policy && !h.tried()
	}
	return marks
}

// tried reports a hook of a bundle on trial.
func (h due) tried() bool { return h.Source.Bundle != nil && h.Source.Bundle.Trial }

// remembered are the marks of all steps, one a source and name: the last counts.
func remembered(steps []hook.Step) (all []mark.Mark) {
	for i := range steps {
		for _, m := range steps[i].Verdict.Remember {
			all = slices.DeleteFunc(all, func(k mark.Mark) bool { return k.Source == m.Source && k.Name == m.Name })
			all = append(all, m)
		}
	}
	return all
}
