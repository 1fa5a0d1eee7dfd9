package facts

import (
	"strings"
)

// builtin returns what a shell builtin does to the state of the shell. It
// reports false when the catalogue should judge the command as a program.
func builtin(name string) func(*call) (stream, bool) {
	switch name {
	case "cd", "pushd", "chdir":
		return (*call).changeDir
	case "popd":
		return (*call).popDir
	case "export", "readonly", "local", "typeset", "declare":
		return (*call).declareWords
	case "unset":
		return (*call).unset
	case "set":
		return (*call).set
	case "shift":
		return (*call).shift
	case "eval":
		return (*call).eval
	case "source", ".":
		return (*call).source
	case "trap":
		return (*call).trap
	case "alias":
		return (*call).defineAlias
	case "hash":
		return (*call).hash
	case "read", "mapfile", "readarray", "getopts":
		return (*call).read
	case "printf":
		return (*call).printf
	case "test", "[":
		return (*call).testWords
	case "exec":
		return (*call).exec
	case "enable":
		return (*call).enable
	}
	return nil
}

func (c *call) args() []field { return c.words[1:] }

func (c *call) changeDir() (stream, bool) {
	c.plainNamed()
	target := literalField(c.world.Home)
	for _, a := range c.args() {
		if t := a.text(); a.literal() && len(t) > 1 && strings.HasPrefix(t, "-") {
			continue
		}
		target = a
		break
	}
	from := c.s.dirs
	if v := target.value(); v != nil && *v == "-" {
		if n := len(c.s.old); n > 0 {
			c.s.dirs = []string{c.s.old[n-1]}
		} else {
			c.s.dirs = nil
		}
	} else {
		c.s.dirs = c.enter(c.s, target)
	}
	if len(from) == 1 {
		c.s.old = append(c.s.old, from[0])
	}
	if len(c.s.dirs) == 0 {
		c.unknown("directory", "where cd goes is not known", c.id, target.span)
	}
	return stream{}, true
}

// plainNamed lists the command under the name it was called by.
func (c *call) plainNamed() {
	name, _ := c.words[0].variants()
	c.list(ptr(name[0]), nil)
}

func (c *call) popDir() (stream, bool) {
	c.plainNamed()
	if n := len(c.s.old); n > 0 {
		c.s.dirs, c.s.old = []string{c.s.old[n-1]}, c.s.old[:n-1]
	} else {
		c.s.dirs = nil
	}
	return stream{}, true
}

// declareWords runs export and its kin where they were called by a computed
// name or behind command/builtin.
func (c *call) declareWords() (stream, bool) {
	c.plainNamed()
	for _, a := range c.args() {
		if name, value, ok := a.cut("="); ok {
			c.s.set(name, value)
			c.variableEffect(c.id, name, value)
		}
		c.evaluated(c.s, a)
	}
	return stream{}, true
}

func (c *call) unset() (stream, bool) {
	c.plainNamed()
	for _, a := range c.args() {
		if v := a.value(); v != nil {
			if strings.HasPrefix(*v, "-") {
				continue
			}
			delete(c.s.funcs, *v)
			if *v == "HISTFILE" {
				c.effect("system", c.id, map[string]any{"verb": "history", "what": *v, "access": "write"})
			}
			c.s.set(*v, literalField(""))
		}
		c.evaluated(c.s, a)
	}
	return stream{}, true
}

func (c *call) set() (stream, bool) {
	if args := c.args(); len(args) > 1 && args[0].text() == "+o" {
		c.plainNamed()
		if args[1].text() == "history" {
			c.effect("system", c.id, map[string]any{"verb": "history", "what": "set", "access": "write"})
		}
		return stream{}, true
	}
	for i, a := range c.args() {
		v := a.value()
		if v == nil || strings.HasPrefix(*v, "-") && *v != "--" || strings.HasPrefix(*v, "+") {
			continue
		}
		rest := c.args()[i:]
		if *v == "--" {
			rest = rest[1:]
		}
		c.plainNamed()
		c.s.params, c.s.args = rest, true
		return stream{}, true
	}
	if len(c.args()) == 0 {
		return stream{}, false // prints every variable: the catalogue knows
	}
	c.plainNamed()
	return stream{}, true
}

func (c *call) shift() (stream, bool) {
	c.plainNamed()
	if c.s.args && len(c.s.params) > 0 {
		c.s.params = c.s.params[1:]
	}
	return stream{}, true
}

// eval joins its words and runs them.
func (c *call) eval() (stream, bool) {
	c.via = append(c.via, "eval")
	out := c.shellText(join(c.args()), c.stdin)
	c.via = c.via[:len(c.via)-1]
	return out, true
}

// source runs a file in this shell.
func (c *call) source() (stream, bool) {
	if len(c.args()) == 0 {
		return stream{}, false
	}
	file := c.args()[0]
	if file.text() == "--" && len(c.args()) > 1 {
		file = c.args()[1]
	}
	c.plainNamed()
	if file.literal() && isStdin(file.text()) {
		if c.stdin.text == nil {
			return c.unknownCode("bash", c.stdin.taint, "stdin", "it comes from a pipe"), true
		}
		return c.script(c.s, *c.stdin.text, stream{}), true
	}
	c.usePath(c.s, c.id, file, access{kind: "use"})
	return c.runScript("bash", file, true), true
}

func (c *call) trap() (stream, bool) {
	c.plainNamed()
	args := c.args()
	for len(args) > 0 && strings.HasPrefix(args[0].text(), "-") && len(args[0].text()) == 2 {
		args = args[1:]
	}
	if len(args) < 2 {
		return stream{}, true
	}
	later, via := *c, append(append([]string(nil), c.via...), "trap")
	c.traps = append(c.traps, func() {
		was := later.via
		later.walker.via = via
		later.shellText(args[0], stream{})
		later.walker.via = was
	})
	return stream{}, true
}

func (c *call) defineAlias() (stream, bool) {
	c.plainNamed()
	for _, a := range c.args() {
		name, value, ok := a.cut("=")
		if !ok {
			continue
		}
		if v := value.value(); v != nil {
			c.s.aliases[name] = *v
		} else {
			c.unknown("program", "an alias stands for something unknown", c.id, a.span)
		}
	}
	return stream{}, true
}

// hash -p FILE NAME makes NAME run FILE.
func (c *call) hash() (stream, bool) {
	c.plainNamed()
	args := c.args()
	for i := 0; i+2 < len(args); i++ {
		if args[i].text() != "-p" {
			continue
		}
		file, name := args[i+1].value(), args[i+2].value()
		if file == nil || name == nil {
			c.unknown("program", "hash -p with an unknown file", c.id, nil)
			break
		}
		c.s.hashed[*name] = *file
	}
	return stream{}, true
}

// read takes a variable from its input.
func (c *call) read() (stream, bool) {
	c.plainNamed()
	value := holeField(&hole{why: "text that was read", empty: true, taint: c.stdin.taint})
	if names := c.stdin.names(); len(names) == 1 {
		value = names[0]
	}
	if c.stdin.text != nil {
		line, _, _ := strings.Cut(*c.stdin.text, "\n")
		value = literalField(strings.TrimSpace(line))
	}
	var names []string
	args := c.args()
	valued := "adinNptu"
	if name := c.words[0].text(); name == "mapfile" || name == "readarray" {
		valued = "dnOsuCc"
	}
	for i := 0; i < len(args); i++ {
		text := args[i].text()
		switch {
		case strings.HasPrefix(text, "-") && len(text) == 2 && strings.Contains(valued, text[1:]):
			if text == "-a" && i+1 < len(args) {
				names = append(names, args[i+1].text())
			}
			i++
		case strings.HasPrefix(text, "-"):
		default:
			c.evaluated(c.s, args[i])
			names = append(names, text)
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY", "MAPFILE"}
	}
	words := strings.Fields(value.text())
	for i, n := range names {
		switch {
		case len(names) == 1 || !value.literal():
			c.s.set(n, value)
		case i == len(names)-1 && i < len(words):
			c.s.set(n, literalField(strings.Join(words[i:], " ")))
		case i < len(words):
			c.s.set(n, literalField(words[i]))
		default:
			c.s.set(n, literalField(""))
		}
	}
	return stream{}, true
}

// printf -v NAME sets a variable; otherwise it prints.
func (c *call) printf() (stream, bool) {
	args := c.args()
	if len(args) > 2 && args[0].text() == "-v" {
		c.plainNamed()
		c.evaluated(c.s, args[1])
		c.s.set(args[1].text(), formatted(args[2:]))
		return stream{}, true
	}
	return stream{}, false
}

func (c *call) testWords() (stream, bool) {
	c.plainNamed()
	args := c.args()
	for i, a := range args {
		if a.text() == "-v" && i+1 < len(args) {
			c.evaluated(c.s, args[i+1])
		}
	}
	return stream{}, true
}

// exec replaces the shell by a program, or only redirects.
func (c *call) exec() (stream, bool) {
	args := c.args()
	for len(args) > 0 {
		text := args[0].text()
		switch {
		case text == "-a" && len(args) > 1:
			args = args[2:]
		case len(text) > 1 && text[0] == '-' && args[0].literal():
			args = args[1:]
		default:
			inner := *c
			inner.words = args
			out := inner.run()
			c.id = inner.id
			return out, true
		}
	}
	c.plainNamed()
	return stream{}, true
}

// enable -f loads a builtin from a library.
func (c *call) enable() (stream, bool) {
	c.plainNamed()
	for _, a := range c.args() {
		if strings.HasPrefix(a.text(), "-") && strings.Contains(a.text(), "f") {
			c.effect("exec.hidden", c.id, map[string]any{"program": "enable", "option": "f", "value": nil})
		}
	}
	return stream{}, true
}

// isStdin reports the names under which a program finds its own input.
func isStdin(path string) bool {
	return path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0"
}
