package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/catalogue"
	"gate/facts/glob"
	"gate/hook"

	"gate/facts/flow"
)

// A call is one simple command while it is being judged.
type call struct {
	*walker
	s         *state
	words     []flow.Word // program and arguments
	env       []setting
	redirects []redirect
	stdin     flow.Stream
	input     *hook.Stdin
	span      *hook.Span
	id        int // of its command, once it is listed
	out       flow.Stream
	does      []hook.FactEffect // what the script does that it is, until it is listed
	plain     bool              // functions and aliases are passed over: command rm
}

// A setting is an assignment before a command.
type setting struct {
	name  string
	value flow.Word
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
					w.variableEffect(0, a.Name.Value, f)
				}
				if substitutes(a.Value) {
					s.status = mayFail
				}
			}
			return flow.Stream{}
		})
	}
	cl := &call{walker: w, s: s, words: words, span: w.span(st)}
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
	if c.listed += len(c.words); len(c.commands()) > maxCommands || c.listed > maxListed {
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
			return c.program(base, base) // in a directory that is not known
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

func (c *call) commands() []hook.ShellCommand { return c.facts.Shell.Commands }

// unknownProgram lists a command whose program is not known.
func (c *call) unknownProgram() flow.Stream {
	c.list(nil, nil)
	why := "which program runs is not known: " + c.words[0].Why()
	if c.words[0].Matches() {
		why += "a pattern of names"
	}
	c.unknown("program", why, c.id, c.words[0].Span)
	t := c.words[0].Taint()
	if t.Remote {
		c.effect(c.id, &hook.ExecRemote{Host: strOrNil(t.Host), URL: strOrNil(t.URL), Via: "substitution"})
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

// nestedScript runs a text that is not literally the line.
func (c *call) nestedScript(text string, stdin flow.Stream) flow.Stream {
	c.nested++
	defer func() { c.nested-- }()
	return c.script(c.s, text, stdin)
}

// list adds the command to the facts.
func (c *call) list(program *string, r *catalogue.Row) {
	cmd := hook.ShellCommand{
		Program: program, Path: nil, Operands: []*string{}, Options: map[string][]any{},
		Env: map[string]*string{}, Via: append([]string{}, c.via...), Depth: c.depth - 1, Span: c.span, Stdin: c.input,
	}
	if v := c.words[0].Value(); v != nil && strings.Contains(*v, "/") {
		cmd.Path = v
	}
	for _, f := range c.words {
		cmd.Words = append(cmd.Words, hook.Word{Value: short(f.Value()), Span: f.Span})
		if f.Value() == nil {
			c.facts.Opaque = true
			if r == nil || r.Output != "fetch" { // where it goes is net.send's to say
				c.shown(f.Taint().Secret) // a program is handed it: gh issue create --body "$(cat KEY)"
			}
		}
	}
	for _, e := range c.env {
		cmd.Env[asKey(e.name)] = e.value.Value()
	}
	for _, red := range c.redirects {
		cmd.Redirects = append(cmd.Redirects, hook.Redirect{Op: red.op.String(), FD: red.fd, Target: short(red.target.Value()), Span: red.span})
	}
	c.id = c.command(cmd, c.s.where)
	for _, e := range c.env {
		c.variableEffect(c.id, e.name, e.value)
	}
	for _, e := range c.does {
		c.effect(c.id, e.Is)
		if decoded(e) {
			c.unknown("code", "a script runs text that is decoded first", c.id, nil)
		}
	}
	c.does = nil
}
