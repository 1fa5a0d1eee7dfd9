package rego

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A ruleName is one of the eight rules by which a policy speaks.
type ruleName string

const (
	ruleDeny    ruleName = "deny"
	ruleAsk     ruleName = "ask"
	ruleAllow   ruleName = "allow"
	ruleModify  ruleName = "modify"
	ruleContext ruleName = "context"
	ruleWarn    ruleName = "warn"
	ruleHalt    ruleName = "halt"
	ruleConsult ruleName = "consult"
)

// ruleNames is in the order in which a verdict holds the members.
var ruleNames = [...]ruleName{
	ruleHalt, ruleDeny, ruleAsk, ruleAllow, ruleModify, ruleContext, ruleWarn, ruleConsult,
}

func ruleList() string {
	names := make([]string, len(ruleNames))
	for i, n := range ruleNames {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

func fixed(name string) bool {
	for _, n := range ruleNames {
		if string(n) == name {
			return true
		}
	}
	return false
}

// respelt maps keys that other systems give members to ours.
var respelt = map[string]string{
	"msg":     "reason",
	"message": "reason",
	"rule_id": "id",
	"rule":    "id",
	"hint":    "help",
}

// shapes checks what the eight names are used for in the source's own files.
// The library's helpers may name their rules as they like: nobody asks them.
func (s *source) shapes(files []*module) error {
	var errs []error
	for _, m := range files {
		errs = append(errs, m.shape())
		errs = append(errs, s.undeclared(m))
	}
	return errors.Join(errs...)
}

// shape reports rules with one of the eight names that are no sets: OPA would
// evaluate them to something else, or to nothing.
func (m *module) shape() error {
	if m.ast == nil {
		return nil
	}
	var errs []error
	for _, r := range m.ast.Rules {
		if what := misshapen(r); what != "" {
			errs = append(errs, fmt.Errorf("%s:%d: %s", m.File, r.Location.Row, what))
		}
	}
	return errors.Join(errs...)
}

func misshapen(r *ast.Rule) string {
	ref := r.Head.Ref()
	name, _ := ref[0].Value.(ast.Var)
	if !fixed(string(name)) {
		return ""
	}
	switch {
	case r.Default:
		return fmt.Sprintf("default %s has no meaning: without a member the policy has no opinion; write %s contains … if", name, name)
	case len(r.Head.Args) > 0:
		return fmt.Sprintf("%s is a function; write %s contains … if", name, name)
	case len(ref) > 1, r.Head.RuleKind() != ast.MultiValue:
		return fmt.Sprintf("%s must be a set; write %s contains … if", name, name)
	}
	return ""
}

func unknownKey(key string) string {
	if right, ok := respelt[key]; ok {
		return fmt.Sprintf("unknown key %q; the key is %q", key, right)
	}
	return fmt.Sprintf("unknown key %q", key)
}

// keys lists what a member of each rule may hold.
func (n ruleName) keys() []string {
	switch n {
	case ruleModify:
		return []string{"reason", "edits", "input"}
	case ruleContext:
		return []string{"text", "strategy"}
	case ruleConsult:
		return []string{"hook", "reason"}
	}
	return []string{"reason", "id", "help", "suggestion", "span"}
}

func (n ruleName) takes(key string) bool {
	for _, k := range n.keys() {
		if k == key {
			return true
		}
	}
	return false
}
