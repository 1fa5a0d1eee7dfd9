package shell

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// Outside is what the shell asks about the programs that it runs.
type Outside interface {
	// Run judges a program that is called by a name, which may be a path, and returns
	// what it writes.
	Run(c *Call, name string) flow.Stream
	// Source judges a file that the shell itself reads and runs. It reports one that was
	// not read and that may set variables of the line.
	Source(c *Call, file flow.Word) (out flow.Stream, opens bool)
	// Sets judges a variable that a command sets for programs. It returns the text
	// that they would run for it, "" for none.
	Sets(command int, name string, value flow.Word) (runs string)
	// LogsIn reports a command that hands a secret only to who gave it out.
	LogsIn(cmd hook.ShellCommand, secret string) bool
	// HandsOn reports commands that write what they read to the pipe and nowhere else.
	HandsOn(cmds []hook.ShellCommand) bool
	// Other judges a text of another shell, in the place of the call: of powershell, of
	// its form encoded, or of cmd.
	Other(c *Call, language string, text flow.Word, stdin flow.Stream) flow.Stream
	// MakesDirectories reports a command that may leave a directory behind.
	MakesDirectories(cmd hook.ShellCommand) bool
}

// Where says where the shell is.
func (c *Call) Where() *draft.Where { return &c.s.Where }

// Current says what the line has made current in this shell.
func (c *Call) Current() *draft.Current { return &c.s.Current }

// Fork goes on in a copy of the shell.
func (c *Call) Fork() (back func()) {
	was := c.s
	c.s = was.clone()
	return func() { c.s = was }
}

// Inside runs f in a shell that the command starts.
func (c *Call) Inside(f func()) {
	was := c.s
	c.s = was.newShell()
	for _, e := range c.Env {
		c.s.own()
		c.s.vars[e.Name] = variable{value: e.Value, exported: true}
	}
	f()
	c.s = was
}

// Arguments sets $0, $1 and so on.
func (c *Call) Arguments(zero flow.Word, params []flow.Word) {
	c.s.zero, c.s.params, c.s.args = &zero, params, true
}

// Named sets $0 alone.
func (c *Call) Named(zero flow.Word) { c.s.zero = &zero }

// Command runs a command that the program names, here.
func (c *Call) Command(inv *draft.Invocation) flow.Stream {
	one := *c
	one.Invocation = *inv
	out := one.run()
	inv.ID = one.ID
	return out
}

// Try says what a line would do here. Nothing of it stays but what it costs.
func (c *Call) Try(line string) []hook.FactEffect {
	w, d, s := *c.Shell, *c.Draft, c.s
	c.Facts, c.s = &hook.Facts{Shell: &hook.Shell{}}, s.clone()
	c.Files, c.Links, c.Renamed, c.seen = maps.Clone(d.Files), maps.Clone(d.Links), maps.Clone(d.Renamed), maps.Clone(w.seen)
	c.Pieces, c.Added, c.Fed = maps.Clone(d.Pieces), maps.Clone(d.Added), maps.Clone(d.Fed)
	c.Looked = maps.Clone(d.Looked)
	c.nestedScript(line, flow.Stream{})
	found := c.Facts.Effects
	w.steps, w.parsed, w.judged, w.match = c.steps, c.parsed, c.judged, c.match
	*c.Shell, *c.Draft, c.s = w, d, s
	return found
}

// Enter runs f unless something of that name is running.
func (c *Call) Enter(name string, f func()) {
	if c.running(name) {
		return
	}
	c.active = append(c.active, frame{name: name, state: c.s})
	f()
	c.active = c.active[:len(c.active)-1]
}

func (w *Shell) running(name string) bool {
	return slices.ContainsFunc(w.active, func(f frame) bool { return f.name == name })
}

// Variable is a variable that the line has set or unset.
func (c *Call) Variable(name string) (draft.Held, bool) {
	v, ok := c.s.lookup(name)
	return draft.Held{Value: v.first(), Exported: v.exported, Unset: v.unset}, ok
}

// Value is what $name stands for.
func (c *Call) Value(name string) flow.Word {
	x := expander{Shell: c.Shell, state: c.s}
	value, _ := x.scalar(name)
	return value
}

// Set sets a variable of the shell.
func (c *Call) Set(name string, value flow.Word) {
	c.s.own()
	c.s.vars[name] = variable{value: value}
}

// Mark has a variable hold what it holds as another word.
func (c *Call) Mark(name string, value flow.Word) {
	c.s.own()
	v := c.s.vars[name]
	v.value = value
	c.s.vars[name] = v
}

// Names are the names of the variables that the line has set.
func (c *Call) Names() iter.Seq[string] { return maps.Keys(c.s.vars) }

// Exports reports that every variable is exported.
func (c *Call) Exports() bool { return c.s.exports }

// Other runs a text of another shell.
func (c *Call) Other(language string, text flow.Word, stdin flow.Stream) flow.Stream {
	return c.outside.Other(c, language, text, stdin)
}

// Cut cuts a text into words, without running it.
func (c *Call) Cut(text flow.Word) ([]flow.Word, error) {
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
