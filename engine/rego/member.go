package rego

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
)

// A reader turns what a policy's rules yielded into a verdict.
type reader struct {
	hook    *hook.Hook
	rewrite string // the field that a modify rule changes on this event
	verdict hook.Verdict
	fault   *hook.Fault
}

// rule reads all members of one rule, in OPA's order of terms.
func (r *reader) rule(ru rule, set *ast.Term) {
	members, ok := set.Value.(ast.Set)
	if !ok {
		r.malformed(ru, fmt.Errorf("is %s where a set is wanted", ast.ValueName(set.Value)))
		return
	}
	for _, m := range members.Slice() {
		if err := r.member(ru, m.Value); err != nil {
			r.malformed(ru, err)
		}
	}
}

// malformed makes a fault of a member that cannot be understood, and a denial
// where it could have been one: what is not understood is not allowed.
func (r *reader) malformed(ru rule, err error) {
	err = fmt.Errorf("%s: %s of policy %s: %w", ru.pos, ru.name, r.hook.ID, err)
	if r.fault == nil {
		r.fault = &hook.Fault{Kind: hook.FaultOutput, Err: err}
	}
	switch ru.name {
	case ruleDeny, ruleAsk, ruleHalt, ruleModify:
		r.verdict.Reasons = append(r.verdict.Reasons, hook.Reason{
			ID:     r.hook.ID,
			Effect: hook.Deny,
			Reason: "malformed policy answer, so the call is rejected: " + err.Error(),
			Help:   "the policy is at fault, not the call: tell whoever maintains " + r.hook.ID,
			Pos:    ru.pos,
		})
	}
}

func (r *reader) member(ru rule, v ast.Value) error {
	f, err := fieldsOf(ru.name, v)
	if err != nil {
		return err
	}
	switch ru.name {
	case ruleModify:
		return r.modify(f)
	case ruleContext:
		return r.context(f)
	case ruleConsult:
		return r.consult(f)
	}
	return r.reason(ru, f)
}

func (r *reader) reason(ru rule, f fields) error {
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
	case ruleHalt:
		reason.Effect = hook.Deny
		r.verdict.Halt = append(r.verdict.Halt, reason)
	case ruleWarn:
		r.verdict.Warnings = append(r.verdict.Warnings, reason)
	default:
		reason.Effect = effects[ru.name]
		r.verdict.Reasons = append(r.verdict.Reasons, reason)
	}
	return nil
}

var effects = map[ruleName]hook.Effect{ruleDeny: hook.Deny, ruleAsk: hook.Ask, ruleAllow: hook.Allow}

func (r *reader) modify(f fields) error {
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
func (r *reader) input(f *fields, v ast.Value, rw *hook.Rewrite) {
	switch v := v.(type) {
	case ast.Object:
		if r.rewrite == "prompt" {
			f.fail("input is an object; a prompt is replaced by a string")
			return
		}
		doc, err := ast.JSON(v)
		m, ok := doc.(map[string]any)
		if err != nil || !ok {
			f.fail("input is not plain JSON")
			return
		}
		rw.Input = m
	case ast.String:
		if r.rewrite == "tool_input" {
			f.fail("input is a string; the input of a tool is changed by an object")
			return
		}
		rw.Value = string(v)
	case *ast.Array:
		if r.rewrite != "tool_response" {
			f.fail("input is an array; only the output of a tool may be one")
			return
		}
		doc, err := ast.JSON(v)
		if err != nil {
			f.fail("input is not plain JSON")
			return
		}
		rw.Value = doc
	default:
		f.fail("input is %s", ast.ValueName(v))
	}
}

func (r *reader) context(f fields) error {
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

func (r *reader) consult(f fields) error {
	c := hook.Consult{Hook: f.required("hook"), Reason: f.required("reason")}
	if f.err != nil {
		return f.err
	}
	r.verdict.Consults = append(r.verdict.Consults, c)
	return nil
}

// fields are the parts of one member. The first mistake stays in err.
type fields struct {
	parts map[string]ast.Value
	err   error
}

// fieldsOf takes an object with known keys only, or the string that stands for
// an object with its main part only.
func fieldsOf(name ruleName, v ast.Value) (fields, error) {
	switch v := v.(type) {
	case ast.String:
		switch name {
		case ruleModify, ruleConsult:
			return fields{}, fmt.Errorf("a string where an object is wanted")
		case ruleContext:
			return fields{parts: map[string]ast.Value{"text": v}}, nil
		}
		return fields{parts: map[string]ast.Value{"reason": v}}, nil
	case ast.Object:
		parts := make(map[string]ast.Value, v.Len())
		err := v.Iter(func(k, val *ast.Term) error {
			key, ok := k.Value.(ast.String)
			if !ok {
				return fmt.Errorf("a key that is no string")
			}
			if !name.takes(string(key)) {
				return fmt.Errorf("%s", unknownKey(string(key)))
			}
			parts[string(key)] = val.Value
			return nil
		})
		return fields{parts: parts}, err
	}
	return fields{}, fmt.Errorf("%s where a string or an object is wanted", ast.ValueName(v))
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

func (f *fields) value(key string) ast.Value { return f.parts[key] }

// text returns an optional string; if it is there it must say something.
func (f *fields) text(key string) string {
	v, ok := f.parts[key]
	if !ok {
		return ""
	}
	s, ok := v.(ast.String)
	if !ok {
		f.fail("%s is %s where a string is wanted", key, ast.ValueName(v))
		return ""
	}
	if strings.TrimSpace(string(s)) == "" {
		f.fail("%s is empty", key)
	}
	return string(s)
}

func (f *fields) required(key string) string {
	if _, ok := f.parts[key]; !ok {
		f.fail("%s is missing", key)
	}
	return f.text(key)
}

// span returns an optional span. Null is what facts hold for words that do not
// stand in the text, so it means none.
func (f *fields) span(key string) *hook.Span {
	v, ok := f.parts[key]
	if _, null := v.(ast.Null); !ok || null {
		return nil
	}
	s, err := spanOf(v)
	if err != nil {
		f.fail("%s %w", key, err)
		return nil
	}
	return &s
}

func spanOf(v ast.Value) (hook.Span, error) {
	a, ok := v.(*ast.Array)
	if !ok || a.Len() != 2 {
		return hook.Span{}, fmt.Errorf("is not [from, to]")
	}
	var s hook.Span
	for i := range s {
		n, ok := a.Elem(i).Value.(ast.Number)
		if !ok {
			return s, fmt.Errorf("is not [from, to]")
		}
		if s[i], ok = n.Int(); !ok || s[i] < 0 {
			return s, fmt.Errorf("is not [from, to]")
		}
	}
	if s[1] < s[0] {
		return s, fmt.Errorf("ends before it begins")
	}
	return s, nil
}

// edits reads [{span, text}, …].
func (f *fields) edits(v ast.Value) []hook.Edit {
	list, ok := v.(*ast.Array)
	if !ok || list.Len() == 0 {
		f.fail("edits is not a list of {span, text}")
		return nil
	}
	edits := make([]hook.Edit, 0, list.Len())
	for i := range list.Len() {
		e, err := editOf(list.Elem(i).Value)
		if err != nil {
			f.fail("edit %d: %w", i, err)
			return nil
		}
		edits = append(edits, e)
	}
	return edits
}

func editOf(v ast.Value) (hook.Edit, error) {
	o, ok := v.(ast.Object)
	if !ok || o.Len() != 2 {
		return hook.Edit{}, fmt.Errorf("not {span, text}")
	}
	span, text := o.Get(ast.StringTerm("span")), o.Get(ast.StringTerm("text"))
	if span == nil || text == nil {
		return hook.Edit{}, fmt.Errorf("not {span, text}")
	}
	s, ok := text.Value.(ast.String)
	if !ok {
		return hook.Edit{}, fmt.Errorf("text is %s where a string is wanted", ast.ValueName(text.Value))
	}
	where, err := spanOf(span.Value)
	if err != nil {
		return hook.Edit{}, fmt.Errorf("span %w", err)
	}
	return hook.Edit{Span: where, Text: string(s)}, nil
}
