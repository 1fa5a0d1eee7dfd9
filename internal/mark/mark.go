// Package mark has the marks of a session: what policies asked to be remembered of it.
//
// It says who sees which mark, and how large one may be. It keeps none: package session
// does. Start with [Mark].
package mark

import "slices"

// A Mark is one value that a policy wants to find again at later events of the session.
type Mark struct {
	Name  string
	Value string // compact JSON with sorted keys; [None] takes the mark of that name back
	Round bool   // it ends with the next prompt, and not with the session

	Source string // whose policy set it; the engine fills it in
	Policy bool   // the source is in Policy scope
	Trial  bool   // the source is a bundle on trial, and has no part in what others see
	By     string // the policy; only known while its call is decided about
}

// How long a mark may live, as policies and the log say it.
const (
	Session = "session" // without a word
	Round   = "round"
)

// For is how long the mark lives.
func (m *Mark) For() string {
	if m.Round {
		return Round
	}
	return Session
}

// Shared reports a mark that all sources see, and that none below Policy scope sets.
func (m *Mark) Shared() bool { return m.Policy && !m.Trial }

// Limits of what one policy asks for at once. One that asks for more has a fault.
const (
	MaxName   = 100  // bytes of a name
	MaxValue  = 1024 // bytes of a value
	MaxAtOnce = 64   // marks
)

// None is the value of a mark that takes the one of its name back.
const None = "null"

// Marks are the marks of one session. The zero value has none.
type Marks struct {
	All []Mark // one a source and name, the oldest first

	// Full are the sources that had more to remember than there was room for.
	Full []string
}

// Seen returns what policies of a source see: their own marks, and the shared ones of
// others, of which the last counts where several have one name. Below Policy scope a
// shared mark counts in place of an own one; in it the own one does. full reports that
// the source had more to remember.
func (m *Marks) Seen(source string, policyScope bool) (marks map[string]string, full bool) {
	marks = make(map[string]string, len(m.All))
	own := func() {
		for _, k := range m.All {
			if k.Source == source {
				marks[k.Name] = k.Value
			}
		}
	}
	if !policyScope {
		own()
	}
	for _, k := range m.All {
		if k.Shared() {
			marks[k.Name] = k.Value
		}
	}
	if policyScope {
		own()
	}
	return marks, slices.Contains(m.Full, source)
}
