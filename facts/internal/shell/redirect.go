package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// A redirect is one redirection, expanded.
type redirect struct {
	op     syntax.RedirOperator
	fd     int    // -1 for the one that the operator means
	name   string // of the descriptor, "" for the first three
	target flow.Word
	span   *hook.Span
}

const maxRedirects = 256

// redirected applies a statement's redirections around run.
func (w *Shell) redirected(s *state, st *syntax.Stmt, stdin flow.Stream, cl *Call, run func(*state, flow.Stream) flow.Stream) flow.Stream {
	var redirects []redirect
	var kept *state // what holds if a redirection fails
	if w.mayNotOpen(s, st) {
		kept = s.clone()
		w.maybe++
		defer func() { w.maybe-- }()
	}
	var read []*flow.Position
	if !stdin.Some && s.stdin != nil {
		stdin = *s.stdin
	}
	before, closed, lent := s.open, s.closed, len(w.lent)
	defer func() { w.lent = w.lent[:lent] }()
	for i, r := range st.Redirs {
		if i == maxRedirects {
			w.Limit("more redirections than gate looks at")
			break
		}
		red := redirect{op: r.Op, fd: -1, span: w.spanOf(r)}
		if r.N != nil {
			red.fd, red.name = w.descriptor(s, r.N.Value)
			w.lent = append(w.lent, r.N.Value) // inside it is open, for otherwise nothing there runs
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			red.target = w.hereDocument(s, r)
			if r.Op == syntax.DashHdoc && red.target.Literal() {
				red.target = flow.Literal(stripTabs(red.target.Text()))
			}
			in := w.textStream(red.target)
			read = append(read, in.Read)
			stdin = w.here(red, in, stdin, cl, "heredoc")
		case syntax.WordHdoc:
			red.target = w.assigned(s, r.Word)
			in := w.textStream(flow.Append(red.target, flow.Literal("\n")))
			read = append(read, in.Read)
			stdin = w.here(red, in, stdin, cl, "herestring")
		default:
			if f := w.fields(s, r.Word); len(f) > 0 {
				red.target = flow.Join(f)
			}
			in, opens := w.input(s, red)
			if r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut {
				read = append(read, in.Read)
			}
			switch {
			case !opens:
			case red.name != "":
				w.Written(fdPath+red.name, in)
			case red.fd <= 0:
				if stdin = in; r.Op != syntax.DplIn {
					cl.setInput("file", stdin, red.target.Value())
				}
			}
			if red.name != "" {
				s.open = append(s.open[:len(s.open):len(s.open)], descriptor{red.name, w.opens(s, red)})
			}
		}
		s.closes(red)
		redirects = append(redirects, red)
		if word := w.marked(st, red, r); word != nil {
			red.target = flow.Join(w.fields(s, word))
			redirects = append(redirects, red)
		}
	}
	if cl != nil {
		cl.Redirects = opened(redirects)
		if cl.Input == nil && stdin.Some {
			cl.Input = &hook.Stdin{From: "pipe", Command: stdin.From, Text: draft.Short(stdin.Text)}
		}
	}
	out := run(s, stdin)
	id := 0
	if cl != nil {
		id = cl.ID
	}
	out = w.applyRedirects(s, redirects, out, id)
	switch {
	case !s.replaced:
		s.open, s.closed = before, closed
		if kept != nil {
			s.orStays(kept)
		}
	default: // exec: a redirection that fails ends the shell
		for _, p := range read {
			if p != nil && kept != nil {
				p.Maybe = w.maybe - 1
			}
		}
		if stdin.Some { // exec < FILE
			in := stdin
			s.stdin = &in
		}
	}
	s.replaced = false
	return out
}

// marked returns the word behind >! of zsh and >? of fish, which is the file there.
// bash takes the mark for the file's name.
func (w *Shell) marked(st *syntax.Stmt, red redirect, r *syntax.Redirect) *syntax.Word {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if mark := red.target.Text(); !ok || mark != "!" && mark != "?" {
		return nil
	}
	for _, word := range call.Args {
		if word.Pos().After(r.Word.End()) {
			return word
		}
	}
	return nil
}

// opened are the redirections as the facts say them.
func opened(redirects []redirect) (out []hook.Redirect) {
	for _, r := range redirects {
		out = append(out, hook.Redirect{Op: r.op.String(), FD: r.fd, Target: draft.Short(r.target.Value()), Span: r.span})
	}
	return out
}

// here takes in a here-document, and returns what is standard input then.
func (w *Shell) here(red redirect, in, stdin flow.Stream, cl *Call, from string) flow.Stream {
	if red.name != "" {
		w.Written(fdPath+red.name, in)
		return stdin
	}
	cl.setInput(from, in, nil)
	return in
}

func (c *Call) setInput(from string, in flow.Stream, file *string) {
	if c != nil {
		c.Input = &hook.Stdin{From: from, Text: draft.Short(in.Text), Path: file}
	}
}

func (w *Shell) textStream(f flow.Word) flow.Stream {
	st := flow.Stream{Text: f.Value(), Taint: f.Taint()}
	if st.Text == nil {
		st.Form = &f
	}
	return w.opened(st)
}

// hereDocument returns the text of a here-document: as it stands if a part of
// its delimiter is quoted, else expanded, with double quotes like any other
// character.
func (w *Shell) hereDocument(s *state, r *syntax.Redirect) flow.Word {
	if r.Hdoc == nil {
		return flow.Literal("")
	}
	plain := true
	for _, p := range r.Word.Parts {
		lit, ok := p.(*syntax.Lit)
		plain = plain && ok && !strings.Contains(lit.Value, `\`)
	}
	x := expander{Shell: w, state: s, escapes: "$`\\"}
	for _, p := range r.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok && !plain {
			x.add(flow.Part{Text: lit.Value, Quoted: true})
		} else {
			x.parts([]syntax.WordPart{p}, true)
		}
	}
	f := flow.Join(x.finish())
	f.Span = w.spanOf(r.Hdoc)
	return f
}

func stripTabs(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, "\t")
	}
	return strings.Join(lines, "\n")
}

// applyRedirects judges the files that redirections open, and returns what is
// left for standard output.
func (w *Shell) applyRedirects(s *state, redirects []redirect, out flow.Stream, id int) flow.Stream {
	for _, r := range redirects {
		if w.handsOut(s, r, id) {
			continue
		}
		switch r.op {
		case syntax.RdrIn:
			w.UsePath(s.Where, id, r.target, draft.Access{Kind: "read", Shown: r.fd > 0}) // 3< is read by what comes later
			w.PeerFile(id, r.target, flow.Stream{})
		case syntax.RdrInOut:
			w.UsePath(s.Where, id, r.target, draft.Access{Kind: "read", Shown: true})
			w.UsePath(s.Where, id, r.target, draft.Access{Kind: "write", How: "append"})
			w.PeerFile(id, r.target, flow.Stream{})
		case syntax.DplIn, syntax.DplOut:
			if v := r.target.Value(); v == nil || !bash.IsDescriptor(*v) {
				w.OutputTo(s.Where, id, r.target, "overwrite", out)
			} else if to, ok := s.descriptor(*v); ok && len(to.Parts) > 0 {
				if r.fd <= 0 && r.op == syntax.DplIn {
					w.PeerFile(id, to, flow.Stream{})
				} else {
					w.OutputTo(s.Where, id, to, "append", out)
				}
			}
			if r.fd == 1 || r.fd < 0 && r.op == syntax.DplOut {
				out = flow.Stream{}
			}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.AppClob, syntax.RdrAllClob, syntax.AppAllClob:
			how := "overwrite"
			if r.op == syntax.AppOut || r.op == syntax.AppAll || r.op == syntax.AppClob || r.op == syntax.AppAllClob {
				how = "append"
			}
			written := out
			if r.fd > 1 {
				written = flow.Stream{Some: true, From: id}
			}
			target := r.target
			if v := target.Value(); v != nil {
				if n, ok := strings.CutPrefix(w.World.ProcSelf(*v), fdPath); ok {
					if to, ok := s.descriptor(n); ok && len(to.Parts) > 0 {
						target, how = to, "append"
					}
				}
			}
			w.OutputTo(s.Where, id, target, how, written)
			if r.fd < 0 || r.fd == 1 {
				out = flow.Stream{From: id}
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		default:
			w.Unknown("syntax", "a kind of redirection gate does not know", id, r.span)
		}
	}
	return out
}
