package facts

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"gate/facts/bash"
	"gate/facts/flow"
	"gate/hook"

	"mvdan.cc/sh/v3/syntax"
)

// Outside is what the shell asks about the programs that it runs.
type Outside interface {
	// Run judges a program that is called by a name, which may be a path, and returns
	// what it writes.
	Run(c *call, name string) flow.Stream
	// Source judges a file that the shell itself reads and runs.
	Source(c *call, file flow.Word) flow.Stream
	// Sets judges a variable that a command sets for programs. It returns the text
	// that they would run for it, "" for none.
	Sets(command int, name string, value flow.Word) (runs string)
	// LogsIn reports a command that hands a secret only to who gave it out.
	LogsIn(cmd hook.ShellCommand, secret string) bool
	// HandsOn reports commands that write what they read to the pipe and nowhere else.
	HandsOn(cmds []hook.ShellCommand) bool
	// MakesDirectories reports a command that may leave a directory behind.
	MakesDirectories(cmd hook.ShellCommand) bool
}

// Where says where the shell is.
func (c *call) Where() *where { return &c.s.where }

// Current says what the line has made current in this shell.
func (c *call) Current() *current { return &c.s.current }

// Fork goes on in a copy of the shell.
func (c *call) Fork() (back func()) {
	was := c.s
	c.s = was.clone()
	return func() { c.s = was }
}

// Inside runs f in a shell that the command starts.
func (c *call) Inside(f func()) {
	was := c.s
	c.s = was.newShell()
	for _, e := range c.env {
		c.s.own()
		c.s.vars[e.name] = variable{value: e.value, exported: true}
	}
	f()
	c.s = was
}

// Arguments sets $0, $1 and so on.
func (c *call) Arguments(zero flow.Word, params []flow.Word) {
	c.s.zero, c.s.params, c.s.args = &zero, params, true
}

// Named sets $0 alone.
func (c *call) Named(zero flow.Word) { c.s.zero = &zero }

// Command runs a command that the program names, here.
func (c *call) Command(inv *invocation) flow.Stream {
	one := *c
	one.invocation = *inv
	out := one.run()
	inv.id = one.id
	return out
}

// Try says what a line would do here. Nothing of it stays but what it costs.
func (c *call) Try(line string) []hook.FactEffect {
	w, d, s := *c.walker, *c.draft, c.s
	c.facts, c.s = &hook.Facts{Shell: &hook.Shell{}}, s.clone()
	c.files, c.links, c.renamed, c.seen = maps.Clone(d.files), maps.Clone(d.links), maps.Clone(d.renamed), maps.Clone(w.seen)
	c.nestedScript(line, flow.Stream{})
	found := c.facts.Effects
	w.steps, w.parsed, w.judged, w.match = c.steps, c.parsed, c.judged, c.match
	*c.walker, *c.draft, c.s = w, d, s
	return found
}

// Enter runs f unless something of that name is running.
func (c *call) Enter(name string, f func()) {
	if c.running(name) {
		return
	}
	c.active = append(c.active, frame{name: name, state: c.s})
	f()
	c.active = c.active[:len(c.active)-1]
}

func (w *walker) running(name string) bool {
	return slices.ContainsFunc(w.active, func(f frame) bool { return f.name == name })
}

// Variable is a variable that the line has set or unset.
func (c *call) Variable(name string) (held, bool) {
	v, ok := c.s.lookup(name)
	return held{v.first(), v.exported, v.unset}, ok
}

// Value is what $name stands for.
func (c *call) Value(name string) flow.Word {
	x := expander{walker: c.walker, state: c.s}
	value, _ := x.scalar(name)
	return value
}

// Set sets a variable of the shell.
func (c *call) Set(name string, value flow.Word) {
	c.s.own()
	c.s.vars[name] = variable{value: value}
}

// Names are the names of the variables that the line has set.
func (c *call) Names() iter.Seq[string] { return maps.Keys(c.s.vars) }

// Exports reports that every variable is exported.
func (c *call) Exports() bool { return c.s.exports }

// Cut cuts a text into words, without running it.
func (c *call) Cut(text flow.Word) ([]flow.Word, error) {
	v := text.Value()
	if v == nil || len(*v) > maxLine || bash.TooDeep(*v) {
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "words that env -S cuts out of an unknown text", Empty: true, Many: true, Taint: text.Taint()})}, nil
	}
	c.nested++
	defer func() { c.nested-- }()
	var words []flow.Word
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for word, err := range parser.WordsSeq(strings.NewReader(*v)) {
		if err != nil {
			return words, errors.New(bash.Message(err))
		}
		words = append(words, c.word(c.s, word))
	}
	return words, nil
}
