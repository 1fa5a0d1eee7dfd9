package setting

import (
	"slices"

	"gate/hook"
)

// A Script is what settings run for something other than a decision: the status
// line, the suggestions for files. The zero Script is none.
type Script struct {
	Command   string         // a line for the shell
	Env       []string       // variables that it gets in addition to the usual ones
	Authority hook.Authority // of the settings that name it, set by Combine
}

// firstScript is what the highest authority names.
func firstScript(layers []*Layer, of func(*Layer) *Script) Script {
	for _, l := range layers {
		if given := of(l); given != nil {
			return Script{given.Command, slices.Clone(given.Env), l.Authority}
		}
	}
	return Script{}
}
