// Package agree asks OPA and plans the same, and says where they differ.
//
// It is for whoever puts policies in force and has events to ask about, such as
// those of their tests: a policy whose plan answers otherwise is left to OPA. It
// decides nothing and compiles nothing. Start with [Differences].
package agree

import (
	"context"
	"fmt"
	"reflect"
	"unicode/utf8"

	"gate/engine"
	"gate/hook"
	"gate/internal/strictjson"
)

// A Question is an event, and the hooks that are asked about it.
type Question struct {
	Event *hook.Event
	Hooks []*hook.Hook // of one source, of kind rego
	At    string       // where the event comes from, for people
}

// MaxAnswers is how many answers of a policy are compared at most in one call of
// [Differences], of all policies together.
const MaxAnswers = 20_000

// Differences asks both evaluators every question, and returns by the id of the
// hook what was different first. A hook that differed is not asked again. It ends
// early with ctx and after [MaxAnswers]; what was not asked until then is no
// difference.
//
// Answers are compared as a whole, but for what OPA had no time or memory for. A
// fault of the plan's alone is no difference: nobody decides by it.
func Differences(ctx context.Context, byOPA, byPlan engine.Evaluator, list []Question) map[string]string {
	found := map[string]string{}
	answers := 0
	for _, q := range list {
		for _, h := range q.Hooks {
			if found[h.ID] != "" {
				continue
			}
			if answers++; answers > MaxAnswers || ctx.Err() != nil {
				return found
			}
			one := []*hook.Hook{h}
			got := byPlan.Evaluate(ctx, one, q.Event)[0]
			if got.Fault != nil {
				continue
			}
			want := byOPA.Evaluate(ctx, one, q.Event)[0]
			if ctx.Err() == nil && differ(&got, &want) {
				found[h.ID] = fmt.Sprintf("%s: its plan says %s, OPA %s", q.At, said(&got), said(&want))
			}
		}
	}
	return found
}

// differ compares a plan's answer, which is no fault, with OPA's.
func differ(got, want *engine.Answer) bool {
	if want.Fault != nil {
		return want.Fault.Kind != hook.FaultTimeout && want.Fault.Kind != hook.FaultMemory
	}
	return !reflect.DeepEqual(got.Verdict, want.Verdict)
}

// said is an answer in a few words.
func said(a *engine.Answer) string {
	v := &a.Verdict
	switch {
	case a.Fault != nil:
		return "cannot: " + short(a.Fault.Error())
	case len(v.Halt) > 0:
		return "halt " + short(v.Halt[0].Reason)
	}
	effect := v.Effect()
	for _, r := range v.Reasons {
		if r.Effect == effect {
			return fmt.Sprintf("%s (of %d) %s", effect, len(v.Reasons), short(r.Reason))
		}
	}
	return fmt.Sprintf("%s, %d warnings, %d rewrites, %d texts", effect, len(v.Warnings), len(v.Rewrites), len(v.Context))
}

// maxText is how much of a text is told, in bytes.
const maxText = 80

// short quotes the beginning of a text.
func short(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
		for !utf8.ValidString(s) && len(s) > maxText-utf8.UTFMax {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return string(strictjson.Append(nil, s))
}
