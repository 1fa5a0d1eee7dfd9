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
		if bomb(name.Value, c.Body) {
			w.Effect(0, &hook.Process{Verb: "fork bomb", Target: new(name.Value), All: true})
		}
	}
}

// bomb reports a function that pipes or backgrounds itself.
func bomb(name string, body *syntax.Stmt) bool {
	calls, forks := 0, false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == name {
				calls++
			}
		case *syntax.Stmt:
			forks = forks || n.Background
		case *syntax.BinaryCmd:
			forks = forks || n.Op == syntax.Pipe
		}
		return true
	})
	return calls > 1 && forks
}
