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
	fd     int
	target flow.Word
	span   *hook.Span
}

const maxRedirects = 256

// redirected applies a statement's redirections around run.
func (w *Shell) redirected(s *state, st *syntax.Stmt, stdin flow.Stream, cl *Call, run func(*state, flow.Stream) flow.Stream) flow.Stream {
	var redirects []redirect
	var other flow.Stream // here-documents on other descriptors: a program may read /dev/fd/3
	for i, r := range st.Redirs {
		if i == maxRedirects {
			w.Limit("more redirections than gate looks at")
			break
		}
		red := redirect{op: r.Op, fd: -1, span: w.spanOf(r)}
		if r.N != nil && len(r.N.Value) == 1 && r.N.Value[0] <= '9' && r.N.Value[0] >= '0' {
			red.fd = int(r.N.Value[0] - '0')
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			red.target = w.hereDocument(s, r)
			if r.Op == syntax.DashHdoc && red.target.Literal() {
				red.target = flow.Literal(stripTabs(red.target.Text()))
			}
			in := w.textStream(red.target)
			stdin, other = here(red.fd, in, stdin, other)
			cl.setInput("heredoc", in, nil)
		case syntax.WordHdoc:
			red.target = w.assigned(s, r.Word)
			in := w.textStream(flow.Append(red.target, flow.Literal("\n")))
			stdin, other = here(red.fd, in, stdin, other)
			cl.setInput("herestring", in, nil)
		default:
			if f := w.fields(s, r.Word); len(f) > 0 {
				red.target = flow.Join(f)
			}
			if (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut) && red.fd <= 0 {
				stdin = w.content(s, red.target)
				cl.setInput("file", stdin, red.target.Value())
			}
			if v := red.target.Value(); r.Op == syntax.DplIn && red.fd <= 0 && v != nil && bash.IsDescriptor(*v) && strings.Trim(*v, "0-") != "" {
				stdin = flow.Stream{Some: true} // what a descriptor holds that was opened before
			}
		}
		redirects = append(redirects, red)
	}
	if other.Some && stdin.Some {
		stdin = w.opened(flow.Concat(stdin, other))
	} else if other.Some {
		stdin = other
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
	return w.applyRedirects(s, redirects, out, id)
}

// opened are the redirections as the facts say them.
func opened(redirects []redirect) (out []hook.Redirect) {
	for _, r := range redirects {
		out = append(out, hook.Redirect{Op: r.op.String(), FD: r.fd, Target: draft.Short(r.target.Value()), Span: r.span})
	}
	return out
}

// here takes in a here-document on a descriptor.
func here(fd int, in, stdin, other flow.Stream) (flow.Stream, flow.Stream) {
	if fd > 0 {
		return stdin, flow.Concat(other, in)
	}
	return in, other
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
			w.OutputTo(s.Where, id, r.target, how, written)
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
