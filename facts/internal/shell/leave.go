package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
)

// A departure is what holds where break, continue or return leaves loops or the
// function: what comes behind these goes on from there, too.
type departure struct {
	state *state
	loops int  // that it leaves; 0: the function
	again bool // the last of them goes on with its next round
}

// leave notes a departure. What follows in the text is judged all the same.
func (c *Call) leave() (flow.Stream, bool) {
	loops := 0
	switch {
	case c.Words[0].Text() == "return":
		if !c.inFunction() {
			return flow.Stream{}, false
		}
	case c.loops == 0:
		return flow.Stream{}, false
	default:
		loops = 1
		if args := c.Given(); len(args) > 0 {
			n, known := args[0].Number()
			if loops = min(n, c.loops); !known || n < 1 {
				loops = c.loops
			}
		}
	}
	c.away = append(c.away, departure{c.s.clone(), loops, c.Words[0].Text() == "continue"})
	return flow.Stream{}, false
}

// nextRound joins to the end of a loop's round what goes on with the next one.
func (w *Shell) nextRound(s *state) {
	w.away = slices.DeleteFunc(w.away, func(d departure) bool {
		next := d.again && d.loops == 1
		if next {
			s.become(s.clone(), d.state)
		}
		return next
	})
}

// inLoop runs a loop and joins to its end what has left it. What leaves loops around
// it, too, stays away.
func (w *Shell) inLoop(s *state, run func() flow.Stream) flow.Stream {
	before := w.away
	w.away = nil
	w.loops++
	out := run()
	w.loops--
	for _, d := range w.away {
		if d.loops == 1 {
			s.become(s.clone(), d.state)
			continue
		}
		d.loops = max(0, d.loops-1)
		before = append(before, d)
	}
	w.away = before
	return out
}

// inBody runs a function's body and joins to its end what has left it. Loops
// around the call are not its own.
func (w *Shell) inBody(s *state, run func() flow.Stream) flow.Stream {
	away, loops := w.away, w.loops
	w.away, w.loops = nil, 0
	out := run()
	for _, d := range w.away {
		s.become(s.clone(), d.state)
	}
	w.away, w.loops = away, loops
	return out
}

// apart runs what a shell of its own runs: nothing outside goes on from what leaves
// it.
func (w *Shell) apart(run func() flow.Stream) flow.Stream {
	before := w.away
	w.away = nil
	out := run()
	w.away = before
	return out
}

// leaves reports a statement after which nothing runs here: || exit, || return.
func (w *Shell) leaves(s *state, st *syntax.Stmt) bool {
	if w.mayNotOpen(s, st) {
		return false
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return false
		}
		name := c.Args[0].Lit()
		if _, is := s.funcs[name]; is || s.aliases[name] != "" || len(s.outer[name]) > 0 {
			return false
		}
		switch name {
		case "exit":
			return true
		case "exec":
			return len(c.Args) > 1 // else it only redirects
		case "return":
			return w.inFunction()
		case "break", "continue":
			return w.loops > 0
		}
	case *syntax.Block:
		return len(c.Stmts) > 0 && w.leaves(s, c.Stmts[len(c.Stmts)-1])
	}
	return false
}

func (w *Shell) inFunction() bool {
	return slices.ContainsFunc(w.active, func(f frame) bool { return !strings.HasPrefix(f.name, "alias ") })
}
