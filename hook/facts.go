package hook

// FactsSchema is the version of the shape of [Facts].
const FactsSchema = 1

// A Span is a half-open range of code points of the text that was read: the
// shell line for shell facts, the string itself elsewhere.
type Span [2]int

// Facts are what gate could work out about an event without running anything.
// In the JSON form (see [Facts.Document]) every field is always present and
// null means unknown; pointers are nil for unknown here.
type Facts struct {
	Opaque  bool // some part was not understood: see Unknown
	Unknown []Unknown
	Shell   *Shell // nil when the event carries no shell line
	Code    []Code
	Hosts   []Host
	Paths   []Path
	Effects []FactEffect
}

// An Unknown is one thing that was not understood.
type Unknown struct {
	Kind    string // program, word, code, syntax, dialect, limit, path, directory, tool …
	Why     string // a sentence fragment for people
	Command int    // the command it belongs to, 0 for none
	Span    *Span
}

// A Shell is a shell line taken apart.
type Shell struct {
	Dialect  string // "bash"; "" when it is not known
	Text     string // the line itself; not part of the document
	Commands []ShellCommand
}

// A ShellCommand is one simple command, however deeply nested.
type ShellCommand struct {
	ID         int     // counts from 1, in the order of the text
	Program    *string // base name after quote removal and wrappers; nil when unknown
	Path       *string // as written, when the program was written with a path
	Subcommand *string // the verb of programs that have verbs, words joined by a blank
	Operands   []*string
	Options    map[string][]any // canonical long names; values are true, a string, or nil for unknown
	Words      []Word
	Env        map[string]*string // assignments before the command
	Dir        *string            // its working directory
	Via        []string           // wrappers from the outside in: sudo, xargs, sh -c …
	Redirects  []Redirect
	Stdin      *Stdin
	PipeTo     int // the command that reads its output, 0 for none
	Depth      int // nested shells, substitutions and wrappers above it
	Span       *Span
}

// A Word is one argument after expansion. Value is nil when unknown; Span is
// nil where the word is not literal in the text.
type Word struct {
	Value *string
	Span  *Span
}

// A Redirect is one redirection of a command.
type Redirect struct {
	Op     string
	FD     int
	Target *string
	Span   *Span
}

// A Stdin says where a command's input comes from.
type Stdin struct {
	From    string  // pipe, file, heredoc, herestring
	Command int     // the command on the other side of the pipe
	Text    *string // the text, where it is literal
	Path    *string
}

// A Code is a piece of another language inside the event.
type Code struct {
	Command  int
	Language string
	Text     *string // nil when unknown
	Source   string  // inline, stdin, heredoc, file
	Calls    []string
}

// A Host is one network peer.
type Host struct {
	Command int
	Host    *string // nil when unknown
	URL     *string
	Access  string // fetch, send, connect
}

// A Path is one file or directory that the event names.
type Path struct {
	Command   int
	Raw       string  // as written, "" when not literal
	Path      *string // absolute and cleaned; nil when unknown
	Resolved  *string // with symbolic links followed where they exist
	Access    string  // read, write, delete, permissions, execute, list
	InProject *bool
	Glob      bool
}

// A FactEffect is one thing that the event amounts to, "effects" in the
// document. (The Go name differs because an [Effect] is a severity.) Attrs hold
// the fields that its kind defines; docs/facts.md lists them.
type FactEffect struct {
	Kind    string
	Command int // 0 when a tool other than a shell causes it
	Attrs   map[string]any
}
