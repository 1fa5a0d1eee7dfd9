package scopes

import (
	"slices"

	"gate/hook"
)

// A Script is what settings run for something other than a decision: the status
// line, the suggestions for files. The zero Script is none.
type Script struct {
	Command   string         // a line for the shell
	Env       []string       // variables that it gets besides the usual
	Authority hook.Authority // of the settings that name it, set by Combine
}

func (s Script) tree() any {
	if s.Command == "" {
		return nil
	}
	tree := map[string]any{"type": "command", "command": s.Command}
	if len(s.Env) > 0 {
		tree["env"] = anys(s.Env)
	}
	return tree
}

// scripts settles what is run: what the highest authority names, of those whose
// hooks are not switched off.
func (s *Settings) scripts() {
	pick := func(of func(*Layer) *Script) Script {
		for i := range s.layers {
			l := &s.layers[i]
			given := of(l)
			if given == nil || s.off(l.Authority) || l.Authority != hook.Managed && l.Authority != hook.User {
				continue
			}
			return Script{given.Command, slices.Clone(given.Env), l.Authority}
		}
		return Script{}
	}
	s.StatusLine = pick(func(l *Layer) *Script { return l.StatusLine })
	s.FileSuggestion = pick(func(l *Layer) *Script { return l.FileSuggestion })
}

// scriptsOf calls f for each script that a layer names.
func scriptsOf(l *Layer, f func(key string, value any)) {
	if l.StatusLine != nil {
		f(keyStatusLine, l.StatusLine.tree())
	}
	if l.FileSuggestion != nil {
		f(keyFileSuggestion, l.FileSuggestion.tree())
	}
}
