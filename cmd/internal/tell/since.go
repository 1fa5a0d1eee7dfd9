package tell

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// A Difference is what is not the same any more since a decision was recorded.
type Difference struct {
	unrun    bool // handlers were passed over now
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

// Since compares a record with an explanation of the same event now. digest
// names the text that a policy has now.
func Since(r *audit.Record, e *explain.Explanation, digest func(audit.Policy) string) Difference {
	var diff Difference
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
		diff.unrun = diff.unrun || p.WhyNot != ""
		is := digest(audit.Policy{ID: p.ID, Source: p.Source})
		switch {
		case !before && r.Effect == hook.Deny && !answered(p.Steps):
			// A denial stops what follows, and an explanation asks all.
		case !before:
			diff.policies = append(diff.policies, policyChange{p.ID, p.Source, "asked now, not then", "", is})
		case was.Digest != is && was.Digest != "":
			diff.policies = append(diff.policies, policyChange{p.ID, p.Source, "another text now", was.Digest, is})
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
			if name == "unknown" {
				m = maps.Clone(m)
				delete(m, "span")
				list = append(list, "unknown "+effectLine(m))
				continue
			}
			list = append(list, effectLine(m))
		}
	}
	return list
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// Text tells people how the event is decided now.
func (d *Difference) Text(s screen.Page, r *audit.Record, now *hook.Decision) string {
	var b strings.Builder
	same := "as then"
	if now.Effect != r.Effect {
		same = "then " + r.Effect.String()
	}
	if d.unrun {
		same += "; hooks that are programs are not run here"
	}
	fmt.Fprintf(&b, "\n%s %s, %s\n", s.Strong("decided now:"), s.Effect(now.Effect, now.Effect.String()), same)
	for _, p := range d.policies {
		digests := ""
		if p.then != "" && p.now != "" {
			digests = fmt.Sprintf(" (%s, then %s)", strictjson.OneLine(p.now), strictjson.OneLine(p.then))
		}
		fmt.Fprintf(&b, "  %s of %s: %s%s\n", s.Name(strictjson.Visible(p.id)), strictjson.Visible(p.source), p.what, digests)
	}
	for _, f := range d.gone {
		fmt.Fprintf(&b, "  seen then, not now: %s\n", strictjson.OneLine(f))
	}
	for _, f := range d.came {
		fmt.Fprintf(&b, "  seen now, not then: %s\n", strictjson.OneLine(f))
	}
	if d.unsure {
		b.WriteString("note: the log does not have the whole call, so what follows may be about another one\n")
	}
	return b.String()
}

// Document is the difference for programs.
func (d *Difference) Document() map[string]any {
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
