package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/hook"
)

// A Call is one simple command while it is judged, in the shell that runs it.
// It is what a program sees of that shell.
type Call struct {
	*Shell
	draft.Invocation
	s *state
}

// call runs a simple command.
func (w *Shell) call(s *state, st *syntax.Stmt, c *syntax.CallExpr, stdin flow.Stream) flow.Stream {
	words := w.arguments(s, c.Args)
	if len(c.Args) == 0 || len(words) == 0 {
		return w.redirected(s, st, stdin, nil, func(*state, flow.Stream) flow.Stream {
			s.status = succeeds
			for _, a := range c.Assigns {
				f := w.assign(s, a)
				if a.Name != nil {
					w.sets(0, a.Name.Value, f)
				}
				if substitutes(a.Value) {
					s.status = mayFail
				}
			}
			return flow.Stream{}
		})
	}
	cl := &Call{Shell: w, s: s, Invocation: draft.Invocation{Words: words, Span: w.spanOf(st)}}
	for _, a := range c.Assigns {
		if a.Name != nil {
			cl.Env = append(cl.Env, draft.Setting{Name: a.Name.Value, Value: w.assigned(s, a.Value), Span: w.spanOf(a)})
		}
	}
	return w.redirected(s, st, stdin, cl, func(s *state, in flow.Stream) flow.Stream {
		cl.Stdin = in
		return cl.run()
	})
}

// run judges the command and returns what it writes.
func (c *Call) run() flow.Stream {
	if len(c.Words) == 0 {
		return flow.Stream{} // xargs -I without a command
	}
	if c.judged += len(c.Words); len(c.Commands()) > maxCommands || c.judged > maxListed {
		c.Limit("more commands than gate looks at")
		return flow.Stream{}
	}
	c.Depth++
	defer func() { c.Depth-- }()
	if c.Depth > 4*maxDepth {
		c.Limit("commands nested deeper than gate follows")
		return flow.Stream{}
	}
	program := c.Words[0]
	names, known := program.Variants()
	if program.Empty() && len(c.Words) > 1 && c.Words[0].Span == nil {
		c.Words = c.Words[1:]
		return c.run()
	}
	if !known {
		if base := programName(program); base != "" {
			return c.outside.Run(c, base) // in a directory that is not known
		}
		return c.unknownProgram()
	}
	if len(names) == 1 {
		return c.either(names[0], c.s)
	}
	var out flow.Stream
	before := c.s.clone()
	for i, name := range names {
		s := before.clone()
		out = flow.Concat(out, c.either(name, s))
		if i == 0 {
			*c.s = *s
			continue
		}
		c.s.become(c.s.clone(), s)
	}
	return out
}

// either runs the command under one of the names that its program can have.
func (c *Call) either(name string, s *state) (out flow.Stream) {
	one := *c
	one.s = s
	defer func() { c.ID = one.ID }()
	switch {
	case strings.HasPrefix(name, "/") && c.Words[0].Matches():
		return one.unknownProgram() // whichever file of the machine it is
	case name != "":
		return one.named(name)
	case len(c.Words) > 1: // it vanishes and leaves the next word
		one.Words = c.Words[1:]
		return one.run()
	}
	return flow.Stream{}
}

// substitutes reports a word that a command makes, which may fail.
func substitutes(word *syntax.Word) bool {
	found := false
	if word != nil {
		syntax.Walk(word, func(n syntax.Node) bool {
			_, ok := n.(*syntax.CmdSubst)
			found = found || ok
			return !found
		})
	}
	return found
}

// programName is the known last part of a program in an unknown directory.
func programName(f flow.Word) string {
	last := f.Parts[len(f.Parts)-1]
	i := strings.LastIndexByte(last.Text, '/')
	if last.Hole != nil || i < 0 || glob.Wild(last.Text) && !last.Quoted {
		return ""
	}
	return last.Text[i+1:]
}

// unknownProgram lists a command whose program is not known.
func (c *Call) unknownProgram() flow.Stream {
	c.listed(nil)
	why := "which program runs is not known: " + c.Words[0].Why()
	if c.Words[0].Matches() {
		why += "a pattern of names"
	}
	c.Unknown("program", why, c.ID, c.Words[0].Span)
	t := c.Words[0].Taint()
	if t.Remote {
		c.Effect(c.ID, &hook.ExecRemote{Host: flow.Known(t.Host), URL: flow.Known(t.URL), Via: "substitution"})
	}
	if c.Words[0].Many() && c.Words[0].MayVanish() && len(c.Words) > 1 {
		// It may vanish and leave the next word as the program.
		rest := *c
		rest.Words = c.Words[1:]
		rest.s = c.s.clone()
		if rest.Words[0].Literal() {
			rest.run()
		}
	}
	for _, w := range c.Words[1:] {
		c.MaybePath(c.s.Where, c.ID, "", w)
	}
	for n := range flow.MaxVariants {
		guess, ok := c.Words[0].Guessed(n)
		if !ok {
			break
		}
		other := *c
		other.Words, other.s = append([]flow.Word{guess}, c.Words[1:]...), c.s.clone()
		other.run()
	}
	return flow.Stream{Some: true, From: c.ID}
}

// listed adds the command to the facts, under the name of the program where that is
// known.
func (c *Call) listed(program *string) {
	c.List(c.s.Where, &c.Invocation, program, false)
	for _, e := range c.Env {
		c.sets(c.ID, e.Name, e.Value)
	}
	c.Owns(&c.Invocation)
}

// sets judges a variable that makes programs run code.
func (w *Shell) sets(id int, name string, value flow.Word) {
	if text := w.outside.Sets(id, name, value); text != "" {
		w.Line(name, text)
	}
}
