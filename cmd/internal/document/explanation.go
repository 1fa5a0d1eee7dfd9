package document

import (
	"gate/hook"
	"gate/internal/explain"
)

// Positions say where something of a source stands, as an editor opens it.
type Positions interface {
	Position(source, pos string) string
}

// Explanation is an explanation as programs read it: a decision with
// causes, policies, nearest and changes. docs/explain.md describes it.
func Explanation(e *explain.Explanation, at Positions) map[string]any {
	doc := Decision(&e.Decision, true)
	causes := make([]any, len(e.Causes))
	for i := range e.Causes {
		causes[i] = causeDocument(at, &e.Causes[i])
	}
	policies := make([]any, len(e.Policies))
	for i := range e.Policies {
		policies[i] = policyDocument(at, &e.Policies[i])
	}
	changes := make([]any, len(e.Changes))
	for i, c := range e.Changes {
		changes[i] = map[string]any{"effect": c.Effect.String(), "input": Value(c.Input), "edits": editDocuments(c.Edits)}
	}
	warned := make([]any, len(e.Warnings))
	for i := range e.Warnings {
		warned[i] = causeDocument(at, &e.Warnings[i])
	}
	doc["warnings"] = warned
	doc["causes"], doc["policies"], doc["nearest"] = causes, policies, nil
	doc["smallest_changes"] = map[string]any{"changes": changes, "tried": e.Searched, "cut": e.Cut}
	if n := e.Nearest; n != nil {
		doc["nearest"] = map[string]any{"policy": n.Policy, "rule": definitionDocument(&n.Rule)}
	}
	return doc
}

func causeDocument(at Positions, c *explain.Cause) map[string]any {
	doc := Reason(c.Reason)
	doc["rule"], doc["facts"] = nil, []any{}
	if c.Rule != nil {
		doc["rule"] = definitionDocument(c.Rule)
		doc["pos"] = OrNull(at.Position(c.Source, c.Rule.Pos))
	}
	used := make([]any, len(c.Uses))
	for i, u := range c.Uses {
		used[i] = map[string]any{"path": u.Path, "read": Value(u.Fields), "command": idOrNil(u.Command)}
	}
	texts := make([]any, len(c.Texts))
	for i, t := range c.Texts {
		marks := make([]any, len(t.Marks))
		for j, m := range t.Marks {
			marks[j] = map[string]any{"span": spanDocument(m.Span), "label": m.Label}
		}
		texts[i] = map[string]any{"where": OrNull(t.Where), "text": t.Text, "marks": marks}
	}
	doc["facts"], doc["texts"] = used, texts
	return doc
}

func spanDocument(s hook.Span) []any { return []any{s[0], s[1]} }

func idOrNil(id int) any {
	if id == 0 {
		return nil
	}
	return id
}

func policyDocument(at Positions, p *explain.Policy) map[string]any {
	doc := map[string]any{
		"id": p.ID, "source": p.Source, "scope": p.Scope.String(), "authority": p.Authority.String(),
		"pos": OrNull(at.Position(p.Source, p.Pos())), "matched": p.Matched, "failed": OrNull(p.Failed),
		"why_not": OrNull(p.WhyNot), "steps": Steps(p.Steps), "rules": definitionDocuments(p.Rules), "error": nil,
	}
	if p.Err != nil {
		doc["error"] = p.Err.Error()
	}
	return doc
}

func definitionDocuments(list []explain.Definition) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = definitionDocument(&list[i])
	}
	return out
}

func definitionDocument(d *explain.Definition) map[string]any {
	conditions := make([]any, len(d.Conditions))
	for i, c := range d.Conditions {
		values := make([]any, len(c.Values))
		for j, v := range c.Values {
			values[j] = map[string]any{"text": v.Text, "path": OrNull(v.Path), "value": Value(v.Value), "defined": !v.Absent}
		}
		conditions[i] = map[string]any{
			"text": c.Text, "pos": c.Pos, "negated": c.Negated, "true": c.Met,
			"values": values, "helpers": definitionDocuments(c.Helpers),
		}
	}
	return map[string]any{
		"rule": d.Rule, "package": d.Package, "pos": d.Pos, "true": d.Met, "value": Value(d.Value),
		"conditions": conditions, "not_looked_at": d.Left,
	}
}

func editDocuments(list []explain.Edit) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = map[string]any{
			"kind": string(e.Kind), "field": e.Field, "span": spanDocument(e.Span), "before": e.Before, "after": e.After,
		}
	}
	return out
}
