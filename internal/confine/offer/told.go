package offer

import (
	"fmt"
	"strings"

	"gate/hook"
	"gate/internal/confine/record"
)

// Came has an event about a call that a decision has run confined say which line runs
// inside. It returns what adds to the decision how the call ended.
func (m Machine) Came(ev *hook.Event) func(*hook.Decision) {
	t, ok := m.inside(ev)
	return func(d *hook.Decision) { m.tell(ev, d, t, ok) }
}

// inside returns what is known of the call of an event; ok is false for one that was not to
// run confined.
func (m Machine) inside(ev *hook.Event) (t record.Told, ok bool) {
	line, is := ev.ToolInput()["command"].(string)
	if !is || m.State == "" || !record.MayStart(ev.Tool(), line) {
		return t, false
	}
	t, ok = record.OfLine(record.Dir(m.State), line, ev.Agent, ev.SessionID(), callOf(ev))
	if !ok || t.Ran && !afterwards(ev) { // it runs once: the line starts nothing any more
		return t, false
	}
	input := map[string]any{}
	for key, value := range ev.ToolInput() {
		input[key] = value
	}
	input["command"] = t.Line
	*ev = ev.With("tool_input", input)
	ev.Confined = t.Profile.Name
	return t, true
}

// tell says after a confined call how it ran: to the agent what was refused, and to
// everybody that another line ran.
func (m Machine) tell(ev *hook.Event, d *hook.Decision, t record.Told, came bool) {
	if !afterwards(ev) || m.State == "" {
		return
	}
	if !came {
		t, was := record.OfCall(record.Dir(m.State), ev.Agent, ev.SessionID(), callOf(ev))
		if was && !t.Ran {
			text := fmt.Sprintf("this call was to run confined by the profile %s, and another line ran in its place, which nothing confined: a hook beside gate, or the agent, has put it there", t.Profile.Name)
			d.Warnings = append(d.Warnings, hook.Reason{ID: confinedBy, Hook: confinedBy, Source: "gate", Scope: hook.Policy, Authority: hook.Managed, Reason: text})
			d.Context = append(d.Context, hook.Context{Text: text, Strategy: hook.ToolResult, Hook: confinedBy})
		}
		return
	}
	if t.End != nil {
		t.End.Refused = append(t.End.Refused, refused(ev, t)...)
		if d.Confined != nil {
			d.Confined.Refused = t.End.Refused
		}
	}
	if text := told(t); text != "" {
		d.Context = append(d.Context, hook.Context{Text: text, Strategy: hook.ToolResult, Hook: confinedBy})
	}
}

func afterwards(ev *hook.Event) bool {
	name := ev.Name.Canonical()
	return name == hook.PostToolUse || name == hook.PostToolUseFailure
}

// callOf is the agent's name of a call, "" where it gives none.
func callOf(ev *hook.Event) string { return ev.Text("tool_use_id") }

// confinedBy stands where a text has the name of its hook.
const confinedBy = "gate.confine"

// told is one sentence about a confined call that did not do all that it tried; "" where
// nothing is to be said.
func told(t record.Told) string {
	e := t.End
	if e == nil {
		return ""
	}
	if e.Nothing != "" {
		return fmt.Sprintf("nothing ran: this call was to run confined by the profile %s, and %s", t.Profile.Name, e.Nothing)
	}
	left := ""
	if len(e.Planted) > 0 {
		left = "; it left what starts by itself or steers an agent, which was set aside: " + strings.Join(e.Planted, ", ")
	}
	if len(e.Git) > 0 {
		left += "; of what git did, " + strings.Join(e.Git, "; ")
	}
	switch {
	case len(e.Refused) > 0:
		return fmt.Sprintf("this ran confined by the profile %s, which refused %s", t.Profile.Name, strings.Join(e.Refused, ", ")) + left
	case e.Status != 0:
		return fmt.Sprintf("this ran confined by the profile %s and ended with status %d: it can read %s and the system, change %s, and reach %s",
			t.Profile.Name, e.Status, orNothing([]string{t.Place.Project}), orNothing(t.Profile.Write), orNothing(t.Profile.Hosts)) + left
	case left != "":
		return fmt.Sprintf("this ran confined by the profile %s", t.Profile.Name) + left
	}
	return ""
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}
