package policycheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/spelling"
)

// calledFunction notes who calls what, and checks the fields that a function is
// to look up.
func (c *checker) calledFunction(s *scope, u *unit, name string, args []*ast.Term) {
	fn := u.pkg + "." + name
	if c.pass == reading {
		c.calls[fn] = append(c.calls[fn], call{s, args})
	}
	if fact := map[string]string{"effects": "effects", "commands": "shell"}[name]; u.lib && fact != "" && len(args) > 0 {
		c.noFacts(s, args[0].Location, fact)
	}
	c.given(s, u, name, args)
	for _, p := range c.access[fn] {
		if max(p.thing, p.name) >= len(args) {
			continue
		}
		for _, key := range keysOf(args[p.name]) {
			if c.pass == reading {
				if u.lib {
					s.unit.handled[key] = true
				}
				continue
			}
			v := c.eval(s, args[p.thing])
			c.field(s, args[p.name].Location, ast.Ref{args[p.thing]}, key, v, v.field(key))
			break
		}
	}
}

// field reports a field that something does not have. It returns false if so.
func (c *checker) field(s *scope, loc *ast.Location, of ast.Ref, name string, before, after value) bool {
	c.lookedField(s, of, name, before)
	if before.hasField(name) {
		return true
	}
	known := before.fieldNames()
	if len(known) == 0 {
		return true
	}
	if len(after) > 0 || !before.closed() {
		if right := slip(name, known); right != "" {
			severity := Warning
			if s.unit.hook != nil && c.schema.describes(s.unit.hook.If) {
				severity = Error
			}
			c.report(s, loc, severity, "field", fmt.Sprintf("%s has no known field %q", shown(of), name), didYouMean(right))
		}
		return true
	}
	what := shown(of)
	if titles := before.titles(); len(titles) > 0 && len(titles) <= 4 {
		what = fmt.Sprintf("%s (%s)", what, strings.Join(titles, ", "))
	}
	hint := didYouMean(spelling.Nearest(name, known))
	if of.Equal(ast.InputRootRef) {
		if events := c.schema.eventsWith(name); len(events) > 0 {
			hint = "it is there on " + strings.Join(events, ", ")
		}
	}
	if hint == "" {
		hint = "it has " + strings.Join(known, ", ")
	}
	c.report(s, loc, Error, "field", fmt.Sprintf("%s has no field %q", what, name), hint)
	return false
}

// eventsWith returns the events that have a field.
func (sc *schema) eventsWith(field string) []string {
	var names []string
	for name, e := range sc.events {
		if e.fields[field] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c *checker) report(s *scope, loc *ast.Location, severity Severity, rule, message, hint string) {
	f := Finding{File: s.unit.file, Severity: severity, Rule: rule, Message: message, Hint: hint}
	if loc != nil {
		f.Line, f.Column = loc.Row, loc.Col
	}
	c.add(f)
}

// wildcards are the names that the parser gives to "_", and the compiler to
// variables.
var wildcards = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\d+|__local\d+__`) })

// shown writes a term as its author did.
func shown(v fmt.Stringer) string { return wildcards().ReplaceAllString(v.String(), "_") }
