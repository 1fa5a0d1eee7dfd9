package policytest

import (
	"gate/facts"
	"gate/hook"
	"gate/internal/origin"
	"gate/internal/session"
)

// realFacts works out facts in a world, where gate is installed in its usual
// places.
func realFacts(w World, ev *hook.Event) *hook.Facts { return readerIn(w).Of(ev) }

// readerIn works out facts in a world.
func readerIn(w World) *facts.Reader {
	var own []string
	for _, dir := range []string{"/etc/gate", w.Home + "/.config/gate", w.Home + "/.local/state/gate"} {
		own = append(own, dir, dir+"/**")
	}
	machine := facts.World{
		Home: w.Home, User: w.User, OS: w.OS, Project: w.Project, Getenv: w.Getenv, Files: w, Programs: w.Programs,
		Own: func() []facts.Place {
			return []facts.Place{{Class: "self", What: "gate's own directory", Patterns: own}}
		},
	}
	if w.origins != nil {
		machine.Ledger = func(agent, id string) origin.Ledger {
			return w.origins.Open(session.Key{Agent: agent, Session: id})
		}
	}
	return facts.New(machine)
}
