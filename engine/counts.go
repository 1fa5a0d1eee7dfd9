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
	spared  string        // what took from it, as [hook.Step] has it
	level   scopes.Level

	confines bool // the call can run confined in the place of a question
}

// counts returns what of an answer may count, and says what does not and why.
// What tightens counts, unless settings of sufficient authority say
// otherwise. What loosens needs the authority for it, a sure match and a call
// that was understood.
func (c *call) counts(h due, a Answer) weighed {
	v, ignored := c.entitled(h, a)
	w := weighed{Verdict: v, ignored: ignored, level: h.Level(), confines: c.confines()}
	c.except(h, &w)
	w.limit(h, a.Fault)
	return w
}

// entitled is what an answer may say by authority, match and understanding.
func (c *call) entitled(h due, a Answer) (v hook.Verdict, ignored []string) {
	v = a.Verdict
	drop := func(what, why string) { ignored = append(ignored, fmt.Sprintf("%s: %s", what, why)) }
	v.Remember = signed(h, v.Remember)
	if h.Observes(c.ev.Name) {
		if v.Effect() > hook.Pass || len(v.Rewrites)+len(v.Context)+len(v.Consults)+len(v.Env)+len(v.Confine) > 0 {
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
	if len(v.Rewrites) > 0 {
		if why := c.modifyIgnored(h, a); why != "" {
			v.Rewrites = nil
			drop("modify", why)
		}
	}
	if len(v.Confine) > 0 {
		if why := c.confineIgnored(h); why != "" {
			v.Confine = nil
			drop("confine", why)
		}
	}
	if len(v.Env) > 0 {
		if why := c.envIgnored(h, a); why != "" {
			v.Env = nil
			drop("env", why)
		}
	}
	if len(v.Consults) > 0 {
		if why := c.consultIgnored(h); why != "" {
			v.Consults = nil
			drop("consult", why)
		}
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

// doubt says why nothing of an answer counts that loosens, whoever gave it.
func (h due) doubt(a Answer) string {
	switch {
	case a.Fault != nil:
		return "the answer is faulty"
	case h.unsure:
		return perhaps
	}
	return ""
}

func (c *call) allowIgnored(h due, a Answer) string {
	switch why := h.doubt(a); {
	case why != "":
		return why
	case !h.Authority.MayAllow():
		return fmt.Sprintf("%s authority cannot allow", h.Authority)
	case h.Library && c.changedBesideConfinement(): // it is about the call as the agent sent it
		return "the call was changed"
	case h.Opaque:
	case c.ev.Facts.Opaque:
		return "the call was not fully understood"
	default:
		if name := stranger(c.ev.Facts); name != "" {
			return "what " + name + " does is not known; a row in programs of the settings says it"
		}
	}
	return ""
}

// stranger names a program of the line that gate does not know, if there is one. Such
// a program tightens nothing, but nobody can say that its call is harmless.
func stranger(f *hook.Facts) string {
	if f.Shell == nil {
		return ""
	}
	for i := range f.Shell.Commands {
		if c := &f.Shell.Commands[i]; !c.Known && c.Program != nil {
			return *c.Program
		}
	}
	return ""
}

func (c *call) modifyIgnored(h due, a Answer) string {
	why := h.doubt(a)
	if why == "" {
		why = c.sourceMayNotRewrite("rewrites", h.Source)
	}
	if why == "" && c.outranked(h.Scope) {
		why = "a higher scope has rewritten the output"
	}
	return why
}

// confineIgnored says why a confinement does not count. It only takes away from what the
// call can do, so a doubt is no reason; but it changes the line, as a rewrite does.
func (c *call) confineIgnored(h due) string {
	if !c.confines() {
		return notBefore
	}
	return c.sourceMayNotRewrite("confinements", h.Source)
}

// confines reports an event before a call, or one about a call that came confined.
func (c *call) confines() bool {
	return c.ev.Name.Canonical() == hook.PreToolUse || c.came.Confined != "" && c.ev.Name.Rewrites() == "tool_input"
}

const notBefore = "a call can be confined on PreToolUse only"

// envIgnored says why variables for the agent's shell do not count: they decide
// what later commands mean.
func (c *call) envIgnored(h due, a Answer) string {
	if why := h.doubt(a); why != "" {
		return why
	}
	return c.sourceMayNotRewrite("variables", h.Source)
}

func (c *call) consultIgnored(h due) string {
	switch {
	case h.Kind != hook.Rego:
		return "only policies consult"
	case h.unsure:
		return perhaps
	}
	return c.sourceMayNot("consults", h.Source)
}

// sourceMayNot says why a source may not have the call run otherwise, and
// announces it where a person could change that. what it would do is a word.
func (c *call) sourceMayNot(what string, src *scopes.Source) string {
	switch {
	case src.Tightens:
		return "hooks registered while a session runs only tighten"
	case !src.Loosens():
		c.untrusted(what, src)
		return "nobody trusted " + src.Name
	}
	return ""
}

// sourceMayNotRewrite says the same of what rewrites, which settings may leave to the
// scope Policy. A hook below it that seems to work and does not must be heard of.
func (c *call) sourceMayNotRewrite(what string, src *scopes.Source) string {
	if why := c.sourceMayNot(what, src); why != "" {
		return why
	}
	settings := c.set.Settings()
	why := settings.HoldsRewrites(src)
	if why != "" {
		c.notice(what + " of " + src.Name + " do not count: " + why)
	}
	return why
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

// lapse takes back every allow, because the input that it was given for is gone, and
// every mark of whoever has not made the whole change: who has is not asked again.
func (c *call) lapse(made []change) {
	for i := range c.steps {
		s := &c.steps[i]
		if slices.ContainsFunc(made, func(ch change) bool { return ch.by != s.Hook }) && len(s.Verdict.Remember) > 0 {
			s.Verdict.Remember = nil
			s.Ignored = append(s.Ignored, "remember: the input was rewritten afterwards")
		}
		if withoutAllow(&s.Verdict) {
			s.Effect = s.Verdict.Effect()
			if s.Fault != nil {
				s.Effect = max(s.Effect, scopes.Level(s.Level).Cap(faultEffect(s.Hook, s.Fault)))
			}
			s.Ignored = append(s.Ignored, "allow: the input was rewritten afterwards")
		}
	}
}
