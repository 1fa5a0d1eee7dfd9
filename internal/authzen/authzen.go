// Package authzen is a decision point of OpenID's AuthZEN Authorization API 1.0. It reads
// evaluations, one or several at once, has gate judge each as an event, and says yes or
// no. Calls of tools and messages of MCP, as the draft COAZ has them, become gate's own
// events. All other evaluations are allowed only where a policy allows them.
//
// It knows no transport and no policy. docs/standards.md says what was chosen where the
// standard leaves it open. Start with [Point].
//
// docs/architecture.md has the rules that it keeps: 2, 3 and 11.
package authzen

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

// Paths of the API.
const (
	EvaluationPath  = "/access/v1/evaluation"
	EvaluationsPath = "/access/v1/evaluations"
	MetadataPath    = "/.well-known/authzen-configuration"
)

// Bounds on a request.
const (
	MaxBody  = 1 << 20 // bytes
	MaxItems = 256     // evaluations in one request
)

// A Point answers evaluations.
type Point struct {
	// Decide judges a canonical event and returns the decision, nil if there is none. It
	// is called by many goroutines at once.
	Decide func(ctx context.Context, event []byte) *hook.Decision
}

// Metadata is what the API says of itself, at a base address without a slash at its end.
func Metadata(base string) map[string]any {
	return map[string]any{
		"policy_decision_point": base, "access_evaluation_endpoint": base + EvaluationPath, "access_evaluations_endpoint": base + EvaluationsPath,
	}
}

// Evaluation answers one evaluation. An error is a request that is none: status 400, with
// the error's text.
func (p Point) Evaluation(ctx context.Context, body []byte) (map[string]any, error) {
	doc, err := read(body)
	if err != nil {
		return nil, err
	}
	return p.evaluate(ctx, doc)
}

// Evaluations answers several. An item that is broken is denied, and the others are answered.
func (p Point) Evaluations(ctx context.Context, body []byte) (map[string]any, error) {
	doc, err := read(body)
	if err != nil {
		return nil, err
	}
	items, several := doc["evaluations"].([]any)
	if v, given := doc["evaluations"]; given && !several {
		return nil, fmt.Errorf("evaluations: %s where a list is wanted", strictjson.TypeName(v))
	}
	if len(items) == 0 {
		return p.evaluate(ctx, doc)
	}
	if len(items) > MaxItems {
		return nil, fmt.Errorf("evaluations: at most %d are answered at once", MaxItems)
	}
	stop, err := semantic(doc)
	if err != nil {
		return nil, err
	}
	answers := []any{}
	for _, item := range items {
		answer := p.item(ctx, doc, item)
		answers = append(answers, answer)
		if stop != nil && answer["decision"] == *stop {
			break
		}
	}
	return map[string]any{"evaluations": answers}, nil
}

// read decodes a request. Members that nobody knows are ignored.
func read(body []byte) (map[string]any, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("the request is larger than %d bytes", MaxBody)
	}
	return strictjson.Object(body, strictjson.Limits{Bytes: MaxBody})
}

// semantic is the decision after which nothing more is answered, nil for none.
func semantic(doc map[string]any) (stop *bool, err error) {
	options, ok := doc["options"].(map[string]any)
	if v, given := doc["options"]; given && !ok {
		return nil, fmt.Errorf("options: %s where an object is wanted", strictjson.TypeName(v))
	}
	yes, no := true, false
	switch v := options["evaluations_semantic"]; v {
	case nil, "execute_all":
		return nil, nil
	case "deny_on_first_deny":
		return &no, nil
	case "permit_on_first_permit":
		return &yes, nil
	default:
		return nil, errors.New("options.evaluations_semantic: one of execute_all, deny_on_first_deny and permit_on_first_permit is wanted")
	}
}

// members are those of one evaluation, which in a request of several stand for all.
func members() []string { return []string{"subject", "action", "resource", "context"} }

// item answers one of several. Its members take the place of those that stand for all.
func (p Point) item(ctx context.Context, defaults map[string]any, v any) map[string]any {
	own, ok := v.(map[string]any)
	if !ok {
		return broken(fmt.Errorf("%s where an object is wanted", strictjson.TypeName(v)))
	}
	doc := maps.Clone(own)
	for _, name := range members() {
		if _, given := own[name]; given {
			continue
		}
		if v, given := defaults[name]; given {
			doc[name] = v
		}
	}
	answer, err := p.evaluate(ctx, doc)
	if err != nil {
		return broken(err)
	}
	return answer
}

func broken(err error) map[string]any {
	return map[string]any{"decision": false, "context": map[string]any{"error": map[string]any{"status": 400, "message": err.Error()}}}
}

// evaluate has one evaluation judged.
func (p Point) evaluate(ctx context.Context, doc map[string]any) (map[string]any, error) {
	q, err := newQuestion(doc)
	if err != nil {
		return nil, err
	}
	fields, err := q.event()
	if err != nil {
		return nil, err
	}
	d := p.Decide(ctx, strictjson.Append(nil, fields))
	name, _ := fields["hook_event_name"].(string)
	return answerOf(hook.Name(name), d), nil
}

// answerOf says a decision as yes or no. A question is a no, and so is a changed input: a yes
// would let the old one run.
func answerOf(name hook.Name, d *hook.Decision) map[string]any {
	ruling := adapters.Rule(&hook.Event{Name: name}, d)
	yes := ruling.Result == hook.Continue
	reason := ruling.Reason
	switch {
	case d == nil:
		d = &hook.Decision{Effect: hook.Deny}
	case ruling.Result == hook.ModifyInput:
		reason = "a policy wants the input changed, which a yes or no cannot say"
	case yes && name == Access && d.Effect != hook.Allow:
		yes, reason = false, "no policy allows this"
	}
	own := map[string]any{"id": d.ID, "effect": d.Effect.String()}
	var rules []any
	for _, r := range d.Reasons {
		if id := any(strictjson.Visible(r.ID)); r.Effect == d.Effect && d.Effect > hook.Pass && !slices.Contains(rules, id) {
			rules = append(rules, id)
		}
	}
	if rules != nil {
		own["rules"] = rules
	}
	context := map[string]any{"gate": own}
	if !yes {
		context["reason_user"] = reason
	}
	return map[string]any{"decision": yes, "context": context}
}
