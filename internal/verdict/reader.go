package verdict

import (
	"fmt"
	"slices"

	"gate/hook"
	"gate/internal/plan/value"
)

// A Reader turns what a policy's rules yielded into a verdict.
type Reader struct {
	hook    *hook.Hook
	rewrite string // the field that a modify rule changes on this event
	verdict hook.Verdict
	fault   *hook.Fault
}

// NewReader returns a Reader for what a policy says about an event of a name.
func NewReader(h *hook.Hook, event hook.Name) *Reader {
	return &Reader{hook: h, rewrite: event.Rewrites()}
}

// Rule reads all members of one rule, in order. Pos is the file:line of the
// rule. Rules are read in the order of [Rules].
func (r *Reader) Rule(name Rule, pos string, members value.Value) {
	at := place{name, pos}
	set, ok := members.(*value.Set)
	if !ok {
		r.malformed(at, fmt.Errorf("is %s where a set is wanted", value.KindOf(members)))
		return
	}
	for _, m := range set.Elems() {
		if err := r.member(at, m); err != nil {
			r.malformed(at, err)
		}
	}
}

// Answer returns the verdict, and a fault if there was a member that cannot be
// understood. Beside a fault an allow does not count: no answer is never yes.
func (r *Reader) Answer() (hook.Verdict, *hook.Fault) {
	if r.fault != nil {
		r.verdict.Reasons = slices.DeleteFunc(r.verdict.Reasons, func(reason hook.Reason) bool { return reason.Effect == hook.Allow })
	}
	return r.verdict, r.fault
}

// A place is a rule and where it stands.
type place struct {
	name Rule
	pos  string
}

// malformed makes a fault of a member that cannot be understood, and a denial
// where it could have been one: what is not understood is not allowed.
func (r *Reader) malformed(ru place, err error) {
	err = fmt.Errorf("%s: %s of policy %s: %w", ru.pos, ru.name, r.hook.ID, err)
	if r.fault == nil {
		r.fault = &hook.Fault{Kind: hook.FaultOutput, Err: err}
	}
	switch ru.name {
	case Deny, Ask, Halt, Modify, Confine:
		r.verdict.Reasons = append(r.verdict.Reasons, hook.Reason{
			ID:     r.hook.ID,
			Effect: hook.Deny,
			Reason: "malformed policy answer, so the call is rejected: " + err.Error(),
			Help:   "the policy is at fault, not the call: tell whoever maintains " + r.hook.ID,
			Pos:    ru.pos,
		})
	}
}

func (r *Reader) member(ru place, v value.Value) error {
	f, err := fieldsOf(ru.name, v)
	if err != nil {
		return err
	}
	switch ru.name {
	case Modify:
		return r.modify(f)
	case Context:
		return r.context(f)
	case Consult:
		return r.consult(f)
	case Remember:
		return r.remember(f)
	case Confine:
		return r.confine(f)
	}
	return r.reason(ru, f)
}

func (r *Reader) reason(ru place, f fields) error {
	reason := hook.Reason{
		ID:         f.text("id"),
		Reason:     f.required("reason"),
		Help:       f.text("help"),
		Suggestion: f.text("suggestion"),
		Span:       f.span("span"),
		Pos:        ru.pos,
	}
	if f.err != nil {
		return f.err
	}
	if reason.ID == "" {
		reason.ID = r.hook.ID
	}
	switch ru.name {
	case Halt:
		reason.Effect = hook.Deny
		r.verdict.Halt = append(r.verdict.Halt, reason)
	case Warn:
		r.verdict.Warnings = append(r.verdict.Warnings, reason)
	default:
		reason.Effect = effectOf(ru.name)
		r.verdict.Reasons = append(r.verdict.Reasons, reason)
	}
	return nil
}

func effectOf(r Rule) hook.Effect {
	switch r {
	case Allow:
		return hook.Allow
	case Ask:
		return hook.Ask
	}
	return hook.Deny
}

func (r *Reader) modify(f fields) error {
	rw := hook.Rewrite{Reason: f.required("reason")}
	edits, input := f.value("edits"), f.value("input")
	switch {
	case f.err != nil:
		return f.err
	case (edits == nil) == (input == nil):
		return fmt.Errorf("exactly one of %q and %q is wanted", "edits", "input")
	case edits != nil:
		rw.Edits = f.edits(edits)
	default:
		r.input(&f, input, &rw)
	}
	if f.err != nil {
		return f.err
	}
	r.verdict.Rewrites = append(r.verdict.Rewrites, rw)
	return nil
}

// input takes an object to merge, or a whole new text or list where the event
// has one.
func (r *Reader) input(f *fields, v value.Value, rw *hook.Rewrite) {
	switch v := v.(type) {
	case *value.Object:
		if r.rewrite == "prompt" {
			f.fail("input is an object; a prompt is replaced by a string")
			return
		}
		if value.Weight(v) > maxInput {
			f.fail("input is too large")
			return
		}
		rw.Input = document(v)
	case value.String:
		if r.rewrite == "tool_input" {
			f.fail("input is a string; the input of a tool is changed by an object")
			return
		}
		rw.Value = string(v)
	case *value.Array:
		if r.rewrite != "tool_response" {
			f.fail("input is an array; only the output of a tool may be one")
			return
		}
		if value.Weight(v) > maxInput {
			f.fail("input is too large")
			return
		}
		rw.Value = plain(v)
	default:
		f.fail("input is %s", value.KindOf(v))
	}
}

func (r *Reader) context(f fields) error {
	c := hook.Context{Text: f.required("text"), Strategy: hook.Strategy(f.text("strategy"))}
	if f.err != nil {
		return f.err
	}
	switch c.Strategy {
	case "":
		c.Strategy = hook.ToolResult
	case hook.ToolResult, hook.UserMessage:
	default:
		return fmt.Errorf("strategy %q; it is %s or %s", c.Strategy, hook.ToolResult, hook.UserMessage)
	}
	r.verdict.Context = append(r.verdict.Context, c)
	return nil
}

func (r *Reader) consult(f fields) error {
	c := hook.Consult{Hook: f.required("hook"), Reason: f.required("reason")}
	if f.err != nil {
		return f.err
	}
	r.verdict.Consults = append(r.verdict.Consults, c)
	return nil
}

func (r *Reader) confine(f fields) error {
	c := hook.Confinement{Profile: f.required("profile"), Reason: f.required("reason")}
	otherwise := f.text("otherwise")
	if f.err != nil {
		return f.err
	}
	switch otherwise {
	case "", "ask":
	case "pass":
		c.Spared = true
	default:
		return fmt.Errorf("otherwise %q; it is ask or pass", otherwise)
	}
	r.verdict.Confine = append(r.verdict.Confine, c)
	return nil
}
