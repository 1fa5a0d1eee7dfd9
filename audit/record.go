package audit

import (
	"strings"
	"time"

	"gate/hook"
	"gate/strictjson"
)

// A Record is one decision as the log keeps it.
type Record struct {
	Time    time.Time
	ID      string // the decision's
	Agent   string
	Session string // as the agent calls it
	Event   hook.Name
	Tool    string
	Dir     string // the agent's working directory
	Call    string // what was asked for, in one line; see Summary
	Effect  hook.Effect
	Result  hook.Result
	Reasons []Reason
	Changed []string // hooks whose rewrite took effect
	Faults  []string // who could not answer, and why
	Took    time.Duration
}

// A Reason is one reason of a decision as the log keeps it.
type Reason struct {
	ID     string
	Effect hook.Effect
	Reason string
	Source string
	Pos    string // file:line
}

// Of returns the record of a decision about ev; result is what followed for
// the call.
func Of(ev *hook.Event, d *hook.Decision, result hook.Result) Record {
	r := Record{
		Time: ev.Gate.Now, ID: d.ID, Agent: ev.Agent, Session: ev.SessionID(), Event: ev.Name, Tool: ev.Tool(),
		Dir: ev.Dir(), Call: Summary(ev), Effect: d.Effect, Result: result, Took: d.Took,
	}
	for _, why := range d.Reasons {
		r.Reasons = append(r.Reasons, Reason{why.ID, why.Effect, why.Reason, why.Source, why.Pos})
	}
	for _, c := range d.Changes {
		r.Changed = append(r.Changed, c.Hook)
	}
	if d.Fault != nil {
		r.Faults = append(r.Faults, "gate: "+d.Fault.Error())
	}
	for _, s := range d.Steps {
		if s.Fault != nil && s.Fault != d.Fault && s.Hook != nil {
			r.Faults = append(r.Faults, s.Hook.ID+": "+s.Fault.Error())
		}
	}
	return r
}

const (
	maxCall   = 300 // code points of a call
	maxText   = 500 // of any other text
	maxDetail = 20  // reasons, changes and faults, each
)

// Summary says in one short line, without secrets, what a tool call is about:
// its command line, its path or its address, and never the content that it
// carries. It is "" for other events.
func Summary(ev *hook.Event) string {
	input := ev.ToolInput()
	for _, field := range []string{"command", "cmd", "file_path", "path", "notebook_path", "url", "pattern"} {
		if text, ok := input[field].(string); ok && text != "" {
			if field == "url" {
				text, _, _ = strings.Cut(text, "?")
			}
			return short(text, maxCall)
		}
	}
	return ""
}

// encode returns the record as one line of JSON. Control characters and line
// breaks are escaped, whatever the event carried (threat model 94).
func (r Record) encode() []byte {
	doc := map[string]any{
		"v": 1, "time": stamp(r.Time), "id": clip(r.ID, maxText), "agent": clip(r.Agent, maxText),
		"session": short(r.Session, maxText), "event": clip(string(r.Event), maxText), "tool": clip(r.Tool, maxText),
		"cwd": short(r.Dir, maxText), "call": short(r.Call, maxCall),
		"effect": r.Effect.String(), "result": string(r.Result), "took_us": r.Took.Microseconds(),
	}
	if len(r.Reasons) > 0 {
		reasons := make([]any, 0, len(r.Reasons))
		for _, why := range first(r.Reasons) {
			reasons = append(reasons, map[string]any{
				"id": clip(why.ID, maxText), "effect": why.Effect.String(), "reason": short(why.Reason, maxText),
				"source": clip(why.Source, maxText), "pos": clip(why.Pos, maxText),
			})
		}
		doc["reasons"] = reasons
	}
	if len(r.Changed) > 0 {
		doc["changed_by"] = texts(r.Changed)
	}
	if len(r.Faults) > 0 {
		doc["faults"] = texts(r.Faults)
	}
	return strictjson.Append(nil, doc)
}

func first[T any](list []T) []T { return list[:min(len(list), maxDetail)] }

func texts(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range first(list) {
		out = append(out, short(s, maxText))
	}
	return out
}

// short redacts a text and cuts it to a number of code points. What lies far
// behind the cut is not looked at: a call may hold megabytes.
func short(s string, most int) string {
	return clip(Redact(ahead(s, 16*most)), most)
}

// clip cuts a text to a number of code points.
func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
