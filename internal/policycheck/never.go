package policycheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/spelling"
	"gate/matcher"
)

// metadata reports policies that do not say what they are.
func (c *checker) metadata() {
	for _, u := range c.units {
		if u.hook == nil {
			continue
		}
		f := Finding{File: u.file, Line: u.module.Package.Location.Row, Severity: Warning, Rule: "title"}
		if u.hook.Title == "" {
			f.Message, f.Hint = fmt.Sprintf("policy %s has no title", u.pkg), "add title: to its METADATA; people see it in lists and questions"
			c.add(f)
		}
		if u.hook.Description == "" {
			f.Message, f.Hint = fmt.Sprintf("policy %s has no description", u.pkg), "add description: to its METADATA, with what it stops and what it lets through"
			c.add(f)
		}
	}
}

// keyLine returns the line of a key in the METADATA of a package.
func (u *unit) keyLine(key string) int {
	for _, a := range u.module.Annotations {
		if a.Location == nil {
			continue
		}
		for i, line := range strings.Split(string(a.Location.Text), "\n") {
			if name, _, ok := strings.Cut(strings.TrimLeft(line, "#- \t"), ":"); ok && strings.Trim(name, `"' `) == key {
				return a.Location.Row + i
			}
		}
	}
	return u.module.Package.Location.Row
}

// conditions reports matchers and conditions that no event can fulfil.
func (c *checker) conditions() {
	for _, h := range c.src.Hooks {
		at := func(key string) (string, int) {
			if u := c.byName[h.ID]; u != nil && h.Kind == hook.Rego {
				return u.file, u.keyLine(key)
			}
			return h.File, h.Line
		}
		c.subjects(h, at)
		c.powerless(h)
		c.matcher(h, at)
		for _, cond := range h.If {
			c.condition(h, cond, at)
		}
	}
}

// powerless reports rules that never count, whoever trusts the source.
func (c *checker) powerless(h *hook.Hook) {
	u := c.byName[h.ID]
	if u == nil || h.Authority.MayAllow() {
		return
	}
	for _, r := range u.rules["allow"] {
		c.add(Finding{
			File: u.file, Line: r.Location.Row, Column: r.Location.Col, Severity: Error, Rule: "never",
			Message: fmt.Sprintf("allow never counts in policies of %s authority", h.Authority),
			Hint:    "move it to your own policies or the administrator's, or remove it",
		})
	}
}

// subjects reports matchers and conditions on events that have nothing to
// match.
func (c *checker) subjects(h *hook.Hook, at func(string) (string, int)) {
	var unmatched, toolless []string
	for _, e := range h.Events {
		event := c.schema.events[string(e.Canonical())]
		switch {
		case event == nil:
			continue
		case e.Canonical().Moment().Matches == "":
			unmatched = append(unmatched, string(e))
		}
		if !slices.ContainsFunc(h.If, func(cond string) bool { return c.schema.mayMeet(e.Canonical(), cond) }) {
			toolless = append(toolless, string(e))
		}
	}
	say := func(key string, events []string, message, hint string) {
		f := Finding{Rule: "never", Severity: Error, Hint: hint, Message: fmt.Sprintf(message, strings.Join(events, ", "))}
		if len(events) < len(h.Events) {
			f.Severity = Warning
		}
		f.File, f.Line = at(key)
		c.add(f)
	}
	if len(unmatched) > 0 && h.Matcher != "" && h.Matcher != "*" {
		say("matcher", unmatched, "%s is matched on nothing: there the matcher does not count", "remove the matcher, or the event")
	}
	if len(toolless) > 0 && len(h.If) > 0 {
		say("if", toolless, "%s is not about a tool: there the conditions of if are never met", "remove the event, or if")
	}
}

// mayMeet reports whether an event can have the facts that a condition asks
// for. Facts are about tool calls; of a few other events they name a file.
func (sc *schema) mayMeet(e hook.Name, cond string) bool {
	name, _, _ := strings.Cut(cond, "(")
	return sc.aboutTool(e) || aboutFile(e) && slices.Contains([]string{"Read", "Grep", "Glob", "LS", "unknown"}, strings.TrimSpace(name))
}

func (sc *schema) aboutTool(e hook.Name) bool {
	event := sc.events[string(e)]
	return event == nil || event.fields["tool_name"] != nil
}

func aboutFile(e hook.Name) bool { return e.Moment().File != "" }

// noFacts reports that a policy reads facts which none of its events has.
func (c *checker) noFacts(s *scope, loc *ast.Location, fact string) {
	h := s.unit.hook
	if c.pass != reporting || h == nil || len(h.Events) == 0 || !slices.Contains([]string{"effects", "shell", "hosts", "code", "paths"}, fact) {
		return
	}
	var names []string
	for _, e := range h.Events {
		if c.schema.aboutTool(e.Canonical()) || aboutFile(e.Canonical()) && fact == "paths" {
			return
		}
		names = append(names, string(e))
	}
	c.report(s, loc, Error, "never", fmt.Sprintf("input.facts.%s is always empty on %s", fact, strings.Join(names, ", ")),
		"facts are about tool calls: listen to PreToolUse")
}

// matcher reports items of a matcher that match nothing known and are a slip of
// what is.
func (c *checker) matcher(h *hook.Hook, at func(string) (string, int)) {
	var known []string
	for _, e := range h.Events {
		field := e.Canonical().Moment().Matches
		event := c.schema.events[string(e.Canonical())]
		switch {
		case event == nil || field == "":
		case field == "tool_name":
			known = slices.AppendSeq(known, maps.Keys(c.schema.tools))
		case event.fields[field] != nil:
			known = append(known, event.fields[field].known...)
		}
	}
	slices.Sort(known)
	for _, item := range strings.FieldsFunc(h.Matcher, func(r rune) bool { return r == '|' || r == ',' }) {
		item = strings.TrimSpace(item)
		m, err := matcher.Compile(item, backtracking.Compile)
		if err != nil || slices.ContainsFunc(known, func(k string) bool { return m.Match(k) != matcher.No }) {
			continue
		}
		name := strings.Trim(strings.TrimPrefix(item, "glob:"), "^$*")
		if right := misspelt(name, known); right != "" {
			f := Finding{Rule: "never", Severity: Error, Message: fmt.Sprintf("matcher %q matches no known event or tool", item), Hint: didYouMean(right)}
			f.File, f.Line = at("matcher")
			c.add(f)
		}
	}
}

// misspelt returns the known word that another one differs from by a letter or
// by case.
func misspelt(word string, known []string) string {
	if slices.Contains(known, word) {
		return ""
	}
	for _, k := range known {
		if strings.EqualFold(word, k) || spelling.Distance(word, k) == 1 && len(k) > 3 {
			return k
		}
	}
	return ""
}

// condition reports a condition that names what does not exist.
func (c *checker) condition(h *hook.Hook, text string, at func(string) (string, int)) {
	cond, err := matcher.ParseCondition(text)
	if err != nil {
		return // reported at load
	}
	f := Finding{Rule: "never", Severity: Error}
	f.File, f.Line = at("if")
	name, inner, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(text), ")"), "(")
	inner = strings.TrimSpace(inner)
	var known []string
	fires := func(facts hook.Facts) bool {
		return cond.Match(&hook.Event{Name: hook.PreToolUse, Facts: &facts}) == matcher.Yes
	}
	switch name {
	case "effect":
		known = slices.Sorted(maps.Keys(c.schema.effects))
		for _, k := range known {
			if fires(hook.Facts{Effects: []hook.FactEffect{{Is: &hook.OwnEffect{Name: k}}}}) {
				return
			}
		}
		f.Message = fmt.Sprintf("if %s: there is no effect of kind %q", text, inner)
	case "unknown":
		known = c.schema.facts.fields["unknown"].items.fields["kind"].enum
		for _, k := range known {
			if fires(hook.Facts{Unknown: []hook.Unknown{{Kind: k}}}) {
				return
			}
		}
		f.Message = fmt.Sprintf("if %s: there is no unknown of kind %q", text, inner)
	case "flow":
		known = c.schema.common.fields["flow"].items.fields["origin"].enum
		for _, origin := range known {
			if fires(hook.Facts{Flow: []hook.Flow{{Origin: origin}}}) {
				return
			}
		}
		f.Message = fmt.Sprintf("if %s: there is no origin %q", text, inner)
	default:
		right := misspelt(name, slices.Sorted(maps.Keys(c.schema.tools)))
		if right == "" || slices.Contains(h.If, right) {
			return // another agent's name for it
		}
		f.Message, f.Hint = fmt.Sprintf("if %s: there is no tool %s", text, name), didYouMean(right)
		c.add(f)
		return
	}
	f.Hint = oneOf(inner, known)
	c.add(f)
}
