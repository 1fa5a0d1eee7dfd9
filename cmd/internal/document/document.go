// Package document makes JSON trees of decisions and of what they consist of, for
// programs.
//
// Every field is always there; null means that there is no value. It writes nothing.
// Package tell does the same for people. Start with Decision.
package document

import (
	"fmt"
	"slices"

	"gate/hook"
	"gate/internal/core"
	"gate/internal/mark"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// Decision is a whole decision: the output of gate eval, and of try and explain
// with --json. canAsk says whether somebody could be asked.
func Decision(d *hook.Decision, canAsk bool) map[string]any {
	doc := map[string]any{
		"id":       d.ID,
		"event":    string(d.Event),
		"tool":     OrNull(d.Tool),
		"effect":   d.Effect.String(),
		"result":   string(d.Result(canAsk)),
		"reasons":  Reasons(d.Reasons),
		"warnings": Reasons(d.Warnings),
		"rewrite":  Value(d.Rewrite),
		"output":   Value(d.Output),
		"context":  contexts(d.Context),
		"env":      variables(d.Env),
		"halt":     nil,
		"fault":    Fault(d.Fault),
		"notices":  Strings(d.Notices),
		"bundles":  Bundles(d.Bundles),
		"changes":  changes(d.Changes),
		"remember": Marks(d.Remember),
		"confined": nil,
		"facts":    Value(d.Facts.Document()),
		"flow":     flows(d.Facts),
		"steps":    Steps(d.Steps),
		"took_us":  d.Took.Microseconds(),
	}
	if c := d.Confined; c != nil {
		doc["confined"] = map[string]any{"profile": c.Profile, "input": Value(c.Input), "refused": Strings(c.Refused)}
	}
	if d.Halt != nil {
		doc["halt"] = Reason(*d.Halt)
	}
	return doc
}

// flows are input.flow.
func flows(f *hook.Facts) []any {
	list := []any{}
	for i := 0; f != nil && i < len(f.Flow); i++ {
		list = append(list, Value(hook.Tree(&f.Flow[i])))
	}
	return list
}

// variables are those for the agent's shell; a value that looks like a secret
// is for the shell only.
func variables(env map[string]string) map[string]any {
	doc := make(map[string]any, len(env))
	for name, value := range env {
		doc[strictjson.Visible(name)] = strictjson.Visible(secret.Redact(core.Clip(value)))
	}
	return doc
}

// Reasons are reasons, in their order.
func Reasons(list []hook.Reason) []any {
	out := make([]any, len(list))
	for i, r := range list {
		out[i] = Reason(r)
	}
	return out
}

// Reason is one reason.
func Reason(r hook.Reason) map[string]any {
	doc := map[string]any{
		"id":         r.ID,
		"effect":     r.Effect.String(),
		"reason":     r.Reason,
		"help":       OrNull(r.Help),
		"suggestion": OrNull(r.Suggestion),
		"span":       nil,
		"hook":       OrNull(r.Hook),
		"scope":      r.Scope.String(),
		"authority":  r.Authority.String(),
		"source":     OrNull(r.Source),
		"pos":        OrNull(r.Pos),
	}
	if r.Span != nil {
		doc["span"] = []any{r.Span[0], r.Span[1]}
	}
	return doc
}

func contexts(list []hook.Context) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{"text": c.Text, "strategy": string(c.Strategy), "hook": OrNull(c.Hook)}
	}
	return out
}

// Marks are what the session is to remember, with values as they are kept.
func Marks(list []mark.Mark) []any {
	out := make([]any, len(list))
	for i, k := range list {
		out[i] = map[string]any{"mark": k.Name, "value": MarkValue(k), "for": k.For(), "hook": OrNull(k.By), "source": OrNull(k.Source)}
	}
	return out
}

// MarkValue is the value of a mark as a JSON tree.
func MarkValue(k mark.Mark) any {
	v, err := strictjson.Decode([]byte(k.Value), strictjson.Limits{})
	if err != nil {
		return nil // the log did not keep it
	}
	return v
}

func changes(list []hook.Change) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{
			"hook": c.Hook, "reason": OrNull(c.Reason), "before": Value(c.Before), "after": Value(c.After),
		}
	}
	return out
}

// Steps are the runs of hooks, in their order.
func Steps(list []hook.Step) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = map[string]any{
			"hook": s.Hook.ID, "scope": s.Hook.Scope.String(), "authority": s.Hook.Authority.String(),
			"source": OrNull(s.Hook.Source), "kind": string(s.Hook.Kind), "pos": OrNull(s.Hook.Pos()),
			"effect": s.Effect.String(), "outcome": string(s.Outcome), "fault": Fault(s.Fault),
			"ignored": Strings(s.Ignored), "round": s.Round, "took_us": s.Took.Microseconds(),
			"level": OrNull(s.Level), "would": nil, "usage": nil,
		}
		if s.Usage != nil {
			out[i].(map[string]any)["usage"] = s.Usage.Document()
		}
		if s.Would != nil { // the answer before a level, an exception or an approval took from it
			out[i].(map[string]any)["would"] = map[string]any{
				"effect": s.Would.Effect().String(), "reasons": Reasons(slices.Concat(s.Would.Halt, s.Would.Reasons)),
			}
		}
	}
	return out
}

// Fault is a fault, null where there is none.
func Fault(f *hook.Fault) any {
	if f == nil {
		return nil
	}
	return map[string]any{"kind": string(f.Kind), "error": f.Error()}
}

// Value returns v if it is a JSON tree, else a text that says what it is: no
// decision is lost because of one odd value in it.
func Value(v any) any {
	if err := strictjson.Check(v); err != nil {
		return fmt.Sprintf("(not to be shown: %v)", err)
	}
	return v
}

// Strings is a list of texts.
func Strings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// OrNull is a text, null where there is none.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Bundles are bundles for programs.
func Bundles(list []hook.Bundle) []any {
	out := make([]any, len(list))
	for i, b := range list {
		out[i] = map[string]any{"name": b.Name, "version": b.Version, "digest": b.Digest, "trial": b.Trial}
	}
	return out
}

// Faults are faults for programs.
func Faults(faults []hook.Fault) []any {
	out := make([]any, len(faults))
	for i := range faults {
		out[i] = Fault(&faults[i])
	}
	return out
}

// Line is a JSON tree in one visible line.
func Line(v any) string { return strictjson.Visible(string(strictjson.Append(nil, Value(v)))) }
