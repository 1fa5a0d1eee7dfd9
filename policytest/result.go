package policytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	gaterego "gate/engine/rego"
)

// result converts what OPA's runner says about one test.
func (s *Suite) result(r *tester.Result) Result {
	out := Result{
		Kind:    RegoTest,
		Name:    strings.TrimPrefix(r.Package, "data.") + "." + r.Name,
		Failed:  r.Fail,
		Skipped: r.Skip,
		Err:     plain(r.Error),
		Output:  string(r.Output),
		Took:    r.Duration,
	}
	if r.Location != nil {
		out.File, out.Line = r.Location.File, r.Location.Row
	}
	if !r.Fail {
		return out
	}
	out.Message = fmt.Sprintf("%s:%d: %s is not true", out.File, out.Line, r.Name)
	if cases := failedCases(r.SubResults); len(cases) > 0 {
		out.Message = fmt.Sprintf("%s:%d: cases %s", out.File, out.Line, strings.Join(cases, ", "))
	}
	if at := failedAt(r.Trace, out.File); at != "" {
		out.Message = at
		if cases := failedCases(r.SubResults); len(cases) > 0 {
			out.Message += " (cases " + strings.Join(cases, ", ") + ")"
		}
	}
	return out
}

// failedCases lists the named cases of a test that failed.
func failedCases(sub tester.SubResultMap) []string {
	var names []string
	for name, r := range sub.Iter {
		if r.Fail && len(r.SubResults) == 0 {
			names = append(names, strings.Join(slices.DeleteFunc(name, func(s string) bool { return s == "" }), "/"))
		}
	}
	return names
}

// failedAt finds the last expression of the test's own file that was not true.
func failedAt(trace []*topdown.Event, file string) string {
	for _, e := range slices.Backward(trace) {
		expr, ok := e.Node.(*ast.Expr)
		if e.Op != topdown.FailOp || !ok || e.Location == nil || e.Location.File != file {
			continue
		}
		if _, every := expr.Terms.(*ast.Every); every {
			continue // what failed inside it says more
		}
		text, _, _ := strings.Cut(strings.TrimSpace(string(e.Location.Text)), "\n")
		return fmt.Sprintf("%s:%d: not true: %s", e.Location.File, e.Location.Row, text)
	}
	return ""
}

// plain shortens OPA's errors to file:line and message.
func plain(err error) error {
	var e *topdown.Error
	if err == nil || !errors.As(err, &e) || e.Location == nil {
		return err
	}
	message := e.Message
	if rest, guarded := strings.CutPrefix(message, gaterego.GuardPrefix); guarded {
		_, message, _ = strings.Cut(rest, ": ")
	}
	return fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Row, message)
}
