package facts

import (
	"slices"
	"strings"

	"gate/facts/internal/program"
)

// Guarded lists files that start by themselves or steer an agent wherever they lie in a
// project, by the tables that judge effects. They are paths below any directory, with
// "/**" behind a directory of which all counts. None has another wildcard. A project's own
// work that runs only where somebody runs it, such as a Makefile, is none of them.
func Guarded(w World) (patterns []string) {
	for _, kind := range []string{"self", "startup"} {
		for _, pattern := range w.Patterns(kind) {
			below, anywhere := strings.CutPrefix(pattern, "**/")
			if anywhere && !strings.Contains(below, "powershell") && !strings.HasPrefix(below, ".ssh/") {
				patterns = append(patterns, below)
			}
		}
	}
	patterns = append(patterns, program.Later()...)
	patterns = slices.DeleteFunc(patterns, func(p string) bool { return strings.ContainsAny(strings.TrimSuffix(p, "/**"), "*?[") })
	slices.Sort(patterns)
	return slices.Compact(patterns)
}
