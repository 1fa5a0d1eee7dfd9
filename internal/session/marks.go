package session

import (
	"fmt"
	"slices"

	"gate/internal/mark"
)

// Limits of the marks of one session. Sources in Policy scope and those below it have
// room of their own, so that none below can take it from the administrator's.
const (
	maxMarks    = mark.MaxAtOnce // of one source
	maxMarkText = 16 << 10       // bytes of one source's
	maxAllMarks = 256            // of all sources in Policy scope, and of all below it
	maxAllText  = 64 << 10       // bytes of those
	maxSource   = 200            // bytes of a source's name
	maxFull     = 64             // sources that had more to remember
)

// A refusal says why a mark is not kept.
type refusal struct {
	why  string
	once string // what a session is told of once; "" of a mark that is kept
	full bool   // there is no room
}

// Remember keeps marks of a call that went on, and returns those that it kept. What
// there is no room for, or that is not the source's to set, is said once a session.
func (m *Memory) Remember(marks []mark.Mark) (kept []mark.Mark, notices []string) {
	for _, k := range marks {
		no := m.refuses(&k)
		if no.once == "" {
			m.keep(k)
			kept = append(kept, k)
			continue
		}
		if no.full && !slices.Contains(m.Marks.Full, k.Source) && len(m.Marks.Full) < maxFull {
			m.Marks.Full = append(m.Marks.Full, k.Source)
		}
		if !m.Noticed(no.once) {
			m.Notice(no.once)
			notices = append(notices, fmt.Sprintf("mark %q of policy %s is not remembered: %s", k.Name, k.By, no.why))
		}
	}
	return kept, notices
}

// remembers reports whether Remember would change anything, or have something to say.
func (m *Memory) remembers(marks []mark.Mark) bool {
	return slices.ContainsFunc(marks, func(k mark.Mark) bool {
		if no := m.refuses(&k); no.once != "" {
			return !m.Noticed(no.once)
		}
		at := m.find(&k)
		if k.Value == mark.None {
			return at >= 0
		}
		return at < 0 || m.Marks.All[at].Value != k.Value || m.Marks.All[at].Round != k.Round
	})
}

func (m *Memory) find(k *mark.Mark) int {
	return slices.IndexFunc(m.Marks.All, func(o mark.Mark) bool { return o.Source == k.Source && o.Name == k.Name })
}

func (m *Memory) keep(k mark.Mark) {
	k.By = ""
	switch at := m.find(&k); {
	case k.Value == mark.None && at >= 0:
		m.Marks.All = slices.Delete(m.Marks.All, at, at+1)
	case k.Value == mark.None:
	case at >= 0:
		m.Marks.All[at] = k
	default:
		m.Marks.All = append(m.Marks.All, k)
	}
}

// refuses says why a mark cannot be kept, nothing if it can.
func (m *Memory) refuses(k *mark.Mark) refusal {
	if k.Value == mark.None {
		return refusal{}
	}
	own, ownText, all, text := 0, size(k), 0, size(k)
	for i := range m.Marks.All {
		o := &m.Marks.All[i]
		switch {
		case o.Source == k.Source && o.Name == k.Name: // whose place it takes
		case o.Shared() && !k.Policy && o.Name == k.Name:
			return refusal{why: "a policy above has a mark of that name, which none below may set", once: "mark " + k.Source + "\x00" + k.Name}
		case o.Source == k.Source:
			own, ownText, all, text = own+1, ownText+size(o), all+1, text+size(o)
		case o.Policy == k.Policy:
			all, text = all+1, text+size(o)
		}
	}
	no := refusal{once: "marks " + k.Source, full: true}
	switch {
	case len(k.Source) > maxSource:
		no.why = "the name of its source is too long"
	case own >= maxMarks:
		no.why = fmt.Sprintf("%s has %d marks in this session already, and no more are kept", k.Source, own)
	case ownText > maxMarkText, all >= maxAllMarks, text > maxAllText:
		no.why = "there is no more room in this session for marks of " + k.Source
	default:
		return refusal{}
	}
	return no
}

func size(k *mark.Mark) int { return len(k.Source) + len(k.Name) + len(k.Value) }

// endRound removes what ends with a prompt.
func (m *Memory) endRound() {
	for _, t := range m.effects {
		t.round = 0
	}
	m.Marks.All = slices.DeleteFunc(m.Marks.All, func(k mark.Mark) bool { return k.Round })
}
