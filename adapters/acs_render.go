package adapters

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// Values that the standard has no word of its own for, or leaves to the Guardian.
const (
	acsNotPermitted      = "disposition_not_permitted" // the Go reference's
	acsQuestionTimeout   = 300                         // seconds; the client's own limit may be shorter
	acsResolutionTimeout = 600_000                     // milliseconds: as long as a call usually waits for an approval
)

// An acsResult is an answer on its way into the standard's words.
type acsResult struct {
	opinion
	ev    *hook.Event
	d     *hook.Decision
	legal moment.Legal
	fixed bool

	codes []string
	doc   map[string]any
}

// Render writes gate's part of a step's result: "decision", "reasoning", "reason_codes",
// "policy_references", "policy_data", "metadata" and what goes with the decision. An answer
// that the method does not permit becomes a denial where it can be one. Otherwise it is
// told beside an "allow".
func (acs) Render(ev *hook.Event, d *hook.Decision) Answer {
	if ev == nil {
		ev = &hook.Event{}
	}
	if d == nil {
		d = undecided()
	}
	m := acsStepOf(ev)
	r := &acsResult{ev: ev, d: d, legal: m.Legal, opinion: settle(d, ev.Name.Canonical().Moment().Closes), doc: map[string]any{}}
	guardian, _ := ev.Native[moment.Guardian].(map[string]any)
	r.fixed = guardian[moment.GuardianFixed] == true
	r.cite()
	switch {
	case r.effect == hook.Deny:
		r.deny()
	case r.effect == hook.Ask:
		r.ask()
	case d.Rewrite != nil || d.Output != nil:
		r.modify()
	default:
		r.doc["decision"] = "allow"
	}
	r.rest()
	return Answer{Stdout: strictjson.Append(nil, r.doc)}
}

// deny says no, or that gate would have said no where the method has no such answer.
func (r *acsResult) deny() {
	if r.legal&moment.MayDeny == 0 {
		r.codes = append(r.codes, acsNotPermitted)
		r.doc["decision"] = "allow"
		return
	}
	r.doc["decision"], r.doc["reasoning"] = "deny", r.reason()
}

// ask says that a person decides. A client that can put no question to anybody waits for
// gate's own approval, where one is possible, and otherwise it is told no.
func (r *acsResult) ask() {
	switch {
	case (acs{}).CanAsk(r.ev):
		r.doc["decision"], r.doc["reasoning"] = "ask", r.reason()
		r.doc["ask_details"] = map[string]any{
			"approver": map[string]any{"type": "human", "id": cmp.Or(r.ev.Gate.User, "user")}, "question": r.reason(),
			"timeout_seconds": acsQuestionTimeout, "timeout_disposition": "deny",
		}
	case r.d.Pending != "" && r.legal&moment.MayDefer != 0:
		r.codes = append(r.codes, moment.NoApprover)
		r.lines = append(r.lines, "A person may approve this one call in a terminal of their own: gate approve "+r.d.Pending+
			". Then send the step again under a new request_id.")
		r.doc["decision"], r.doc["reasoning"] = "defer", r.reason()
		r.doc["defer_details"] = map[string]any{
			"reason": "pending_dependency", "resolution_method": "human_approval",
			"resolution_timeout_ms": acsResolutionTimeout, "timeout_decision": "deny",
		}
	default:
		r.codes = append(r.codes, moment.NoApprover)
		r.refuse(nobodyToAsk)
		r.deny()
	}
}

// modify says what is to change. A change that cannot be said becomes a denial that
// names it.
func (r *acsResult) modify() {
	changes, ok := r.changes()
	if ok && r.legal&moment.MayModify != 0 && !r.fixed {
		why := []string{"gate changed this:"}
		for _, c := range r.d.Changes {
			why = appendNew(why, c.Reason)
		}
		r.doc["decision"], r.doc["reasoning"], r.doc["modifications"] = "modify", r.sign(why, maxReason), changes
		return
	}
	r.codes = append(r.codes, moment.ModifyUnsupported)
	switch {
	case r.legal&moment.MayDeny == 0:
		r.doc["decision"] = "allow"
	case r.d.Rewrite != nil:
		r.refuse("A policy wants this changed, which cannot be done here. Ask for it in this form: " + showValue(r.d.Rewrite))
		r.deny()
	default:
		r.refuse("A policy wants this output changed, which cannot be done here.")
		r.deny()
	}
}

// changes are the modifications: whole values of the arguments that differ, or the whole
// text. An argument that is gone has no form.
func (r *acsResult) changes() (map[string]any, bool) {
	if r.d.Output != nil {
		return map[string]any{"modified_content": asText(r.d.Output)}, true
	}
	switch after := r.d.Rewrite.(type) {
	case string:
		return map[string]any{"modified_content": after}, true
	case map[string]any:
		before := r.native()
		if before == nil || r.ev.Native["method"] == "steps/memoryStore" {
			return nil, false
		}
		return acsOverrides(before, after)
	}
	return nil, false
}

// native is the input of the call if the client's names for its members are gate's, so that
// a changed one can be said.
func (r *acsResult) native() map[string]any {
	params, _ := r.ev.Native["params"].(map[string]any)
	payload, _ := params["payload"].(map[string]any)
	before := r.ev.ToolInput()
	var as map[string]any
	if inner, wrapped := payload["params"].(map[string]any); wrapped {
		as, _ = inner["arguments"].(map[string]any)
	} else {
		args, _ := payload["arguments"].(map[string]any)
		as = make(map[string]any, len(args))
		for name, arg := range args {
			doc, _ := arg.(map[string]any)
			as[name] = doc["value"]
		}
	}
	if !equal(orNone(as), before) {
		return nil
	}
	return before
}

func acsOverrides(before, after map[string]any) (map[string]any, bool) {
	overrides := map[string]any{}
	for name, v := range after {
		if old, had := before[name]; !had || !equal(old, v) {
			overrides[name] = v
		}
	}
	for name := range before {
		if _, kept := after[name]; !kept {
			return nil, false
		}
	}
	return map[string]any{"parameter_overrides": overrides}, len(overrides) > 0
}

func asText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(strictjson.Append(nil, v))
}

// cite names the policies that spoke for the effect.
func (r *acsResult) cite() {
	var list []any
	for _, reason := range r.d.Reasons {
		if reason.Effect < r.effect || r.effect <= hook.Pass {
			continue
		}
		ref := map[string]any{}
		for key, text := range map[string]string{"policy_id": reason.Hook, "rule_id": reason.ID, "policy_version": r.version(reason.Source)} {
			if text != "" {
				ref[key] = strictjson.Visible(text)
			}
		}
		if len(ref) > 0 && !slices.ContainsFunc(list, func(v any) bool { return maps.EqualFunc(v.(map[string]any), ref, equal) }) {
			list = append(list, ref)
		}
		r.codes = appendNew(r.codes, strictjson.Visible(reason.ID))
	}
	if list == nil {
		list = []any{}
	}
	r.doc["policy_references"] = list
}

// version tells the release of the bundle that a policy came with.
func (r *acsResult) version(source string) string {
	for _, b := range r.d.Bundles {
		if b.Source() == source {
			return b.Digest
		}
	}
	return ""
}

// rest adds what stands beside every decision.
func (r *acsResult) rest() {
	if len(r.codes) > 0 {
		var codes []any
		for _, c := range r.codes {
			if !slices.Contains(codes, any(c)) {
				codes = append(codes, c)
			}
		}
		r.doc["reason_codes"] = codes
	}
	own := map[string]any{"decision": r.d.ID, "effect": r.effect.String()}
	if faults := r.faults(); len(faults) > 0 {
		own["faults"] = visibleAll(faults)
	}
	if len(r.d.Context) > 0 {
		var list []any
		for _, c := range r.d.Context {
			list = append(list, strictjson.Visible(c.Text))
		}
		own["context"] = list
	}
	if len(r.person) > 0 {
		own["notices"] = visibleAll(r.person)
	}
	r.doc["policy_data"] = map[string]any{"gate": own}
	r.doc["metadata"] = r.evaluator()
}

func (r *acsResult) faults() (list []string) {
	if r.d.Fault != nil {
		list = append(list, r.d.Fault.Error())
	}
	return append(list, faulted(r.d, func(*hook.Step) bool { return true })...)
}

// evaluator says whether a language model was asked.
func (r *acsResult) evaluator() map[string]any {
	doc := map[string]any{"evaluator": "deterministic", "evaluation_duration_ms": r.d.Took.Milliseconds()}
	var models []string
	for _, s := range r.d.Steps {
		if s.Usage != nil {
			models = appendNew(models, s.Usage.Model)
		}
	}
	if len(models) > 0 {
		doc["evaluator"], doc["model_id"] = "composite", strings.Join(models, ", ")
	}
	return doc
}
