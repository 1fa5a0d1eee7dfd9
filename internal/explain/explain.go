// Package explain works out why an event was decided as it was: which text of
// the call mattered, which conditions of which rule were true and by which
// facts, why other policies were silent, and which smallest change would have
// led to another decision.
//
// It is pure: it asks the engine and the policies that it is given, in process,
// and neither prints nor reads files. It is for people who wait and must not
// stand in the way of a call. What it finds changes no decision, and is nothing
// to tell an agent. Start with [Explainer.Of].
package explain

import (
	"context"
	"time"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// Definition, Condition and Value say what became of one definition of a rule.
type (
	Definition = rego.Definition
	Condition  = rego.Condition
	Value      = rego.Value
)

// An Explainer holds what explanations ask. Set and Decide must belong
// together. It is safe for concurrent use if its functions are.
type Explainer struct {
	// Set holds the hooks that were asked.
	Set *scopes.Set
	// Decide decides about an event without facts. It is asked hundreds of
	// times, so it must have no side effects: no handlers, no approvals. Where
	// the decision depended on them no change is looked for.
	Decide func(context.Context, hook.Event) hook.Decision
	// Policy explains one policy, such as the Explain of a rego.Evaluator. Nil
	// leaves expressions and values out.
	Policy func(context.Context, *hook.Hook, *hook.Event) ([]Definition, error)
	// Facts works out the facts of a rewritten event; nil: those of the decision
	// are taken.
	Facts func(*hook.Event) *hook.Facts
	// Read returns the text of a script that the call runs; nil: none is read.
	Read func(file string) (string, error)
	// Project is the project's root, "" if there is none.
	Project string
	// Home is what "~" means in the call's texts, "" if it is not known.
	Home string
	// Changes limits how many changed events are decided about; zero looks for
	// none.
	Changes int
}

// An Explanation says why one event was decided as it was.
type Explanation struct {
	Event    hook.Event // as it came, with its facts
	Decision hook.Decision
	Causes   []Cause  // of the decision's reasons, in their order
	Warnings []Cause  // of its warnings
	Policies []Policy // every hook of the set, in running order
	Nearest  *Nearest // of a call that passed: what came nearest to objecting
	Changes  []Change // the smallest changes that lead to a lower effect
	Searched int      // how many changed events were decided about
	Cut      bool     // time or number ran out before the search was over
}

// A Cause is one reason of the decision and what it rests on.
type Cause struct {
	hook.Reason
	Rule  *Definition // the definition that gave it; nil where there is no policy to ask
	Uses  []Use       // the facts that it read
	Texts []Text      // the texts of the call that it is about, from the outside in
}

// A Policy is one hook and what became of it.
type Policy struct {
	*hook.Hook
	Matched string // yes, no, unsure: its METADATA against this event
	Failed  string // the condition of its METADATA that did not hold, as it is written
	WhyNot  string // why it did not run; "" if it did
	Steps   []hook.Step
	Rules   []Definition // of a policy that ran without a fault
	Err     error        // its rules could not be looked into
}

// Nearest is the rule that came nearest to objecting.
type Nearest struct {
	Policy string
	Rule   Definition
}

// Of explains a decision about ev, which need not have facts. It keeps to ctx:
// what there is no time for is left out.
func (x *Explainer) Of(ctx context.Context, ev hook.Event, d hook.Decision) Explanation {
	if ev.Facts == nil {
		ev.Facts = x.factsOf(&ev, d.Facts, len(d.Changes) > 0)
	}
	e := Explanation{Event: ev, Decision: d}
	e.Policies = x.policies(&ev, &d)
	x.ask(ctx, &ev, e.Policies, true)
	for _, r := range d.Reasons {
		e.Causes = append(e.Causes, x.cause(ctx, r, &e))
	}
	for _, r := range d.Warnings {
		e.Warnings = append(e.Warnings, x.cause(ctx, r, &e))
	}
	if x.Changes > 0 && d.Fault == nil && d.Effect >= hook.Ask {
		half, cancel := halved(ctx)
		x.search(half, &e)
		cancel()
	}
	x.ask(ctx, &ev, e.Policies, false)
	if d.Effect <= hook.Allow {
		e.Nearest = nearest(e.Policies)
	}
	return e
}

// halved leaves half of the time for what comes next.
func halved(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
}

func (x *Explainer) factsOf(ev *hook.Event, given *hook.Facts, changed bool) *hook.Facts {
	if x.Facts != nil && (changed || given == nil) {
		return x.Facts(ev)
	}
	return given
}

// cause finds the definition that gave a reason. A policy may have spoken about
// the event as another one rewrote it.
func (x *Explainer) cause(ctx context.Context, r hook.Reason, e *Explanation) Cause {
	c := Cause{Reason: r}
	ev := e.Event
	for i := range e.Policies {
		p := &e.Policies[i]
		if p.ID != r.Hook || p.Source != r.Source {
			continue
		}
		if c.Rule = gives(p.Rules, r); c.Rule == nil && x.Policy != nil {
			c.Rule, ev = x.later(ctx, p, r, e)
		}
	}
	if c.Rule != nil {
		c.Uses = usesOf(c.Rule, ev.Facts)
	}
	c.Texts = x.texts(&ev, c.Uses, r.Span)
	return c
}

// later looks for the definition in what the event was rewritten to.
func (x *Explainer) later(ctx context.Context, p *Policy, r hook.Reason, e *Explanation) (*Definition, hook.Event) {
	for _, change := range e.Decision.Changes {
		ev := e.Event.With(e.Event.Name.Rewrites(), change.After)
		ev.Facts = x.factsOf(&ev, e.Decision.Facts, true)
		rules, err := x.Policy(ctx, p.Hook, &ev)
		if err != nil {
			return nil, e.Event
		}
		if d := gives(rules, r); d != nil {
			return d, ev
		}
	}
	return nil, e.Event
}

// gives finds the definition whose member is a reason: by its text, or the one
// definition of that rule that was met where the text was changed since.
func gives(rules []Definition, r hook.Reason) *Definition {
	var only *Definition
	met := 0
	for i := range rules {
		d := &rules[i]
		if !d.Met || !speaks(d.Rule, r.Effect) {
			continue
		}
		if textOf(d.Value) == r.Reason {
			return d
		}
		only = d
		met++
	}
	if met == 1 {
		return only
	}
	return nil
}

// speaks reports whether members of a rule can become reasons of an effect;
// a level may have lowered it.
func speaks(rule string, e hook.Effect) bool {
	switch rule {
	case "halt", "deny":
		return e != hook.Allow
	case "ask":
		return e == hook.Ask || e == hook.Pass
	case "allow":
		return e == hook.Allow
	case "warn":
		return e == hook.Pass
	}
	return false
}

func textOf(member any) string {
	if m, ok := member.(map[string]any); ok {
		member = m["reason"]
	}
	s, _ := member.(string)
	return s
}
