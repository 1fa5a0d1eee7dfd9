package story

import (
	"time"

	"gate/internal/audit"
)

// Document is a session as JSON for programs.
func (s *Session) Document() map[string]any {
	steps := []any{}
	for i := range s.Steps {
		step := &s.Steps[i]
		d := step.Decided
		reasons := []any{}
		for _, why := range d.Reasons {
			if why.Effect == d.Effect && d.HeldBack() {
				reasons = append(reasons, map[string]any{"id": why.ID, "reason": why.Reason, "source": why.Source})
			}
		}
		steps = append(steps, map[string]any{
			"id": step.Record.ID, "time": stamp(step.Record.Time), "event": string(step.Record.Event), "tool": orNull(step.Record.Tool),
			"outcome": orNull(string(step.Outcome)), "effect": d.Effect.String(), "reasons": reasons, "text": orNull(step.Text()),
			"does": step.Deeds.document(),
		})
	}
	return map[string]any{"steps": steps, "links": Documents(s.Links), "left_out": s.Left, "whole": s.Whole}
}

// Text is what a step is about, as much of it as the log has.
func (s *Step) Text() string {
	if k := s.Record.Kept; k != nil {
		if text := line(s.Record); text != "" {
			return text
		}
		if text, ok := k.Input["prompt"].(string); ok {
			return text
		}
		if kind, ok := k.Input["agent_type"].(string); ok && s.Outcome == "" {
			return kind
		}
	}
	return s.Record.Call
}

// Documents are links as JSON for programs.
func Documents(links []Link) []any {
	list := []any{}
	for i := range links {
		l := &links[i]
		list = append(list, map[string]any{
			"from": end(l.From, links), "to": end(l.To, links), "call": orNull(l.Call), "origin": l.Origin, "what": orNull(l.What),
			"path": orNull(l.Path), "host": orNull(l.Host), "how": orNull(l.How),
		})
	}
	return list
}

// end is one end of a link: a decision, with its words marked.
func end(r *audit.Record, links []Link) any {
	if r == nil {
		return nil
	}
	text := Marked(r, links)
	marks := []any{}
	for _, m := range text.Marks {
		marks = append(marks, map[string]any{"span": []any{m.Span[0], m.Span[1]}, "label": m.Label})
	}
	return map[string]any{
		"id": r.ID, "time": stamp(r.Time), "agent": r.Agent, "session": r.Session, "tool": orNull(r.Tool), "effect": r.Effect.String(),
		"text": text.Text, "marks": marks,
	}
}

func (d *Deeds) document() map[string]any {
	secrets := []any{}
	for _, s := range d.Secrets {
		secrets = append(secrets, map[string]any{"what": s.What, "path": orNull(s.Path)})
	}
	return map[string]any{
		"secrets": secrets, "writes": texts(d.Writes), "deletes": texts(d.Deletes), "fetches": texts(d.Fetches), "sends": texts(d.Sends), "runs": texts(d.Runs),
	}
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
