package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/matcher"
)

// policies says of every hook whether it concerned the event.
func (x *Explainer) policies(ev *hook.Event, d *hook.Decision) []Policy {
	var list []Policy
	seen := map[*hook.Hook]bool{}
	for _, tier := range x.Set.For(ev.Name) {
		for _, b := range tier {
			seen[b.Hook] = true
			p := Policy{Hook: b.Hook, Matched: b.Match(ev).String()}
			for _, s := range d.Steps {
				if s.Hook == b.Hook {
					p.Steps = append(p.Steps, s)
				}
			}
			switch {
			case len(p.Steps) > 0:
			case p.Matched == matcher.No.String():
				p.Failed, p.WhyNot = unmatched(b.Hook, ev)
			default:
				p.WhyNot = "the decision was there before its turn came"
			}
			list = append(list, p)
		}
	}
	for _, row := range x.Set.Policies() {
		if seen[row.Hook] {
			continue
		}
		p := Policy{Hook: row.Hook, Matched: matcher.No.String(), WhyNot: row.Inactive}
		if row.Inactive == "" {
			p.Failed, p.WhyNot = "events", fmt.Sprintf("it listens for %s", words(row.Events))
		}
		list = append(list, p)
	}
	return list
}

// ask looks into the policies that gave a reason, or into those that gave none.
// One that failed or ran out of time is not run again.
func (x *Explainer) ask(ctx context.Context, ev *hook.Event, list []Policy, spoke bool) {
	failed := func(s hook.Step) bool { return s.Fault != nil }
	speaks := func(s hook.Step) bool {
		v := s.Verdict
		if s.Would != nil {
			v = *s.Would
		}
		return len(v.Reasons)+len(v.Halt)+len(v.Warnings) > 0
	}
	for i := range list {
		p := &list[i]
		if x.Policy == nil || ctx.Err() != nil {
			return
		}
		if p.Kind == hook.Rego && len(p.Steps) > 0 && slices.ContainsFunc(p.Steps, speaks) == spoke && !slices.ContainsFunc(p.Steps, failed) {
			p.Rules, p.Err = x.Policy(ctx, p.Hook, ev)
		}
	}
}

// unmatched says which condition of the METADATA does not hold.
func unmatched(h *hook.Hook, ev *hook.Event) (failed, why string) {
	if m, err := matcher.Compile(h.Matcher, backtracking.Compile); err == nil && !m.All() {
		if subject, matched, _ := matcher.Subject(ev); matched && m.Match(subject) == matcher.No {
			return "matcher: " + h.Matcher, fmt.Sprintf("%s is not %s", subject, h.Matcher)
		}
	}
	if len(h.If) == 0 {
		return "", "it does not concern this event"
	}
	return "if: " + strings.Join(h.If, ", "), "the call has no " + strings.Join(h.If, ", ")
}

func words(list []hook.Name) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}

// nearest finds the objecting rule of which the largest part was true.
func nearest(list []Policy) *Nearest {
	var best *Nearest
	most := 0.0
	for _, p := range list {
		for _, d := range p.Rules {
			if d.Met || d.Rule != "deny" && d.Rule != "ask" && d.Rule != "halt" {
				continue
			}
			if share := shareOf(&d); share > most {
				most, best = share, &Nearest{Policy: p.ID, Rule: d}
			}
		}
	}
	return best
}

// shareOf is which part of a definition's conditions were true, a helper's part
// of its condition included.
func shareOf(d *Definition) float64 {
	met, all := 0.0, float64(len(d.Conditions)+d.Left)
	for _, c := range d.Conditions {
		if c.Met && strings.HasPrefix(c.Text, "some ") {
			all-- // that there is something to look at is no approach
			continue
		}
		if c.Met {
			met++
			continue
		}
		inner := 0.0
		for i := range c.Helpers {
			if !c.Negated && !c.Helpers[i].Library {
				inner = max(inner, shareOf(&c.Helpers[i]))
			}
		}
		met += inner
	}
	if all == 0 {
		return 0
	}
	return met / all
}
