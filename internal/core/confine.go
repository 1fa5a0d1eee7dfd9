package core

import (
	"gate/engine"
	"gate/hook"
	"gate/internal/confine/record"
)

// A Confinement has calls run confined, and knows those that did.
type Confinement interface {
	engine.Confiner

	// Came has an event about a call that a decision has run confined say which line runs
	// inside. It returns what adds to the event's decision how the call ended.
	Came(ev *hook.Event) func(*hook.Decision)
}

// confined reports, before anything is done about an event, that it may be about a call
// that was to run confined. Too often is no mistake.
func (g *Gate) confined(ev *hook.Event) bool {
	line, _ := ev.ToolInput()["command"].(string)
	return g.State != "" && (record.MayStart(ev.Tool(), line) || afterwards(ev) && record.Knows(record.Dir(g.State), ev.Agent, ev.SessionID(), callOf(ev)))
}

// confines reports that a decision is to have a call run confined, which it says without a
// [Confinement] only by a question.
func confines(d *hook.Decision) bool {
	if d.Effect == hook.Deny {
		return false
	}
	for i := range d.Steps {
		if len(d.Steps[i].Verdict.Confine) > 0 {
			return true
		}
	}
	return false
}
