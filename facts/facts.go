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

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/powershell"
	"gate/facts/internal/program"
	"gate/facts/internal/shell"
	"gate/facts/internal/sign"
	"gate/facts/internal/tool"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/catalogue"
)

// Four rooms and a loop. The rooms do not import each other:
//
//	facts/internal/shell    a line becomes invocations, as bash would run them
//	facts/internal/program  an invocation becomes effects, output and inner texts
//	facts/internal/tool     a call of another tool becomes effects and lines
//	facts/internal/sign     a message of MCP becomes signs
//	facts/internal/draft    the facts while they are worked out, and the rooms' common words
//	facts/internal/flow     text with holes, and text that flows
//
// The loop, in this file, leads from one to the other.

// What a Reader is made for; package world says more.
type (
	World = world.World
	Files = world.Files
	Place = world.Place
)

// A Reader works facts out. It is safe for concurrent use.
type Reader struct {
	programs *program.Programs
	world    World
}

// New returns a Reader for one machine and user.
func New(w World) *Reader {
	if w.Own != nil {
		w.Own = sync.OnceValue(w.Own)
	}
	return &Reader{programs: program.New(catalogue.New(w.Programs)), world: w}
}

// Of returns the facts of an event. They are complete for an event without a
// tool, too: empty. The event is not changed.
func (r *Reader) Of(ev *hook.Event) *hook.Facts { return r.loop(r.programs).read(ev) }

// Respell returns the edits of the line's words by which a command of the event
// gets what an edit asks for. What cannot be done is an error.
func (r *Reader) Respell(ev *hook.Event, e *hook.CommandEdit) ([]hook.Edit, error) {
	programs := r.programs.Keeping()
	return programs.Respell(r.loop(programs).read(ev).Shell, e)
}

func (l *loop) read(ev *hook.Event) *hook.Facts {
	d := l.draft
	d.Event = ev
	if d.World.Files != nil {
		d.World.Files = &world.Glances{Files: d.World.Files}
	}
	d.World.Dir = directory(ev.Dir())
	d.World.Home = home(d.World.Home, d.World.Dir)
	if p, ok := draft.WindowsPath(d.World.Project); ok {
		d.World.Project = p
	}
	if d.World.Project == "" || drive(d.World.Dir) && !drive(d.World.Project) {
		d.World.Project = d.World.Dir
	}
	if ev.Tool() != "" {
		tool.New(d, l).Judge(ev.Tool(), ev.ToolInput())
		l.starts()
		d.Bare()
		d.Overspent()
		d.Ground()
		d.Facts.Moves, d.Facts.Wrote, d.Facts.Flow = d.Moves(), d.Wrote(), d.Flow()
		if sign.ReadsResult(ev) {
			sign.LookResult(d)
		}
	} else if sign.Reads(ev.Name) {
		sign.Look(d)
	} else if file := ev.Name.Moment().File; file != "" {
		tool.New(d, l).Field(file, ev.Fields[file], "list")
	}
	return d.Facts
}

// starts judges the files that the event writes and that run by themselves.
func (l *loop) starts() {
	d := l.draft
	if len(d.Files) == 0 && len(d.Pieces) == 0 {
		return
	}
	for file, text := range d.Texts() {
		l.Programs.Starts(d, l.shell.Apart(d.World.Project), file, text)
	}
	l.Programs.Changes(d)
}

// A loop leads from a line to the programs in it, and from a program to the lines
// that it runs. The rooms meet nowhere else.
type loop struct {
	*program.Programs
	draft *draft.Draft
	shell *shell.Shell
	power *powershell.Shell
}

func (r *Reader) loop(programs *program.Programs) *loop {
	d := &draft.Draft{World: r.world, Facts: &hook.Facts{}}
	l := &loop{Programs: programs, draft: d}
	l.shell = shell.New(d, l)
	l.power = powershell.New(d, cmdlets{l})
	return l
}

// Secret says what kind of secret the file of an absolute path is by its name,
// such as "private key"; "" if it is none that gate knows. It looks at no file.
func (r *Reader) Secret(path string) (what string) {
	d := draft.Draft{World: r.world}
	what, _ = d.Secret(path)
	return what
}

// drive reports a path on a drive of Windows.
func drive(p string) bool { return len(p) > 2 && p[0] == '/' && p[2] == ':' }

// directory is the event's directory when it can be one.
func directory(dir string) string {
	if p, ok := draft.WindowsPath(dir); ok && len(dir) > 1 && dir[1] == ':' {
		dir = p
	}
	if !strings.HasPrefix(dir, "/") || strings.ContainsRune(dir, 0) {
		return ""
	}
	return path.Clean(dir)
}

// home is the home directory as gate has it. Below a directory of Windows it is one
// of Windows, too.
func home(home, dir string) string {
	if p, ok := draft.WindowsPath(home); ok {
		return p
	}
	if rest, ok := strings.CutPrefix(dir, "/c:/users/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return "/c:/users/" + name
	}
	return home
}

// Run takes a program from the shell to its row.
func (l *loop) Run(c *shell.Call, name string) flow.Stream {
	return l.Programs.Run(l.draft, c, &c.Invocation, name)
}

// Other takes a text of another shell from a program to that shell.
func (l *loop) Other(c *shell.Call, language string, text flow.Word, stdin flow.Stream) flow.Stream {
	return l.power.Run(language, text, *c.Where(), stdin)
}

// FollowPowerShell takes a line from a tool to PowerShell.
func (l *loop) FollowPowerShell(line string) { l.power.Follow(line) }

// cmdlets takes what PowerShell and cmd run to their rows.
type cmdlets struct{ *loop }

// Run has a program or cmdlet judged. What it runs in turn starts without the
// variables of this shell.
func (l cmdlets) Run(inv *draft.Invocation, at draft.Where, name string) flow.Stream {
	c := l.shell.Apart("")
	*c.Where() = at
	c.Invocation = *inv
	out := l.Programs.Run(l.draft, c, &c.Invocation, name)
	inv.ID = c.ID
	return out
}

// Source takes a file that the shell runs itself.
func (l *loop) Source(c *shell.Call, file flow.Word) (out flow.Stream, opens bool) {
	return l.Programs.Source(l.draft, c, &c.Invocation, file)
}

// Sets takes a variable that a command sets for programs.
func (l *loop) Sets(command int, name string, value flow.Word) string {
	return l.Programs.Sets(l.draft, command, name, value)
}

// Follow takes a line from a tool to the shell.
func (l *loop) Follow(line, dir string) { l.shell.Follow(line, dir) }

// IsLine asks the shell.
func (l *loop) IsLine(text string) bool { return l.shell.IsLine(text) }

// Statements takes SQL from a tool to the programs.
func (l *loop) Statements(tool string, text flow.Word) {
	l.Programs.Statements(l.draft, l.shell.Apart(l.draft.World.Dir), tool, text)
}

// KnowsTool reports whether gate knows what the fields of a tool's input are. Of
// other tools it guesses, and their facts are opaque.
func KnowsTool(name string) bool { return tool.Known(name) }
