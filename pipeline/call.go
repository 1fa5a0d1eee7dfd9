package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// A run is one call under way.
type run struct {
	*Pipeline
	call   Call
	tool   *tool
	input  map[string]any
	result *Result
	before hook.Event // PreToolUse, as it was judged
}

// enter begins a stage, unless the call was cancelled.
func (r *run) enter(ctx context.Context, s Stage) error {
	if err := r.cancelled(ctx, s); err != nil {
		return err
	}
	if r.o.Trace != nil {
		r.o.Trace(r.call, s)
	}
	return nil
}

func (r *run) cancelled(ctx context.Context, s Stage) error {
	return cancelled(ctx, r.call.Tool, s)
}

// through takes the call through its stages.
func (r *run) through(ctx context.Context) error {
	if err := r.enter(ctx, StageEnabled); err != nil {
		return err
	}
	if r.tool = r.tools[r.call.Tool]; r.tool == nil {
		return &UnknownToolError{Tool: strictjson.Visible(r.call.Tool), Known: r.names()}
	}
	if !r.tool.enabled() {
		return &DisabledError{Tool: r.call.Tool}
	}
	if err := r.enter(ctx, StageValidation); err != nil {
		return err
	}
	if err := r.read(); err != nil {
		return &InvalidInputError{Of: r.call.Tool, Err: err}
	}
	if err := r.permit(ctx); err != nil {
		return err
	}
	return r.execute(ctx)
}

// read reads the input and holds it against the schema.
func (r *run) read() (err error) {
	r.input = map[string]any{}
	if len(r.call.Input) > 0 {
		if r.input, err = strictjson.Object(r.call.Input, strictjson.Limits{Bytes: adapters.MaxEvent}); err != nil {
			return err
		}
	}
	return r.tool.validate(r.input)
}

// permit has the hooks and then the lists judge the call, and a person where
// one of them asks. It leaves the input as hooks made it.
func (r *run) permit(ctx context.Context) error {
	if err := r.enter(ctx, StageHooks); err != nil {
		return err
	}
	r.before = r.event(hook.PreToolUse, nil)
	var err error
	r.judge(ctx, &r.before, r.result, func(d *hook.Decision) bool {
		err = r.agreed(ctx, d)
		return err != nil
	})
	return err
}

// agreed reports who does not agree to the call, nil if everybody does.
func (r *run) agreed(ctx context.Context, d *hook.Decision) error {
	if err := r.cancelled(ctx, StageHooks); err != nil {
		return err // half a judgement is none
	}
	ruling, question := follows(&r.before, d)
	r.result.Person = append(r.result.Person, ruling.Person...)
	if ruling.Result == hook.Reject {
		return rejection(r.call.Tool, StageHooks, ruling.Reason, d)
	}
	if ruling.Input != nil {
		r.input = ruling.Input
	}
	if err := r.enter(ctx, StagePermission); err != nil {
		return err
	}
	judged := r.before.With("tool_input", r.input)
	judged.Facts = d.Facts
	said := r.rules.judge(&judged)
	switch {
	case said.effect == hook.Deny:
		return ruled(rejection(r.call.Tool, StagePermission, said.why+" denies this", d), said.rule)
	case said.effect == hook.Ask:
		said.why += " asks about this"
	case said.effect == hook.Pass && d.Effect < hook.Allow: // and why says it
	case question:
		said = permission{why: strictjson.Visible(d.Reason())}
	default:
		return nil
	}
	return r.ask(ctx, d, said)
}

// execute runs the tool and has hooks judge what came of it.
func (r *run) execute(ctx context.Context) error {
	if err := r.enter(ctx, StageExecution); err != nil {
		return err
	}
	r.result.Input = clone(r.input).(map[string]any)
	start := r.o.Now()
	var output any
	err := safely(func() (err error) {
		output, err = r.tool.Run(ctx, clone(r.input).(map[string]any))
		return err
	})
	took := json.Number(strconv.FormatInt(max(0, r.o.Now().Sub(start)).Milliseconds(), 10))
	var seen any
	if err == nil {
		if seen, err = tree(output); err != nil {
			err = &ToolError{Tool: r.call.Tool, Err: errors.Join(errors.New("its output cannot be judged"), err)}
		}
	} else {
		err = &ToolError{Tool: r.call.Tool, Err: err, Panic: errors.Is(err, errPanic)}
	}
	if err != nil {
		return r.failed(ctx, err, took)
	}
	return r.succeeded(ctx, output, seen, took)
}

// failed tells the hooks that the tool failed.
func (r *run) failed(ctx context.Context, err error, took json.Number) error {
	if ended := r.cancelled(ctx, StageExecution); ended != nil {
		return ended
	}
	if err := r.enter(ctx, StageFailure); err != nil {
		return err
	}
	_, no := r.after(ctx, StageFailure, r.event(hook.PostToolUseFailure, map[string]any{
		"error": err.Error(), "is_interrupt": false, "duration_ms": took,
	}), err)
	if no != nil {
		return no
	}
	return err
}

// succeeded has the hooks judge the output.
func (r *run) succeeded(ctx context.Context, output, seen any, took json.Number) error {
	if err := r.enter(ctx, StageSuccess); err != nil {
		return err
	}
	ruling, err := r.after(ctx, StageSuccess, r.event(hook.PostToolUse, map[string]any{"tool_response": seen, "duration_ms": took}), nil)
	if err != nil {
		return err
	}
	r.result.Output = output
	if ruling.Output != nil {
		r.result.Output = ruling.Output
	}
	return nil
}

// after has hooks judge what the tool did. failure is the tool's own.
func (r *run) after(ctx context.Context, s Stage, ev hook.Event, failure error) (adapters.Ruling, error) {
	d := r.judge(ctx, &ev, r.result, runs)
	if err := r.cancelled(ctx, s); err != nil {
		return adapters.Ruling{}, err
	}
	ruling := adapters.Rule(&ev, &d)
	r.result.Person = append(r.result.Person, ruling.Person...)
	if ruling.Result != hook.Reject {
		return ruling, nil
	}
	e := rejection(r.call.Tool, s, ruling.Reason, &d)
	var rejected *RejectedError
	if errors.As(e, &rejected) {
		rejected.Ran, rejected.Err = true, failure
	}
	return ruling, e
}

// event is an event about the call.
func (r *run) event(name hook.Name, more map[string]any) hook.Event {
	fields := map[string]any{
		"hook_event_name": string(name), "session_id": r.o.Session, "cwd": r.o.Dir,
		"tool_name": r.call.Tool, "tool_input": r.input, "tool_use_id": r.call.ID,
	}
	for key, value := range map[string]string{"agent_id": r.call.AgentID, "agent_type": r.call.AgentType} {
		if value != "" {
			fields[key] = value
		}
	}
	maps.Copy(fields, more)
	return r.Pipeline.event(name, fields)
}

// event is an event of the session, with what gate itself knows.
func (p *Pipeline) event(name hook.Name, fields map[string]any) hook.Event {
	return hook.Event{Agent: agent, Name: name, Fields: fields, Gate: hook.Gate{Now: p.o.Now(), Interactive: p.o.Approve != nil}}
}

// agent is the adapter whose names and types events have.
const agent = "generic"
