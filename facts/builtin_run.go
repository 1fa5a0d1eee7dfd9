package facts

import (
	"gate/facts/flow"
	"strings"
)

// unwrapped runs what stands after command or builtin, whatever function or
// alias has its name.
func (c *call) unwrapped() (flow.Stream, bool) {
	words := c.given()
	for len(words) > 0 && words[0].Literal() && strings.HasPrefix(words[0].Text(), "-") {
		text := words[0].Text()
		words = words[1:]
		if text == "--" {
			break
		}
		if strings.ContainsAny(text, "vV") {
			return flow.Stream{}, false // command -v NAME asks what NAME is
		}
	}
	if len(words) == 0 {
		return flow.Stream{}, false
	}
	inner := *c
	inner.words, inner.plain = words, true
	inner.via = append(inner.via, c.words[0].Text())
	out := inner.run()
	c.via = c.via[:len(c.via)-1]
	c.id = inner.id
	return out, true
}

// eval joins its words and runs them.
func (c *call) eval() (flow.Stream, bool) {
	args := c.given()
	if len(args) > 0 && args[0].Literal() && args[0].Text() == "--" {
		args = args[1:]
	}
	c.via = append(c.via, "eval")
	c.s.shared = true // what is there now is put back
	before := c.s.vars
	for _, e := range c.env { // X=1 eval 'p $X'
		c.s.own()
		c.s.vars[e.name] = variable{value: e.value, exported: true}
	}
	out := c.Text(flow.Join(args), c.stdin)
	c.s.putBack(before, c.env)
	c.via = c.via[:len(c.via)-1]
	return out, true
}

// putBack undoes the assignments that stood before a command.
func (s *state) putBack(before map[string]variable, env []setting) {
	for _, e := range env {
		s.own()
		if v, ok := before[e.name]; ok {
			s.vars[e.name] = v
		} else {
			delete(s.vars, e.name)
		}
	}
}

// source runs a file in this shell.
func (c *call) source() (flow.Stream, bool) {
	if len(c.given()) == 0 {
		return flow.Stream{}, false
	}
	file := c.given()[0]
	if file.Text() == "--" && len(c.given()) > 1 {
		file = c.given()[1]
	}
	c.plainNamed()
	if file.Literal() && flow.IsStdin(file.Text()) {
		if c.stdin.Text == nil {
			return c.unknownCode(c.id, "bash", c.stdin.Taint, "stdin", "it comes from a pipe"), true
		}
		return c.script(c.s, *c.stdin.Text, flow.Stream{}), true
	}
	c.usePath(c.s.where, c.id, file, access{kind: "use"})
	if rest := c.given()[1:]; len(rest) > 0 && file.Text() == c.given()[0].Text() {
		params, args := c.s.params, c.s.args
		c.s.params, c.s.args = rest, true
		defer func() { c.s.params, c.s.args = params, args }()
	}
	return c.outside.Source(c, file), true
}

func (c *call) trap() (flow.Stream, bool) {
	c.plainNamed()
	args := c.given()
	for len(args) > 0 && strings.HasPrefix(args[0].Text(), "-") && len(args[0].Text()) == 2 {
		args = args[1:]
	}
	if len(args) < 2 {
		return flow.Stream{}, true
	}
	later, via := *c, append(append([]string(nil), c.via...), "trap")
	c.traps = append(c.traps, func(end *state) {
		was := later.via
		later.walker.via = via
		if end != later.s && !sameMap(end.vars, later.s.vars) { // set on one way, or in a subshell
			other := later
			other.s = end.clone()
			other.Text(args[0], flow.Stream{})
		}
		later.Text(args[0], flow.Stream{})
		later.walker.via = was
	})
	return flow.Stream{}, true
}

// exec replaces the shell by a program, or only redirects.
func (c *call) exec() (flow.Stream, bool) {
	args := c.given()
	for len(args) > 0 {
		text := args[0].Text()
		switch {
		case text == "-a" && len(args) > 1:
			args = args[2:]
		case len(text) > 1 && text[0] == '-' && args[0].Literal():
			args = args[1:]
		default:
			inner := *c
			inner.words, inner.plain = args, true
			out := inner.run()
			c.id = inner.id
			return out, true
		}
	}
	c.plainNamed()
	return flow.Stream{}, true
}
