// Package shell executes a shell line abstractly, as bash does: state, words, arrays,
// redirections, streams, functions, loops and branches. It yields an invocation for
// each command that may run. It runs nothing and knows no program: it asks about
// those through the interface [Outside].
//
// [New] comes first, then [Shell.Follow].
package shell

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// Limits of one line. Past them the facts are opaque and say so; nothing is
// skipped in silence.
const (
	maxLine     = 256 << 10 // bytes of one line
	maxDepth    = 12        // shells inside shells
	maxCommands = 2000
	maxWords    = 4000
	maxSteps    = 8000    // statements run, loops and functions included
	maxParsed   = 1 << 20 // bytes of all texts that are parsed, evals included
	maxText     = 1 << 16 // bytes of one value
	maxParts    = 256     // pieces of one value
	maxListed   = 20000   // words of all commands
	maxMatching = 1 << 24 // steps of matching patterns
)

// A Shell follows the lines of one event. Make one with [New]. It is not safe for
// concurrent use.
type Shell struct {
	*draft.Draft
	outside  Outside
	builtins []wordlist.Named[func(*Call) (flow.Stream, bool)]
	text     string
	ascii    bool
	nested   int                   // inside text that is not the line itself
	steps    int                   // statements run so far
	parsed   int                   // bytes parsed so far
	judged   int                   // words of all commands so far
	match    int                   // steps of matching so far
	traps    []func(*state)        // what runs when the text ends
	active   []frame               // functions and aliases that are running
	loops    int                   // that are running
	away     []departure           // from the innermost loop or function
	maybe    int                   // branches around what runs: it may not happen
	lent     []string              // descriptors that the statements around have open, by their numbers
	seen     map[*syntax.Stmt]bool // statements that were run
	holes    []*flow.Hole          // that variables in nested text stand for: see template
}

// New returns a shell that writes what it finds into a draft.
func New(d *draft.Draft, outside Outside) *Shell {
	return &Shell{Draft: d, outside: outside, builtins: builtins[:], seen: map[*syntax.Stmt]bool{}}
}

// Builtin reports a command that the shell has in itself.
func Builtin(name string) bool { return wordlist.Find(builtins[:], name) != nil }

// Apart returns a call without words in a shell that knows nothing but a directory,
// "" for an unknown one. A tool that is no shell has its texts judged there.
func (w *Shell) Apart(dir string) *Call { return &Call{Shell: w, s: newState(dir)} }

// A frame is a function that is running.
type frame struct {
	name   string
	params []flow.Word
	state  *state // when it was called
}

// line judges a shell line in directory dir.
func (w *Shell) line(text, dir string) {
	w.text = text
	w.ascii = isASCII(text)
	w.Facts.Shell = &hook.Shell{Dialect: "bash", Text: text, Commands: []hook.ShellCommand{}}
	if !w.World.WordsOnly {
		w.Facts.Shell.Ground = ground(text)
	}
	w.characters(text)
	s := newState(dir)
	if dir == "" {
		w.Unknown("directory", "the working directory is not known", 0, nil)
	}
	out := w.script(s, text, flow.Stream{})
	// What is printed at the end goes to the agent.
	w.printed(out.Taint.Secret, out.From)
	for _, o := range out.More {
		w.printed(o.Secret, o.From)
	}
}

// Follow judges a line that runs in a directory, "" for an unknown one. An event with
// two lines gets the facts of both; spans point into the first.
func (w *Shell) Follow(text, dir string) {
	if w.Facts.Shell == nil {
		w.line(text, dir)
		return
	}
	w.Facts.Shell.Ground = nil // that of one line says nothing of two
	w.nested++
	w.script(newState(dir), text, flow.Stream{})
	w.nested--
}

// IsLine reports text that a shell would take: what is typed may be an answer to
// another program.
func (w *Shell) IsLine(text string) bool {
	if w.parsed += len(text); len(text) > maxLine || w.parsed > maxParsed || bash.TooDeep(text) {
		return true // judged, and found too long there
	}
	_, _, err := bash.Parse(text)
	return err == nil
}

// printed judges a secret that the line prints.
func (w *Shell) printed(what string, from int) {
	if what == "environment" || strings.HasPrefix(what, "environment variable ") {
		w.Effect(from, &hook.SecretRead{What: what, Shown: true, Grade: "config"})
		return
	}
	w.Shown(what)
}

// affords reports that matching may take n more steps.
func (w *Shell) affords(n int) bool {
	if w.match += n; w.match > maxMatching || n > maxMatching {
		w.Limit("patterns that cost more to match than gate spends")
		return false
	}
	return true
}

// script runs text in state s.
func (w *Shell) script(s *state, text string, stdin flow.Stream) flow.Stream {
	if w.Depth > maxDepth {
		w.Limit("shells nested deeper than gate follows")
		return flow.Stream{}
	}
	if w.parsed += len(text); len(text) > maxLine || w.parsed > maxParsed {
		w.Limit("a shell text longer than gate reads")
		return flow.Stream{}
	}
	if bash.TooDeep(text) {
		w.Limit("brackets nested deeper than gate follows")
		return flow.Stream{}
	}
	f, text, err := bash.Parse(text)
	if err != nil {
		w.Unknown("syntax", "the shell text does not parse: "+bash.Message(err), 0, nil)
		if f == nil {
			return flow.Stream{}
		}
	}
	before := w.traps
	w.traps = nil
	out := w.stmts(s, f.Stmts, stdin)
	for i := 0; i < len(w.traps); i++ { // with what holds when the text has run
		w.traps[i](s)
	}
	w.traps = before
	w.rest(f, text)
	return out
}

// rest runs what no way through the text has run: function bodies nobody
// calls, and substitutions in places that need no value. Nothing that parses
// as a statement stays unseen.
func (w *Shell) rest(f *syntax.File, text string) {
	opens := map[int]bool{} // where a backquote has just begun a substitution
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CmdSubst); ok && c.Backquotes {
			opens[int(c.Left.Offset())+1] = true
		}
		if c, ok := n.(*syntax.Comment); ok && !opens[int(c.Hash.Offset())] && !bash.CommentStarts(text, int(c.Hash.Offset())) {
			w.Unknown("syntax", "a # inside a word, after which the parser reads nothing more", 0, nil)
		}
		if st, ok := n.(*syntax.Stmt); ok && !w.seen[st] {
			s := newState("")
			s.Dirs = w.lineDirs()
			w.stmt(s, st, flow.Stream{})
		}
		return true
	})
}

func (w *Shell) lineDirs() []string {
	if w.World.Dir == "" {
		return nil
	}
	return []string{w.World.Dir}
}

// points converts a byte offset of the line to code points.
func (w *Shell) points(offset int) int {
	if w.ascii {
		return offset
	}
	return utf8.RuneCountInString(w.text[:offset])
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// characters reports control and invisible characters: the shell and a person
// read them differently.
func (w *Shell) characters(text string) {
	for i, r := range text {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7F {
			w.Unknown("characters", "a control character stands in the line", 0, &hook.Span{w.points(i), w.points(i) + 1})
			return
		}
	}
	if i, ok := draft.Misleads(text); ok {
		w.Unknown("characters", "an invisible or misleading character stands in the line", 0, &hook.Span{w.points(i), w.points(i) + 1})
	}
}

// content is what a file holds that commands read from here on.
func (w *Shell) content(s *state, f flow.Word) flow.Stream {
	return w.opened(w.FileStream(s.Where, f))
}

// opened is a stream that commands read from here on.
func (w *Shell) opened(st flow.Stream) flow.Stream {
	st.Some, st.Read = true, &flow.Position{Maybe: w.maybe}
	return st
}
