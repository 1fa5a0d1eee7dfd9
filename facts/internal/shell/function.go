package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/hook"
)

// function remembers a body; rest judges it if nobody calls it.
func (w *Shell) function(s *state, c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	for _, name := range names {
		s.own()
		s.funcs[name.Value] = c.Body
		if s.bomb(name.Value) {
			w.Effect(0, &hook.Process{Verb: "fork bomb", Target: new(name.Value), All: true})
		}
	}
}
