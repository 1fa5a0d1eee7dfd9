package hook

import "gate/internal/mark"

// An Effect orders answers by severity; combining takes the largest. The zero
// value has no opinion.
type Effect uint8

const (
	Pass  Effect = iota // no opinion: the agent's own rules apply
	Allow               // go ahead without asking
	Ask                 // a person decides
	Deny                // do not do it
)

func (e Effect) String() string {
	return name(e+1, "pass", "allow", "ask", "deny")
}

// A Reason is one member of a deny, ask, allow, warn or halt rule.
type Reason struct {
	ID         string // default: the policy's package
	Effect     Effect // Pass for a warning
	Reason     string // for the agent: what is wrong and what to do instead
	Help       string // for the person
	Suggestion string // a safer form of the call
	Span       *Span  // of the text that mattered

	// Filled in by the engine.
	Hook      string
	Scope     Scope
	Authority Authority
	Source    string
	Pos       string
}

// A Rewrite is one member of a modify rule or what a handler answered: exactly one of Edits, Input and Value is set.
type Rewrite struct {
	Reason string
	Edits  []Edit         // on the command line
	Input  map[string]any // RFC 7386 merge into the input
	Value  any            // whole replacement of the prompt, the output or the input
}

// An Edit replaces a span of the command line by a text, which gate quotes as
// one word, or gives one of its commands something by its meaning.
type Edit struct {
	Span    Span
	Text    string
	Command *CommandEdit // in place of span and text
}

// A CommandEdit says what a command is to have, in the words of its facts. What
// it does not name stays.
type CommandEdit struct {
	Command     int                // its ID
	Program     string             // "": the same
	Env         map[string]*string // nil takes the assignment away
	Options     map[string]any     // by canonical name: a text, true, or nil, which takes the option away
	Add, Remove []string           // operands
}

// A Strategy says where context is shown to the agent.
type Strategy string

const (
	ToolResult  Strategy = "tool_result"  // beside the result of the call; the default
	UserMessage Strategy = "user_message" // as a message of its own
)

// A Context is text for the agent.
type Context struct {
	Text     string
	Strategy Strategy
	Hook     string // filled in by the engine
}

// A Confinement is one member of a confine rule, or what the level confine makes of a
// question: the call is to run so that it can do no more than a profile lets it.
type Confinement struct {
	Profile string
	Reason  string

	// Spared has nothing follow where the call cannot be confined. Without it somebody
	// is asked then.
	Spared bool

	// Asked is the question that the confinement takes the place of: the confined call
	// goes ahead without it, and where the call cannot be confined it is asked. Nil: the
	// confinement is a rule's, and allows nothing.
	Asked *Reason
}

// A Consult asks for a named handler to judge this one call.
type Consult struct {
	Hook   string
	Reason string
}

// A Verdict is one hook's answer. The zero Verdict has no opinion.
type Verdict struct {
	Reasons  []Reason // of deny, ask and allow rules, in a fixed order
	Warnings []Reason
	Rewrites []Rewrite
	Context  []Context
	Consults []Consult
	Halt     []Reason // deny, and end the turn
	Remember []mark.Mark
	Confine  []Confinement

	// Env are variables for the agent's shell. They count as a rewrite does,
	// from a trusted source only, and not beside an objection of any hook.
	Env map[string]string
}

// Effect returns the severest effect among the verdict's reasons.
func (v *Verdict) Effect() Effect {
	e := Pass
	if len(v.Halt) > 0 {
		e = Deny
	}
	for _, r := range v.Reasons {
		e = max(e, r.Effect)
	}
	return e
}
