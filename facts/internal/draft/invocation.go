package draft

import (
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
)

// An Invocation is one command as a shell runs it: the words are expanded, the
// redirections open.
type Invocation struct {
	Words     []flow.Word // the program and its arguments
	Env       []Setting   // assignments before the command
	Redirects []hook.Redirect
	Stdin     flow.Stream
	Input     *hook.Stdin       // the facts of Stdin
	Span      *hook.Span        // its place in the line; nil inside other texts
	ID        int               // the number of its command; 0 until it is listed
	Out       flow.Stream       // the output of its inner texts
	Does      []hook.FactEffect // effects of the script behind the name, until it is listed
	Plain     bool              // no function or alias counts, as in command rm
	Strange   bool              // the catalogue has no row for the program
}

// A Setting is an assignment before a command.
type Setting struct {
	Name  string
	Value flow.Word
	Span  *hook.Span // of name and value in the line; nil where they do not stand there
}

// Given returns the words after the program. There must be a program.
func (i *Invocation) Given() []flow.Word { return i.Words[1:] }

// List adds a command to the facts and sets its number. A command that fetches may
// get a secret; net.send says where that goes.
func (d *Draft) List(at Where, inv *Invocation, program *string, fetches bool) {
	cmd := hook.ShellCommand{
		Program: program, Path: nil, Operands: []*string{}, Options: map[string][]any{},
		Env: map[string]*string{}, Via: append([]string{}, d.Via...), Depth: d.Depth - 1, Span: inv.Span, Stdin: inv.Input,
		Redirects: inv.Redirects, Known: program != nil && !inv.Strange,
	}
	if v := inv.Words[0].Value(); v != nil && strings.Contains(*v, "/") {
		cmd.Path = v
	}
	for _, f := range inv.Words {
		cmd.Words = append(cmd.Words, hook.Word{Value: Short(f.Value()), Span: f.Span})
		if f.Value() == nil {
			d.Facts.Opaque = true
			if !fetches {
				d.Shown(f.Taint().Secret) // a program is handed it: gh issue create --body "$(cat KEY)"
			}
		}
	}
	for _, e := range inv.Env {
		cmd.Env[AsKey(e.Name)] = e.Value.Value()
	}
	if !cmd.Known {
		cmd.Operands, cmd.Guessed = operands(cmd.Words), true
	}
	inv.ID = d.Append(cmd, at)
}

// operands guesses which words of a program without a row are operands: those that
// are no option by the utility syntax of POSIX, and all behind "--". The value of an
// option that stands apart from it counts as one, too.
func operands(words []hook.Word) []*string {
	list := []*string{}
	behind := false
	for _, w := range words[1:] {
		switch v := w.Value; {
		case behind, v == nil, *v == "-", !strings.HasPrefix(*v, "-"):
			list = append(list, v)
		case *v == "--":
			behind = true
		}
	}
	return list
}

// Owns gives a listed command the effects of the script behind its name.
func (d *Draft) Owns(inv *Invocation) {
	for _, e := range inv.Does {
		d.Effect(inv.ID, e.Is)
		if Decoded(e) {
			d.Unknown("code", "a script runs text that is decoded first", inv.ID, nil)
		}
	}
	inv.Does = nil
}

// Decoded reports the effect of code that stood in the line in an encoded form.
func Decoded(e hook.FactEffect) bool {
	code, ok := e.Is.(*hook.ExecCode)
	return ok && code.Decoded
}

// A Held is a variable as a program sees it.
type Held struct {
	Value    flow.Word
	Exported bool
	Unset    bool // the line has removed it
}
