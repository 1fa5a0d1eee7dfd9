package rego

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// tidy turns OPA's list of errors into joined ones of the form
// "file:line: what", in the order of files and lines.
func tidy(err error) error {
	var list ast.Errors
	if !errors.As(err, &list) {
		var one *ast.Error
		if !errors.As(err, &one) {
			return err
		}
		list = ast.Errors{one}
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *ast.Error) int {
		return cmp.Or(cmp.Compare(fileOf(a), fileOf(b)), cmp.Compare(rowOf(a), rowOf(b)), cmp.Compare(a.Message, b.Message))
	})
	errs := make([]error, 0, len(list))
	last := ""
	for _, e := range list {
		line := tidyOne(e)
		if line != last {
			errs = append(errs, errors.New(line))
		}
		last = line
	}
	return errors.Join(errs...)
}

func tidyOne(e *ast.Error) string {
	message := strings.TrimPrefix(strings.ReplaceAll(e.Message, "\n", " "), "rego_")
	if e.Details != nil && e.Code != ast.ParseErr { // the parser only repeats the line
		for _, l := range e.Details.Lines() {
			if l = strings.TrimSpace(l); l != "" {
				message += "; " + l
			}
		}
	}
	if name, ok := strings.CutPrefix(message, "undefined function "); ok {
		message += withheld(name)
	}
	if e.Location == nil || e.Location.File == "" {
		return message
	}
	return fmt.Sprintf("%s:%d: %s", e.Location.File, e.Location.Row, message)
}

// withheld says why a policy may not call one of OPA's builtins. For other
// names it is empty.
func withheld(name string) string {
	for _, c := range builtinClasses {
		if c.grant != grantAll && slices.Contains(strings.Fields(c.names), name) {
			if c.grant == grantManaged {
				return "; only managed policies may call it: " + c.why
			}
			return "; no policy may call it: " + c.why
		}
	}
	return ""
}

func fileOf(e *ast.Error) string {
	if e.Location == nil {
		return ""
	}
	return e.Location.File
}

func rowOf(e *ast.Error) int {
	if e.Location == nil {
		return 0
	}
	return e.Location.Row
}

// evalError gives an error of an evaluation its position, or the policy's.
func evalError(pos string, err error) error {
	var e *topdown.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", pos, err)
	}
	if e.Location != nil && e.Location.File != "" {
		pos = fmt.Sprintf("%s:%d", e.Location.File, e.Location.Row)
	}
	return fmt.Errorf("%s: %s", pos, e.Message)
}
