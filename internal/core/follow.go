package core

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/origin"
	"gate/internal/session"
)

// follow keeps what begins and ends with an event: skills, sub-agents, the
// session. A skill whose hooks cannot be kept must not start.
func (g *Gate) follow(ctx context.Context, s *Session, ev *hook.Event, d *hook.Decision, rejected bool) {
	var started []session.Registration
	if kind, name := starting(ev, d); g.Beyond != nil && name != "" && !rejected { // else it does not start
		started = g.Beyond.Started(kind, name, ev, d)
	}
	if len(started) > 0 {
		err := s.update(ctx, func(m *session.Memory) (err error) {
			for _, r := range started {
				if _, err = m.Register(r, ev.Gate.Now); err != nil {
					return fmt.Errorf("hooks of %s cannot be registered: %w", r.Name, err)
				}
			}
			return nil
		})
		if err != nil {
			*d = Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
		}
	}
	s.finish(ctx, ev, d, rejected)
}

// finish forgets what ends with an event.
func (s *Session) finish(ctx context.Context, ev *hook.Event, d *hook.Decision, rejected bool) {
	if end := ending(ev, rejected); end != nil && s.kept.Exists() {
		if err := s.update(ctx, func(m *session.Memory) error { end(m); return nil }); err != nil {
			d.Notices = append(d.Notices, "hooks hold on: "+err.Error())
		}
	}
}

// keepMoves notes what a call leaves in files, for the calls after it, and what became of a
// call. One that leaves a secret of which they could not be told must not run. Of texts alone a person is told:
// programs that run them are judged, though by less.
func (g *Gate) keepMoves(ctx context.Context, ev *hook.Event, d *hook.Decision, rejected bool) {
	ledger, kept := g.origins()
	if !kept || d.Facts == nil {
		return
	}
	ctx, cancel := waiting(ctx)
	defer cancel()
	if how := ended(ev); how != "" {
		if !leaves(d.Facts) {
			return
		}
		if err := ledger.Settle(ctx, keyOf(ev), callOf(ev), how, ev.Gate.Now); err != nil {
			d.Notices = append(d.Notices, "what this call wrote over counts on: "+err.Error())
			Redact(d)
		}
		return
	}
	if rejected || ev.Name.Canonical() != hook.PreToolUse || len(d.Facts.Moves) == 0 {
		return
	}
	if err := ledger.Add(ctx, keyOf(ev), callOf(ev), d.Facts.Moves, ev.Gate.Now); err != nil {
		if !slices.ContainsFunc(d.Facts.Moves, func(m origin.Move) bool { return m.Secret != "" || !m.Written }) {
			d.Notices = append(d.Notices, "nobody will know that the agent wrote these files: "+err.Error())
			return
		}
		*d = Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
}

// ended is what an event says of the end of its call, "" for one that says nothing.
func ended(ev *hook.Event) session.End {
	switch ev.Name.Canonical() {
	case hook.PostToolUse:
		return session.Ran
	case hook.PostToolUseFailure:
		return session.Failed
	case moment.PermissionDenied:
		return session.Refused
	}
	return ""
}

// leaves reports a call that may have left something in a file.
func leaves(f *hook.Facts) bool {
	return len(f.Moves) > 0 || slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool {
		_, writes := e.Is.(*hook.FSWrite)
		return writes
	})
}

// callOf is the agent's name for a call, "" where it gives none. A call without one can
// never be known to have run.
func callOf(ev *hook.Event) string { return ev.Text("tool_use_id") }

// ending returns what an event ends, nil for nothing. A sub-agent that may not
// stop goes on.
func ending(ev *hook.Event, rejected bool) func(*session.Memory) {
	switch ev.Name.Canonical() {
	case hook.SessionEnd:
		return (*session.Memory).EndSession
	case hook.SubagentStop:
		if rejected {
			return nil
		}
		return func(m *session.Memory) { m.EndAgent(ev.Text("agent_id"), ev.Text("agent_type")) }
	case hook.PostToolUseFailure, moment.PermissionDenied:
		if id := ev.Text("tool_use_id"); ev.Tool() == "Skill" && id != "" {
			return func(m *session.Memory) { m.EndCall(id) }
		}
	}
	return nil
}

// starting says which skill or type of sub-agent an event starts, "" for none.
func starting(ev *hook.Event, d *hook.Decision) (kind session.Kind, name string) {
	switch ev.Name.Canonical() {
	case hook.PreToolUse:
		input, changed := d.Inside().(map[string]any)
		if !changed {
			input = ev.ToolInput()
		}
		switch ev.Tool() {
		case "Skill":
			name, _ = input["skill"].(string)
			if name == "" {
				name, _ = input["command"].(string)
			}
		case "SlashCommand":
			line, _ := input["command"].(string)
			name, _, _ = strings.Cut(line, " ")
		}
		return session.Skill, strings.TrimPrefix(name, "/")
	case moment.UserPromptExpansion:
		if kind := ev.Text("expansion_type"); kind == "" || kind == "slash_command" {
			return session.Skill, strings.TrimPrefix(ev.Text("command_name"), "/")
		}
	case hook.SubagentStart:
		return session.Agent, ev.Text("agent_type")
	}
	return "", ""
}
