package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// Events lists the twelve events of an agent's life. The four about calls of
// tools are Call's; the others are for Fire, and so is any other name that hooks
// may listen for.
func Events() []hook.Name {
	return []hook.Name{
		hook.SessionStart, hook.UserPromptSubmit,
		hook.PreToolUse, hook.PermissionRequest, hook.PostToolUse, hook.PostToolUseFailure,
		hook.SubagentStart, hook.SubagentStop, hook.PreCompact, hook.Notification, hook.Stop, hook.SessionEnd,
	}
}

// ofCalls are the events that Call makes.
var ofCalls = []hook.Name{hook.PreToolUse, hook.PermissionRequest, hook.PostToolUse, hook.PostToolUseFailure}

// Fire has the hooks of an event judge it. fields are the event's own, in Claude
// Code's names, such as prompt of UserPromptSubmit; those that every event has
// are set. The result is never nil. The error is nil or one of
// *[InvalidInputError], *[RejectedError], *[HaltError] and *[CancelledError]. A
// rejected prompt must not be sent; a rejected Stop means that the agent goes on,
// for the error's reason; nobody can be asked about an event.
func (p *Pipeline) Fire(ctx context.Context, name hook.Name, fields map[string]any) (*Result, error) {
	result := &Result{}
	if err := cancelled(ctx, string(name), StageHooks); err != nil {
		return result, err
	}
	ev, err := p.read(name, fields)
	if err != nil {
		return result, &InvalidInputError{Of: string(name), Err: err}
	}
	p.judge(ctx, &ev, result, func(d *hook.Decision) bool {
		err = p.follow(ctx, &ev, d, result)
		return err != nil
	})
	return result, err
}

// follow reports what a decision means for the event.
func (p *Pipeline) follow(ctx context.Context, ev *hook.Event, d *hook.Decision, result *Result) error {
	if err := cancelled(ctx, string(ev.Name), StageHooks); err != nil {
		return err
	}
	told := *d
	told.Rewrite = nil // a prompt, which is no tool's input
	ruling := adapters.Rule(ev, &told)
	result.Person = ruling.Person
	if ruling.Result == hook.Reject {
		return rejection(string(ev.Name), StageHooks, ruling.Reason, d)
	}
	result.Prompt = ev.Text("prompt")
	if prompt, ok := d.Rewrite.(string); ok {
		result.Prompt = prompt
	}
	return nil
}

// read makes an event of fields, as strictly as one of a stranger's.
func (p *Pipeline) read(name hook.Name, fields map[string]any) (hook.Event, error) {
	if slices.Contains(ofCalls, name.Canonical()) {
		return hook.Event{}, errors.New("calls of tools are for Call, which has their hooks run")
	}
	all := map[string]any{"session_id": p.o.Session, "cwd": p.o.Dir}
	maps.Copy(all, fields)
	all["hook_event_name"] = string(name)
	if err := strictjson.Check(all); err != nil {
		return hook.Event{}, err
	}
	reader, ok := adapters.Lookup(agent)
	if !ok {
		return hook.Event{}, fmt.Errorf("there is no adapter %s", agent)
	}
	ev, err := reader.Parse(strictjson.Append(nil, all), "")
	if err != nil {
		return ev, err
	}
	made := p.event(ev.Name, ev.Fields)
	made.Native = ev.Native
	return made, nil
}
