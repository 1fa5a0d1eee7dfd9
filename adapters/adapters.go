// Package adapters translates between coding agents and gate: a hook's
// standard input becomes a [hook.Event], a [hook.Decision] becomes the bytes
// and the exit status that this agent understands.
//
// It is pure translation. It decides nothing, reads no files, no environment
// and no clock, and it is the only package that knows an agent's format.
// Start with [Lookup].
package adapters

import (
	"time"

	"gate/hook"
)

// MaxEvent is the largest event that adapters read, in bytes. A caller that
// reads at most MaxEvent+1 bytes gets an error for anything larger.
const MaxEvent = 16 << 20

// An Adapter speaks one coding agent's hook protocol. Adapters have no state
// and are safe for concurrent use.
type Adapter interface {
	// Name is the word for the agent on the command line, such as "claude".
	Name() string

	// Named is the event of that name without any content, which is enough for
	// Render. The name is the agent's own or gate's; "" is no name at all.
	Named(event string) hook.Event

	// Parse reads exactly one event, strictly: exact keys, no look-alikes,
	// wrong types refused. It is for the event that the command line names, in
	// the agent's words or gate's, and an event that says it is another is
	// refused; with "" the event says what it is, or shows it. The event that
	// comes with an error has no content: it is the one that Named gives for
	// the name as far as it could be read.
	Parse(data []byte, event string) (hook.Event, error)

	// Session is the event that Parse refused, for the records of its session. It has the
	// Name, and in Fields the session_id alone, as far as the event's beginning tells them.
	Session(data []byte, event string) hook.Event

	// Render writes d as the agent expects it for the event ev.Name. What the
	// agent cannot express becomes stricter, never looser. It works for an
	// event that could not be read: then ev has its Name only, from the
	// command line, or not even that, and the answer takes the form that
	// blocks in every case. A nil d counts as a fault.
	Render(ev *hook.Event, d *hook.Decision) Answer

	// CanAsk reports whether this event's answer can put a question to a
	// person, as far as the event and ev.Gate.Interactive say.
	CanAsk(ev *hook.Event) bool

	// Closes reports whether closing stops an action on this event: whether
	// the fault of a hook that closes is a Reject. Render knows
	// the one difference for gate's own errors: a prompt stays open.
	Closes(n hook.Name) bool

	// RunsHooks reports whether the agent runs the hooks that stand in the
	// files of its skills, sub-agents and plugins by itself, so that gate must
	// not run them, too.
	RunsHooks() bool

	// Deadline is how long the agent waits for a hook by default.
	Deadline(n hook.Name) time.Duration

	// Environment reads what the agent tells its hooks in variables.
	Environment(getenv func(string) string) Environment
}

// An Answer is a whole answer to an agent. Write both streams at once, at the
// end, and exit with Status, which is 0 or 2.
type Answer struct {
	Stdout, Stderr []byte
	Status         int
}

// An Environment is what an agent tells a hook in environment variables. They
// are claims of the process that started gate: never let one loosen anything.
type Environment struct {
	Attended   bool   // a person sits at the session and can be asked
	ProjectDir string // where the agent was started, "" if it does not say
	EnvFile    string // a file whose lines the agent's shell runs before each command ([ShellLines]); "" if it takes none now
	EnvAnswer  bool   // variables for the shell are part of the answer that Render writes
	Trace      string // the variable TRACEPARENT, as it stands there: the span that the call belongs to; filled by who starts the adapter
}

// Lookup returns the adapter with the given name.
func Lookup(name string) (Adapter, bool) {
	for _, a := range all() {
		if a.Name() == name {
			return a, true
		}
	}
	return nil, false
}

// Names lists the adapters in alphabetical order.
func Names() []string {
	var names []string
	for _, a := range all() {
		names = append(names, a.Name())
	}
	return names
}

func all() []Adapter {
	return []Adapter{
		&amp, &antigravity, &auggie, claude{}, &cline, &codex, &copilot, &cursor, &droid, &gemini, generic{}, &kimi, &kiro,
		&opencode, &qwen, &windsurf,
	}
}
