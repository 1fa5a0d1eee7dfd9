package engine

import (
	"fmt"
	"slices"

	"gate/hook"
)

// judgeParts judges the calls that this one amounts to, such as the changes of
// several files in one patch, as if each had been made by itself: a policy about
// one file has seen each of them then. The parts only tighten: an allow of one
// says nothing about the others, and a change of one has no place in the whole.
func (c *call) judgeParts() {
	if len(c.came.Parts) == 0 || c.rejected() {
		return
	}
	if len(c.changes) > 0 {
		c.reject("this has to be changed first, and it is several calls in one; make them one by one")
		return
	}
	for i, part := range c.came.Parts {
		if c.rejected() {
			return
		}
		ev := c.came.With("tool_input", part.Input)
		ev = ev.With("tool_name", part.Tool)
		ev.Parts = nil
		p := c.call(c.ctx, ev)
		for _, tier := range c.set.For(ev.Name) {
			p.run(tier)
		}
		if wanted := p.wanted(); len(wanted) > 0 && !p.rejected() {
			p.unconfined(wanted, "it is several calls in one", p.ev.Confined == "")
		}
		c.add(p)
		if len(p.changes) > 0 && !c.rejected() {
			c.reject(fmt.Sprintf("part %d of this, %s, has to be changed first; make it a call of its own", i+1, part.Tool))
		}
	}
}

// add takes over what a part's hooks said, less what would loosen the whole.
func (c *call) add(p *call) {
	for _, s := range p.steps {
		if s.Effect == hook.Allow {
			s.Effect = hook.Pass
		}
		s.Verdict.Reasons = slices.DeleteFunc(slices.Clone(s.Verdict.Reasons), func(r hook.Reason) bool { return r.Effect == hook.Allow })
		s.Verdict.Env, s.Verdict.Rewrites = nil, nil
		s.Verdict.Confine = nil // it was asked about instead
		c.steps = append(c.steps, s)
		c.effect = max(c.effect, s.Effect)
	}
	for _, n := range p.notices {
		c.notice(n)
	}
	if c.fault == nil {
		c.fault = p.fault
	}
}
