package core

import (
	"context"
	"path/filepath"
	"slices"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/hostfs"
	"gate/internal/session"
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
// removed, its memory cannot be read, or hooks or texts in it wait for the event.
func (g *Gate) beyond(s *Session, ev *hook.Event) bool {
	return ev.Name.Canonical() == hook.SessionStart || s.err != nil ||
		s.Known != nil && len(s.Known.Registered)+len(s.Known.Injections) > 0
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
// person may have approved the call, a skill or sub-agent starts, or there is
// something late to be said.
func (g *Gate) beyondOnce(ev *hook.Event, d *hook.Decision) bool {
	if d.Fault != nil || d.Effect == hook.Ask && g.Set.Settings().Approvals.Enabled {
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
