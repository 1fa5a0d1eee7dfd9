package hook

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"gate/internal/moment"
)

// A Scope says where a hook was written and fixes the running order. Smaller
// values run first; the zero Scope is invalid.
type Scope uint8

const (
	Policy  Scope = iota + 1 // managed bundles and files, the embedded library
	Plugin                   // plugins that a person or managed settings enabled
	Session                  // user and project directories, hooks registered at run time
	Skill                    // frontmatter of active skills and agents
)

func (s Scope) String() string {
	return name(s, "policy", "plugin", "session", "skill")
}

// An Authority decides who may switch whom off. Smaller values outrank larger
// ones; the zero Authority is invalid and may do nothing.
type Authority uint8

const (
	Managed      Authority = iota + 1 // the administrator of the machine
	User                              // the person
	PluginAuthor                      // whoever wrote an enabled plugin
	Project                           // whoever can commit to the repository
	Local                             // the project's own uncommitted files
	SkillAuthor                       // whoever wrote an active skill
	numAuthority = int(SkillAuthor)
)

func (a Authority) String() string {
	return name(a, "managed", "user", "plugin", "project", "local", "skill")
}

// Valid reports whether a is one of the constants.
func (a Authority) Valid() bool { return a >= Managed && int(a) <= numAuthority }

// MayAllow reports whether an allow of this authority counts.
func (a Authority) MayAllow() bool { return a == Managed || a == User }

// NeedsTrust reports whether rewrites, consults and handlers other than Rego
// of this authority stay inactive until a person trusted their source.
func (a Authority) NeedsTrust() bool { return !a.MayAllow() }

// name returns the word for a constant that counts from 1.
func name[T ~uint8](v T, words ...string) string {
	if v == 0 || int(v) > len(words) {
		return fmt.Sprintf("invalid(%d)", v)
	}
	return words[v-1]
}

// A Kind says what runs when a hook applies.
type Kind string

const (
	Rego    Kind = "rego"
	Command Kind = "command"
	Prompt  Kind = "prompt"
	Agent   Kind = "agent"
	Webhook Kind = "webhook"
	MCPTool Kind = "mcp_tool"
	Inline  Kind = "inline"
)

// OnFault says what a fault of a hook does. The zero value leaves it to the
// authority: managed and library hooks close, the others carry on.
type OnFault string

const (
	FaultDefault  OnFault = ""
	FaultDeny     OnFault = "deny"
	FaultAsk      OnFault = "ask"
	FaultContinue OnFault = "continue"
)

// A Hook is one unit as written: when it applies and what runs. A Rego hook is
// a policy, and its ID is its package without the leading "data.".
type Hook struct {
	ID          string
	Kind        Kind
	Dialect     Dialect
	Title       string
	Description string
	Serves      []string // items of published lists that a policy is there for, as LIST:ITEM; sorted

	Scope     Scope     // set by the loader, never by the file
	Authority Authority // set by the loader, never by the file
	Library   bool      // of the embedded library: its faults close whatever its authority
	Source    string    // the source's name
	Whole     string    // of one that stands for its whole source, which could not be loaded: what people call that; "" of others
	File      string    // within the source
	Line      int       // where the hook begins

	Events   []Name
	Matcher  string   // on the event's matched field, usually the tool; "" matches all
	If       []string // Tool(pattern) conditions on facts; any may hold; none means always
	Priority int      // higher runs first
	Timeout  time.Duration
	OnFault  OnFault
	Opaque   bool // its allow counts on calls that were not fully understood
	Params   map[string]Param
	WhenSet  []string // parameters; unless one of them has a value (not null, false, 0 or empty), it takes no part
	Session  bool     // it reads input.session, or may, or has something remembered
	Beside   bool     // it reads what decides beside the words of a line and of its commands ([Ground], [Repository]), or may
	Consults bool     // a policy: it may have handlers consulted
	Recheck  *bool    // handlers: run again on a rewritten input; nil means in Policy scope only

	// Of handlers other than Rego, as their file says; who runs the kind reads
	// them. Of a policy only Config, with the schema.
	Once     bool           // gone after its first success in a session
	Async    bool           // the call goes on without its answer
	Consult  bool           // runs only when a policy consults it, on whatever event that is
	Parallel bool           // its source wants its handlers to run side by side, on the same input
	Config   map[string]any // command, url, prompt …; checked for names and types only
}

// Observes reports whether h can change nothing on events of a name: only its
// warnings count, and its faults never close. In CodeWhale these are
// all hooks in the background, and all but those that may change a message or
// the variables of the shell.
func (h *Hook) Observes(n Name) bool {
	if h.Dialect != moment.CodeWhale {
		return false
	}
	background, _ := h.Config["background"].(bool)
	return background || n.Canonical() != UserPromptSubmit && n != moment.ShellEnv && !slices.Contains(h.Events, moment.ShellEnv)
}

// Rechecks reports whether h runs again after another hook changed the input
// that it judged. Policies always do.
func (h *Hook) Rechecks() bool {
	if h.Kind == Rego {
		return true
	}
	if h.Recheck != nil {
		return *h.Recheck
	}
	return h.Scope == Policy
}

// Pos returns "file:line" for messages.
func (h *Hook) Pos() string {
	if h.Line == 0 {
		return h.File
	}
	return h.File + ":" + strconv.Itoa(h.Line)
}

// Closes reports whether a fault of h is a Reject.
func (h *Hook) Closes() bool {
	switch h.OnFault {
	case FaultDeny:
		return true
	case FaultContinue, FaultAsk:
		return h.Authority == Managed || h.Library
	}
	return h.Authority == Managed || h.Library
}
