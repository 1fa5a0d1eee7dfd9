package story

import (
	"errors"
	"iter"
	"slices"

	"gate/hook"
	"gate/internal/audit"
)

// A Session is what the log has of one session of an agent.
type Session struct {
	Steps []Step // in their order
	Links []Link // see [Find]
	Left  int    // older steps that are left out
	Whole bool   // the links are whole, see [Find]
}

// A Step is a call of a session, or another event of it.
type Step struct {
	Record  *audit.Record // the first decision about it
	Decided *audit.Record // the severest
	Outcome audit.Outcome // of a call; "" for another event
	Deeds   Deeds         // of a call
}

// mostSteps is how many steps of a session are told.
const mostSteps = 2000

// told are the events, beside calls of tools, that belong to a session's story.
var told = []hook.Name{hook.UserPromptSubmit, hook.SessionStart, hook.SessionEnd, hook.SubagentStart, hook.SubagentStop}

// Tell gathers what the log has of a session. agent is "" for every one; the session "" is
// the last one of the log. newest begins to read the log, from its newest record on. A
// session of which nothing is known has no steps.
func Tell(agent, session string, newest func() iter.Seq2[audit.Record, error]) (*Session, error) {
	s := &Session{}
	var calls audit.Calls
	for r, err := range newest() {
		if torn := (*audit.TornError)(nil); errors.As(err, &torn) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !r.IsDecision() {
			continue
		}
		if session == "" && (agent == "" || agent == r.Agent) && r.Event != "" { // an answer from elsewhere has none
			agent, session = r.Agent, r.Session
		}
		if r.Session != session || agent != "" && r.Agent != agent {
			continue
		}
		switch {
		case r.OfCall():
			if c := calls.Add(r); c != nil {
				s.add(c.Records, c.Outcome())
			}
		case slices.Contains(told, r.Event.Canonical()) || r.HeldBack():
			s.add([]audit.Record{r}, "")
		}
	}
	for _, c := range calls.Rest() {
		s.add(c.Records, c.Outcome())
	}
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return a.Record.Time.Compare(b.Record.Time) })
	if over := len(s.Steps) - mostSteps; over > 0 {
		s.Steps, s.Left = s.Steps[over:], over
	}
	decisions := make([]*audit.Record, len(s.Steps))
	for i := range s.Steps {
		decisions[i] = s.Steps[i].Record
	}
	var err error
	s.Links, s.Whole, err = Find(decisions, newest())
	return s, err
}

// add puts a step before those that are there: the log is read backwards.
func (s *Session) add(records []audit.Record, outcome audit.Outcome) {
	step := Step{Record: &records[0], Outcome: outcome}
	step.Decided = (&audit.Call{Records: records}).Deciding()
	if outcome != "" {
		step.Deeds = Of(Facts(step.Record))
	}
	s.Steps = append(s.Steps, step)
}

// To are the links that lead to a step, and From those that lead on from it.
func (s *Session) To(step *Step) []Link {
	return linksOf(s.Links, func(l *Link) bool { return same(l.To, step.Record) })
}

// From are the links that lead from a step to later ones.
func (s *Session) From(step *Step) []Link {
	return linksOf(s.Links, func(l *Link) bool { return l.From != nil && same(l.From, step.Record) })
}

func linksOf(list []Link, one func(*Link) bool) (out []Link) {
	for i := range list {
		if one(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}
