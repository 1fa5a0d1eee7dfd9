package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/strictjson"
)

// differences compares a decision with what was expected: two lines a
// difference, what was wanted with a minus and what came with a plus. None
// means that the expectation is met.
func (e *Expectation) differences(d *hook.Decision) []string {
	var diff differences
	if e.Effect != nil && d.Effect != *e.Effect {
		diff.add("effect", e.Effect.String(), d.Effect.String())
	}
	if e.IDs != nil {
		diff.sets("ids", e.IDs, idsOf(d.Reasons, d.Effect))
	}
	diff.contain("reason", e.Reasons, reasonTexts(d))
	if e.Warnings != nil {
		diff.sets("warnings", e.Warnings, idsOf(d.Warnings, hook.Pass))
	}
	diff.context(e.Context, d)
	if e.Rewrite != nil {
		diff.value("rewrite", e.Rewrite.Value, d.Rewrite)
	}
	if e.Output != nil {
		diff.value("output", e.Output.Value, d.Output)
	}
	if e.Halt != nil && *e.Halt != (d.Halt != nil) {
		diff.add("halt", fmt.Sprint(*e.Halt), fmt.Sprint(d.Halt != nil))
	}
	diff.marks(e.Marks, d)
	diff.faults(e.Faults, d)
	return diff
}

type differences []string

func (l *differences) add(what, want, got string) {
	*l = append(*l, fmt.Sprintf("- %s: %s", what, want), fmt.Sprintf("+ %s: %s", what, got))
}

// sets compares lists whose order and repetitions do not matter.
func (l *differences) sets(what string, want, got []string) {
	unique := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	if w, g := unique(want), unique(got); !slices.Equal(w, g) {
		l.add(what, bracketed(w), bracketed(g))
	}
}

func bracketed(list []string) string { return "[" + strings.Join(list, ", ") + "]" }

// contain wants each text to occur in one of got.
func (l *differences) contain(what string, want, got []string) {
	for _, text := range want {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, text) }) {
			l.add(what, "… "+text+" …", orNone(strings.Join(got, " | ")))
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (l *differences) context(want []string, d *hook.Decision) {
	var got []string
	for _, c := range d.Context {
		got = append(got, c.Text)
	}
	if want != nil && len(want) == 0 && len(got) > 0 {
		l.add("context", "none", strings.Join(got, " | "))
	}
	l.contain("context", want, got)
}

// value compares trees. Of objects at the top only the wanted keys count.
func (l *differences) value(what string, want, got any) {
	w, isObject := want.(map[string]any)
	g, both := got.(map[string]any)
	if !isObject || !both {
		if !same(want, got) {
			l.add(what, jsonText(want), jsonText(got))
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(w)) {
		if v, ok := g[key]; !ok || !same(w[key], v) {
			l.add(what+"."+key, jsonText(w[key]), jsonText(v))
		}
	}
}

func same(a, b any) bool { return jsonText(a) == jsonText(b) }

func jsonText(v any) string {
	if v == nil {
		return "none"
	}
	if s, ok := v.(string); ok {
		return s
	}
	return string(strictjson.Append(nil, v))
}

// marks wants the marks of given names to be what the session is to remember. Of several of
// one name the last counts.
func (l *differences) marks(want map[string]any, d *hook.Decision) {
	if want == nil {
		return
	}
	got := map[string]string{}
	for _, m := range d.Remember {
		got[m.Name] = m.Value
	}
	if len(want) == 0 && len(got) > 0 {
		l.add("marks", "none", strings.Join(slices.Sorted(maps.Keys(got)), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		text := string(strictjson.Append(nil, want[name]))
		value, set := got[name]
		switch {
		case !set:
			l.add("marks."+name, text, "not set")
		case value != text:
			l.add("marks."+name, text, value)
		}
	}
}

// faults reports every policy that could not answer and was not expected to.
func (l *differences) faults(want []string, d *hook.Decision) {
	var got []string
	why := map[string]string{}
	for _, s := range d.Steps {
		if s.Fault != nil {
			got = append(got, s.Hook.ID)
			why[s.Hook.ID] = s.Fault.Error()
		}
	}
	if d.Fault != nil && len(got) == 0 {
		got, why = []string{"gate"}, map[string]string{"gate": d.Fault.Error()}
	}
	before := len(*l)
	l.sets("faults", want, got)
	if len(*l) == before {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(why)) {
		if !slices.Contains(want, id) {
			*l = append(*l, fmt.Sprintf("%s could not answer: %s", id, why[id]))
		}
	}
}

// idsOf returns the ids of the reasons of an effect.
func idsOf(reasons []hook.Reason, effect hook.Effect) []string {
	var ids []string
	for _, r := range reasons {
		if r.Effect == effect {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func reasonTexts(d *hook.Decision) []string {
	var list []string
	for _, r := range slices.Concat(d.Reasons, d.Warnings) {
		list = append(list, r.Reason)
	}
	if d.Halt != nil {
		list = append(list, d.Halt.Reason)
	}
	return list
}
