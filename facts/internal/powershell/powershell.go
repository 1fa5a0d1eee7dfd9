// Package powershell executes a line of PowerShell abstractly, in its plain part:
// commands, parameters, pipelines, strings, variables, arrays, hashtables, script
// blocks, branches, loops, try, functions and redirections; and lines of cmd.exe. It
// yields an invocation for each command that may run. It runs nothing and knows no
// program: it asks about those through the interface [Outside]. Classes, methods of
// .NET types that it does not know and code that only shows when it runs are unknown,
// and said to be.
//
// The reader keeps to the published grammar of PowerShell 7. No PowerShell was at
// hand to compare it with, as package bash has one; FuzzParse holds that it neither
// panics nor leaves the text.
//
// [New] comes first, then [Shell.Follow].
package powershell

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// Limits of one event. Past them the facts are opaque and say so.
const (
	maxNested   = 12      // texts inside texts
	maxSteps    = 8000    // statements and commands run, loops included
	maxParsed   = 1 << 20 // bytes of all texts
	maxCommands = 2000
	maxItems    = 256 // elements of one value
	maxCalls    = 24  // functions and blocks inside each other
)

// Outside is what the shell asks about the programs that it runs.
type Outside interface {
	// Run judges a program or a cmdlet that is called by a name, and returns what it
	// writes. A cmdlet's name is in lower case, without an alias.
	Run(inv *draft.Invocation, at draft.Where, name string) flow.Stream
	// Sets judges a variable of the environment that a command sets.
	Sets(command int, name string, value flow.Word) (runs string)
}

// A Shell follows the lines of one event. Make one with [New]. It is not safe for
// concurrent use.
type Shell struct {
	*draft.Draft
	outside Outside
	line    string // the event's own line, for spans
	nested  int    // inside a text that is not the line
	steps   int
	parsed  int
	calls   int
	active  []string // functions that run
}

// New returns a shell that writes what it finds into a draft.
func New(d *draft.Draft, outside Outside) *Shell { return &Shell{Draft: d, outside: outside} }

// Follow judges a line that runs in the event's directory.
func (w *Shell) Follow(text string) {
	at := w.Here()
	at.Windows = true
	if w.Facts.Shell != nil {
		w.Run("powershell", flow.Literal(text), at, flow.Stream{})
		return
	}
	w.line = text
	w.Facts.Shell = &hook.Shell{Dialect: "powershell", Text: text, Commands: []hook.ShellCommand{}}
	if len(at.Dirs) == 0 {
		w.Unknown("directory", "the working directory is not known", 0, nil)
	}
	w.characters(text)
	out := w.script(newState(at), text, flow.Stream{})
	w.printed(out.Taint.Secret, out.From)
	for _, o := range out.More {
		w.printed(o.Secret, o.From)
	}
}

// printed judges a secret that the line prints.
func (w *Shell) printed(what string, from int) {
	if what == "environment" || strings.HasPrefix(what, "environment variable ") {
		w.Effect(from, &hook.SecretRead{What: what, Shown: true, Grade: "config"})
		return
	}
	w.Shown(what)
}

// Run judges a text that a program hands to a shell: of the language powershell, of
// its form encoded, base64 of UTF-16, or of cmd. It returns what the text writes.
func (w *Shell) Run(language string, f flow.Word, at draft.Where, stdin flow.Stream) flow.Stream {
	at.Windows = true
	v := f.Value()
	if v == nil {
		w.UnknownCode(w.lastID(), "powershell", f.Taint(), "inline", f.Why())
		return flow.Stream{Some: true, Taint: f.Taint()}
	}
	text := *v
	if language == "encoded" {
		decoded, ok := Decode(text)
		if !ok {
			return w.UnknownCode(w.lastID(), "powershell", flow.Taint{Hidden: true}, "inline", "it is encoded")
		}
		language, text = "powershell", decoded
	}
	w.nested++
	w.Depth++
	defer func() { w.nested--; w.Depth-- }()
	if language == "cmd" {
		return w.cmdLine(newState(at), text, stdin)
	}
	return w.script(newState(at), text, stdin)
}

// Decode undoes what -EncodedCommand takes.
func Decode(s string) (string, bool) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	}
	if err != nil || len(data)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
	}
	return string(utf16.Decode(units)), true
}

func (w *Shell) lastID() int { return len(w.Commands()) }

// script runs a text.
func (w *Shell) script(s *state, text string, stdin flow.Stream) flow.Stream {
	if w.Depth > maxNested || w.nested > maxNested {
		w.Limit("shells nested deeper than gate follows")
		return flow.Stream{}
	}
	if w.parsed += len(text); w.parsed > maxParsed {
		w.Limit("a shell text longer than gate reads")
		return flow.Stream{}
	}
	b, err := parse(text)
	if err != nil {
		w.Unknown("dialect", "gate does not understand this PowerShell: "+err.Error(), 0, nil)
	}
	return w.block(s, b, stdin)
}

// span is a place in the line, in code points; nil inside another text.
func (w *Shell) span(p place) *hook.Span {
	if w.nested > 0 || p.from < 0 || p.to > len(w.line) || p.from >= p.to {
		return nil
	}
	return &hook.Span{utf8.RuneCountInString(w.line[:p.from]), utf8.RuneCountInString(w.line[:p.to])}
}

// characters reports control and invisible characters.
func (w *Shell) characters(text string) {
	i := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7F })
	if at, ok := draft.Misleads(text); ok && (i < 0 || at < i) {
		i = at
	}
	if i >= 0 {
		n := utf8.RuneCountInString(text[:i])
		w.Unknown("characters", "an invisible or control character stands in the line", 0, &hook.Span{n, n + 1})
	}
}

// puzzle records what the shell does not understand.
func (w *Shell) puzzle(why string, p place) { w.Unknown("dialect", why, 0, w.span(p)) }
