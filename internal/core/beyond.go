package core

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/hostfs"
	"gate/internal/session"
	"gate/matcher"
)

// Beyond is what follows from decisions and only a program can do that reads
// policy files and runs handlers.
type Beyond interface {
	// Started finds the hooks of a skill or a type of sub-agent that starts with
	// an event. What is wrong with them becomes a notice of the decision.
	Started(kind session.Kind, name string, ev *hook.Event, d *hook.Decision) []session.Registration

	// Late adds to a decision what handlers have said since earlier calls of the
	// session went on without them.
	Late(ev *hook.Event, d *hook.Decision)

	// Offer adds to a decision what orchestrators have left for the session in
	// directories that a person granted them.
	Offer(ctx context.Context, s *Session, ev *hook.Event, d *hook.Decision)

	// Notes are what a person should know besides.
	Notes(ev *hook.Event, d *hook.Decision) []string
}

// beyond reports, before anything is done about an event, that it takes a
// [Beyond]: a session begins, where people are told much and what is old is
// removed, its memory cannot be read, the call was to run confined, hooks that are registered in it may be about the
// event, or a text waits for tools that this program cannot tell.
func (g *Gate) beyond(s *Session, ev *hook.Event) bool {
	if ev.Name.Canonical() == hook.SessionStart || s.err != nil || g.confined(ev) {
		return true
	}
	return s.Known != nil && (Listens(s.Known, ev) || slices.ContainsFunc(s.Known.Injections, g.untold))
}

// Listens reports whether hooks that are registered in a session may be about an event.
// Too often is no mistake.
func Listens(m *session.Memory, ev *hook.Event) bool {
	return slices.ContainsFunc(m.Registered, func(r session.Registration) bool {
		return r.Concerns(ev.Text("agent_id"), ev.Text("agent_type")) &&
			(len(r.Listeners) == 0 || slices.ContainsFunc(r.Listeners, func(l session.Listener) bool { return listens(&l, ev) }))
	})
}

func listens(l *session.Listener, ev *hook.Event) bool {
	if !slices.ContainsFunc(l.Events, func(n hook.Name) bool { return n.Canonical() == ev.Name.Canonical() }) {
		return false
	}
	m, err := matcher.Compile(l.Matcher, nil)
	if err != nil || m.All() {
		return true
	}
	subject, matched, missing := matcher.Subject(ev)
	return missing || !matched || m.Match(subject) != matcher.No ||
		slices.ContainsFunc(ev.Parts, func(part hook.Call) bool { return m.Match(part.Tool) != matcher.No })
}

// untold reports a text for tools that take a [matcher.Backtracker] which g lacks.
func (g *Gate) untold(in session.Injection) bool {
	_, err := matcher.Compile(in.Matcher, g.backtracks)
	return errors.Is(err, matcher.ErrBacktracks)
}

// Injectors are the directories in which orchestrators leave texts for agents of the
// project, as a person granted them.
func (g *Gate) Injectors() ([]consent.Injector, error) {
	if g.State == "" || g.Project == "" {
		return nil, nil
	}
	all, err := g.Grants().Injectors()
	if len(all) == 0 {
		return nil, err
	}
	project := g.Project
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	return slices.DeleteFunc(all, func(in consent.Injector) bool { return in.Project != filepath.Clean(project) }), err
}

// offered reports whether something may wait in one of them, or is to be said of one.
func (g *Gate) offered(ev *hook.Event) bool {
	dirs, err := g.Injectors()
	return err != nil || slices.ContainsFunc(dirs, func(in consent.Injector) bool {
		return in.Holds() != nil || session.Offered(in.Dir, ev.SessionID())
	})
}

// beyondOnce reports, before anything follows from a decision, that it takes a
// [Beyond]: a hook could not answer, which the other program may do better, a
// person may have approved the call, it is to run confined, a skill or sub-agent starts, or there is
// something late to be said.
func (g *Gate) beyondOnce(ev *hook.Event, d *hook.Decision) bool {
	if d.Fault != nil || d.Effect == hook.Ask && g.Set.Settings().Approvals.Enabled || confines(d) {
		return true
	}
	for i := range d.Steps {
		if d.Steps[i].Fault != nil {
			return true
		}
	}
	if _, name := starting(ev, d); name != "" {
		return true
	}
	if heard(ev, d, false) && g.offered(ev) {
		return true
	}
	if ev.SessionID() == "" {
		return false
	}
	return !hostfs.Missing(filepath.Join(g.Late(), keyOf(ev).Name()))
}
