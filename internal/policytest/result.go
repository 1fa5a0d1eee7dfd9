package policytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	gaterego "gate/internal/rego"
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
	if e := failure(r.Trace, out.File); e != nil {
		out.Message = notTrue(e)
		if cases := failedCases(r.SubResults); len(cases) > 0 {
			out.Message += " (cases " + strings.Join(cases, ", ") + ")"
		}
		if out.Judged = judgedIn(e); out.Judged != "" {
			out.Message += "\n    judged: " + out.Judged
		}
		out.Message += values(e)
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

// failure finds the last expression of the test's own file that was not true.
func failure(trace []*topdown.Event, file string) *topdown.Event {
	for _, e := range slices.Backward(trace) {
		expr, ok := e.Node.(*ast.Expr)
		if e.Op != topdown.FailOp || !ok || e.Location == nil || e.Location.File != file {
			continue
		}
		if _, every := expr.Terms.(*ast.Every); every {
			continue // what failed inside it says more
		}
		return e
	}
	return nil
}

// notTrue says where an expression stands, and the first line of it.
func notTrue(e *topdown.Event) string {
	at := e.Node.(*ast.Expr).BaseCogeneratedExpr().Location
	if at == nil {
		at = e.Location
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(at.Text)), "\n")
	return fmt.Sprintf("%s:%d: not true: %s", at.File, at.Row, text)
}

// judgedIn finds the event that an expression was about, if there is just one:
// its shell line, or what else it is about.
func judgedIn(e *topdown.Event) string {
	found := map[string]bool{}
	line := ""
	expr := e.Node.(*ast.Expr)
	e.Locals.Iter(func(k, v ast.Value) bool {
		event, ok := v.(ast.Object)
		if !ok || event.Get(ast.InternedTerm("hook_event_name")) == nil || !mentions(expr, k) {
			return false
		}
		if plain, err := ast.JSON(v); err == nil {
			line = judged(plain.(map[string]any))
			found[line] = true
		}
		return false
	})
	if len(found) != 1 {
		return ""
	}
	return line
}

func mentions(expr *ast.Expr, name ast.Value) bool {
	seen := false
	ast.WalkVars(expr, func(v ast.Var) bool {
		seen = seen || name.Compare(v) == 0
		return seen
	})
	return seen
}

// maxValue is how much of a line of values a message shows, in characters.
const maxValue = 300

// values shows an expression and, below it, the values in it, as opa test does.
func values(e *topdown.Event) string {
	var b strings.Builder
	if err := topdown.PrettyEvent(&b, e, topdown.PrettyEventOpts{PrettyVars: true}); err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	if len(lines) == 1 {
		return "" // the expression alone has been said
	}
	margin := len(lines[0]) - len(strings.TrimLeft(lines[0], " \t"))
	out := ""
	for _, line := range lines {
		line = strings.TrimLeft(line[:min(margin, len(line))], " \t") + line[min(margin, len(line)):]
		if r := []rune(line); len(r) > maxValue {
			line = string(r[:maxValue]) + " …"
		}
		out += "\n    " + line
	}
	return out
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
