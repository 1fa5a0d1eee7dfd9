package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// named runs the command under one name.
func (c *Call) named(name string) flow.Stream {
	if len(c.s.aliases) > 0 && !c.Plain {
		c.zshAliases(name)
	}
	body, ok := c.s.aliases[name]
	if held, named := c.s.named("BASH_ALIASES aliases functions", name); named && held.Value() != nil {
		body, ok = *held.Value(), true
	}
	if ok && !c.Plain && !c.running("alias "+name) {
		// An alias counts from the next line on, and in some shells only: the
		// name may well mean what it always means.
		other := *c
		other.s = c.s.clone()
		other.alias(name, body)
		c.s.become(c.s.clone(), other.s)
	}
	if body, ok := c.s.funcs[name]; ok && !c.Plain {
		return c.function(name, body)
	}
	for _, body := range c.s.outer[name] {
		if c.Plain {
			break
		}
		other := *c
		other.s = c.s.clone()
		other.function(name, body)
		c.s.become(c.s.clone(), other.s)
	}
	if p, ok := c.s.named("BASH_CMDS commands", name); ok && !strings.Contains(name, "/") {
		return c.hashed(p)
	}
	if strings.HasPrefix(name, "=") && len(name) > 1 {
		c.Unknown("dialect", "in zsh =name is the path of a program", 0, c.Words[0].Span)
	}
	base := strings.TrimSuffix(path.Base(name), ".exe")
	if strings.Contains(name, "/") {
		return c.outside.Run(c, name)
	}
	if run := wordlist.Find(c.builtins, base); run != nil {
		if out, done := run(c); done {
			return out
		}
	}
	out := c.outside.Run(c, name)
	if wordlist.Has(" : true false ", base) {
		return flow.Stream{}
	}
	return out
}

// alias puts the alias's text in the place of the first word, and goes on with
// the next word when the text ends with a blank.
func (c *Call) alias(name, body string) flow.Stream {
	c.active = append(c.active, frame{name: "alias " + name})
	defer func() { c.active = c.active[:len(c.active)-1] }()
	rest := c.Words[1:]
	for strings.HasSuffix(body, " ") && len(rest) > 0 {
		next, ok := c.s.aliases[rest[0].Text()]
		if !ok {
			break
		}
		body, rest = body+next, rest[1:]
	}
	return c.Handed(body, rest)
}

// maxCalls bounds how often a function calls itself.
const maxCalls = 8

// recurs reports that a call of a function would only do what is being done,
// or goes deeper than gate follows.
func (c *Call) recurs(name string) bool {
	times := 0
	for _, f := range c.active {
		if f.name != name {
			continue
		}
		if times++; flow.SameWords(f.params, c.Words[1:]) && !changed(f.state, c.s) {
			return true
		}
	}
	if times >= maxCalls || len(c.active) > 2*maxDepth {
		c.Limit("functions that call each other deeper than gate follows")
		return true
	}
	return false
}

// function runs a function's body with the arguments of the call.
func (c *Call) function(name string, body *syntax.Stmt) flow.Stream {
	if c.recurs(name) {
		return flow.Stream{Some: true}
	}
	s := c.s
	params, args, locals, before := s.params, s.args, s.locals, s.clone()
	c.active = append(c.active, frame{name, c.Words[1:], before})
	s.params, s.args, s.locals = c.Words[1:], true, map[string]*variable{}
	for _, e := range c.Env { // X=1 f
		s.own()
		s.hide(e.Name)
		s.vars[e.Name] = variable{value: e.Value, exported: true}
	}
	out := c.inBody(s, func() flow.Stream { return c.stmt(s, body, c.Stdin) })
	s.restore(locals)
	s.params, s.args = params, args
	c.active = c.active[:len(c.active)-1]
	s.ended = false
	s.fold()
	return out
}
