package adapters

import (
	"errors"

	"gate/hook"
	"gate/internal/strictjson"
)

// A Ruling is what follows from a decision where nobody can be asked, in no
// agent's format: for programs of ours that answer in a protocol of their own.
type Ruling struct {
	Result  hook.Result
	Reason  string         // of a Reject: visible characters, with the decision's id at its end; else ""
	Input   map[string]any // of a ModifyInput: the whole input; else nil
	Output  any            // the whole changed tool output; nil: unchanged, or Rejected
	Context []string       // for the agent, visible characters
	Person  []string       // for the person: help, warnings, notices, faults that leave open
}

// Rule returns what follows from d for ev. Faults close as they do for every
// agent, and what cannot be written as JSON is a Reject.
func Rule(ev *hook.Event, d *hook.Decision) Ruling {
	if d == nil {
		d = undecided()
	}
	o := settle(d, ev.Name.Canonical().Moment().Closes)
	if o.effect == hook.Ask {
		o.refuse(nobodyToAsk)
	}
	if err := errors.Join(strictjson.Check(d.Rewrite), strictjson.Check(d.Output)); err != nil && o.effect < hook.Deny {
		o.refuse("what a policy made of this cannot be written: " + err.Error())
	}
	r := Ruling{Result: (&hook.Decision{Effect: o.effect, Rewrite: d.Rewrite}).Result(false), Person: o.person}
	for _, c := range d.Context {
		r.Context = append(r.Context, strictjson.Visible(c.Text))
	}
	switch input, ok := d.Rewrite.(map[string]any); {
	case r.Result == hook.Reject:
		r.Reason = o.reason()
		return r
	case ok:
		r.Input = input
	case d.Rewrite != nil:
		o.refuse("the input of a tool must be an object")
		r.Result, r.Reason = hook.Reject, o.reason()
		return r
	}
	r.Output = d.Output
	return r
}
