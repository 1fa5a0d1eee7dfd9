package engine

import (
	"fmt"
	"slices"

	"gate/hook"
	"gate/scopes"
)

// A weighed answer is what counts of one, and what became of the rest.
type weighed struct {
	hook.Verdict
	ignored []string      // what does not count, and why
	would   *hook.Verdict // the answer before a level or an exception took from it
	level   scopes.Level
}

// counts returns what of an answer may count, and says what does not and why.
// What tightens counts, unless settings of sufficient authority say
// otherwise. What loosens needs the authority for it, a sure match and a call
// that was understood.
func (c *call) counts(h due, a Answer) weighed {
	v, ignored := c.entitled(h, a)
	w := weighed{Verdict: v, ignored: ignored, level: h.Level()}
	c.except(h, &w)
	w.limit(h, a.Fault)
	return w
}

// entitled is what an answer may say by authority, match and understanding.
func (c *call) entitled(h due, a Answer) (v hook.Verdict, ignored []string) {
	v = a.Verdict
	drop := func(what, why string) { ignored = append(ignored, fmt.Sprintf("%s: %s", what, why)) }
	if h.Observes(c.ev.Name) {
		if v.Effect() > hook.Pass || len(v.Rewrites)+len(v.Context)+len(v.Consults)+len(v.Env) > 0 {
			drop("all but warnings", "it can only observe")
		}
		v = hook.Verdict{Warnings: slices.Clone(v.Warnings)}
		if a.Fault != nil {
			v.Warnings = append(v.Warnings, hook.Reason{Reason: unanswered(h.Hook, a.Fault)})
		}
		return v, ignored
	}

	if why := c.allowIgnored(h, a); why != "" && withoutAllow(&v) {
		drop("allow", why)
	}
	if why := c.modifyIgnored(h, a); why != "" && len(v.Rewrites) > 0 {
		v.Rewrites = nil
		drop("modify", why)
	}
	if why := envIgnored(h, a); why != "" && len(v.Env) > 0 {
		v.Env = nil
		drop("env", why)
	}
	if why := c.consultIgnored(h, a); why != "" && len(v.Consults) > 0 {
		v.Consults = nil
		drop("consult", why)
	}
	if h.unsure && len(v.Context) > 0 {
		v.Context = nil
		drop("context", perhaps)
	}
	if h.again {
		v.Context = nil // it was given in the first round
	}
	return v, ignored
}

const perhaps = "it is not certain that the hook concerns this call"

func (c *call) allowIgnored(h due, a Answer) string {
	switch {
	case a.Fault != nil:
		return "the answer is faulty"
	case h.unsure:
		return perhaps
	case !h.Authority.MayAllow():
		return fmt.Sprintf("%s authority cannot allow", h.Authority)
	case c.ev.Facts.Opaque && !h.Opaque:
		return "the call was not fully understood"
	}
	return ""
}

func (c *call) modifyIgnored(h due, a Answer) string {
	switch {
	case a.Fault != nil:
		return "the answer is faulty"
	case h.unsure:
		return perhaps
	case h.Source.Tightens:
		return "hooks registered while a session runs only tighten"
	case !h.Source.Loosens():
		if len(a.Verdict.Rewrites) > 0 {
			c.untrusted("rewrites", h.Source)
		}
		return "nobody trusted " + h.Source.Name
	case c.outranked(h.Scope):
		return "a higher scope has rewritten the output"
	}
	return ""
}

// envIgnored says why variables for the agent's shell do not count. They decide
// what later commands mean, so what is registered while a session runs, which
// may only tighten, sets none.
func envIgnored(h due, a Answer) string {
	switch {
	case a.Fault != nil:
		return "the answer is faulty"
	case h.unsure:
		return perhaps
	case h.Source.Tightens:
		return "hooks registered while a session runs only tighten"
	case !h.Source.Loosens():
		return "nobody trusted " + h.Source.Name
	}
	return ""
}

func (c *call) consultIgnored(h due, a Answer) string {
	switch {
	case h.Kind != hook.Rego:
		return "only policies consult"
	case h.unsure:
		return perhaps
	case h.Source.Tightens:
		return "hooks registered while a session runs only tighten"
	case !h.Source.Loosens():
		if len(a.Verdict.Consults) > 0 {
			c.untrusted("consults", h.Source)
		}
		return "nobody trusted " + h.Source.Name
	}
	return ""
}

// AwaitsTrust ends the notices that something of a source waits for a person's
// trust; before it stands the source's name. Whoever decides about many events
// of a session needs to say so only once.
const AwaitsTrust = " are inactive until a person trusts it: gate trust"

// untrusted announces what of a source waits for a person's trust.
func (c *call) untrusted(what string, src *scopes.Source) {
	c.notice(what + " of " + src.Name + AwaitsTrust)
}

// outranked reports that tool output was rewritten by a higher scope. Scopes
// run upwards there, so this happens only when output is judged again: then
// redaction beats restoration.
func (c *call) outranked(s hook.Scope) bool {
	return c.afterTheFact() && slices.ContainsFunc(c.changes, func(ch change) bool { return ch.scope < s })
}

// withoutAllow removes the allow reasons and reports whether there were any.
func withoutAllow(v *hook.Verdict) bool {
	n := len(v.Reasons)
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r hook.Reason) bool { return r.Effect == hook.Allow })
	return len(v.Reasons) < n
}

// lapse takes back every allow: the input that it was given for is gone.
func (c *call) lapse() {
	for i := range c.steps {
		s := &c.steps[i]
		if withoutAllow(&s.Verdict) {
			s.Effect = s.Verdict.Effect()
			if s.Fault != nil {
				s.Effect = max(s.Effect, scopes.Level(s.Level).Cap(faultEffect(s.Hook, s.Fault)))
			}
			s.Ignored = append(s.Ignored, "allow: the input was rewritten afterwards")
		}
	}
}
