package handlers

import (
	"context"

	"gate/engine"
	"gate/hook"
	"gate/internal/handlers/judge"
)

// prompt has a language model judge the event at once.
func (h *Handlers) prompt(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	if h.Judge == nil {
		return nobodyJudges(by)
	}
	return judged(by)(h.Judge.Ask(ctx, h.question(by, ev)))
}

// investigate has a language model judge the event after it looked into the project.
func (h *Handlers) investigate(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	if h.Judge == nil {
		return nobodyJudges(by)
	}
	return judged(by)(h.Judge.Investigate(ctx, h.question(by, ev)))
}

func nobodyJudges(by *hook.Hook) engine.Answer {
	return failed(hook.FaultLoad, "%s cannot be asked: there are no providers of language models here", by.ID)
}

// question is what a hook asks about an event.
func (h *Handlers) question(by *hook.Hook, ev *hook.Event) judge.Question {
	q := judge.Question{Authority: by.Authority, Event: ev, Project: h.Project}
	q.Prompt, _ = by.Config["prompt"].(string)
	q.Model, _ = by.Config["model"].(string)
	q.Transcript, _ = by.Config["transcript"].(bool)
	if q.Project == "" {
		q.Project = ev.Dir()
	}
	return q
}

// judged makes an answer of a ruling. A judge only tightens: that it has
// nothing against a call is no reason to allow one.
func judged(by *hook.Hook) func(judge.Ruling, *hook.Fault) engine.Answer {
	return func(r judge.Ruling, fault *hook.Fault) engine.Answer {
		a := engine.Answer{}
		if fault != nil {
			a.Fault = hook.Faultf(fault.Kind, "%s: %w", by.ID, fault.Err)
		}
		if r.Usage.Provider != "" {
			a.Usage = &r.Usage
		}
		if !r.OK && r.Reason != "" {
			a.Verdict.Reasons = []hook.Reason{reasonOf(by, hook.Deny, r.Reason)}
		}
		return a
	}
}
