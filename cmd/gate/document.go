package main

import (
	"fmt"
	"slices"

	"gate/audit"
	"gate/cmd/internal/hookpath"
	"gate/hook"
	"gate/strictjson"
)

// decisionDocument is a decision as programs read it: the output of eval, and
// of try and explain with --json. Every field is always there; null and empty
// lists mean that there is none.
func decisionDocument(d *hook.Decision, canAsk bool) map[string]any {
	doc := map[string]any{
		"id":       d.ID,
		"event":    string(d.Event),
		"tool":     orNil(d.Tool),
		"effect":   d.Effect.String(),
		"result":   string(d.Result(canAsk)),
		"reasons":  reasonDocuments(d.Reasons),
		"warnings": reasonDocuments(d.Warnings),
		"rewrite":  plainValue(d.Rewrite),
		"output":   plainValue(d.Output),
		"context":  contextDocuments(d.Context),
		"env":      variables(d.Env),
		"halt":     nil,
		"fault":    faultDocument(d.Fault),
		"notices":  visibleList(d.Notices),
		"bundles":  bundleDocuments(d.Bundles),
		"changes":  changeDocuments(d.Changes),
		"facts":    plainValue(d.Facts.Document()),
		"steps":    stepDocuments(d.Steps),
		"took_us":  d.Took.Microseconds(),
	}
	if d.Halt != nil {
		doc["halt"] = reasonDocument(*d.Halt)
	}
	return doc
}

// variables are those for the agent's shell; a value that looks like a secret
// is for the shell only.
func variables(env map[string]string) map[string]any {
	doc := make(map[string]any, len(env))
	for name, value := range env {
		doc[strictjson.Visible(name)] = strictjson.Visible(audit.Redact(hookpath.Clip(value)))
	}
	return doc
}

func reasonDocuments(list []hook.Reason) []any {
	out := make([]any, len(list))
	for i, r := range list {
		out[i] = reasonDocument(r)
	}
	return out
}

func reasonDocument(r hook.Reason) map[string]any {
	doc := map[string]any{
		"id":         r.ID,
		"effect":     r.Effect.String(),
		"reason":     r.Reason,
		"help":       orNil(r.Help),
		"suggestion": orNil(r.Suggestion),
		"span":       nil,
		"hook":       orNil(r.Hook),
		"scope":      r.Scope.String(),
		"authority":  r.Authority.String(),
		"source":     orNil(r.Source),
		"pos":        orNil(r.Pos),
	}
	if r.Span != nil {
		doc["span"] = []any{r.Span[0], r.Span[1]}
	}
	return doc
}

func contextDocuments(list []hook.Context) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{"text": c.Text, "strategy": string(c.Strategy), "hook": orNil(c.Hook)}
	}
	return out
}

func changeDocuments(list []hook.Change) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{
			"hook": c.Hook, "reason": orNil(c.Reason), "before": plainValue(c.Before), "after": plainValue(c.After),
		}
	}
	return out
}

func stepDocuments(list []hook.Step) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = map[string]any{
			"hook": s.Hook.ID, "scope": s.Hook.Scope.String(), "authority": s.Hook.Authority.String(),
			"source": orNil(s.Hook.Source), "kind": string(s.Hook.Kind), "pos": orNil(s.Hook.Pos()),
			"effect": s.Effect.String(), "outcome": string(s.Outcome), "fault": faultDocument(s.Fault),
			"ignored": visibleList(s.Ignored), "round": s.Round, "took_us": s.Took.Microseconds(),
			"level": orNil(s.Level), "would": nil, "usage": nil,
		}
		if s.Usage != nil {
			out[i].(map[string]any)["usage"] = s.Usage.Document()
		}
		if s.Would != nil { // the answer before a level, an exception or an approval took from it
			out[i].(map[string]any)["would"] = map[string]any{
				"effect": s.Would.Effect().String(), "reasons": reasonDocuments(slices.Concat(s.Would.Halt, s.Would.Reasons)),
			}
		}
	}
	return out
}

func faultDocument(f *hook.Fault) any {
	if f == nil {
		return nil
	}
	return map[string]any{"kind": string(f.Kind), "error": f.Error()}
}

// plainValue returns v if it is a JSON tree, else a text that says what it is:
// no decision is lost because of one odd value in it.
func plainValue(v any) any {
	if err := strictjson.Check(v); err != nil {
		return fmt.Sprintf("(not to be shown: %v)", err)
	}
	return v
}

func visibleList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
