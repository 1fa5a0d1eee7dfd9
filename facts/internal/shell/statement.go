package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
	"gate/hook"
)

func (w *Shell) stmts(s *state, list []*syntax.Stmt, stdin flow.Stream) flow.Stream {
	var out flow.Stream
	for _, st := range list {
		if s.ended {
			// What follows an exit does not run in this shell, but gate does not
			// bet on that: it is judged like everything else.
			s.ended = false
		}
		out = flow.Concat(out, w.stmt(s, st, stdin))
	}
	return out
}

// stmt runs one statement with its redirections and returns what it writes to
// standard output.
func (w *Shell) stmt(s *state, st *syntax.Stmt, stdin flow.Stream) flow.Stream {
	out := w.plain(s, st, stdin)
	if st.Negated {
		s.negate()
	}
	return out
}

// plain is stmt without the ! before it.
func (w *Shell) plain(s *state, st *syntax.Stmt, stdin flow.Stream) flow.Stream {
	w.seen[st] = true
	s.fold()
	if w.steps++; w.steps > maxSteps {
		w.Limit("more statements than gate follows")
		return flow.Stream{}
	}
	if st.Cmd == nil {
		return w.redirected(s, st, stdin, nil, func(*state, flow.Stream) flow.Stream { return flow.Stream{} })
	}
	if st.Background {
		s = s.clone()
	}
	if call, ok := st.Cmd.(*syntax.CallExpr); ok {
		return w.call(s, st, call, stdin)
	}
	run := func(s *state, in flow.Stream) flow.Stream { return w.compound(s, st, st.Cmd, in) }
	return w.redirected(s, st, stdin, nil, run)
}

// compound runs everything that is not a simple command. A node type that has
// no case here is an unknown, and TestNodes fails.
func (w *Shell) compound(s *state, st *syntax.Stmt, cmd syntax.Command, in flow.Stream) flow.Stream {
	switch c := cmd.(type) {
	case *syntax.Block:
		return w.stmts(s, c.Stmts, in)
	case *syntax.Subshell:
		inner := s.clone()
		out := w.apart(func() flow.Stream { return w.stmts(inner, c.Stmts, in) })
		s.Current = inner.Current // files stay as they are when the shell ends
		return out
	case *syntax.BinaryCmd:
		return w.binary(s, c, in)
	case *syntax.IfClause:
		return w.ifClause(s, c, in)
	case *syntax.WhileClause:
		return w.while(s, c, in)
	case *syntax.ForClause:
		return w.forClause(s, c, in)
	case *syntax.CaseClause:
		return w.caseClause(s, c, in)
	case *syntax.FuncDecl:
		w.function(s, c)
	case *syntax.DeclClause:
		return w.declare(s, c)
	case *syntax.LetClause:
		for _, e := range c.Exprs {
			w.arithmetic(s, e)
		}
	case *syntax.ArithmCmd:
		w.arithmetic(s, c.X)
	case *syntax.TestClause:
		w.test(s, c.X)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(s, c.Stmt, in)
		}
	case *syntax.CoprocClause:
		w.coprocess(s, c)
	case *syntax.CallExpr:
		return w.call(s, st, c, in)
	default:
		w.Unknown("syntax", "a kind of command gate does not know", 0, w.spanOf(cmd))
	}
	return flow.Stream{}
}

func (w *Shell) binary(s *state, c *syntax.BinaryCmd, in flow.Stream) flow.Stream {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		before, first := len(w.Facts.Effects), len(w.Facts.Shell.Commands)
		left := w.stmt(s.clone(), c.X, in)
		var held []*hook.SecretRead // what a store prints: who takes it decides
		for _, e := range w.Facts.Effects[before:] {
			if read, ok := e.Is.(*hook.SecretRead); ok && read.Path == nil && sameSecret(read, left) && read.Shown {
				held = append(held, read)
			}
		}
		left = w.opened(left)
		last := len(w.Facts.Shell.Commands)
		right := s.clone()
		out := w.stmt(right, c.Y, left)
		w.connect(left.From, last)
		if cmds := w.Commands()[last:]; len(cmds) == 1 && w.outside.LogsIn(cmds[0], left.Taint.Secret) {
			for _, read := range held {
				read.Shown = false
			}
		}
		if out.Spared && len(w.Facts.Shell.Commands) == last+1 && first < last && w.outside.HandsOn(w.Commands()[first:last]) {
			for _, e := range w.Facts.Effects[before:] {
				if read, ok := e.Is.(*hook.SecretRead); ok && sameSecret(read, left) {
					read.Shown = false
				}
			}
		}
		// The last command of a pipeline may run in this shell (lastpipe, zsh):
		// what it sets may hold afterwards or not.
		joined := s.clone()
		joined.become(s, right)
		joined.Dirs = s.Dirs
		*s = *joined
		return out
	}
	out, yes, no := w.branches(s, c, in)
	s.settle(yes, no)
	return out
}

// sameSecret reports that what was read flows in a stream. An environment that a program
// prints of something else flows as a secret: only that of the shell is the environment.
func sameSecret(read *hook.SecretRead, st flow.Stream) bool {
	return read.What == st.Taint.Secret || read.Path == nil && read.What == "environment" && st.Taint.Secret == "secret"
}

// connect notes that command from feeds the first command after last.
func (w *Shell) connect(from, last int) {
	cmds := w.Facts.Shell.Commands
	if from > 0 && last < len(cmds) && from <= len(cmds) {
		if p := &cmds[from-1]; p.PipeTo == 0 {
			p.PipeTo = cmds[last].ID
		}
	}
}
