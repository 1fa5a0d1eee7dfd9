package policycheck

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// patternOf returns which operand of a builtin is a regular expression.
func patternOf(op string) int {
	if op == "regex.replace" {
		return 2
	}
	return 1
}

// pattern checks a regular expression that is written out: one that cannot be
// read is a fault whenever the policy runs.
func (c *checker) pattern(s *scope, t *ast.Term) {
	text, ok := t.Value.(ast.String)
	if !ok {
		return
	}
	_, err := syntax.Parse(string(text), syntax.Perl)
	if err == nil {
		return
	}
	message, hint := err.Error(), "it would be a fault whenever the policy runs"
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		message = fmt.Sprintf("%s in %q", bad.Code, bad.Expr)
		if strings.HasPrefix(bad.Expr, "(?") {
			hint = "Rego's RE2 has no look-ahead and no look-behind: use two conditions, one of them with not"
		}
	}
	c.report(s, t.Location, Error, "value", fmt.Sprintf("%s is no regular expression: %s", t, message), hint)
}

// sprintf checks that there is a value for each verb of a format that is
// written out, and a verb for each value.
func (c *checker) sprintf(s *scope, format, values *ast.Term) {
	text, ok := format.Value.(ast.String)
	list, isList := values.Value.(*ast.Array)
	if !ok || !isList {
		return
	}
	want, plain := verbs(string(text))
	if plain && want != list.Len() {
		c.report(s, format.Location, Error, "value", fmt.Sprintf("the format %s wants %d values and gets %d", format, want, list.Len()), "give each verb one value; %% is a percent sign")
	}
}

// verbs counts the verbs of a format; plain is false if some of them say which
// value they mean, or take two.
func verbs(format string) (n int, plain bool) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		for i < len(format) && strings.IndexByte("+-# 0123456789.", format[i]) >= 0 {
			i++
		}
		switch {
		case i == len(format), format[i] == '[', format[i] == '*':
			return 0, false
		case format[i] != '%':
			n++
		}
	}
	return n, true
}
