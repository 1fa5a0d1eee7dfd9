package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gate/adapters"
	"gate/audit"
	"gate/cmd/internal/document"
	"gate/cmd/internal/places"
	"gate/cmd/internal/screen"
	"gate/engine"
	"gate/explain"
	"gate/hook"
	"gate/strictjson"
)

// recordNamed finds the decision of the log that an argument names: the last
// one, or one by its whole id. Every other argument is none.
func (f *explainFlags) recordNamed(p process, arg string) (*audit.Record, error) {
	if f.tool != "Bash" || arg != "last" && !isDecisionID(arg) {
		return nil, nil
	}
	r, err := findRecord(p, f.dirs, arg)
	switch {
	case err == nil && (arg == "last" || r.ID == arg):
		return &r, nil
	case arg == "last":
		return nil, err
	}
	fmt.Fprintf(p.stderr, "gate: note: no decision in the log is called %s; explained as a shell line\n", arg)
	return nil, nil
}

// isDecisionID reports that a word could be the id of a decision.
func isDecisionID(s string) bool {
	return len(s) == 6 && strings.Trim(s, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// runRecord explains a recorded decision: what was decided then, how the same
// event is decided now, and what is not the same any more.
func (f *explainFlags) runRecord(ctx context.Context, p process, r *audit.Record) error {
	ev, err := r.Restore()
	if err != nil {
		if !f.json {
			if err := printAll(p, recordText(p, r)); err != nil {
				return err
			}
		}
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	ev.Parts = adapters.Parts(&ev)
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	project := r.Project
	if project == "" {
		project = places.ProjectRoot("", ev.Dir())
	}
	g, err := newGuard(setting{
		dirs: d, home: p.home(), project: project, env: p.lookupEnv, engine: []engine.Option{engine.WithAllSteps()},
	})
	if err != nil {
		return err
	}
	now := g.Decide(ctx, ev)
	if f.trace != "" {
		return f.printTrace(ctx, p, g, ev, &now)
	}
	x, err := g.explainer()
	if err != nil {
		return err
	}
	e := x.Of(ctx, ev, now)
	since := g.since(r, &e)
	if f.json {
		doc := explanationDocument(g, &e)
		doc["recorded"], doc["since"] = recordDocument(r), since.document()
		err = printJSON(p, doc)
	} else {
		err = printAll(p, recordText(p, r)+since.text(p.style(), r, &now)+"\n")
		if err == nil {
			err = printExplanation(p, g, &e, f.all)
		}
	}
	if err != nil {
		return err
	}
	return exitWith(statusOf(&now))
}

// A difference is what is not the same any more since a decision was recorded.
type difference struct {
	policies []policyChange
	gone     []string // effects and unknowns that gate saw then
	came     []string // and sees now
	unsure   bool     // the record is not the whole event
}

// A policyChange is a policy that was asked then or now and is not the same.
type policyChange struct {
	id, source, what string
	then, now        string // digests; "" where it was not asked
}

// answered reports whether a policy had anything to say, or a fault.
func answered(steps []hook.Step) bool {
	return slices.ContainsFunc(steps, func(s hook.Step) bool { return s.Effect != hook.Pass || s.Outcome != hook.Success })
}

// since compares a record with an explanation of the same event now.
func (g *guard) since(r *audit.Record, e *explain.Explanation) difference {
	var diff difference
	then := map[string]audit.Policy{}
	for _, p := range r.Policies {
		then[p.Source+" "+p.ID] = p
	}
	asked := map[string]bool{}
	for _, p := range e.Policies {
		key := p.Source + " " + p.ID
		was, before := then[key]
		if len(p.Steps) == 0 {
			continue
		}
		asked[key] = true
		digest := g.Digest(audit.Policy{ID: p.ID, Source: p.Source})
		switch {
		case !before && r.Effect == hook.Deny && !answered(p.Steps):
			// A denial stops what follows, and an explanation asks all.
		case !before:
			diff.policies = append(diff.policies, policyChange{p.ID, p.Source, "asked now, not then", "", digest})
		case was.Digest != digest && was.Digest != "":
			diff.policies = append(diff.policies, policyChange{p.ID, p.Source, "another text now", was.Digest, digest})
		}
	}
	for _, p := range r.Policies {
		whole := p.ID == p.Source // a source that could not be loaded, or gate itself
		if !whole && p.Source != "gate" && !asked[p.Source+" "+p.ID] {
			diff.policies = append(diff.policies, policyChange{p.ID, p.Source, "asked then, not now", p.Digest, ""})
		}
	}
	if saw, ok := r.Kept.Input["facts"].(map[string]any); ok {
		before, after := seenIn(saw), seenIn(e.Event.Facts.Document())
		diff.gone, diff.came = without(before, after), without(after, before)
	}
	cut, redacted := r.Kept.Lost("/input/tool_input", "/input/prompt", "/input/tool_response", "/input/cwd")
	diff.unsure = len(cut)+len(redacted) > 0
	return diff
}

// seenIn lists the effects and unknowns of a document of facts, one a line.
func seenIn(doc map[string]any) []string {
	var list []string
	for _, name := range []string{"effects", "unknown"} {
		elements, _ := doc[name].([]any)
		for _, v := range elements {
			m, _ := v.(map[string]any)
			attrs := map[string]any{}
			for k, v := range m {
				if k != "kind" && k != "command" && k != "span" {
					attrs[k] = v
				}
			}
			kind, _ := m["kind"].(string)
			if name == "unknown" {
				kind = "unknown " + kind
			}
			list = append(list, effectLine(hook.FactEffect{Kind: kind, Attrs: attrs}))
		}
	}
	return list
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// text tells people how the event is decided now.
func (d *difference) text(s screen.Style, r *audit.Record, now *hook.Decision) string {
	var b strings.Builder
	same := "as then"
	if now.Effect != r.Effect {
		same = "then " + r.Effect.String()
	}
	fmt.Fprintf(&b, "\n%s %s, %s\n", s.Strong("decided now:"), s.Effect(now.Effect, now.Effect.String()), same)
	for _, p := range d.policies {
		digests := ""
		if p.then != "" && p.now != "" {
			digests = fmt.Sprintf(" (%s, then %s)", oneLine(p.now), oneLine(p.then))
		}
		fmt.Fprintf(&b, "  %s of %s: %s%s\n", s.Name(visible(p.id)), visible(p.source), p.what, digests)
	}
	for _, f := range d.gone {
		fmt.Fprintf(&b, "  seen then, not now: %s\n", oneLine(f))
	}
	for _, f := range d.came {
		fmt.Fprintf(&b, "  seen now, not then: %s\n", oneLine(f))
	}
	if d.unsure {
		b.WriteString("note: the log does not have the whole call, so what follows may be about another one\n")
	}
	return b.String()
}

func (d *difference) document() map[string]any {
	policies := make([]any, len(d.policies))
	for i, p := range d.policies {
		policies[i] = map[string]any{
			"id": p.id, "source": p.source, "what": p.what, "digest_then": document.OrNull(p.then), "digest_now": document.OrNull(p.now),
		}
	}
	return map[string]any{
		"policies": policies, "facts_then": document.Strings(d.gone), "facts_now": document.Strings(d.came), "whole": !d.unsure,
	}
}

// recordDocument is a record as the log has it.
func recordDocument(r *audit.Record) any {
	doc, err := strictjson.Object(r.JSON(), strictjson.Limits{Depth: 100})
	if err != nil {
		return nil
	}
	return doc
}
