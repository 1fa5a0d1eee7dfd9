package policycheck

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/spelling"
)

// A memberKey is one key of the members of a rule.
type memberKey struct {
	kinds    kinds
	required bool
}

// memberKeys are what the engine takes for a member. What is none is a Reject,
// or a fault, when it is too late.
func memberKeys(rule string) map[string]memberKey {
	switch rule {
	case "modify":
		return map[string]memberKey{"reason": {text, true}, "edits": {array, false}, "input": {object | text | array, false}}
	case "context":
		return map[string]memberKey{"text": {text, true}, "strategy": {text, false}}
	case "consult":
		return map[string]memberKey{"hook": {text, true}, "reason": {text, true}}
	case "confine":
		return map[string]memberKey{"profile": {text, true}, "reason": {text, true}, "otherwise": {text, false}}
	case "remember": // without a mark, or with another for, it is reported at load
		return map[string]memberKey{"mark": {text, false}, "value": {^kinds(0), false}, "for": {text, false}}
	}
	return map[string]memberKey{
		"reason": {text, true}, "id": {text, false}, "help": {text, false}, "suggestion": {text, false}, "span": {array | null, false},
	}
}

// members checks what a rule puts into its set.
func (c *checker) members(s *scope, r *ast.Rule) {
	if c.pass != reporting || r.Head.Key == nil || r.Head.RuleKind() != ast.MultiValue {
		return
	}
	name := ruleName(r)
	for _, m := range c.eval(s, r.Head.Key) {
		switch {
		case m.any():
		case m.kinds&object != 0:
			c.form(s, r, name, m)
		case m.kinds&text == 0, name == "modify", name == "consult", name == "confine":
			wanted := "a string or an object"
			if name == "modify" || name == "consult" || name == "confine" {
				wanted = "an object"
			}
			c.report(s, r.Head.Key.Location, Error, "member", fmt.Sprintf("a member of %s is %s", name, m.kinds), "give "+wanted)
		case m.empty():
			c.report(s, r.Head.Key.Location, Error, "member", fmt.Sprintf("a member of %s is empty", name), "give a text that says something")
		}
	}
}

// form checks one form that a member can have.
func (c *checker) form(s *scope, r *ast.Rule, rule string, m *shape) {
	known := memberKeys(rule)
	say := func(format, hint string, args ...any) {
		c.report(s, r.Head.Key.Location, Error, "member", fmt.Sprintf(format, args...), hint)
	}
	for _, key := range (value{m}).fieldNames() {
		k, ok := known[key]
		held := of(m.fields[key])
		switch is := held.kinds(); {
		case !ok, is == 0:
			// Unknown keys are reported at load.
		case is&k.kinds == 0:
			say("%s of %s is %s", fmt.Sprintf("it must be %s", k.kinds), key, rule, is)
		case is&null != 0 && k.kinds&null == 0 && !s.unit.handled[nameOf(held)]:
			c.report(s, r.Head.Key.Location, Warning, "null", fmt.Sprintf("%s of %s can be null, and then the member is malformed", key, rule),
				"use data.gate.lib.text, which gives another text then")
		}
		if k.kinds == text && slices.ContainsFunc(held, (*shape).empty) {
			say("%s of %s is empty", "give a text that says something", key, rule)
		}
		texts, closed := held.texts()
		if rule == "consult" && key == "hook" && closed {
			c.consulted(s, r, texts)
		}
		if key == "strategy" && closed {
			for _, t := range texts {
				if !slices.Contains(strategies(), t) {
					say("strategy of %s is never %q", oneOf(t, strategies()), rule, t)
				}
			}
		}
	}
	if m.rest != nil {
		return
	}
	for _, key := range []string{"reason", "text", "hook"} {
		if known[key].required && m.fields[key] == nil {
			say("a member of %s has no %s", fmt.Sprintf("add %q", key), rule, key)
		}
	}
	if rule == "modify" {
		if (m.fields["edits"] == nil) == (m.fields["input"] == nil) {
			say("a member of modify needs exactly one of edits and input", "give the edits of a command line, or the input to merge")
		}
		c.edits(s, r, m, say)
	}
}

// empty reports a text with nothing in it.
func (s *shape) empty() bool { return s.kinds == text && len(s.enum) == 1 && s.enum[0] == "" }

// consulted checks that there are the handlers that a rule hands calls to.
func (c *checker) consulted(s *scope, r *ast.Rule, ids []string) {
	if !c.place {
		return // the hook file is not known
	}
	known := c.handlers()
	for _, id := range ids {
		if !slices.Contains(known, id) {
			hint := didYouMean(spelling.Nearest(id, known))
			if hint == "" {
				hint = "give a hook of the hook file here that id, unless managed sources have one"
			}
			c.report(s, r.Head.Key.Location, Warning, "asked", fmt.Sprintf("no handler here is called %q", id), hint)
		}
	}
}

// handlers are those that rules can hand calls to.
func (c *checker) handlers() (known []string) {
	for _, src := range append(slices.Clone(c.others), c.src) {
		for _, h := range src.Hooks {
			if h.Kind != hook.Rego && (src.Scope == hook.Policy || src.Name == c.src.Name) {
				known = append(known, h.ID)
			}
		}
	}
	return known
}

// strategies are the ways in which context reaches the agent.
func strategies() []string { return []string{string(hook.ToolResult), string(hook.UserMessage)} }

func nameOf(v value) string {
	for _, s := range v {
		if s.name != "" {
			return s.name
		}
	}
	return ""
}
