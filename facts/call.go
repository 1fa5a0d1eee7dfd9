package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/glob"
	"gate/hook"

	"gate/facts/flow"
)

// A call is one simple command while it is being judged.
type call struct {
	*walker
	invocation
	s *state
}

// call runs a simple command.
func (w *walker) call(s *state, st *syntax.Stmt, c *syntax.CallExpr, stdin flow.Stream) flow.Stream {
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
	cl := &call{walker: w, s: s, invocation: invocation{words: words, span: w.spanOf(st)}}
	for _, a := range c.Assigns {
		if a.Name != nil {
			cl.env = append(cl.env, setting{a.Name.Value, w.assigned(s, a.Value)})
		}
	}
	return w.redirected(s, st, stdin, cl, func(s *state, in flow.Stream) flow.Stream {
		cl.stdin = in
		return cl.run()
	})
}

// run judges the command and returns what it writes.
func (c *call) run() flow.Stream {
	if len(c.words) == 0 {
		return flow.Stream{} // xargs -I without a command
	}
	if c.judged += len(c.words); len(c.commands()) > maxCommands || c.judged > maxListed {
		c.limit("more commands than gate looks at")
		return flow.Stream{}
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 4*maxDepth {
		c.limit("commands nested deeper than gate follows")
		return flow.Stream{}
	}
	program := c.words[0]
	names, known := program.Variants()
	if program.Empty() && len(c.words) > 1 && c.words[0].Span == nil {
		c.words = c.words[1:]
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
func (c *call) either(name string, s *state) (out flow.Stream) {
	one := *c
	one.s = s
	defer func() { c.id = one.id }()
	switch {
	case strings.HasPrefix(name, "/") && c.words[0].Matches():
		return one.unknownProgram() // whichever file of the machine it is
	case name != "":
		return one.named(name)
	case len(c.words) > 1: // it vanishes and leaves the next word
		one.words = c.words[1:]
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
func (c *call) unknownProgram() flow.Stream {
	c.listed(nil)
	why := "which program runs is not known: " + c.words[0].Why()
	if c.words[0].Matches() {
		why += "a pattern of names"
	}
	c.unknown("program", why, c.id, c.words[0].Span)
	t := c.words[0].Taint()
	if t.Remote {
		c.effect(c.id, &hook.ExecRemote{Host: flow.Known(t.Host), URL: flow.Known(t.URL), Via: "substitution"})
	}
	if c.words[0].Many() && c.words[0].MayVanish() && len(c.words) > 1 {
		// It may vanish and leave the next word as the program.
		rest := *c
		rest.words = c.words[1:]
		rest.s = c.s.clone()
		if rest.words[0].Literal() {
			rest.run()
		}
	}
	for _, w := range c.words[1:] {
		c.maybePath(c.s.where, c.id, w)
	}
	for n := range flow.MaxVariants {
		guess, ok := c.words[0].Guessed(n)
		if !ok {
			break
		}
		other := *c
		other.words, other.s = append([]flow.Word{guess}, c.words[1:]...), c.s.clone()
		other.run()
	}
	return flow.Stream{Some: true, From: c.id}
}

// listed adds the command to the facts, under the name of the program where that is
// known.
func (c *call) listed(program *string) {
	c.list(c.s.where, &c.invocation, program, false)
	for _, e := range c.env {
		c.sets(c.id, e.name, e.value)
	}
	c.owns(&c.invocation)
}

// sets judges a variable that makes programs run code.
func (w *walker) sets(id int, name string, value flow.Word) {
	if text := w.outside.Sets(id, name, value); text != "" {
		w.Line(name, text)
	}
}
