package rego

import (
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/verdict"
)

// shapes checks what the ten names are used for in the source's own files.
// The library's helpers may name their rules as they like: nobody asks them.
func (s *source) shapes(files []*module) error {
	var errs []error
	for _, m := range files {
		errs = append(errs, m.shape())
		errs = append(errs, s.undefined(m))
	}
	return errors.Join(errs...)
}

// shape reports rules with one of the ten names that are no sets: OPA would evaluate
// them to another kind of value, or to nothing.
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
	if !verdict.Known(string(name)) {
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
