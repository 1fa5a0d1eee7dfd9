// Package moment is the table of events: the name of each, its fields, what a matcher
// looks at, what may be rewritten, and whether closing stops something. Package hook
// shows the names that programs use.
//
// It holds values and decides nothing. Start with [Moments].
package moment

import "slices"

// A Moment is a row of the table of events: what gate knows of all events of
// one name, whichever agent sends them. Adapters keep what is an agent's.
type Moment struct {
	Name  Name
	Alias Name // what the hook lifecycle RFC calls it, "" if nothing

	// Matches is the top-level field that matchers look at, "" if matchers do
	// not count on this event. Of a file_path they see the last element.
	Matches string
	// Rewrites is the top-level field that a modify rule changes, "" if there
	// is nothing to rewrite. Where there is nothing, handlers run side by side.
	Rewrites string
	// Closes says whose faults stop something here.
	Closes Closing
	// File is the field with the path of the file that the event is about: an
	// event without a tool has facts of that and no others. "" is none.
	File string
	// Shell says that an agent's shell may take variables here, which Claude Code's does
	// by the file that it names in CLAUDE_ENV_FILE.
	Shell bool
	// Example is the field that the draft of a policy looks at, "" if there is
	// no draft.
	Example string
	// Fields are those that the event has besides [CommonFields].
	Fields []Field
}

// A Closing says for the events of one name whose faults close: closing blocks
// only where that stops an action. The zero Closing always closes: an event
// that nobody has heard of may be one that starts an action.
type Closing uint8

const (
	ClosesAlways   Closing = iota // gate's own errors, too
	ClosesForHooks                // faults of hooks that close; gate's own errors leave it open
	ClosesNever                   // it would stop nothing, or keep the agent going
)

// A Field is one field of an event, or of the input of a tool. With a name alone
// it is a text that may be missing.
type Field struct {
	Name  string
	Type  FieldType
	Need  Need
	Known string  // values of an open set that are known, separated by blanks
	Of    []Field // of an object, or of the objects of a list, as far as they are known
}

// A FieldType is the JSON type of a field.
type FieldType uint8

const (
	Text FieldType = iota
	Number
	Boolean
	Object
	List  // of objects
	Texts // a list of texts
	Anything
)

// A Need says when a field may be missing.
type Need uint8

const (
	Maybe  Need = iota // may be missing
	OrNull             // may be missing or null
	Sent               // Claude Code always sends it; a canonical event may leave it out
	Must               // judging the event without it would be a guess
)

// Moments returns the table of events that agents send, in the order of the pages.
func Moments() []Moment { return slices.Clone(moments[:]) }

// Messages returns the table of messages of MCP that are events. gate mcp and the standards
// that gate serve speaks bring them; no agent sends them by itself.
func Messages() []Moment { return slices.Clone(messages[:]) }

// Every returns both tables.
func Every() []Moment { return append(Moments(), messages[:]...) }

// CommonFields are the fields of every event.
func CommonFields() []Field { return slices.Clone(common[:]) }
