package hook

import "gate/internal/origin"

// FactsSchema is the version of the shape of [Facts].
const FactsSchema = 1

// The structs here and in effects.go are the one description of facts: fields.go,
// the JSON Schemas of policycheck and the tables of docs/facts.md are made of
// them, by go test ./hook/describe -update. A field's name in the document is its
// Go name in lower case, with _ between words; its comment goes to the page. Tags
// say what Go does not:
//
//	json:"cwd"       another name in the document; "-": not part of it
//	null:"zero"      the zero value is null in the document
//	enum:"a|b"       no other texts
//	examples:"a|b"   texts of an open set
//	unknown:"null"   how nobody knowing it shows: see internal/policycheck/schema/README.md
//	form:"path"      how every text of it looks: path, host, program or branch

// A Span is a half-open range of code points of the text that was read: the
// shell line for shell facts, the string itself elsewhere.
type Span [2]int

// Facts are what gate could work out about an event without running anything.
// In the JSON form (see [Facts.Document]) every field is always present and
// null means unknown; pointers are nil for unknown here.
type Facts struct {
	Schema  Version
	Opaque  bool // some part was not understood; unknown says which
	Unknown []Unknown
	Shell   *Shell // nil when the event carries no shell line
	Code    []Code
	Hosts   []Host
	Paths   []Path
	Effects []FactEffect

	Signs []Sign // of a message of MCP: what in it tries something with the model or the person

	Confined string `null:"zero"` // the profile by which the call runs confined; null where it does not

	Moves []origin.Move `json:"-"` // what the call leaves in files, by path
	Wrote []origin.Text `json:"-"` // what is known of the texts that it writes
	Flow  []Flow        `json:"-"` // input.flow: it depends on the calls before this one
}

// A Flow says where data came from that an effect of the event sends, shows, writes,
// installs or runs. The lists of all effects are input.flow. It tells what is known; an effect
// without one may still handle such data.
type Flow struct {
	Effect  string   // the kind of the effect, such as net.send
	Command int      `null:"zero"` // the command that causes it
	Origin  string   `enum:"secret|untrusted|written"`
	What    *string  // the kind of secret, such as environment file
	Path    *string  `form:"path"` // the file that it came from first; null where it was none: the output of a program, the network
	Host    *string  `form:"host"` // of untrusted: the peer that it came from, where that is known
	Call    *string  // tool_use_id of the earlier call that took it up; null where this one does
	Via     []string `form:"path"`               // the files it went through, in that order
	How     string   `enum:"file|seen|sequence"` // file: files carried it; seen: the agent saw it, and it stands in this call; sequence: nothing but the order of calls
	Coarse  bool     // only the directory is known: one of the files in it; of sequence: gate failed about what the session was shown
}

// A Version stands for [FactsSchema] in the document.
type Version struct{}

// An Unknown is one thing that was not understood.
type Unknown struct {
	Kind    string `enum:"program|word|path|directory|code|script|syntax|dialect|characters|limit|tool|origin"`
	Why     string // a sentence fragment for people
	Command int    `null:"zero"` // the command it belongs to, 0 for none
	Written bool   // it is code in a text that an agent wrote in a call before this one
	Span    *Span
}

// A Shell is a shell line taken apart.
type Shell struct {
	Dialect  string `null:"zero"` // bash or powershell; null when it is not known
	Text     string `json:"-"`    // the line itself
	Commands []ShellCommand
	Ground   *Ground // of bash: what decides beside the commands; null where that is not known as a whole
}

// A Ground is what decides, beside its commands, what a line starts and what it looks at.
// It may name more than that, never less.
type Ground struct {
	Assigns  []string // the variables that the line gives a value, by any part of it but a program
	Forms    []string // what the line has beside plain commands, pipes, lists, conditions and loops over words, such as case, function or arithmetic
	Programs []string // the programs of the line that are found elsewhere than in a directory of the system, and variables of the process that may change what one does
	Leaves   []string `form:"path"` // what operands and patterns stand for that links lead to out of the project
	Whole    []string `form:"path"` // directories that are read: a program may read all that lies below
	Secrets  []string `form:"path"` // files whose names tell of a secret, among those that patterns and directories stand for
}

// A ShellCommand is one simple command, however deeply nested.
type ShellCommand struct {
	ID         int              // counts from 1, in the order of the text
	Program    *string          `unknown:"listed" form:"program"` // base name after quote removal and wrappers
	Path       *string          // as written, when the program was written with a path
	Known      bool             // gate knows what the program does: the catalogue or settings have a row for it, or the shell runs it itself
	Subcommand *string          // the verb of programs that have verbs, words joined by a blank
	Operands   []*string        `unknown:"listed"`
	Guessed    bool             // operands are a guess, for a program without a row: every word that is no option
	Options    map[string][]any `unknown:"listed"` // by canonical long name without dashes; values are true, a text, or null for unknown
	Words      []Word
	Env        map[string]*string `unknown:"listed"`                        // assignments before the command
	Dir        *string            `json:"cwd" unknown:"listed" form:"path"` // its working directory
	InProject  *bool              `unknown:"listed"`                        // its working directory lies in the project, behind links, too
	Via        []string           // wrappers, outermost first: sudo, xargs, sh -c …
	Redirects  []Redirect
	Stdin      *Stdin
	PipeTo     int `null:"zero"` // the command that reads its output
	Depth      int // nested shells, substitutions and wrappers above it
	Span       *Span
	Repository *Repository // of git: what decides beside its words; null where that is not known as a whole, and for other programs
}

// A Repository is what lies outside of the words of a command of git and decides what it
// does. It is known of some verbs only, in a repository of the project.
type Repository struct {
	Starts  []string // what has git start programs that are not its own, by the keys of settings, the names of variables, hooks and submodules; empty: nothing has
	Remotes []string // the addresses that commits are exchanged with, without user and password
	Secrets []string `form:"path"` // the files with a secret that the command may show, take up or send
}

// A Word is one argument after expansion. Span is nil where the word is not
// literal in the text.
type Word struct {
	Value *string `unknown:"listed"`
	Span  *Span
}

// A Redirect is one redirection of a command.
type Redirect struct {
	Op     string
	FD     int
	Target *string `unknown:"listed"`
	Span   *Span
}

// A Stdin says where a command's input comes from.
type Stdin struct {
	From    string  `enum:"pipe|file|heredoc|herestring"`
	Command int     `null:"zero"`      // the command on the other side of the pipe
	Text    *string `unknown:"listed"` // the text, where it is literal
	Path    *string `unknown:"listed"`
}

// A Code is a piece of another language inside the event.
type Code struct {
	Command  int `null:"zero"`
	Language string
	Text     *string `unknown:"null"`
	Source   string  `examples:"inline|stdin|heredoc|file"`
	Calls    []string
}

// A Host is one network peer.
type Host struct {
	Command int     `null:"zero"`
	Host    *string `unknown:"null" form:"host"`
	IP      *string // the address that the host is written as, in its usual notation; null for a name
	URL     *string
	Access  string `enum:"fetch|send|connect"`
}

// A Path is one file or directory that the event names.
type Path struct {
	Command   int     `null:"zero"`
	Raw       string  `null:"zero"`                // as written, null when not literal
	Path      *string `unknown:"null" form:"path"` // absolute and cleaned
	Resolved  *string `unknown:"null" form:"path"` // with symbolic links followed where they exist
	Access    string  `enum:"read|write|delete|permissions|execute|list|use"`
	InProject *bool   `unknown:"null"`
	Glob      bool
}

// A Sign is a place in a message of MCP whose text does more than to describe: it tells the
// model what to do, hides something, or asks for what the thing does not need. In what a tool
// gave back it is a place that speaks to an agent, or hides something.
type Sign struct {
	Kind  string `enum:"instruction|hidden|other_tool|secret|concealment|conversation|contents|context|password|outside|lookalike"`
	Of    string `enum:"server|tool|prompt|resource|template|sampling|elicitation|root|notification|result"`
	Name  string `null:"zero"` // of the tool, prompt or server, or the address of the resource or root
	Field string // where it stands, such as inputSchema.properties.note.description
	Text  string // the words that say it, or the characters that are hidden; at most 200 code points
}
