package shell

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
)

// unwrapped runs what stands after command or builtin, whatever function or
// alias has its name.
func (c *Call) unwrapped() (flow.Stream, bool) {
	words := c.Given()
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
	inner.Words, inner.Plain = words, true
	inner.Via = append(inner.Via, c.Words[0].Text())
	out := inner.run()
	c.Via = c.Via[:len(c.Via)-1]
	c.ID = inner.ID
	return out, true
}

// eval joins its words and runs them.
func (c *Call) eval() (flow.Stream, bool) {
	args := c.Given()
	if len(args) > 0 && args[0].Literal() && args[0].Text() == "--" {
		args = args[1:]
	}
	c.Via = append(c.Via, "eval")
	c.s.shared = true // what is there now is put back
	before := c.s.vars
	for _, e := range c.Env { // X=1 eval 'p $X'
		c.s.own()
		c.s.vars[e.Name] = variable{value: e.Value, exported: true}
	}
	out := c.Text(flow.Join(args), c.Stdin)
	c.s.putBack(before, c.Env)
	c.Via = c.Via[:len(c.Via)-1]
	return out, true
}

// putBack undoes the assignments that stood before a command.
func (s *state) putBack(before map[string]variable, env []draft.Setting) {
	for _, e := range env {
		s.own()
		if v, ok := before[e.Name]; ok {
			s.vars[e.Name] = v
		} else {
			delete(s.vars, e.Name)
		}
	}
}

// source runs a file in this shell.
func (c *Call) source() (flow.Stream, bool) {
	if len(c.Given()) == 0 {
		return flow.Stream{}, false
	}
	file := c.Given()[0]
	if file.Text() == "--" && len(c.Given()) > 1 {
		file = c.Given()[1]
	}
	c.plainNamed()
	if file.Literal() && flow.IsStdin(file.Text()) {
		if c.Stdin.Text == nil {
			return c.UnknownCode(c.ID, "bash", c.Stdin.Taint, "stdin", "it comes from a pipe"), true
		}
		return c.script(c.s, *c.Stdin.Text, flow.Stream{}), true
	}
	c.UsePath(c.s.Where, c.ID, file, draft.Access{Kind: "use"})
	if rest := c.Given()[1:]; len(rest) > 0 && file.Text() == c.Given()[0].Text() {
		params, args := c.s.params, c.s.args
		c.s.params, c.s.args = rest, true
		defer func() { c.s.params, c.s.args = params, args }()
	}
	out, opens := c.outside.Source(c, file)
	if opens {
		c.s.opened(file.Written())
	}
	return out, true
}

func (c *Call) trap() (flow.Stream, bool) {
	c.plainNamed()
	args := c.Given()
	for len(args) > 0 && strings.HasPrefix(args[0].Text(), "-") && len(args[0].Text()) == 2 {
		args = args[1:]
	}
	if len(args) < 2 {
		return flow.Stream{}, true
	}
	later, via := *c, append(append([]string(nil), c.Via...), "trap")
	c.traps = append(c.traps, func(end *state) {
		was := later.Via
		later.Shell.Via = via
		if end != later.s && !sameMap(end.vars, later.s.vars) { // set on one way, or in a subshell
			other := later
			other.s = end.clone()
			other.Text(args[0], flow.Stream{})
		}
		later.Text(args[0], flow.Stream{})
		later.Shell.Via = was
	})
	return flow.Stream{}, true
}

// exec replaces the shell by a program, or only redirects.
func (c *Call) exec() (flow.Stream, bool) {
	args := c.Given()
	for len(args) > 0 {
		text := args[0].Text()
		switch {
		case text == "-a" && len(args) > 1:
			if strings.HasPrefix(args[1].Prefix(), "[") { // as the kernel's own threads are shown
				c.Draft.Unknown("code", "a program is to be listed as a thread of the kernel", c.ID, args[1].Span)
			}
			args = args[2:]
		case len(text) > 1 && text[0] == '-' && args[0].Literal():
			args = args[1:]
		default:
			inner := *c
			inner.Words, inner.Plain = args, true
			out := inner.run()
			c.ID = inner.ID
			return out, true
		}
	}
	c.plainNamed()
	c.s.replaced = true
	return flow.Stream{}, true
}
