package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/catalogue"
	"gate/facts/glob"
	"gate/hook"
)

// A call is one simple command while it is being judged.
type call struct {
	*walker
	s         *state
	words     []field // program and arguments
	env       []setting
	redirects []redirect
	stdin     stream
	input     *hook.Stdin
	span      *hook.Span
	id        int // of its command, once it is listed
	out       stream
	does      []hook.FactEffect // what the script does that it is, until it is listed
	plain     bool              // functions and aliases are passed over: command rm
}

// A setting is an assignment before a command.
type setting struct {
	name  string
	value field
}

// call runs a simple command.
func (w *walker) call(s *state, st *syntax.Stmt, c *syntax.CallExpr, stdin stream) stream {
	words := w.arguments(s, c.Args)
	if len(c.Args) == 0 || len(words) == 0 {
		return w.redirected(s, st, stdin, nil, func(*state, stream) stream {
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
			return stream{}
		})
	}
	cl := &call{walker: w, s: s, words: words, span: w.span(st)}
	for _, a := range c.Assigns {
		if a.Name != nil {
			cl.env = append(cl.env, setting{a.Name.Value, w.assigned(s, a.Value)})
		}
	}
	return w.redirected(s, st, stdin, cl, func(s *state, in stream) stream {
		cl.stdin = in
		return cl.run()
	})
}

// run judges the command and returns what it writes.
func (c *call) run() stream {
	if len(c.words) == 0 {
		return stream{} // xargs -I without a command
	}
	if c.listed += len(c.words); len(c.commands()) > maxCommands || c.listed > maxListed {
		c.limit("more commands than gate looks at")
		return stream{}
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 4*maxDepth {
		c.limit("commands nested deeper than gate follows")
		return stream{}
	}
	program := c.words[0]
	names, known := program.variants()
	if program.empty() && len(c.words) > 1 && c.words[0].span == nil {
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
	var out stream
	before := c.s.clone()
	for i, name := range names {
		s := before.clone()
		out = concat(out, c.either(name, s))
		if i == 0 {
			*c.s = *s
			continue
		}
		c.s.become(c.s.clone(), s)
	}
	return out
}

// either runs the command under one of the names that its program can have.
func (c *call) either(name string, s *state) (out stream) {
	one := *c
	one.s = s
	defer func() { c.id = one.id }()
	switch {
	case strings.HasPrefix(name, "/") && c.words[0].matches():
		return one.unknownProgram() // whichever file of the machine it is
	case name != "":
		return one.named(name)
	case len(c.words) > 1: // it vanishes and leaves the next word
		one.words = c.words[1:]
		return one.run()
	}
	return stream{}
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
func programName(f field) string {
	last := f.parts[len(f.parts)-1]
	i := strings.LastIndexByte(last.text, '/')
	if last.hole != nil || i < 0 || glob.Wild(last.text) && !last.quoted {
		return ""
	}
	return last.text[i+1:]
}

func (c *call) commands() []hook.ShellCommand { return c.walker.out.Shell.Commands }

// unknownProgram lists a command whose program is not known.
func (c *call) unknownProgram() stream {
	c.list(nil, nil)
	why := "which program runs is not known: " + c.words[0].why()
	if c.words[0].matches() {
		why += "a pattern of names"
	}
	c.unknown("program", why, c.id, c.words[0].span)
	t := c.words[0].taint()
	if t.remote {
		c.effect(c.id, &hook.ExecRemote{Host: strOrNil(t.host), URL: strOrNil(t.url), Via: "substitution"})
	}
	if c.words[0].many() && c.words[0].mayVanish() && len(c.words) > 1 {
		// It may vanish and leave the next word as the program.
		rest := *c
		rest.words = c.words[1:]
		rest.s = c.s.clone()
		if rest.words[0].literal() {
			rest.run()
		}
	}
	for _, w := range c.words[1:] {
		c.maybePath(w)
	}
	for n := range maxVariants {
		guess, ok := c.words[0].guessed(n)
		if !ok {
			break
		}
		other := *c
		other.words, other.s = append([]field{guess}, c.words[1:]...), c.s.clone()
		other.run()
	}
	return stream{some: true, from: c.id}
}

// nestedScript runs a text that is not literally the line.
func (c *call) nestedScript(text string, stdin stream) stream {
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
	if v := c.words[0].value(); v != nil && strings.Contains(*v, "/") {
		cmd.Path = v
	}
	for _, f := range c.words {
		cmd.Words = append(cmd.Words, hook.Word{Value: short(f.value()), Span: f.span})
		if f.value() == nil {
			c.walker.out.Opaque = true
			if r == nil || r.Output != "fetch" { // where it goes is net.send's to say
				c.shown(f.taint().secret) // a program is handed it: gh issue create --body "$(cat KEY)"
			}
		}
	}
	for _, e := range c.env {
		cmd.Env[asKey(e.name)] = e.value.value()
	}
	for _, red := range c.redirects {
		cmd.Redirects = append(cmd.Redirects, hook.Redirect{Op: red.op.String(), FD: red.fd, Target: short(red.target.value()), Span: red.span})
	}
	c.id = c.command(cmd, c.s)
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

// command appends one command and returns its number.
func (w *walker) command(cmd hook.ShellCommand, s *state) int {
	cmd.ID = len(w.out.Shell.Commands) + 1
	if len(s.dirs) == 1 {
		cmd.Dir = &s.dirs[0]
	}
	if cmd.Via == nil {
		cmd.Via = append([]string{}, w.via...)
	}
	w.out.Shell.Commands = append(w.out.Shell.Commands, cmd)
	for _, word := range cmd.Words {
		if word.Value == nil {
			w.unknown("word", "an argument is not known", cmd.ID, word.Span)
			break
		}
	}
	return cmd.ID
}
