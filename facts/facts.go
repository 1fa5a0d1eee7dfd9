// Package facts works out what an event would do: commands, paths, hosts and
// effects, from a shell line, a file tool, a web tool or any other tool.
//
// It runs nothing and never blocks on anything but reading small regular files
// of the [World] it is given. It judges nothing: policies do. What it cannot
// understand it says so, as an unknown. Start with [New], then [Reader.Of].
package facts

import (
	"path"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/catalogue"
	"gate/facts/wordlist"
	"gate/facts/world"
	"gate/hook"

	"gate/facts/flow"
)

// The ways through the package, by file:
//
//	facts walker shell branch loop function redirect   a line and its statements
//	state variable array assign declare directory      what the shell knows where it is
//	expand param operate split tilde lookup arithmetic  words of the line become fields
//	flow (a package)                                   text with holes, and text that flows
//	call call_name builtin read script inner           a command, and what runs in it
//	program option role template output                a program, by its row
//	special and the files it names                     what a row cannot say
//	target path place                                  what becomes of a path
//	tool patch                                         tools that are no shell

// What a Reader is made for; package world says more.
type (
	World = world.World
	Files = world.Files
	Place = world.Place
)

// A Reader works facts out. It is safe for concurrent use.
type Reader struct {
	programs *programs
	world    World
	builtins []wordlist.Named[func(*call) (flow.Stream, bool)]
}

// New returns a Reader for one machine and user.
func New(w World) *Reader {
	if w.Own != nil {
		w.Own = sync.OnceValue(w.Own)
	}
	return &Reader{programs: &programs{catalogue.New(w.Programs), specials[:]}, world: w, builtins: builtins[:]}
}

// Of returns the facts of an event. They are complete for an event without a
// tool, too: empty. The event is not changed.
func (r *Reader) Of(ev *hook.Event) *hook.Facts {
	l := r.loop()
	d := l.draft
	if d.world.Files != nil {
		d.world.Files = &world.Glances{Files: d.world.Files}
	}
	d.world.Dir = directory(ev.Dir())
	if d.world.Project == "" {
		d.world.Project = d.world.Dir
	}
	if ev.Tool() != "" {
		toolCall{d, l}.tool(ev.Tool(), ev.ToolInput())
	} else if file := ev.Name.Moment().File; file != "" {
		toolCall{d, l}.field(file, ev.Fields[file], "list")
	}
	return d.facts
}

// A loop leads from a line to the programs in it, and from a program to the lines
// that it runs. The rooms meet nowhere else.
type loop struct {
	*programs
	draft *draft
	shell *walker
}

func (r *Reader) loop() *loop {
	d := &draft{world: r.world, facts: &hook.Facts{}}
	l := &loop{programs: r.programs, draft: d}
	l.shell = &walker{draft: d, outside: l, builtins: r.builtins, seen: map[*syntax.Stmt]bool{}}
	return l
}

// Secret says what kind of secret the file of an absolute path is by its name,
// such as "private key"; "" if it is none that gate knows. It looks at no file.
func (r *Reader) Secret(path string) (what string) {
	d := draft{world: r.world}
	what, _ = d.secret(path)
	return what
}

// directory is the event's directory when it can be one.
func directory(dir string) string {
	if !strings.HasPrefix(dir, "/") || strings.ContainsRune(dir, 0) {
		return ""
	}
	return path.Clean(dir)
}

// Run takes a program from the shell to its row.
func (l *loop) Run(c *call, name string) flow.Stream {
	return l.programs.Run(l.draft, c, &c.invocation, name)
}

// Source takes a file that the shell runs itself.
func (l *loop) Source(c *call, file flow.Word) flow.Stream {
	return l.programs.Source(l.draft, c, &c.invocation, file)
}

// Sets takes a variable that a command sets for programs.
func (l *loop) Sets(command int, name string, value flow.Word) string {
	return l.programs.Sets(l.draft, command, name, value)
}

// Follow takes a line from a tool to the shell.
func (l *loop) Follow(line, dir string) { l.shell.Follow(line, dir) }

// IsLine asks the shell.
func (l *loop) IsLine(text string) bool { return l.shell.IsLine(text) }

// Statements takes SQL from a tool to the programs.
func (l *loop) Statements(tool string, text flow.Word) {
	c := &call{walker: l.shell, s: newState(l.draft.world.Dir)}
	l.programs.Statements(l.draft, c, tool, text)
}
