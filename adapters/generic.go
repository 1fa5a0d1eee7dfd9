package adapters

import (
	"fmt"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// generic speaks gate's own form, for agents without an adapter and for
// programs: the canonical event in, the decision out.
type generic struct{}

func (generic) Name() string { return "generic" }

// Parse reads a canonical event. Only what the event is judged by has to be
// there; whatever is there has its canonical type. The other systems' names
// of events become gate's, and the event as received is kept in Native then.
// An event may have any name, but none that is one of gate's in other letters:
// no policy would be asked about it.
func (generic) Parse(data []byte, event string) (hook.Event, error) {
	ev, err := parse("generic", data, event, false)
	if err != nil {
		return ev, err
	}
	if meant := ev.Name.Meant(); meant != "" {
		return hook.Event{Agent: "generic", Name: meant}, fmt.Errorf("event %s: its name is %q", quote(string(ev.Name)), meant)
	}
	if name := ev.Name.Canonical(); name != ev.Name {
		native := ev.Fields
		ev = ev.With("hook_event_name", string(name))
		ev.Name, ev.Native = name, native
		if err := check(ev.Fields, false); err != nil {
			return hook.Event{Agent: "generic", Name: name}, err
		}
	}
	return ev, nil
}

func (generic) Session(data []byte, event string) hook.Event {
	return session("generic", data, event)
}

func (generic) Named(event string) hook.Event {
	return hook.Event{Agent: "generic", Name: hook.Name(event)}
}

func (generic) CanAsk(ev *hook.Event) bool { return ev != nil && ev.Gate.Interactive }

func (generic) RunsHooks() bool { return false }

func (generic) Closes(n hook.Name) bool { return n.Canonical().Moment().Closes != moment.ClosesNever }

// Deadline is a guess: nothing is known about who waits.
func (generic) Deadline(hook.Name) time.Duration { return time.Minute }

// Environment asks nothing: a program that speaks this form says what it knows
// in the event.
func (generic) Environment(func(string) string) Environment { return Environment{EnvAnswer: true} }

// Render writes the decision as one JSON object. The result is "reject" and the
// status 2 for a deny and also for an ask: a program that can ask a person may
// go on after a yes, one that looks at the status alone stops.
func (generic) Render(ev *hook.Event, d *hook.Decision) Answer {
	if ev == nil {
		ev = &hook.Event{}
	}
	if d == nil {
		d = undecided()
	}
	o := settle(d, ev.Name.Canonical().Moment().Closes)
	result := (&hook.Decision{Effect: o.effect, Rewrite: d.Rewrite}).Result(false)
	doc := map[string]any{
		"id": d.ID, "hook_event_name": string(ev.Name),
		"effect": o.effect.String(), "result": string(result),
		"reasons": reasonDocs(d.Reasons), "warnings": reasonDocs(d.Warnings),
	}
	if o.effect >= hook.Ask {
		doc["message"] = o.reason()
	} else {
		put(doc, "input", d.Rewrite)
	}
	put(doc, "output", d.Output)
	if o.halt != "" {
		doc["halt"] = strictjson.Visible(o.halt)
	}
	if len(d.Context) > 0 {
		contexts := make([]any, len(d.Context))
		for i, c := range d.Context {
			contexts[i] = map[string]any{"text": strictjson.Visible(c.Text), "strategy": string(c.Strategy), "hook": c.Hook}
		}
		doc["context"] = contexts
	}
	env := map[string]any{}
	for name, value := range d.Env {
		if isVariable(name, value) {
			env[name] = value
		}
	}
	if len(env) > 0 {
		doc["env"] = env
	}
	if o.fault != "" {
		doc["fault"] = strictjson.Visible(o.fault)
	}
	if notices := append(passedOver(d), d.Notices...); len(notices) > 0 {
		doc["notices"] = visibleAll(notices)
	}
	a := Answer{Stdout: append(strictjson.Append(nil, doc), '\n')}
	if result == hook.Reject {
		a.Status, a.Stderr = 2, []byte(o.reason()+"\n")
	}
	return a
}

// put adds a tree that policies made. One that cannot be written is left out,
// and settle has made a deny of it.
func put(doc map[string]any, key string, v any) {
	if v != nil && strictjson.Check(v) == nil {
		doc[key] = v
	}
}

func reasonDocs(reasons []hook.Reason) []any {
	docs := make([]any, len(reasons))
	for i, r := range reasons {
		doc := map[string]any{"id": r.ID, "effect": r.Effect.String(), "reason": strictjson.Visible(r.Reason)}
		for key, v := range map[string]string{
			"help": r.Help, "suggestion": r.Suggestion, "hook": r.Hook, "source": r.Source, "pos": r.Pos,
		} {
			if v != "" {
				doc[key] = strictjson.Visible(v)
			}
		}
		if r.Scope != 0 {
			doc["scope"] = r.Scope.String()
		}
		if r.Span != nil {
			doc["span"] = []any{r.Span[0], r.Span[1]}
		}
		docs[i] = doc
	}
	return docs
}

func visibleAll(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = strictjson.Visible(s)
	}
	return out
}
