package adapters

import (
	"strings"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// means are what an agent's answer to one event can express.
type means uint16

const (
	rejects  means = 1 << iota // a refusal stops something, or keeps it from the agent
	asks                       // there is a word for a question, and it holds
	dialog                     // the agent is about to ask a person anyway: no opinion
	approves                   // there is a word for going ahead without asking
	rewrites                   // a changed input is taken
	replaces                   // a changed output is taken, as text
	reshapes                   // a changed output is taken in the shape of the tool's own
	halts                      // the turn can be ended beside the refusal
	ends                       // the event is the end of a turn, which a refusal takes back
	hears                      // context reaches the agent
	tells                      // a message reaches the person
	unknown                    // nobody has heard of this event
)

// A reply is a decision on its way into an agent's words. Whatever this event's
// answer cannot express is stricter in it already, and what is left can be said.
type reply struct {
	opinion
	agent   *agent
	word    eventWord
	ev      *hook.Event
	input   map[string]any // the whole changed input, in the agent's words; nil is unchanged
	output  any            // the whole changed output; nil is unchanged
	changes []string       // why gate changed something, for the agent
	context string         // for the agent, visible characters
	message string         // for the person, the same
}

// compose makes a reply of a decision.
func (a *agent) compose(ev *hook.Event, d *hook.Decision) *reply {
	if ev == nil {
		ev = &hook.Event{}
	}
	if d == nil {
		d = undecided()
	}
	w := a.wordOf(ev)
	r := &reply{agent: a, word: w, ev: ev, opinion: settle(d, w.own().Moment().Closes)}
	if r.effect == hook.Ask && !a.CanAsk(ev) {
		r.refuse(nobodyToAsk)
	}
	r.rewrite(d)
	r.redact(d)
	r.texts(d)
	return r
}

func (r *reply) can(m means) bool { return r.word.can&m != 0 }

// rewrite finds the words for a changed input. What has none is refused and
// shown, so that the call can be made again in that form.
func (r *reply) rewrite(d *hook.Decision) {
	if d.Rewrite == nil || r.effect == hook.Deny {
		return
	}
	after, whole := d.Rewrite.(map[string]any)
	// A question is about the call as it was made, and an approval of what was
	// changed is no opinion about the rest.
	if whole && r.can(rewrites) && r.effect != hook.Ask && strictjson.Check(after) == nil {
		if input, ok := r.agent.native(r.ev, after); ok {
			r.input, r.changes = input, reasons(d.Changes)
			return
		}
	}
	why := "this has to be changed first; send it in this form instead:\n" + showInput(r.ev.ToolInput(), d.Rewrite)
	for _, because := range reasons(d.Changes) {
		why += "\nbecause: " + because
	}
	r.lines = nil // an allow or a question about what must not run as it is
	r.refuse(why)
}

// redact finds the words for a changed output. Where there are none the turn
// ends, and the agent must not read on.
func (r *reply) redact(d *hook.Decision) {
	if d.Output == nil || r.word.own() != hook.PostToolUse {
		return
	}
	if strictjson.Check(d.Output) == nil {
		switch {
		case r.can(replaces):
			r.output, r.changes = outputText(d.Output), reasons(d.Changes)
			return
		case r.can(reshapes):
			if value, ok := fitOutput(r.ev.Fields["tool_response"], d.Output); ok {
				r.output, r.changes = value, reasons(d.Changes)
				return
			}
		}
	}
	const why = "the output had to be changed, and this agent cannot be given another"
	r.refuse(why)
	r.halt = orElse(r.halt, why)
}

// outputText is what of a tool's output the model reads.
func outputText(v any) string {
	if doc, ok := v.(map[string]any); ok {
		for _, key := range []string{"llmContent", "textResultForLlm", "output", "stdout"} {
			if s, ok := doc[key].(string); ok {
				return s
			}
		}
	}
	return showValue(v)
}

// texts gathers what agent and person read besides the reason. A reason that
// stops nothing here still reaches who can be told, and beside one that does,
// context is part of it.
func (r *reply) texts(d *hook.Decision) {
	var context []string
	for _, c := range d.Context {
		context = appendNew(context, c.Text)
	}
	person := r.person
	switch {
	case r.effect == hook.Deny && !r.can(rejects) && r.can(hears):
		context = append([]string{r.reason()}, context...)
	case r.effect == hook.Deny && !r.can(rejects), r.effect == hook.Ask && r.can(dialog):
		person = append(r.lines, person...)
	}
	if len(r.changes) > 0 {
		why := append([]string{"gate changed this:"}, r.changes...)
		if r.can(hears) {
			context = append(context, r.sign(why, maxReason))
		} else {
			person = append(person, why...)
		}
	}
	switch {
	case r.refused():
		r.lines = append(r.lines, context...)
	case len(context) > 0 && r.can(hears):
		r.context = shorten(strictjson.Visible(strings.Join(context, "\n\n")), maxContext)
	default:
		person = append(person, context...)
	}
	if len(person) > 0 && r.can(tells) {
		r.message = r.sign(person, maxMessage)
	}
}

// refused reports a refusal that the answer has to say. At the end of a turn it
// would begin another, so a turn that is to end gets none.
func (r *reply) refused() bool {
	return r.effect == hook.Deny && r.can(rejects) && (r.halt == "" || !r.can(ends))
}

// stops reports that the answer has to end the turn besides.
func (r *reply) stops() bool { return r.halt != "" && r.can(halts) }

// stopReason is the text for a turn that ends.
func (r *reply) stopReason() string { return r.sign([]string{r.halt}, maxReason) }

// byStatus is the answer that has no JSON: exit 2 with the reason blocks, and
// exit 0 without a word does not.
func (r *reply) byStatus() Answer {
	if !r.refused() {
		return Answer{}
	}
	return Answer{Status: 2, Stderr: []byte(r.reason() + "\n")}
}

// answerOf writes an answer of one object, or none at all if it is empty.
func answerOf(doc map[string]any) Answer {
	if len(doc) == 0 {
		return Answer{}
	}
	return Answer{Stdout: strictjson.Append(nil, doc)}
}

// block says a refusal as Claude Code does.
func (r *reply) block(doc, own map[string]any) {
	switch r.word.own() {
	case hook.PreToolUse:
		own["permissionDecision"], own["permissionDecisionReason"] = "deny", r.reason()
	case hook.PermissionRequest:
		own["decision"] = map[string]any{"behavior": "deny", "message": r.reason()}
	default:
		doc["decision"], doc["reason"] = "block", r.reason()
	}
}

// besides adds what is said beside the verdict, as Claude Code's descendants do.
func (r *reply) besides(doc, own map[string]any) Answer {
	if r.stops() {
		doc["continue"], doc["stopReason"] = false, r.stopReason()
	}
	return r.told(doc, own)
}

// told adds what the agent and the person are told in any case.
func (r *reply) told(doc, own map[string]any) Answer {
	if r.context != "" {
		own["additionalContext"] = r.context
	}
	if r.message != "" {
		doc["systemMessage"] = r.message
	}
	r.own(doc, own)
	return answerOf(doc)
}

// own wraps fields that belong to the event, as Claude Code's descendants do.
func (r *reply) own(doc, own map[string]any) {
	if len(own) > 0 {
		own["hookEventName"] = r.word.native
		doc["hookSpecificOutput"] = own
	}
}

// outputAndContext is a changed output for an agent that takes one text in its
// place, with the context that would have gone beside it. It is never empty:
// that would be no answer.
func (r *reply) outputAndContext() string {
	text, _ := r.output.(string)
	if r.context != "" {
		text += "\n\n" + r.context
		r.context = ""
	}
	if strings.TrimSpace(text) == "" {
		text = "(nothing is left of the output)"
	}
	return strictjson.Visible(text)
}

func (a *agent) CanAsk(ev *hook.Event) bool {
	if ev == nil || !ev.Gate.Interactive || ev.Text("permission_mode") == "dontAsk" {
		return false
	}
	w := a.wordOf(ev)
	return w.can&(asks|dialog) != 0
}

func (a *agent) RunsHooks() bool { return a.hosts }

func (a *agent) Closes(n hook.Name) bool {
	w := a.word(string(n))
	return w.can&rejects != 0 && w.own().Moment().Closes != moment.ClosesNever
}

func (a *agent) Deadline(n hook.Name) time.Duration {
	if w := a.word(string(n)); w.wait > 0 {
		return w.wait
	}
	return a.wait
}

func (a *agent) Environment(getenv func(string) string) Environment {
	e := Environment{Attended: a.attends}
	for _, name := range a.project {
		if e.ProjectDir = getenv(name); e.ProjectDir != "" {
			break
		}
	}
	return e
}

func (a *agent) Render(ev *hook.Event, d *hook.Decision) Answer {
	r := a.compose(ev, d)
	if r.can(unknown) {
		return r.byStatus()
	}
	return a.render(r)
}
