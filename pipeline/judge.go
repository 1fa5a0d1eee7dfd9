package pipeline

import (
	"context"
	"errors"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/matcher"
	"gate/matcher/backtracking"
	"gate/session"
	"gate/strictjson"
)

// A Question is what a person has to agree to before a tool runs.
type Question struct {
	Call     Call
	Input    map[string]any // what the tool would get
	Reason   string         // why somebody is asked, visible characters
	Rule     string         // the permission rule that asks, "" if hooks do
	Decision *hook.Decision // of the PreToolUse hooks; not to be changed
}

// decide asks the engine.
func (p *Pipeline) decide(ctx context.Context, ev hook.Event) hook.Decision {
	d := p.engine.Decide(ctx, ev)
	if p.o.Decided != nil {
		p.o.Decided(&ev, &d)
	}
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
	r.begin(&ev)
	d := r.decide(ctx, ev)
	r.end(&ev, &d, false)
	r.result.take(&d)
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
	for _, c := range d.Context {
		c.Text = strictjson.Visible(c.Text)
		r.Context = append(r.Context, c)
	}
	for key, value := range d.Env {
		if r.Env == nil {
			r.Env = map[string]string{}
		}
		r.Env[key] = value
	}
}

// begin counts an event in the memory of the session, and gives it that memory.
func (p *Pipeline) begin(ev *hook.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.Begin(ev, ev.Gate.Now)
	ev.Memory = p.memory.Document(ev)
}

// end remembers what was decided about an event.
func (p *Pipeline) end(ev *hook.Event, d *hook.Decision, rejected bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.End(ev, d, rejected)
}

func (p *Pipeline) done(_ *hook.Event, h *hook.Hook) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.memory.Done(h)
}

// injector stands where a text has the name of its hook.
const injector = "gate.inject"

// room is how many bytes of text a result takes besides what hooks say.
const room = 9_000

// deliver adds what waits for a call of the tool, or with no tool all that
// waits. A sub-agent is somebody else.
func (p *Pipeline) deliver(to *Result, tool, agentID string) {
	if agentID != "" {
		return
	}
	left := room
	for _, c := range to.Context {
		left -= len(c.Text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.memory.Take(p.o.Now(), left, func(in *session.Injection) bool {
		m, err := matcher.Compile(in.Matcher, backtracking.Compile)
		return tool == "" || err == nil && m.Match(tool) == matcher.Yes
	}) {
		to.Context = append(to.Context, hook.Context{Text: strictjson.Visible(in.Text), Strategy: in.Strategy, Hook: injector})
	}
}
