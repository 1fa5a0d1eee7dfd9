package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/peer"
	"gate/facts/wordlist"
	"gate/hook"
)

func (w *walker) stmts(s *state, list []*syntax.Stmt, stdin stream) stream {
	var out stream
	for _, st := range list {
		if s.ended {
			// What follows an exit does not run in this shell, but gate does not
			// bet on that: it is judged like everything else.
			s.ended = false
		}
		out = concat(out, w.stmt(s, st, stdin))
	}
	return out
}

// concat is what two commands write one after the other.
func concat(a, b stream) stream {
	switch {
	case !a.some:
		return b
	case !b.some:
		return a
	}
	out := stream{taint: a.taint.merge(b.taint), from: b.from, some: true}
	out.more = append(append(out.more, a.more...), b.more...)
	if s := b.taint.secret; s != "" && s != a.taint.secret && a.taint.secret != "" && len(out.more) < maxVariants {
		out.more = append(out.more, origin{s, b.from})
	}
	if a.under != nil && b.under != nil {
		out.under = append(append([]field(nil), a.under...), b.under...)
	}
	if a.text != nil && b.text != nil {
		t := *a.text + *b.text
		out.text = &t
	} else if fa, ok := a.template(); ok {
		if fb, ok := b.template(); ok {
			out.form = &field{parts: append(fa.parts[:len(fa.parts):len(fa.parts)], fb.parts...)}
		}
	}
	return out
}

// stmt runs one statement with its redirections and returns what it writes to
// standard output.
func (w *walker) stmt(s *state, st *syntax.Stmt, stdin stream) stream {
	w.seen[st] = true
	s.fold()
	if w.steps++; w.steps > maxSteps {
		w.limit("more statements than gate follows")
		return stream{}
	}
	if st.Cmd == nil {
		return w.redirected(s, st, stdin, nil, func(*state, stream) stream { return stream{} })
	}
	if st.Background {
		s = s.clone()
	}
	if call, ok := st.Cmd.(*syntax.CallExpr); ok {
		return w.call(s, st, call, stdin)
	}
	run := func(s *state, in stream) stream { return w.compound(s, st, st.Cmd, in) }
	return w.redirected(s, st, stdin, nil, run)
}

// compound runs everything that is not a simple command. A node type that has
// no case here is an unknown, and TestNodes fails.
func (w *walker) compound(s *state, st *syntax.Stmt, cmd syntax.Command, in stream) stream {
	switch c := cmd.(type) {
	case *syntax.Block:
		return w.stmts(s, c.Stmts, in)
	case *syntax.Subshell:
		inner := s.clone()
		out := w.apart(func() stream { return w.stmts(inner, c.Stmts, in) })
		s.heads, s.kube = inner.heads, inner.kube // files stay as they are when the shell ends
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
		return w.stmt(s.clone(), c.Stmt, stream{some: true}) // what is written to it later
	case *syntax.CallExpr:
		return w.call(s, st, c, in)
	default:
		w.unknown("syntax", "a kind of command gate does not know", 0, w.span(cmd))
	}
	return stream{}
}

func (w *walker) binary(s *state, c *syntax.BinaryCmd, in stream) stream {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		before, first := len(w.out.Effects), len(w.out.Shell.Commands)
		left := w.stmt(s.clone(), c.X, in)
		var held []hook.FactEffect // what a store prints: who takes it decides
		for _, e := range w.out.Effects[before:] {
			if e.Kind == "secret.read" && e.Attrs["path"] == nil && e.Attrs["what"] == left.taint.secret && e.Attrs["shown"] == true {
				held = append(held, e)
			}
		}
		left = w.opened(left)
		last := len(w.out.Shell.Commands)
		right := s.clone()
		out := w.stmt(right, c.Y, left)
		w.connect(left.from, last)
		if w.logsIn(last, left.taint.secret) {
			for _, e := range held {
				e.Attrs["shown"] = false
			}
		}
		if out.spared && len(w.out.Shell.Commands) == last+1 && w.handOn(first, last) {
			for _, e := range w.out.Effects[before:] {
				if e.Kind == "secret.read" && e.Attrs["what"] == left.taint.secret {
					e.Attrs["shown"] = false
				}
			}
		}
		// The last command of a pipeline may run in this shell (lastpipe, zsh):
		// what it sets may hold afterwards or not.
		joined := s.clone()
		joined.become(s, right)
		joined.dirs = s.dirs
		*s = *joined
		return out
	}
	out, yes, no := w.branches(s, c, in)
	s.settle(yes, no)
	return out
}

// logsIn reports that the commands from one on are a single one that hands what it
// reads to the registry which gave it out: gh auth token | docker login ghcr.io.
func (w *walker) logsIn(from int, secret string) bool {
	if len(w.out.Shell.Commands) != from+1 {
		return false
	}
	c := w.out.Shell.Commands[from]
	if c.Program == nil || c.Path != nil || len(c.Via) > 0 || !wordlist.Has(" docker podman nerdctl buildah skopeo oras helm ", *c.Program) {
		return false
	}
	if _, stdin := c.Options["password-stdin"]; !stdin || c.Subcommand == nil || !strings.HasSuffix(*c.Subcommand, "login") || len(c.Operands) != 1 || c.Operands[0] == nil {
		return false
	}
	return issuer(secret, peer.Parse(*c.Operands[0], strings.Contains(*c.Operands[0], "://")).Host)
}

// branches runs A && B or A || B. It returns the state after success and the
// one after failure; nil where that cannot be.
func (w *walker) branches(s *state, c *syntax.BinaryCmd, in stream) (out stream, yes, no *state) {
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
	out = concat(out, more)
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
func (w *walker) ended(s *state, st *syntax.Stmt, in stream) (out stream, yes, no *state) {
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
	if st.Negated {
		yes, no = no, yes
	}
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

// fold makes s what holds whether the last command succeeded or failed.
func (s *state) fold() {
	failed := s.failed
	s.status, s.failed = mayFail, nil
	if failed != nil {
		s.become(s.clone(), failed)
	}
}

// connect notes that command from feeds the first command after last.
func (w *walker) connect(from, last int) {
	cmds := w.out.Shell.Commands
	if from > 0 && last < len(cmds) && from <= len(cmds) {
		if p := &cmds[from-1]; p.PipeTo == 0 {
			p.PipeTo = cmds[last].ID
		}
	}
}

func (w *walker) ifClause(s *state, c *syntax.IfClause, in stream) stream {
	out := w.stmts(s, c.Cond, in)
	then, other := s.clone(), s.clone()
	if s.failed != nil {
		then.failed, other = nil, s.failed.clone()
	}
	w.maybe++
	defer func() { w.maybe-- }()
	out = concat(out, w.stmts(then, c.Then, in))
	if c.Else != nil {
		if len(c.Else.Cond) > 0 {
			out = concat(out, w.ifClause(other, c.Else, in))
		} else {
			out = concat(out, w.stmts(other, c.Else.Then, in))
		}
	}
	then.ended = len(c.Then) > 0 && w.leaves(then, c.Then[len(c.Then)-1])
	s.become(then, other)
	s.ended = false
	return unsure(out)
}

// unsure is a stream that may or may not be written.
func unsure(st stream) stream {
	st.text = nil
	return st
}

func (w *walker) caseClause(s *state, c *syntax.CaseClause, in stream) stream {
	w.word(s, c.Word)
	var out stream
	w.maybe++
	defer func() { w.maybe-- }()
	joined := s.clone()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.word(s, p)
		}
		way := s.clone()
		out = concat(out, w.stmts(way, item.Stmts, in))
		joined.become(joined.clone(), way)
	}
	*s = *joined
	return unsure(out)
}

// function remembers a body; rest judges it if nobody calls it.
func (w *walker) function(s *state, c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	for _, name := range names {
		s.own()
		s.funcs[name.Value] = c.Body
		if bomb(name.Value, c.Body) {
			w.effect("process", 0, map[string]any{"verb": "fork bomb", "target": name.Value, "signal": nil, "all": true})
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
