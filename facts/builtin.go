package facts

import (
	"strings"

	"gate/hook"

	"gate/facts/flow"
	"gate/facts/wordlist"
)

// builtins are what the shell's own commands do to its state, in the order of names.
// They report false when the catalogue should judge the command as a program.
var builtins = [...]wordlist.Named[func(*call) (flow.Stream, bool)]{
	{Name: ".", Value: (*call).source},
	{Name: ":", Value: (*call).succeed},
	{Name: "[", Value: (*call).testWords},
	{Name: "alias", Value: (*call).defineAlias},
	{Name: "break", Value: (*call).leave},
	{Name: "builtin", Value: (*call).unwrapped},
	{Name: "cd", Value: (*call).changeDir},
	{Name: "chdir", Value: (*call).changeDir},
	{Name: "command", Value: (*call).unwrapped},
	{Name: "compgen", Value: (*call).compgen},
	{Name: "continue", Value: (*call).leave},
	{Name: "declare", Value: (*call).declareWords},
	{Name: "dirs", Value: (*call).dirsWords},
	{Name: "enable", Value: (*call).enable},
	{Name: "eval", Value: (*call).eval},
	{Name: "exec", Value: (*call).exec},
	{Name: "export", Value: (*call).declareWords},
	{Name: "false", Value: (*call).fail},
	{Name: "getopts", Value: (*call).getopts},
	{Name: "hash", Value: (*call).hash},
	{Name: "local", Value: (*call).declareWords},
	{Name: "mapfile", Value: (*call).mapfile},
	{Name: "popd", Value: (*call).popDir},
	{Name: "printf", Value: (*call).printf},
	{Name: "pushd", Value: (*call).pushDir},
	{Name: "read", Value: (*call).read},
	{Name: "readarray", Value: (*call).mapfile},
	{Name: "readonly", Value: (*call).declareWords},
	{Name: "return", Value: (*call).leave},
	{Name: "set", Value: (*call).set},
	{Name: "shift", Value: (*call).shift},
	{Name: "source", Value: (*call).source},
	{Name: "test", Value: (*call).testWords},
	{Name: "trap", Value: (*call).trap},
	{Name: "true", Value: (*call).succeed},
	{Name: "typeset", Value: (*call).declareWords},
	{Name: "unalias", Value: (*call).removeAlias},
	{Name: "unset", Value: (*call).unset},
}

// plainNamed lists the command under the name it was called by.
func (c *call) plainNamed() {
	name, _ := c.words[0].Variants()
	c.listed(new(name[0]))
}

// declareWords runs export and its kin where they were called by a computed
// name or behind command or builtin.
func (c *call) declareWords() (flow.Stream, bool) {
	c.plainNamed()
	d := declaration{walker: c.walker, s: c.s, variant: c.words[0].Text()}
	if d.strayed() {
		d.s = c.s.clone()
	}
	for _, a := range c.given() {
		for _, r := range d.word(a) {
			c.sets(c.id, r.name, r.value)
		}
	}
	if d.s != c.s {
		c.s.become(c.s.clone(), d.s)
	}
	return flow.Stream{}, true
}

func (c *call) succeed() (flow.Stream, bool) {
	c.s.status = succeeds
	return flow.Stream{}, false
}

func (c *call) fail() (flow.Stream, bool) {
	c.s.status = fails
	return flow.Stream{}, false
}

// compgen runs its candidates: -C as a command, -F as a function, -W expanded.
func (c *call) compgen() (flow.Stream, bool) {
	c.plainNamed()
	args := c.given()
	for i := 0; i+1 < len(args); i++ {
		switch args[i].Text() {
		case "-C", "-F":
			more := flow.Unknown(&flow.Hole{Why: "what is completed", Many: true, Empty: true})
			c.Text(flow.Join([]flow.Word{args[i+1], more}), flow.Stream{})
		case "-W":
			c.expandedAgain(c.s, args[i+1])
		}
	}
	return flow.Stream{Some: true, From: c.id}, true
}

func (c *call) unset() (flow.Stream, bool) {
	c.plainNamed()
	functions := true
	for _, a := range c.given() {
		if v := a.Value(); v != nil {
			if strings.HasPrefix(*v, "-") {
				functions = functions && !strings.Contains(*v, "v")
				continue
			}
			c.s.own()
			_, function := c.s.funcs[*v]
			_, set := c.s.vars[*v]
			if functions && function && !set {
				delete(c.s.funcs, *v)
				continue
			}
			if *v == "HISTFILE" {
				c.effect(c.id, &hook.System{Verb: "history", What: v, Access: "write"})
			}
			c.evaluated(c.s, a)
			c.s.unsetVariable(*v)
		}
	}
	return flow.Stream{}, true
}

func (c *call) set() (flow.Stream, bool) {
	if args := c.given(); len(args) > 1 && args[0].Text() == "+o" {
		c.plainNamed()
		if args[1].Text() == "history" {
			c.effect(c.id, &hook.System{Verb: "history", What: new("set"), Access: "write"})
		}
		c.shellOption(args[0].Text(), args[1].Text())
		return flow.Stream{}, true
	}
	for i, a := range c.given() {
		v := a.Value()
		if v != nil && (strings.HasPrefix(*v, "-") && *v != "--" && *v != "-" || strings.HasPrefix(*v, "+")) {
			next := ""
			if i+1 < len(c.given()) {
				next = c.given()[i+1].Text()
			}
			c.shellOption(*v, next)
			continue
		}
		if i > 0 && strings.HasSuffix(c.given()[i-1].Text(), "o") && strings.HasPrefix(c.given()[i-1].Text(), "-") {
			continue // the name after -o
		}
		rest := c.given()[i:]
		if v != nil && (*v == "--" || *v == "-") {
			rest = rest[1:]
		}
		c.plainNamed()
		c.s.params, c.s.args = rest, true
		return flow.Stream{}, true
	}
	if len(c.given()) == 0 {
		return flow.Stream{}, false // prints every variable: the catalogue knows
	}
	c.plainNamed()
	return flow.Stream{}, true
}

// shellOption notes options that change how the rest of the line is read.
func (c *call) shellOption(letters, name string) {
	on := strings.HasPrefix(letters, "-")
	switch {
	case on && (strings.Contains(letters, "a") || strings.HasSuffix(letters, "o") && name == "allexport"):
		c.s.exports = true
	case on && (strings.Contains(letters, "k") || strings.HasSuffix(letters, "o") && name == "keyword"),
		!on && (strings.Contains(letters, "B") || strings.HasSuffix(letters, "o") && name == "braceexpand"):
		c.unknown("dialect", "set "+letters+" changes how words are read", c.id, c.span)
	}
}

func (c *call) shift() (flow.Stream, bool) {
	c.plainNamed()
	n, known := 1, true
	if args := c.given(); len(args) > 0 {
		n, known = args[0].Number()
	}
	switch {
	case !c.s.args:
	case !known || n < 0 || !flow.Countable(c.s.params[:min(max(n, 0), len(c.s.params))]):
		c.s.args, c.s.params = false, nil
	case n <= len(c.s.params):
		c.s.params = c.s.params[n:]
	}
	return flow.Stream{}, true
}

func (c *call) defineAlias() (flow.Stream, bool) {
	c.plainNamed()
	for _, a := range c.given() {
		name, value, ok := a.Cut("=")
		if !ok {
			continue
		}
		if v := value.Value(); v != nil {
			c.s.own()
			c.s.aliases[name] = *v
		} else {
			c.unknown("program", "an alias stands for something unknown", c.id, a.Span)
		}
	}
	return flow.Stream{}, true
}

func (c *call) removeAlias() (flow.Stream, bool) {
	c.plainNamed()
	for _, a := range c.given() {
		c.s.own()
		if v := a.Value(); v != nil {
			delete(c.s.aliases, *v)
		}
	}
	return flow.Stream{}, true
}

// hash -p FILE NAME makes NAME run FILE.
func (c *call) hash() (flow.Stream, bool) {
	c.plainNamed()
	args := c.given()
	for i := 0; i+2 < len(args); i++ {
		if args[i].Text() != "-p" {
			continue
		}
		file, name := args[i+1].Value(), args[i+2].Value()
		if file == nil || name == nil {
			c.unknown("program", "hash -p with an unknown file", c.id, nil)
			break
		}
		c.s.own()
		c.s.hashed[*name] = *file
	}
	return flow.Stream{}, true
}

// printf -v NAME sets a variable; otherwise it prints.
func (c *call) printf() (flow.Stream, bool) {
	args := c.given()
	name := flow.Word{}
	switch {
	case len(args) > 2 && args[0].Text() == "-v":
		name, args = args[1], args[2:]
	case len(args) > 1 && strings.HasPrefix(args[0].Prefix(), "-v"):
		name, args = args[0].From(2), args[1:]
	default:
		return flow.Stream{}, false
	}
	c.plainNamed()
	c.evaluated(c.s, name)
	if v := name.Value(); v != nil {
		c.s.setNamed(*v, flow.Printf(args))
		c.sets(c.id, *v, flow.Printf(args))
	}
	return flow.Stream{}, true
}

func (c *call) testWords() (flow.Stream, bool) {
	c.plainNamed()
	args := c.given()
	for i, a := range args {
		if a.Text() == "-v" && i+1 < len(args) {
			c.evaluated(c.s, args[i+1])
		}
	}
	return flow.Stream{}, true
}

// enable -f loads a builtin from a library.
func (c *call) enable() (flow.Stream, bool) {
	c.plainNamed()
	for _, a := range c.given() {
		if strings.HasPrefix(a.Text(), "-") && strings.Contains(a.Text(), "f") {
			c.effect(c.id, &hook.ExecHidden{Program: "enable", Option: "f"})
		}
	}
	return flow.Stream{}, true
}
