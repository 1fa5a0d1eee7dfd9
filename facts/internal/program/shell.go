package program

import (
	"iter"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// A Shell runs what a program hands to one. It is the shell in which the program was
// called; Inside and Fork lead into others and back.
type Shell interface {
	// Where says where the shell is; what is set there moves it.
	Where() *draft.Where
	// Current says what the line has made current in this shell; it may be changed.
	Current() *draft.Current
	// Fork goes on in a copy of the shell, until back is called, if ever.
	Fork() (back func())
	// Inside runs f in a shell that the program starts, with the program's environment.
	Inside(f func())
	// Arguments sets $0, $1 and so on.
	Arguments(zero flow.Word, params []flow.Word)
	// Named sets $0 alone.
	Named(zero flow.Word)
	// Text runs a text, and returns what it writes.
	Text(text flow.Word, stdin flow.Stream) flow.Stream
	// Other runs a text of another shell: of powershell, of its form encoded, which is
	// base64 of UTF-16, or of cmd.
	Other(language string, text flow.Word, stdin flow.Stream) flow.Stream
	// Handed runs a text with words behind it that are not read as shell again.
	Handed(text string, words []flow.Word) flow.Stream
	// Command runs a command, and sets its number.
	Command(inv *draft.Invocation) flow.Stream
	// Line runs a text in a shell that knows nothing of this one, below via.
	Line(via, text string)
	// Try says what a line would do here. Nothing of it stays.
	Try(line string) []hook.FactEffect
	// Enter runs f unless a function, alias or script of that name is running.
	Enter(name string, f func())
	// Cut cuts a text into words, as a shell does. It fails after the words before a
	// mistake.
	Cut(text flow.Word) ([]flow.Word, error)
	// Variable is a variable that the line has set or unset.
	Variable(name string) (draft.Held, bool)
	// Value is what $name stands for.
	Value(name string) flow.Word
	// Set sets a variable.
	Set(name string, value flow.Word)
	// Names are the names of the variables that the line has set.
	Names() iter.Seq[string]

	// Mark has a variable that is set hold what it holds as another word.
	Mark(name string, value flow.Word)
	// Exports reports that every variable is exported: set -a.
	Exports() bool
}
