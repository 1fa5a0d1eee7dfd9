package adapters

import (
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// A claudeAnswer collects one answer. The fields of the JSON are added one
// after the other; an answer without fields is no output at all.
type claudeAnswer struct {
	ev      *hook.Event
	form    claudeForm
	opinion opinion
	top     map[string]any // the object
	own     map[string]any // its hookSpecificOutput
	input   map[string]any // a changed input that goes beside an approval
	changed bool           // a changed input or output is sent
	stderr  string
	status  int
}

// Render answers one event. A Reject is one JSON object in the event's own form
// and, where that blocks, exit 2 with the same reason on standard error; no
// opinion is no output and exit 0.
//
// WorktreeCreate is the exception: gate never registers for it, because a hook
// there has to make the worktree in git's place. Without a path on standard
// output the creation fails whatever the status, so every answer refuses and
// says why.
func (c claude) Render(ev *hook.Event, d *hook.Decision) Answer {
	if ev == nil {
		ev = &hook.Event{}
	}
	if d == nil {
		d = undecided()
	}
	a := claudeAnswer{
		ev: ev, form: claudeFormOf(ev.Name), opinion: settle(d, ev.Name.Moment().Closes),
		top: map[string]any{}, own: map[string]any{},
	}
	if a.opinion.effect == hook.Ask && !c.CanAsk(ev) {
		a.opinion.refuse(nobodyToAsk)
	}
	if ev.Name == moment.WorktreeCreate && a.opinion.effect < hook.Deny {
		a.opinion.refuse("gate does not make worktrees and its hook must not be registered for WorktreeCreate. " + repair)
	}
	a.rewrite(d)
	a.output(d)
	a.verdict()
	a.turn()
	a.texts(d)
	return a.bytes()
}

// rewrite sends a changed input. What the event cannot take is refused and
// shown, so that the call can be made again in that form.
func (a *claudeAnswer) rewrite(d *hook.Decision) {
	if d.Rewrite == nil || a.opinion.effect == hook.Deny {
		return
	}
	input, whole := d.Rewrite.(map[string]any)
	switch {
	case whole && a.ev.Name == hook.PreToolUse:
		a.own["updatedInput"], a.changed = input, true
		return
	case whole && a.ev.Name == hook.PermissionRequest && a.opinion.effect == hook.Allow:
		a.input, a.changed = input, true
		return
	}
	why := "this has to be changed first; send it in this form instead:\n" + showInput(a.ev.ToolInput(), d.Rewrite)
	for _, because := range reasons(d.Changes) {
		why += "\nbecause: " + because
	}
	a.opinion.lines = nil // an allow or a question about what must not run as it is
	a.opinion.refuse(why)
	if a.ev.Name == hook.UserPromptSubmit {
		a.own["suppressOriginalPrompt"] = true // it may be what had to go
	}
}

// output sends a changed tool output. The client drops a value of another shape
// for its own tools without a word, and then the model
// would read what a policy took out: the turn ends instead.
func (a *claudeAnswer) output(d *hook.Decision) {
	if d.Output == nil || a.ev.Name != hook.PostToolUse {
		return
	}
	foreign := strings.HasPrefix(a.ev.Tool(), "mcp__") // free form
	value, fits := d.Output, foreign
	if !foreign {
		value, fits = fitOutput(a.ev.Fields["tool_response"], d.Output)
	}
	if !fits || strictjson.Check(d.Output) != nil {
		const why = "the output had to be changed, and the changed form is none that this tool can have"
		a.opinion.refuse(why)
		a.opinion.halt = orElse(a.opinion.halt, why)
		return
	}
	a.own["updatedToolOutput"], a.changed = value, true
	if foreign {
		a.own["updatedMCPToolOutput"] = value
	}
}

// verdict says the effect.
func (a *claudeAnswer) verdict() {
	switch a.opinion.effect {
	case hook.Deny:
		a.refuse()
	case hook.Ask:
		if a.form.ask == askWord {
			a.own["permissionDecision"] = "ask"
			a.own["permissionDecisionReason"] = a.opinion.reason()
		} else { // the client's own dialog asks: the person should know why
			a.opinion.person = append(a.opinion.lines, a.opinion.person...)
		}
	case hook.Allow:
		a.allow()
	}
}

// allow approves, on the events that have an approval and nowhere else.
func (a *claudeAnswer) allow() {
	switch a.form.refuse {
	case permission:
		a.own["permissionDecision"] = "allow"
		if len(a.opinion.lines) > 0 {
			a.own["permissionDecisionReason"] = a.opinion.reason()
		}
	case behavior:
		decision := map[string]any{"behavior": "allow"}
		if a.input != nil {
			decision["updatedInput"] = a.input
		}
		a.own["decision"] = decision
	}
}

func (a *claudeAnswer) refuse() {
	if a.opinion.halt != "" && a.form.halt == proceedOnly {
		return
	}
	reason := a.opinion.reason()
	switch a.form.refuse {
	case unstoppable:
		a.opinion.person = append(a.opinion.lines, a.opinion.person...)
		return
	case block:
		a.top["decision"], a.top["reason"] = "block", reason
	case permission:
		a.own["permissionDecision"], a.own["permissionDecisionReason"] = "deny", reason
	case behavior:
		decision := map[string]any{"behavior": "deny", "message": reason}
		if a.opinion.halt != "" && a.form.halt == interrupt {
			decision["interrupt"] = true
		}
		a.own["decision"] = decision
	case decline:
		a.own["action"] = "decline"
	case hide:
		a.own["displayContent"] = "[withheld: " + reason + "]"
	case failure:
	}
	if a.form.status {
		a.status, a.stderr = 2, reason
	}
}

// turn ends the turn after a halt.
func (a *claudeAnswer) turn() {
	if a.opinion.halt == "" || a.form.halt != proceedNot && a.form.halt != proceedOnly {
		return
	}
	a.top["continue"] = false
	a.top["stopReason"] = a.opinion.sign([]string{a.opinion.halt}, maxReason)
}

// texts adds what agent and person should read besides the reason. Context goes
// to the person where the agent cannot get any.
func (a *claudeAnswer) texts(d *hook.Decision) {
	var context []string
	for _, c := range d.Context {
		context = appendNew(context, c.Text)
	}
	var changes []string
	if why := reasons(d.Changes); a.changed && len(why) > 0 {
		changes = append([]string{"gate changed this:"}, why...)
	}
	if heard := a.form.context == listens || a.form.context == whenKeptOn && a.status == 2; !heard {
		a.opinion.person = slices.Concat(a.opinion.person, changes, context)
	} else {
		if len(changes) > 0 {
			context = append(context, a.opinion.sign(changes, maxReason))
		}
		if len(context) > 0 {
			text := strictjson.Visible(strings.Join(context, "\n\n"))
			a.own["additionalContext"] = shorten(text, maxContext)
		}
	}
	if len(a.opinion.person) > 0 && a.form.message {
		a.top["systemMessage"] = a.opinion.sign(a.opinion.person, maxMessage)
	}
}

func reasons(changes []hook.Change) []string {
	var lines []string
	for _, c := range changes {
		lines = appendNew(lines, c.Reason)
	}
	return lines
}

func (a *claudeAnswer) bytes() Answer {
	if len(a.own) > 0 {
		a.own["hookEventName"] = string(a.ev.Name)
		a.top["hookSpecificOutput"] = a.own
	}
	answer := Answer{Status: a.status}
	if len(a.top) > 0 {
		answer.Stdout = strictjson.Append(nil, a.top)
	}
	if a.stderr != "" {
		answer.Stderr = []byte(a.stderr + "\n")
	}
	return answer
}
