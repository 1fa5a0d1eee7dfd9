package adapters

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// An opinion is a decision after faults have closed or not: what there is to
// say, still in nobody's format.
type opinion struct {
	effect hook.Effect
	lines  []string // the reasons of the effect, for the agent
	person []string // for the person: help, warnings, notices, a fault that leaves open
	halt   string   // why the turn ends, "" if it does not
	fault  string   // what gate or a closing hook could not do
	id     string
}

const (
	doctorFix   = "gate doctor --fix"
	repair      = "A person can repair this with: " + doctorFix
	repeat      = "The event is at fault and not gate: ask for the same in a shorter or simpler form. If that happens again, a person can look with: gate doctor"
	nobodyToAsk = "a person has to agree first and cannot be asked here:"
)

// settle turns a decision into an opinion.
func settle(d *hook.Decision, c moment.Closing) opinion {
	o := opinion{effect: min(d.Effect, hook.Deny), id: d.ID}
	if d.Halt != nil {
		o.effect = hook.Deny
		o.halt = orElse(d.Halt.Reason, "a policy ended the turn")
	}
	own := d.Fault
	if err := errors.Join(strictjson.Check(d.Rewrite), strictjson.Check(d.Output)); err != nil && own == nil {
		own = &hook.Fault{Kind: hook.FaultInternal, Err: err}
	}
	given := answered(d)
	faults := faulted(d, closes)
	switch {
	case own != nil:
		o.fault = "gate could not decide: " + own.Error()
		o.effect = hook.Deny
		if c != moment.ClosesAlways {
			o.effect = given
		}
	case given < o.effect && len(faults) > 0:
		o.fault = strings.Join(faults, "\n")
		if c == moment.ClosesNever && d.Event.Canonical() != moment.SessionStart && !slices.ContainsFunc(d.Steps, answersLate) {
			o.fault = "" // which prompts and calls tell
		}
		if c == moment.ClosesNever || c == moment.ClosesForHooks && !slices.ContainsFunc(d.Steps, hooksOwn) {
			o.effect = given
		}
	}
	o.explain(d, own)
	if d.Elsewhere != "" && o.effect == hook.Ask {
		o.lines = append(o.lines, d.Elsewhere)
	}
	o.inform(d)
	return o
}

// closes reports a step whose fault closes.
func closes(s *hook.Step) bool { return s.Fault != nil && s.Effect > s.Verdict.Effect() }

// answersLate reports a fault that closes and came up with this event: one of loading
// is there with every event, and the person hears of it once a turn.
func answersLate(s hook.Step) bool { return closes(&s) && s.Fault.Kind != hook.FaultLoad }

// hooksOwn reports a fault of a hook that was there to run and closes. A source
// that could not be loaded is gate's own trouble.
func hooksOwn(s hook.Step) bool {
	return closes(&s) &&
		!slices.Contains([]hook.FaultKind{hook.FaultLoad, hook.FaultInternal, hook.FaultEvent}, s.Fault.Kind)
}

// answered is the effect of the hooks that did answer. An effect that no fault
// accounts for stays, and without all answers an allow counts for nothing.
func answered(d *hook.Decision) hook.Effect {
	if d.Halt != nil {
		return hook.Deny
	}
	effect, accounted := hook.Pass, d.Fault != nil && d.Effect == hook.Deny
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Fault == nil {
			effect = max(effect, s.Effect)
		}
		effect = max(effect, s.Verdict.Effect())
		accounted = accounted || s.Fault != nil && s.Effect == d.Effect && s.Verdict.Effect() < s.Effect
	}
	if len(d.Steps) == 0 {
		for _, r := range d.Reasons {
			if r.Hook != "" {
				effect = max(effect, r.Effect)
			}
		}
	}
	if !accounted {
		effect = d.Effect
	}
	if effect = min(effect, d.Effect, hook.Deny); effect == hook.Allow {
		effect = hook.Pass
	}
	return effect
}

// faulted says which hooks could not answer, of those that which picks.
func faulted(d *hook.Decision, which func(*hook.Step) bool) []string {
	var lines []string
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Fault == nil || !which(s) {
			continue
		}
		who, what := "a hook", "answer"
		if s.Hook != nil {
			who = cmp.Or(s.Hook.Whole, s.Hook.ID)
		}
		if s.Fault.Kind == hook.FaultLoad {
			what = "be loaded"
		}
		lines = appendNew(lines, who+" could not "+what+": "+s.Fault.Error())
	}
	return lines
}

// passedOver says which hooks could not answer and stopped nothing, as far as
// no warning or notice says it.
func passedOver(d *hook.Decision) []string {
	return faulted(d, func(s *hook.Step) bool {
		if s.Effect != hook.Pass {
			return false
		}
		if s.Hook != nil && s.Hook.ID == s.Hook.Source && s.Fault.Kind == hook.FaultLoad {
			return false // which has its notice
		}
		return !slices.ContainsFunc(d.Warnings, func(w hook.Reason) bool {
			return s.Hook != nil && w.Hook == s.Hook.ID && strings.Contains(w.Reason, s.Fault.Error())
		})
	})
}

// explain gathers the reasons of the effect that is left.
func (o *opinion) explain(d *hook.Decision, own *hook.Fault) {
	remedies := remediesOf(d)
	if own != nil {
		remedies = []string{repair}
	}
	if own != nil && own.Kind == hook.FaultEvent {
		remedies = []string{repeat}
	}
	for _, r := range d.Reasons {
		if r.Effect != o.effect || o.effect == hook.Pass {
			continue
		}
		line := r.Reason
		if r.Suggestion != "" {
			line += "\nInstead: " + r.Suggestion
		}
		o.lines = appendNew(o.lines, line)
		switch remedy := toPerson(r.Help); {
		case !slices.Contains(remedies, remedy):
			o.person = appendNew(o.person, r.Help)
		case o.fault == "": // else the reason says it
			o.person = appendNew(o.person, remedy)
		}
	}
	switch {
	case o.effect == hook.Deny:
		o.lines = appendNew(o.lines, o.halt)
		if own != nil && !mentions(o.lines, own.Error()) || len(o.lines) == 0 {
			o.lines = appendNew(o.lines, orElse(o.fault, "a policy denies this"))
		}
		if o.fault != "" {
			for _, remedy := range remedies {
				o.lines = appendNew(o.lines, remedy)
			}
		}
	case o.fault != "":
		o.person = append(append(o.person, o.fault), remedies...)
	}
}

// remediesOf says what repairs the faults that close.
func remediesOf(d *hook.Decision) []string {
	var list []string
	for i := range d.Steps {
		if s := &d.Steps[i]; closes(s) {
			list = appendNew(list, toPerson(cmp.Or(s.Remedy, doctorFix)))
		}
	}
	if len(list) == 0 {
		return []string{repair}
	}
	return list
}

// toPerson tells an agent, or whoever reads its answer, that a person must act.
func toPerson(remedy string) string {
	if command, ok := strings.CutPrefix(remedy, "gate "); ok {
		return "A person can repair this with: gate " + command
	}
	return "A person can repair this: " + remedy
}

// inform gathers what else the person should know.
func (o *opinion) inform(d *hook.Decision) {
	for _, w := range d.Warnings {
		o.person = appendNew(o.person, "warning: "+w.Reason)
		o.person = appendNew(o.person, w.Help)
	}
	for _, f := range passedOver(d) {
		o.person = appendNew(o.person, "warning: "+f)
	}
	for _, n := range d.Notices {
		o.person = appendNew(o.person, n)
	}
}

func mentions(lines []string, text string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, text) })
}

// refuse makes a Reject of whatever the opinion was, because the agent cannot
// express it; why leads the reasons.
func (o *opinion) refuse(why string) {
	o.effect = hook.Deny
	o.lines = append([]string{why}, o.lines...)
}

// reason is the text of the effect: visible characters only, capped, and with
// the decision's id at its end.
func (o *opinion) reason() string { return o.sign(o.lines, maxReason) }

func (o *opinion) sign(lines []string, limit int) string {
	end := " (gate)"
	if o.id != "" {
		end = " (gate " + shorten(strictjson.Visible(o.id), 40) + ")"
	}
	return shorten(strictjson.Visible(strings.Join(lines, "\n")), limit-len(end)) + end
}

func undecided() *hook.Decision {
	return &hook.Decision{Effect: hook.Deny, Fault: hook.Faultf(hook.FaultInternal, "there is no decision")}
}

// appendNew appends line unless it is empty or there already.
func appendNew(lines []string, line string) []string {
	if strings.TrimSpace(line) == "" || slices.Contains(lines, line) {
		return lines
	}
	return append(lines, line)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
