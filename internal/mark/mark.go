// Package mark has the marks of a session: what policies asked to be remembered of it.
//
// It says who sees which mark, and how large one may be. It keeps none: package session
// does. Start with [Mark].
package mark

import "slices"

// A Mark is one value that a policy wants to find again at later events of the session.
type Mark struct {
	Name  string
	Value string // compact JSON with sorted keys; "null" takes the mark of that name back
	Round bool   // it ends with the next prompt, and not with the session

	Source string // whose policy set it; the engine fills it in
	Shared bool   // of a source in Policy scope: all sources see it, and none below sets it
	By     string // the policy; only known while its call is decided about
}

// Limits of one mark. A policy that asks for more has a fault.
const (
	MaxName  = 100  // bytes
	MaxValue = 1024 // bytes of JSON
)

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
		if k.Shared {
			marks[k.Name] = k.Value
		}
	}
	if policyScope {
		own()
	}
	return marks, slices.Contains(m.Full, source)
}
