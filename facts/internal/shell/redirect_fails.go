package shell

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
)

// mayNotOpen reports a statement with a redirection that can fail: then the shell does
// not run the statement, and goes on. Nobody knows which files are there when the line
// comes to it. exec is left out, for the shell ends where its redirections fail.
func (w *Shell) mayNotOpen(s *state, st *syntax.Stmt) bool {
	if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "exec" {
		return false
	}
	closed := s.closed
	for i, r := range st.Redirs {
		target, known := written(r.Word)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		case syntax.DplIn, syntax.DplOut:
			if !known || !bash.IsDescriptor(target) {
				return true
			}
			from, moved := strings.CutSuffix(target, "-")
			if from != "" && (slices.Contains(closed, from) || !slices.Contains(w.lent, from) && !s.isOpen(from, st.Redirs[:i])) {
				return true
			}
			if n := descriptorOf(r); from == "" {
				closed = append(slices.Clip(closed), n)
			} else if moved {
				closed = append(slices.Clip(closed), from)
			}
		default:
			if (!known || target != "/dev/null") && !substituted(r.Word) {
				return true
			}
		}
	}
	return false
}

// written is the text of a word without expansions.
func written(word *syntax.Word) (text string, known bool) {
	if word == nil {
		return "", false
	}
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				text += lit.Value
			}
		default:
			return "", false
		}
	}
	return text, true
}

// substituted reports <(…) and >(…): the shell itself makes what is opened there.
func substituted(word *syntax.Word) bool {
	if word == nil || len(word.Parts) != 1 {
		return false
	}
	_, ok := word.Parts[0].(*syntax.ProcSubst)
	return ok
}

// descriptorOf is the number of the descriptor that a redirection is about.
func descriptorOf(r *syntax.Redirect) string {
	switch {
	case r.N != nil:
		return r.N.Value
	case r.Op == syntax.DplIn:
		return "0"
	}
	return "1"
}

// isOpen reports a descriptor that the line has open, unless it was closed: one of the
// first three, one that exec has opened, or one that the same statement has opened.
func (s *state) isOpen(name string, redirects []*syntax.Redirect) bool {
	if name == "0" || name == "1" || name == "2" {
		return true
	}
	if _, ok := s.descriptor(name); ok {
		return true
	}
	return slices.ContainsFunc(redirects, func(r *syntax.Redirect) bool { return r.N != nil && r.N.Value == name })
}

// closes notes a descriptor that a redirection closes: N>&-, and M>&N- for N.
func (s *state) closes(r redirect) {
	v := r.target.Value()
	if r.op != syntax.DplIn && r.op != syntax.DplOut || v == nil || !strings.HasSuffix(*v, "-") {
		return
	}
	name := strings.TrimSuffix(*v, "-")
	switch {
	case name != "":
	case r.name != "":
		name = r.name
	case r.fd >= 0:
		name = string(rune('0' + r.fd))
	case r.op == syntax.DplIn:
		name = "0"
	default:
		name = "1"
	}
	s.closed = append(slices.Clip(s.closed), name)
}

// orStays makes s what holds whether a statement has run, or a redirection has failed and
// all is as it was. The statement has failed then.
func (s *state) orStays(before *state) {
	switch {
	case s.failed == nil && s.same(before):
		if s.status == succeeds {
			s.status = mayFail
		}
		return
	case s.failed != nil:
		s.failed = merged(s.failed, before)
	case s.status == succeeds:
		s.failed = before
	case s.status == fails:
		s.become(s.clone(), before)
		s.status = fails
		return
	default:
		after := s.clone()
		s.failed = merged(after, before)
	}
	s.status = mayFail
}

// same reports that nothing has changed that a statement can change for those behind it.
func (s *state) same(o *state) bool {
	return sameMap(s.vars, o.vars) && sameMap(s.funcs, o.funcs) && sameMap(s.aliases, o.aliases) &&
		maps.EqualFunc(s.outer, o.outer, func(a, b []*syntax.Stmt) bool { return slices.Equal(a, b) }) &&
		s.args == o.args && flow.SameWords(s.params, o.params) &&
		slices.Equal(s.Dirs, o.Dirs) && s.Under == o.Under && slices.Equal(s.old, o.old) &&
		slices.EqualFunc(s.stack, o.stack, func(a, b []string) bool { return slices.Equal(a, b) }) &&
		reflect.DeepEqual(s.Current, o.Current) &&
		s.ended == o.ended && s.exports == o.exports && s.unread == o.unread
}
