// Package verdict knows what the rules of a policy mean: the ten by which it
// speaks, and what their members may hold.
//
// Every evaluator of policies reads what it worked out here, so that all say the
// same. It is not for evaluating, nor for combining verdicts. Start with
// [NewReader].
package verdict

import (
	"slices"
	"strconv"
	"strings"

	"gate/hook"
)

// A Rule is one of the ten rules by which a policy speaks.
type Rule string

// The rules.
const (
	Deny    Rule = "deny"
	Ask     Rule = "ask"
	Allow   Rule = "allow"
	Modify  Rule = "modify"
	Context Rule = "context"
	Warn    Rule = "warn"
	Halt    Rule = "halt"
	Consult Rule = "consult"

	Remember Rule = "remember"
	Confine  Rule = "confine"
)

// Rules returns the rules in the order in which a verdict holds their members.
func Rules() [10]Rule {
	return [...]Rule{Halt, Deny, Ask, Allow, Modify, Context, Warn, Consult, Remember, Confine}
}

// List returns the names of all rules in a text for people.
func List() string {
	names := make([]string, 0, 10)
	for _, r := range Rules() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// Known reports whether name is that of a rule.
func Known(name string) bool {
	rules := Rules()
	return slices.Contains(rules[:], Rule(name))
}

// takes reports whether a member of a rule may hold a key.
func (r Rule) takes(key string) bool {
	switch r {
	case Modify:
		return key == "reason" || key == "edits" || key == "input"
	case Context:
		return key == "text" || key == "strategy"
	case Consult:
		return key == "hook" || key == "reason"
	case Confine:
		return key == "profile" || key == "reason" || key == "otherwise"
	case Remember:
		return key == "mark" || key == "value" || key == "for"
	}
	switch key {
	case "reason", "id", "help", "suggestion", "span":
		return true
	}
	return false
}

// unknownKey says what is wrong with a key, and which one is right where other
// systems have another for it.
func unknownKey(key string) string {
	right := ""
	switch key {
	case "msg", "message":
		right = "reason"
	case "rule_id", "rule":
		right = "id"
	case "hint":
		right = "help"
	default:
		return "unknown key " + strconv.Quote(key)
	}
	return "unknown key " + strconv.Quote(key) + "; the key is " + strconv.Quote(right)
}

// InputSchema returns the JSON Schema that a policy holds the tool's input against,
// nil if it has none. An input that does not fit is a denial, as a member of deny is.
func InputSchema(h *hook.Hook) map[string]any {
	if h.Kind != hook.Rego {
		return nil
	}
	schema, _ := h.Config["schema"].(map[string]any)
	return schema
}
