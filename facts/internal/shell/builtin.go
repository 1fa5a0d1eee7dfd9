package shell

import (
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"

	"mvdan.cc/sh/v3/syntax"
)

// builtins are what the shell's own commands do to its state, in the order of names.
// They report false when the catalogue should judge the command as a program.
var builtins = [...]wordlist.Named[func(*Call) (flow.Stream, bool)]{
	{Name: ".", Value: (*Call).source},
	{Name: ":", Value: (*Call).succeed},
	{Name: "[", Value: (*Call).testWords},
	{Name: "alias", Value: (*Call).defineAlias},
	{Name: "break", Value: (*Call).leave},
	{Name: "builtin", Value: (*Call).unwrapped},
	{Name: "cd", Value: (*Call).changeDir},
	{Name: "chdir", Value: (*Call).changeDir},
	{Name: "command", Value: (*Call).unwrapped},
	{Name: "compgen", Value: (*Call).compgen},
	{Name: "continue", Value: (*Call).leave},
	{Name: "declare", Value: (*Call).declareWords},
	{Name: "dirs", Value: (*Call).dirsWords},
	{Name: "enable", Value: (*Call).enable},
	{Name: "eval", Value: (*Call).eval},
	{Name: "exec", Value: (*Call).exec},
	{Name: "export", Value: (*Call).declareWords},
	{Name: "false", Value: (*Call).fail},
	{Name: "getopts", Value: (*Call).getopts},
	{Name: "hash", Value: (*Call).hash},
	{Name: "local", Value: (*Call).declareWords},
	{Name: "mapfile", Value: (*Call).mapfile},
	{Name: "popd", Value: (*Call).popDir},
	{Name: "printf", Value: (*Call).printf},
	{Name: "pushd", Value: (*Call).pushDir},
	{Name: "read", Value: (*Call).read},
	{Name: "readarray", Value: (*Call).mapfile},
	{Name: "readonly", Value: (*Call).declareWords},
	{Name: "return", Value: (*Call).leave},
	{Name: "set", Value: (*Call).set},
	{Name: "shift", Value: (*Call).shift},
	{Name: "shopt", Value: (*Call).shopt},
	{Name: "source", Value: (*Call).source},
	{Name: "test", Value: (*Call).testWords},
	{Name: "trap", Value: (*Call).trap},
	{Name: "true", Value: (*Call).succeed},
	{Name: "typeset", Value: (*Call).declareWords},
	{Name: "unalias", Value: (*Call).removeAlias},
	{Name: "unset", Value: (*Call).unset},
}

// plainNamed lists the command under the name it was called by.
func (c *Call) plainNamed() {
	name, _ := c.Words[0].Variants()
	c.listed(new(name[0]))
}

// declareWords runs export and its kin where they were called by a computed
// name or behind command or builtin.
func (c *Call) declareWords() (flow.Stream, bool) {
	c.plainNamed()
	d := declaration{Shell: c.Shell, s: c.s, variant: c.Words[0].Text()}
	if d.strayed() {
		d.s = c.s.clone()
	}
	for _, a := range c.Given() {
		for _, r := range d.word(a) {
			c.sets(c.ID, r.Name, r.Value)
		}
	}
	if d.s != c.s {
		c.s.become(c.s.clone(), d.s)
	}
	return flow.Stream{}, true
}

func (c *Call) succeed() (flow.Stream, bool) {
	c.s.status = succeeds
	return flow.Stream{}, false
}

func (c *Call) fail() (flow.Stream, bool) {
	c.s.status = fails
	return flow.Stream{}, false
}

// compgen runs its candidates: -C as a command, -F as a function, -W expanded.
func (c *Call) compgen() (flow.Stream, bool) {
	c.plainNamed()
	args := c.Given()
	for i := 0; i+1 < len(args); i++ {
		switch args[i].Text() {
		case "-C", "-F":
			more := flow.Unknown(&flow.Hole{Why: "what is completed", Many: true, Empty: true})
			c.Text(flow.Join([]flow.Word{args[i+1], more}), flow.Stream{})
		case "-W":
			c.expandedAgain(c.s, args[i+1])
		}
	}
	return flow.Stream{Some: true, From: c.ID}, true
}

func (c *Call) unset() (flow.Stream, bool) {
	c.plainNamed()
	functions := true
	for _, a := range c.Given() {
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
				c.Effect(c.ID, &hook.System{Verb: "history", What: v, Access: "write"})
			}
			c.evaluated(c.s, a)
			c.s.unsetVariable(*v)
		}
	}
	return flow.Stream{}, true
}

// shopt judges what it switches as set does: shopt -uo history. For the rest it is a
// program.
func (c *Call) shopt() (flow.Stream, bool) {
	if args := c.Given(); len(args) > 1 && args[len(args)-1].Text() == "history" && strings.Contains(args[0].Text(), "u") {
		c.plainNamed()
		c.Effect(c.ID, &hook.System{Verb: "history", What: new("set"), Access: "write"})
		return flow.Stream{}, true
	}
	return flow.Stream{}, false
}

func (c *Call) set() (flow.Stream, bool) {
	if args := c.Given(); len(args) > 1 && args[0].Text() == "+o" {
		c.plainNamed()
		if args[1].Text() == "history" {
			c.Effect(c.ID, &hook.System{Verb: "history", What: new("set"), Access: "write"})
		}
		c.shellOption(args[0].Text(), args[1].Text())
		return flow.Stream{}, true
	}
	for i, a := range c.Given() {
		v := a.Value()
		if v != nil && (strings.HasPrefix(*v, "-") && *v != "--" && *v != "-" || strings.HasPrefix(*v, "+")) {
			next := ""
			if i+1 < len(c.Given()) {
				next = c.Given()[i+1].Text()
			}
			c.shellOption(*v, next)
			continue
		}
		if i > 0 && strings.HasSuffix(c.Given()[i-1].Text(), "o") && strings.HasPrefix(c.Given()[i-1].Text(), "-") {
			continue // the name after -o
		}
		rest := c.Given()[i:]
		c.fishExport(c.Given()[:i], rest)
		if v != nil && (*v == "--" || *v == "-") {
			rest = rest[1:]
		}
		c.plainNamed()
		c.s.params, c.s.args = rest, true
		return flow.Stream{}, true
	}
	if len(c.Given()) == 0 {
		return flow.Stream{}, false // prints every variable: the catalogue knows
	}
	c.plainNamed()
	return flow.Stream{}, true
}

// fishExport judges set -x NAME VALUE, which sets a variable of the environment in fish.
func (c *Call) fishExport(options, rest []flow.Word) {
	letters := flow.Join(options).Text()
	if len(rest) > 1 && strings.ContainsAny(letters, "xgU") && strings.Trim(letters, "-xgUlf ") == "" && syntax.ValidName(rest[0].Text()) {
		c.Handed("export", []flow.Word{flow.Append(flow.Literal(rest[0].Text()+"="), flow.Join(rest[1:]))})
	}
}

// shellOption notes options that change how the rest of the line is read.
func (c *Call) shellOption(letters, name string) {
	on := strings.HasPrefix(letters, "-")
	switch {
	case on && (strings.Contains(letters, "a") || strings.HasSuffix(letters, "o") && name == "allexport"):
		c.s.exports = true
	case on && (strings.Contains(letters, "k") || strings.HasSuffix(letters, "o") && name == "keyword"),
		!on && (strings.Contains(letters, "B") || strings.HasSuffix(letters, "o") && name == "braceexpand"):
		c.Unknown("dialect", "set "+letters+" changes how words are read", c.ID, c.Span)
	}
}

func (c *Call) shift() (flow.Stream, bool) {
	c.plainNamed()
	n, known := 1, true
	if args := c.Given(); len(args) > 0 {
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

func (c *Call) defineAlias() (flow.Stream, bool) {
	c.plainNamed()
	kind := ""
	for i, a := range c.Given() {
		if text := a.Text(); a.Literal() && len(text) > 1 && text[0] == '-' {
			switch { // of zsh
			case strings.Contains(text, "g"):
				kind = everywhere
			case strings.Contains(text, "s"):
				kind = bySuffix
			}
			continue
		}
		name, value, ok := a.Cut("=")
		if !ok && len(c.Given()) == 2 && i == 0 {
			value, ok = c.Given()[1], true // of fish
		}
		if !ok {
			continue
		}
		if v := value.Value(); v != nil {
			c.s.own()
			c.s.aliases[kind+name] = *v
			if _, _, err := bash.Parse(*v); kind == "" && err == nil {
				c.Line("alias", *v)
			}
		} else {
			c.Unknown("program", "an alias stands for something unknown", c.ID, a.Span)
		}
	}
	return flow.Stream{}, true
}

func (c *Call) removeAlias() (flow.Stream, bool) {
	c.plainNamed()
	for _, a := range c.Given() {
		c.s.own()
		if v := a.Value(); v != nil {
			delete(c.s.aliases, *v)
		}
	}
	return flow.Stream{}, true
}

// hash -p FILE NAME makes NAME run FILE, and so does NAME=FILE in zsh.
func (c *Call) hash() (flow.Stream, bool) {
	c.plainNamed()
	args := c.Given()
	var file flow.Word
	array := "BASH_CMDS"
	for len(args) > 0 && args[0].Literal() && strings.HasPrefix(args[0].Text(), "-") && args[0].Text() != "--" {
		letters := args[0].Text()
		args = args[1:]
		if at := strings.IndexByte(letters, 'p'); at > 0 && at+1 < len(letters) {
			file = flow.Literal(letters[at+1:])
		} else if at > 0 && len(args) > 0 {
			file, args = args[0], args[1:]
		} else if strings.Contains(letters, "d") {
			array = "nameddirs" // of zsh; without = bash forgets names
		}
	}
	for _, a := range args {
		to := file
		name, value, ok := a.Cut("=")
		if ok {
			to = value
		}
		if v := a.Value(); !ok && v != nil {
			name = *v
		}
		if len(to.Parts) > 0 && name != "--" {
			c.s.setNamed(array+"["+name+"]", to)
		}
	}
	return flow.Stream{}, true
}

// printf -v NAME sets a variable; otherwise it prints.
func (c *Call) printf() (flow.Stream, bool) {
	args := c.Given()
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
		c.sets(c.ID, *v, flow.Printf(args))
	}
	return flow.Stream{}, true
}

func (c *Call) testWords() (flow.Stream, bool) {
	c.plainNamed()
	args := c.Given()
	for i, a := range args {
		if a.Text() == "-v" && i+1 < len(args) {
			c.evaluated(c.s, args[i+1])
		}
	}
	return flow.Stream{}, true
}

// enable -f loads a builtin from a library.
func (c *Call) enable() (flow.Stream, bool) {
	c.plainNamed()
	for _, a := range c.Given() {
		if strings.HasPrefix(a.Text(), "-") && strings.Contains(a.Text(), "f") {
			c.Effect(c.ID, &hook.ExecHidden{Program: "enable", Option: "f"})
		}
	}
	return flow.Stream{}, true
}
