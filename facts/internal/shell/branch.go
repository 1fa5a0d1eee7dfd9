package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
)

// branches runs A && B or A || B. It returns the state after success and the
// one after failure; nil where that cannot be.
func (w *Shell) branches(s *state, c *syntax.BinaryCmd, in flow.Stream) (out flow.Stream, yes, no *state) {
	out, yes, no = w.ended(s, c.X, in)
	from, other := &yes, &no
	if c.Op == syntax.OrStmt {
		from, other = &no, &yes
	}
	run := *from
	switch {
	case run == nil: // gate does not bet on that: what stands there is judged
		run = (*other).clone()
	case *other == run:
		*other = run.clone()
	}
	if *other != nil {
		w.maybe++
		defer func() { w.maybe-- }()
	}
	more, yes2, no2 := w.ended(run, c.Y, in)
	switch {
	case *from == nil:
	case c.Op == syntax.OrStmt && *other != nil:
		out = flow.OneOf(out, more)
	default:
		out = flow.Concat(out, more)
	}
	if *from == nil {
		return out, yes, no
	}
	if w.leaves(run, c.Y) {
		yes2, no2 = nil, nil
	}
	if c.Op == syntax.OrStmt {
		return out, merged(yes, yes2), no2
	}
	return out, yes2, merged(no, no2)
}

// ended runs a statement and tells its success from its failure.
func (w *Shell) ended(s *state, st *syntax.Stmt, in flow.Stream) (out flow.Stream, yes, no *state) {
	if c, ok := st.Cmd.(*syntax.BinaryCmd); ok && !st.Negated && !st.Background && len(st.Redirs) == 0 && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) {
		w.seen[st] = true
		return w.branches(s, c, in)
	}
	out = w.stmt(s, st, in)
	yes, no = s, s
	switch {
	case st.Background:
	case s.failed != nil:
		no, s.failed = s.failed, nil
	case s.status == succeeds:
		no = nil
	case s.status == fails:
		yes = nil
	}
	s.status, s.failed = mayFail, nil
	return out, yes, no
}

func merged(a, b *state) *state {
	switch {
	case a == nil:
		return b
	case b == nil || a == b:
		return a
	}
	out := a.clone()
	out.become(a.clone(), b)
	return out
}

// settle makes s what holds after success, and keeps what holds after failure.
func (s *state) settle(yes, no *state) {
	switch {
	case yes == nil && no == nil:
	case yes == nil:
		if no != s {
			*s = *no
		}
		s.status = fails
	case no == nil:
		if yes != s {
			*s = *yes
		}
		s.status = succeeds
	default:
		if yes != s {
			*s = *yes
		}
		if yes != no {
			s.failed = no
		}
	}
}

// negate makes success of failure, as ! does.
func (s *state) negate() {
	switch {
	case s.failed != nil:
		after := s.clone()
		after.failed = nil
		*s = *s.failed
		s.failed = after
	case s.status == succeeds:
		s.status = fails
	case s.status == fails:
		s.status = succeeds
	}
}

// fold makes s what holds whether the last command succeeded or failed.
func (s *state) fold() {
	failed := s.failed
	s.status, s.failed = mayFail, nil
	if failed != nil {
		s.become(s.clone(), failed)
	}
}

func (w *Shell) ifClause(s *state, c *syntax.IfClause, in flow.Stream) flow.Stream {
	out := w.stmts(s, c.Cond, in)
	then, other := s.clone(), s.clone()
	if s.failed != nil {
		then.failed, other = nil, s.failed.clone()
	}
	w.maybe++
	defer func() { w.maybe-- }()
	out = flow.Concat(out, w.stmts(then, c.Then, in))
	if c.Else != nil {
		if len(c.Else.Cond) > 0 {
			out = flow.Concat(out, w.ifClause(other, c.Else, in))
		} else {
			out = flow.Concat(out, w.stmts(other, c.Else.Then, in))
		}
	}
	then.ended = len(c.Then) > 0 && w.leaves(then, c.Then[len(c.Then)-1])
	s.become(then, other)
	s.ended = false
	return flow.Unsure(out)
}

func (w *Shell) caseClause(s *state, c *syntax.CaseClause, in flow.Stream) flow.Stream {
	w.word(s, c.Word)
	var out flow.Stream
	w.maybe++
	defer func() { w.maybe-- }()
	joined := s.clone()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.word(s, p)
		}
		way := s.clone()
		out = flow.Concat(out, w.stmts(way, item.Stmts, in))
		joined.become(joined.clone(), way)
	}
	*s = *joined
	return flow.Unsure(out)
}
