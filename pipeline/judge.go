package pipeline

import (
	"context"
	"errors"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// A Question is what a person has to agree to before a tool runs.
type Question struct {
	Call     Call
	Input    map[string]any // what the tool would get
	Reason   string         // why somebody is asked, visible characters
	Rule     string         // the permission rule that asks, "" if hooks do
	Decision *hook.Decision // of the PreToolUse hooks; not to be changed
}

// judge decides about an event with the memory of the session, and has then follow
// from the decision, which says whether a call does not run. What comes with the
// decision besides, such as a text that waited, is in the result.
func (p *Pipeline) judge(ctx context.Context, ev *hook.Event, result *Result, then func(*hook.Decision) bool) hook.Decision {
	at, heard, id := len(result.Decisions), -1, ""
	follow := func(d *hook.Decision) bool {
		if p.o.Decided != nil {
			p.o.Decided(ev, d)
		}
		result.take(d)
		heard, id = len(d.Context), d.ID
		return then(d)
	}
	d := p.gate(ctx, p.o.Memory, ev, follow)
	switch {
	case heard < 0: // it ended before
		follow(&d)
	case d.ID != id: // what was to follow cannot be kept, so it closes
		then(&d)
	}
	result.Decisions[at] = d
	result.hear(d.Context[min(heard, len(d.Context)):])
	return d
}

// follows returns what follows from a decision, and whether a person has to agree.
func follows(ev *hook.Event, d *hook.Decision) (ruling adapters.Ruling, question bool) {
	if d.Effect != hook.Ask || d.Halt != nil || d.Fault != nil {
		return adapters.Rule(ev, d), false
	}
	agreed := *d
	agreed.Effect = hook.Pass
	return adapters.Rule(ev, &agreed), true
}

// ask puts the call to a person, after the hooks of PermissionRequest. said is
// why.
func (r *run) ask(ctx context.Context, d *hook.Decision, said permission) error {
	if err := r.enter(ctx, StageApproval); err != nil {
		return err
	}
	if r.o.Approve == nil {
		return ruled(rejection(r.call.Tool, StageApproval, "a person has to agree first and cannot be asked here: "+said.why, d), said.rule)
	}
	if err := r.mayAsk(ctx); err != nil {
		return err
	}
	type answer struct {
		yes bool
		err error
	}
	got := make(chan answer, 1)
	go func() { // a terminal that nobody sits at must not hold a call that was cancelled
		var a answer
		a.err = safely(func() (err error) {
			a.yes, err = r.o.Approve(ctx, Question{
				Call: r.call, Input: clone(r.input).(map[string]any), Reason: said.why, Rule: said.rule, Decision: d,
			})
			return err
		})
		got <- a
	}()
	select {
	case <-ctx.Done():
		return r.cancelled(ctx, StageApproval)
	case a := <-got:
		if a.err == nil && a.yes {
			return nil
		}
		e := rejection(r.call.Tool, StageApproval, "the person did not agree to this call; ask them how to go on", d)
		var rejected *RejectedError
		if errors.As(e, &rejected) {
			rejected.Err = a.err
		}
		return ruled(e, said.rule)
	}
}

// mayAsk has the hooks of PermissionRequest say no before a person is bothered.
// What they allow does not answer for the person, and a rewrite comes too late.
func (r *run) mayAsk(ctx context.Context) error {
	ev := r.event(hook.PermissionRequest, nil)
	d := r.judge(ctx, &ev, r.result, runs)
	if err := r.cancelled(ctx, StageApproval); err != nil {
		return err
	}
	ruling, _ := follows(&ev, &d)
	r.result.Person = append(r.result.Person, ruling.Person...)
	switch {
	case ruling.Result == hook.Reject:
		return rejection(r.call.Tool, StageApproval, ruling.Reason, &d)
	case ruling.Result == hook.ModifyInput:
		return rejection(r.call.Tool, StageApproval, "a hook of PermissionRequest changed the input after it was judged", &d)
	}
	return nil
}

// runs follows where no call is to be stopped.
func runs(*hook.Decision) bool { return false }

// rejection is the error about a call or event that may not go on. Where a hook
// ends the turn, it is a HaltError.
func rejection(of string, s Stage, reason string, d *hook.Decision) error {
	if signed := "(gate " + d.ID + ")"; !strings.HasSuffix(reason, signed) {
		reason += " " + signed
	}
	e := &RejectedError{Of: of, Stage: s, ID: d.ID, Reason: reason}
	for _, given := range d.Reasons {
		if given.Effect == d.Effect {
			e.Reasons = append(e.Reasons, given)
		}
	}
	if d.Halt != nil {
		return &HaltError{ID: d.ID, Reason: strictjson.Visible(d.Halt.Reason), Err: e}
	}
	return e
}

// ruled names the permission rule that a rejection comes from, if one is.
func ruled(err error, rule string) error {
	var e *RejectedError
	if errors.As(err, &e) && rule != "" {
		e.Rule, e.Reasons = rule, nil
	}
	return err
}

// take adds what a decision has for the model.
func (r *Result) take(d *hook.Decision) {
	r.Decisions = append(r.Decisions, *d)
	r.hear(d.Context)
	for key, value := range d.Env {
		if r.Env == nil {
			r.Env = map[string]string{}
		}
		r.Env[key] = value
	}
}

// hear adds what is for the model.
func (r *Result) hear(list []hook.Context) {
	for _, c := range list {
		c.Text = strictjson.Visible(c.Text)
		r.Context = append(r.Context, c)
	}
}
