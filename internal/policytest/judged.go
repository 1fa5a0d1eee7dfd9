package policytest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// A Judged is an event that a test judges.
type Judged struct {
	Event    *hook.Event // with its facts; not to be changed
	At       string      // file:line of the test or case
	Policies []string    // packages of the policies that the test is about, directly or by what they share
}

// Judged returns the events that gate.event made in the runs of a suite until
// now, once for each file with tests, and after them those of its cases. It ends
// early with ctx.
func (s *Suite) Judged(ctx context.Context) []Judged {
	var list []Judged
	about := map[string][]string{}
	for _, j := range s.events.judged() {
		file, _, _ := strings.Cut(j.At, ":")
		if f := s.files[file]; f == nil || !f.test {
			continue
		}
		if _, ok := about[file]; !ok {
			needed := s.closure([]string{file})
			about[file] = s.policies(func(h *hook.Hook) bool { return slices.Contains(needed, h.File) })
		}
		j.Policies = about[file]
		list = append(list, j)
	}
	for i := range s.cases {
		if ctx.Err() != nil {
			break
		}
		list = append(list, s.judgedBy(ctx, &s.cases[i])...)
	}
	return list
}

// judgedBy returns the events of a case. One whose world makes no sense has
// failed already.
func (s *Suite) judgedBy(ctx context.Context, c *Case) (list []Judged) {
	p, err := s.pipeline(c)
	if err != nil {
		return nil
	}
	about := s.policies(func(h *hook.Hook) bool { return s.source.Library || beside(h.File, c) })
	if c.Session != nil {
		for m, err := range s.moments(ctx, p, c) {
			if err == nil {
				m.event.Facts = m.decision.Facts
				list = append(list, Judged{Event: m.event, At: fmt.Sprintf("%s:%d", c.File, m.at), Policies: about})
			}
		}
		return list
	}
	for _, call := range c.calls() {
		ev, w, err := p.event(call)
		if err != nil {
			continue
		}
		ev.Facts = s.events.factsOf(w, ev)
		list = append(list, Judged{Event: ev, At: fmt.Sprintf("%s:%d", c.File, c.Line), Policies: about})
	}
	return list
}

// policies returns the packages of the tested policies that one is true of.
func (s *Suite) policies(one func(*hook.Hook) bool) (list []string) {
	for _, h := range s.source.Hooks {
		if h.Kind == hook.Rego && one(h) {
			list = append(list, h.ID)
		}
	}
	return list
}

// judged returns the events that were made, without the policies, in the order
// of the calls that made them.
func (e *events) judged() (list []Judged) {
	type call struct {
		file  string
		row   int
		spec  string
		event *hook.Event
	}
	var calls []call
	e.mu.Lock()
	defer e.mu.Unlock()
	for spec, made := range e.known {
		if made.err != nil {
			continue
		}
		for file, row := range maps.All(made.rows) {
			calls = append(calls, call{file, row, spec, made.event})
		}
	}
	slices.SortFunc(calls, func(a, b call) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.row-b.row, strings.Compare(a.spec, b.spec))
	})
	for _, c := range calls {
		list = append(list, Judged{Event: c.event, At: fmt.Sprintf("%s:%d", c.file, c.row)})
	}
	return list
}
