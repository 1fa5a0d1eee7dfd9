package build

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ir"

	"gate/internal/plan/bytecode"
	"gate/internal/plan/pattern"
)

// patternOperands says which operand of a builtin is an expression of RE2. That
// of glob.match is a glob.
var patternOperands = map[string]int{
	"regex.match": 0, "regex.split": 0, "regex.find_n": 0, "regex.find_all_string_submatch_n": 0, "regex.replace": 1, "glob.match": 0,
}

const globMatch = "glob.match"

// Patterns are the strings of a plan that builtins take for patterns.
type patterns struct {
	regex, glob       map[string]bool
	anyRegex, anyGlob bool // some are known only when the plan runs
	operands          map[string]bool
}

// collect looks for patterns in a function.
func (c *patterns) collect(f *ir.Func, constant func(int) string) {
	ir.Walk(visitor(func(x any) {
		switch x := x.(type) {
		case *ir.CallStmt:
			c.call(x, constant)
			c.operand(constant, x.Args...)
		case *ir.AssignVarStmt:
			c.operand(constant, x.Source)
		case *ir.ArrayAppendStmt:
			c.operand(constant, x.Value)
		case *ir.SetAddStmt:
			c.operand(constant, x.Value)
		case *ir.ObjectInsertStmt:
			c.operand(constant, x.Key, x.Value)
		}
	}), f)
}

func (c *patterns) call(s *ir.CallStmt, constant func(int) string) {
	i, takes := patternOperands[s.Func]
	if !takes || i >= len(s.Args) {
		return
	}
	list, unknown := &c.regex, &c.anyRegex
	if s.Func == globMatch {
		list, unknown = &c.glob, &c.anyGlob
	}
	n, is := plain(s.Args[i].Value).(ir.StringIndex)
	if !is {
		*unknown = true
		return
	}
	note(list, constant(int(n)))
}

// operand notes strings that may get to be patterns by way of a variable. Other
// texts, such as reasons, seldom have one of these characters.
func (c *patterns) operand(constant func(int) string, operands ...ir.Operand) {
	for _, o := range operands {
		if n, is := plain(o.Value).(ir.StringIndex); is {
			if s := constant(int(n)); strings.ContainsAny(s, `\[^$*+|{`) {
				note(&c.operands, s)
			}
		}
	}
}

func note(list *map[string]bool, s string) {
	if *list == nil {
		*list = map[string]bool{}
	}
	(*list)[s] = true
}

// write compiles what was found.
func (c *patterns) write(w *bytecode.Writer) {
	all := map[string]bool{}
	for _, list := range []map[string]bool{c.regex, c.glob, c.operands} {
		for s := range list {
			all[s] = true
		}
	}
	for _, s := range sortedKeys(all) {
		p := bytecode.Pattern{Text: s}
		if c.regex[s] || c.anyRegex && c.operands[s] {
			p.Regex = string(pattern.Regex(s))
		}
		if c.glob[s] || c.anyGlob && c.operands[s] {
			p.Glob = string(pattern.Glob(s))
		}
		if p.Regex+p.Glob != "" {
			w.Pattern(p)
		}
	}
}
