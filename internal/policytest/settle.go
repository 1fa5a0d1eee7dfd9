package policytest

import (
	"context"
	"fmt"
	"strings"

	"gate/hook"
)

// unsettled runs a call once more as the policies rewrote it, and says what is
// wrong if they rewrite it again: a modify rule must leave alone what it has
// made. The engine itself sees rules that undo each other's work, but not one
// that would change its own.
func (s *Suite) unsettled(ctx context.Context, p *pipeline, m *moment) string {
	field := m.event.Name.Rewrites()
	if field == "" {
		return ""
	}
	first := rewriteOf(field, &m.decision)
	again := m.again(ctx, m.event.With(field, first))
	second := rewriteOf(field, &again)
	if second == nil || same(second, first) {
		return ""
	}
	var lines []string
	for _, ch := range again.Changes {
		lines = append(lines, fmt.Sprintf("%s: modify of %s changes its own output again", s.modifyAt(p, ch), ch.Hook))
	}
	return strings.Join(append(lines,
		"  judged:      "+m.line,
		"  first time:  "+rewritten(first),
		"  second time: "+rewritten(second),
		"  a condition that is not true of what the rule makes settles it"), "\n")
}

// rewriteOf is what a decision makes of the field that its event rewrites.
func rewriteOf(field string, d *hook.Decision) any {
	if field == "tool_response" {
		return d.Output
	}
	return d.Inside()
}

// unsettledEvents holds the events that gate.event made in the files of results
// to the same, since a Rego test sees one rule at a time. Nothing is said of
// those that settle.
func (s *Suite) unsettledEvents(ctx context.Context, results []Result) []Result {
	if !s.modifies() {
		return nil
	}
	files := map[string]bool{}
	for _, r := range results {
		files[r.File] = true
	}
	library, trusted := false, true
	everywhere := Case{File: "all" + CasesSuffix, World: CaseWorld{Library: &library, Trusted: &trusted}}
	p, err := s.pipeline(&everywhere)
	if err != nil {
		return nil // the policies compile; there is nothing to run
	}
	var bad []Result
	for _, made := range s.events.madeIn(files) {
		spec, ok := made.spec.(map[string]any)
		if !ok {
			spec = map[string]any{"bash": made.spec}
		}
		m := &moment{line: specLine(spec)}
		err := s.decide(ctx, p, call{m.line, spec}, m)
		if err != nil || m.decision.Rewrite == nil && m.decision.Output == nil {
			continue
		}
		if problem := s.unsettled(ctx, p, m); problem != "" {
			bad = append(bad, Result{
				Kind: RegoTest, Name: "a rewrite settles: " + m.line, File: made.at.File, Line: made.at.Row,
				Judged: m.line, Failed: true, Message: problem,
			})
		}
	}
	return bad
}

// modifies reports that a tested policy has a modify rule.
func (s *Suite) modifies() bool {
	for _, name := range s.Policies() {
		for _, r := range s.files[name].module.Rules {
			if ruleName(r) == "modify" {
				return true
			}
		}
	}
	return false
}

func specLine(spec map[string]any) string {
	if line, ok := spec["bash"].(string); ok {
		return line
	}
	return judged(map[string]any{"tool_name": spec["tool"], "tool_input": spec["input"], "hook_event_name": spec["event"]})
}

// rewritten is the line that a rewrite makes, else all of it.
func rewritten(v any) string {
	if m, ok := v.(map[string]any); ok {
		if line, ok := m["command"].(string); ok {
			return line
		}
	}
	return jsonText(v)
}

// modifyAt returns file:line of the modify rule that made a change: of several
// the one in which its reason stands.
func (s *Suite) modifyAt(p *pipeline, change hook.Change) string {
	for _, src := range p.Set.Sources() {
		for _, h := range src.Hooks {
			if f := s.files[h.File]; h.ID == change.Hook && f != nil {
				return fmt.Sprintf("%s:%d", h.File, modifyRow(f, change.Reason))
			}
		}
	}
	return change.Hook
}

func modifyRow(f *file, reason string) int {
	row := 1
	for _, r := range f.module.Rules {
		if ruleName(r) != "modify" {
			continue
		}
		if row == 1 || reason != "" && strings.Contains(string(r.Location.Text), reason) {
			row = r.Location.Row
		}
	}
	return row
}
