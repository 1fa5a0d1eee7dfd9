package core

import (
	"context"

	"gate/hook"
	"gate/internal/seen"
)

// seen is what is kept of the session of an event that this machine was shown; nil where
// nothing is kept.
func (g *Gate) seen(ev *hook.Event) *seen.Seen {
	if g.State == "" || g.Past {
		return nil
	}
	s := g.Seen().Of(keyOf(ev))
	settings := g.Set.Settings()
	s.Trusts = settings.TrustsServer
	return s
}

// facts are those of an event. They say what of its call the session was shown before.
func (g *Gate) facts(ev *hook.Event) *hook.Facts {
	f := g.Reader.Of(ev)
	if ev.Name.Canonical() != hook.PreToolUse {
		return f
	}
	if kept := g.seen(ev); kept != nil {
		known := *ev
		known.Facts = f // which has words that the call puts together
		AddFlow(f, flowsOf(kept.Find(&known)))
	}
	return f
}

// flowsOf are hits in the words of policies, for [AddFlow].
func flowsOf(hits []seen.Hit) []hook.Flow {
	flows := make([]hook.Flow, len(hits))
	for i, h := range hits {
		flows[i] = hook.Flow{Origin: h.Origin, What: &h.What, Via: []string{}, How: h.How}
		if h.Host != "" {
			flows[i].Host = &h.Host
		}
		if h.Call != "" {
			flows[i].Call = &h.Call
		}
	}
	return flows
}

// keepSeen notes what the output of a call shows, and the hosts that a prompt names. The
// call was made already, so that a note which cannot be taken is only told.
func (g *Gate) keepSeen(ctx context.Context, ev *hook.Event, d *hook.Decision) {
	kept := g.seen(ev)
	if kept == nil {
		return
	}
	ctx, cancel := waiting(ctx)
	defer cancel()
	if err := kept.Keep(ctx, ev, d.Facts); err != nil {
		d.Notices = append(d.Notices, "gate does not remember what this showed: "+err.Error())
		Redact(d)
	}
}
