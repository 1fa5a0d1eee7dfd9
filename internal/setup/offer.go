package setup

import (
	"context"
	"errors"
	"fmt"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/load"
	"gate/internal/session"
	"gate/matcher"
)

// Offer adds what orchestrators have left for the session, each text once. A file
// that cannot be told stays where it is, and the session hears of it once.
func (g *Gate) Offer(ctx context.Context, s *core.Session, ev *hook.Event, d *hook.Decision) {
	dirs, err := g.Injectors()
	var mistakes []string
	wrong := func(err error) { mistakes = append(mistakes, "no text of an injector is told: "+err.Error()) }
	if err != nil {
		wrong(err)
	}
	for _, in := range dirs {
		if err := in.Holds(); err != nil {
			wrong(err)
			continue
		}
		offers, errs := session.Offers(in.Dir, ev.SessionID())
		for i := range offers {
			if err := g.tell(ctx, s, ev, d, in, &offers[i]); err != nil {
				wrong(fmt.Errorf("%s: %w", offers[i].Place(), err))
			}
		}
		for _, err := range errs {
			wrong(err)
		}
	}
	g.once(ctx, s, d, mistakes)
}

// tell gives the agent one text if the event brings it.
func (g *Gate) tell(ctx context.Context, s *core.Session, ev *hook.Event, d *hook.Decision, in consent.Injector, o *session.Offer) error {
	fits, err := fitsTool(o.Matcher, ev.Tool())
	switch {
	case err != nil:
		return fmt.Errorf("tool_matcher: %w", err)
	case !o.Expires.IsZero() && !o.Expires.After(ev.Gate.Now):
		return errors.New("it has expired")
	case !fits || len(o.Text) > core.Room(d):
		return nil // another event brings it
	}
	taken, repeated := false, false
	err = s.Update(ctx, func(m *session.Memory) (err error) {
		if repeated = o.Sequence > 0 && o.Sequence <= m.Given(in.Dir); repeated {
			return nil
		}
		if taken, err = o.Take(); taken && o.Sequence > 0 {
			m.Give(in.Dir, o.Sequence)
		}
		return err
	})
	if taken { // also where its number could not be kept: it is nowhere else any more
		core.Inject(d, o.Text, o.Strategy)
	}
	if err == nil && repeated {
		err = fmt.Errorf("its sequence %d is not higher than the last one that this session was told", o.Sequence)
	}
	return err
}

// fitsTool reports whether a call of a tool brings a text. The next turn brings all.
func fitsTool(pattern, tool string) (bool, error) {
	gates, ever, err := load.MassgenMatcher(pattern)
	switch {
	case err != nil:
		return false, err
	case !ever:
		return false, fmt.Errorf("%q matches no tool", pattern)
	case tool == "":
		return true, nil
	}
	m, err := matcher.Compile(gates, backtracking.Compile)
	return err == nil && m.Match(tool) == matcher.Yes, err
}

// once adds notices that the session has not had yet.
func (g *Gate) once(ctx context.Context, s *core.Session, d *hook.Decision, notices []string) {
	if len(notices) == 0 {
		return
	}
	err := s.Update(ctx, func(m *session.Memory) error {
		for _, n := range notices {
			if !m.Noticed(n) {
				m.Notice(n)
				d.Notices = append(d.Notices, n)
			}
		}
		return nil
	})
	if err != nil { // then it is said each time
		d.Notices = append(d.Notices, notices...)
	}
}
