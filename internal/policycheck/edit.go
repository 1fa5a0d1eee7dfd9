package policycheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/verdict"
)

// edits checks the edits of a rewrite.
func (c *checker) edits(s *scope, r *ast.Rule, m *shape, say func(format, hint string, args ...any)) {
	if m.fields["edits"] == nil {
		return
	}
	for _, e := range of(m.fields["edits"]).elements() {
		if e.any() || e.kinds&object == 0 || e.rest != nil {
			continue
		}
		got := (value{e}).fieldNames()
		if slices.Contains(got, "command") {
			c.commandEdit(s, r, e, say)
		} else if !slices.Equal(got, []string{"span", "text"}) {
			say("an edit has %s", `write {"span": …, "text": …}, or {"command": …} with env, options, operands or program`, strings.Join(got, ", "))
		} else if span := (value{e}).field("span"); span.kinds()&null != 0 && !s.unit.handled["span"] {
			c.report(s, r.Head.Key.Location, Warning, "null", "the span of an edit can be null, and then the call is rejected",
				"put is_array(….span) before it, and say in a rule of its own what holds for words that the line does not spell out")
		}
	}
}

// editKinds are what the keys of an edit of a command may hold, and what the names
// below them.
func editKinds(key string) (is, below kinds) {
	switch key {
	case "command":
		return number, 0
	case "program":
		return text, 0
	case "env":
		return object, text | null
	case "options":
		return object, text | boolean | null
	}
	return object, array // operands
}

// commandEdit checks an edit of a command by its meaning.
func (c *checker) commandEdit(s *scope, r *ast.Rule, e *shape, say func(format, hint string, args ...any)) {
	keys := verdict.CommandEditKeys()
	for _, key := range (value{e}).fieldNames() {
		if !slices.Contains(keys, key) {
			say("an edit of a command has no key %q", oneOf(key, keys), key)
			continue
		}
		held := (value{e}).field(key)
		is, below := editKinds(key)
		switch got := held.kinds(); {
		case got == 0:
		case got&is == 0:
			say("%s of an edit is %s", fmt.Sprintf("it must be %s", is), key, got)
		case got&null != 0 && !s.unit.handled[nameOf(held)]:
			c.report(s, r.Head.Key.Location, Warning, "null", fmt.Sprintf("%s of an edit can be null, and then the call is rejected", key),
				"say in the condition that it is none")
		}
		for _, part := range held {
			c.named(key, below, part, say)
		}
	}
	if len((value{e}).fieldNames()) == 1 {
		say("an edit names a command and nothing that it is to have", "add env, options, operands or program")
	}
}

// named checks what stands below names in a part of an edit.
func (c *checker) named(key string, below kinds, part *shape, say func(format, hint string, args ...any)) {
	if part.kinds&object == 0 {
		return
	}
	for _, name := range (value{part}).fieldNames() {
		switch got := (value{part}).field(name).kinds(); {
		case key == "operands" && !slices.Contains(verdict.OperandKeys(), name):
			say("operands of an edit have no key %q", oneOf(name, verdict.OperandKeys()), name)
		case key == "options" && strings.HasPrefix(name, "-"):
			say("the option %q is written with dashes", fmt.Sprintf("write %q, as facts do", strings.TrimLeft(name, "-")), name)
		case got != 0 && got&below == 0:
			say("%s of an edit's %s is %s", fmt.Sprintf("it must be %s", below), name, key, got)
		}
	}
}
