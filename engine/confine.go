package engine

import (
	"context"
	"fmt"
	"slices"

	"gate/hook"
)

// A Confiner has calls run so that they can do no more than a profile lets them. It must
// be safe for concurrent use.
type Confiner interface {
	// Plan returns the name of the profile by which the event's call would run. Of several
	// wanted profiles the call can do what all of them let it do. Where the call cannot
	// run so it returns why, as a part of a sentence.
	Plan(ctx context.Context, ev *hook.Event, profiles []string) (profile, why string)

	// Keep sees to it that the call can run so once, and returns the input that starts it.
	Keep(ctx context.Context, ev *hook.Event) (input map[string]any, err error)
}

// WithConfiner gives what has calls run confined. Without it a call that is to be
// confined is asked about.
func WithConfiner(c Confiner) Option {
	return func(e *Engine) error { e.confinement = confined{c}; return nil }
}

// A confinement is what an engine does about calls that are to run confined. It stands
// apart, so that a program without a [Confiner] links none of it.
type confinement interface {
	// settle has a settled call run confined. It reports whether the call is to be judged
	// again, or why it cannot run so.
	settle(c *call, wanted []want) (again bool, why string)

	// conclude adds what follows for a call that runs confined.
	conclude(c *call)

	// keep has a call that goes on start confined, and reports whether it can.
	keep(c *call, d *hook.Decision) bool
}

// confined is the confinement of an engine that has a Confiner.
type confined struct{ by Confiner }

// confiner is the id of gate's own steps and changes about confinement.
const confiner = "gate.confine"

// confine has a settled call run confined where a hook wants it and none rejects it. It
// reports whether the call is to be judged again, as one that is confined.
func (c *call) confine() bool {
	wanted := c.wanted()
	if len(wanted) == 0 || c.rejected() || c.effect == hook.Deny {
		return false
	}
	again, why := false, "nothing here confines calls"
	if c.confinement != nil {
		again, why = c.confinement.settle(c, wanted)
	}
	if why != "" {
		before := c.ev.Confined == c.came.Confined // nobody has judged it as a confined one
		c.isConfined(c.came.Confined)
		c.unconfined(wanted, why, before)
	}
	return again
}

func (e confined) settle(c *call, wanted []want) (again bool, why string) {
	var profiles []string
	for _, w := range wanted {
		if !slices.Contains(profiles, w.Profile) {
			profiles = append(profiles, w.Profile)
		}
	}
	name, why := e.plan(c, profiles)
	if why != "" || name == c.ev.Confined {
		return false, why
	}
	c.isConfined(name)
	input := c.ev.Fields["tool_input"]
	by := own(confiner)
	c.changes = slices.DeleteFunc(c.changes, func(ch change) bool { return ch.by.ID == confiner }) // by another profile, in a round before
	reason := fmt.Sprintf("it runs confined by the profile %s: %s", name, wanted[0].Reason)
	c.changes = append(c.changes, change{hook.Change{Hook: by.ID, Reason: reason, Before: input, After: input}, by, by.Scope})
	return true, "" // what was allowed stays so: the call only can do less
}

// isConfined notes by which profile the call runs.
func (c *call) isConfined(name string) {
	if c.ev.Confined == name {
		return
	}
	c.ev.Confined = name
	facts := *c.ev.Facts
	facts.Confined = name
	c.ev.Facts = &facts
}

// changedBesideConfinement reports that somebody changed what the call does. Confinement
// does not: the same input runs, and can do less.
func (c *call) changedBesideConfinement() bool {
	return slices.ContainsFunc(c.changes, func(ch change) bool { return ch.by.ID != confiner })
}

// A want is what a hook wants of how the call runs.
type want struct {
	hook.Confinement
	by *hook.Hook
}

// wanted is what all hooks want of how the call runs. An event that came confined stays
// so.
func (c *call) wanted() (list []want) {
	for i := range c.steps {
		for _, w := range c.steps[i].Verdict.Confine {
			by := c.steps[i].Hook
			said := func(x want) bool {
				return x.by == by && x.Profile == w.Profile && x.Reason == w.Reason && (x.Asked == nil) == (w.Asked == nil)
			}
			if !slices.ContainsFunc(list, said) { // it was asked in several rounds
				list = append(list, want{w, by})
			}
		}
	}
	if len(list) > 0 && c.came.Confined != "" {
		list = append(list, want{hook.Confinement{Profile: c.came.Confined}, nil})
	}
	return list
}

func (e confined) plan(c *call, profiles []string) (name, why string) {
	if len(c.came.Parts) > 0 {
		return "", "it is several calls in one"
	}
	type answer struct{ name, why string }
	ev := c.ev
	a, fault := guard(c.ctx, c.inline, func() (a answer) {
		a.name, a.why = e.by.Plan(c.ctx, &ev, profiles)
		return a
	})
	if fault != nil {
		return "", fault.Error()
	}
	return a.name, a.why
}

// unconfined asks about a call that cannot run as it is wanted to. Rules that let the
// call go on otherwise ask nobody, unless somebody has already judged it as a confined
// one: it may be allowed for that.
func (c *call) unconfined(wanted []want, why string, before bool) {
	for _, w := range wanted {
		if w.Spared && before {
			continue
		}
		r := hook.Reason{Effect: hook.Ask, Reason: w.Reason}
		if w.Asked != nil {
			r = *w.Asked
		}
		if w.by != nil { // otherwise it came confined, and somebody wants more of it
			r.Reason += "; it cannot run confined: " + why
			c.say(w.by, r)
		}
	}
}

// say records a reason of gate's own that follows from what a hook wants. It stands where
// that hook does: whoever may switch the hook off ends this, too.
func (c *call) say(by *hook.Hook, r hook.Reason) {
	h := own(confiner)
	h.Scope, h.Authority, h.Library = by.Scope, by.Authority, by.Library
	c.record(h, weighed{Verdict: hook.Verdict{Reasons: []hook.Reason{r}}}, Answer{})
}

// conclude has a confined call go ahead, where a level says so and no other policy asks.
// Otherwise it says how the call runs once somebody approves it.
func (e confined) conclude(c *call) {
	wanted := c.wanted()
	if c.ev.Confined == "" || len(wanted) == 0 || c.rejected() || c.effect == hook.Deny {
		return
	}
	asks := c.effect == hook.Ask
	for _, w := range wanted {
		switch {
		case w.by == nil:
		case asks:
			c.say(w.by, hook.Reason{Effect: hook.Ask, Reason: fmt.Sprintf("once approved it runs confined by the profile %s: %s", c.ev.Confined, shown(c.ev.Fields["tool_input"]))})
			return
		case w.Asked != nil:
			r := *w.Asked
			r.Effect, r.Reason = hook.Allow, fmt.Sprintf("%s; it runs confined by the profile %s", r.Reason, c.ev.Confined)
			r.Help, r.Suggestion = "", "" // they are for the question, which nobody is asked
			c.say(w.by, r)
		}
	}
}

// keep has a call that goes on start confined, and reports whether it can. Nothing of the
// decision changes after that.
func (c *call) keep(d *hook.Decision) bool {
	if c.ev.Confined == "" || d.Effect == hook.Deny || c.fault != nil {
		return true
	}
	if c.afterTheFact() || c.ev.Confined == c.came.Confined && len(c.changes) == 0 {
		d.Confined = &hook.Confined{Profile: c.ev.Confined, Input: c.ev.Fields["tool_input"]}
		return true // it ran so, or starts as it came
	}
	if c.confinement == nil {
		c.unkept("nothing here confines calls")
		return false
	}
	return c.confinement.keep(c, d)
}

// unkept asks about a call that was to start confined and cannot.
func (c *call) unkept(why string) {
	c.steps = slices.DeleteFunc(c.steps, func(s hook.Step) bool { return s.Hook.ID == confiner })
	c.changes = slices.DeleteFunc(c.changes, func(ch change) bool { return ch.by.ID == confiner })
	c.isConfined("")
	c.effect = hook.Pass
	for i := range c.steps {
		c.effect = max(c.effect, c.steps[i].Effect)
	}
	c.unconfined(c.wanted(), why, false)
}

func (e confined) keep(c *call, d *hook.Decision) bool {
	inside := c.ev.Fields["tool_input"]
	type answer struct {
		input map[string]any
		err   error
	}
	ev := c.ev
	a, fault := guard(c.ctx, c.inline, func() (a answer) {
		a.input, a.err = e.by.Keep(c.ctx, &ev)
		return a
	})
	if fault != nil {
		a.err = fault
	}
	if a.err == nil {
		a.err = c.valid("tool_input", a.input)
	}
	if a.err != nil {
		c.unkept(a.err.Error())
		return false
	}
	d.Confined = &hook.Confined{Profile: c.ev.Confined, Input: inside}
	d.Rewrite = a.input
	if d.Effect != hook.Ask { // what the agent shows, and what its own rules are about, is a line that says nothing
		d.Notices = append(d.Notices, fmt.Sprintf("this runs confined by the profile %s: %s", c.ev.Confined, shown(inside)))
	}
	if last := len(d.Changes) - 1; last >= 0 && d.Changes[last].Hook == confiner {
		d.Changes[last].After = a.input
	}
	return true
}
