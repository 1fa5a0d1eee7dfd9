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
func (s *Suite) unsettled(ctx context.Context, p *pipeline, c call, ev *hook.Event, d *hook.Decision) string {
	field := ev.Name.Rewrites()
	if field == "" {
		return ""
	}
	next := ev.With(field, d.Rewrite)
	_, w, err := Event(c.spec)
	if err != nil {
		return ""
	}
	en, err := p.engine(func(ev *hook.Event) *hook.Facts { return s.events.factsOf(w, ev) })
	if err != nil {
		return ""
	}
	again := en.Decide(ctx, next)
	if again.Rewrite == nil || same(again.Rewrite, d.Rewrite) {
		return ""
	}
	var lines []string
	for _, ch := range again.Changes {
		lines = append(lines, fmt.Sprintf("%s: modify of %s changes its own output again", s.ruleAt(p, ch.Hook, "modify"), ch.Hook))
	}
	return strings.Join(append(lines,
		"  judged:      "+c.line,
		"  first time:  "+rewritten(d.Rewrite),
		"  second time: "+rewritten(again.Rewrite),
		"  a condition that is not true of what the rule makes settles it"), "\n")
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

// ruleAt returns file:line of a policy's rule of that name.
func (s *Suite) ruleAt(p *pipeline, id, rule string) string {
	for _, src := range p.set.Sources() {
		for _, h := range src.Hooks {
			if h.ID != id {
				continue
			}
			if f := s.files[h.File]; f != nil {
				for _, r := range f.module.Rules {
					if r.Head.Ref()[0].Value.String() == rule {
						return fmt.Sprintf("%s:%d", h.File, r.Location.Row)
					}
				}
			}
			return h.Pos()
		}
	}
	return id
}
