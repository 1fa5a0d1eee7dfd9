package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/strictjson"
)

// compareHook compares when a hook takes part, and how.
func compareHook(a, b *hook.Hook) []Difference {
	var out []Difference
	say := func(field, was, is string, d Direction) {
		if was != is {
			out = append(out, Difference{"policy", a.ID, "changed", d, fmt.Sprintf("%s: %s → %s", field, orNothing(was), orNothing(is)), b.Pos()})
		}
	}
	yes := func(v bool) string { return fmt.Sprint(v) }
	names := func(list []hook.Name) string {
		var words []string
		for _, n := range list {
			words = append(words, string(n))
		}
		slices.Sort(words)
		return strings.Join(words, ", ")
	}
	say("events", names(a.Events), names(b.Events), reach(a.Events, b.Events))
	say("if", strings.Join(sortedWords(a.If), ", "), strings.Join(sortedWords(b.If), ", "), reachOrAll(a.If, b.If))
	say("matcher", a.Matcher, b.Matcher, reachOrAll(words(a.Matcher), words(b.Matcher)))
	say("when_set", strings.Join(sortedWords(a.WhenSet), ", "), strings.Join(sortedWords(b.WhenSet), ", "), reachOrAll(a.WhenSet, b.WhenSet))
	say("type", string(a.Kind), string(b.Kind), Unclear)
	say("on_fault", string(a.OnFault), string(b.OnFault), onFault(a.OnFault, b.OnFault))
	say("opaque", yes(a.Opaque), yes(b.Opaque), toggled(b.Opaque, Weaker))
	say("once", yes(a.Once), yes(b.Once), toggled(b.Once, Weaker))
	say("async", yes(a.Async), yes(b.Async), toggled(b.Async, Weaker))
	say("parallel", yes(a.Parallel), yes(b.Parallel), Unclear)
	say("consult", yes(a.Consult), yes(b.Consult), toggled(b.Consult, Weaker))
	say("recheck", yes(a.Rechecks()), yes(b.Rechecks()), toggled(b.Rechecks(), Stricter))
	say("priority", fmt.Sprint(a.Priority), fmt.Sprint(b.Priority), Neutral)
	say("timeout", fmt.Sprint(a.Timeout), fmt.Sprint(b.Timeout), Neutral)
	say("title", a.Title, b.Title, Neutral)
	say("description", a.Description, b.Description, Neutral)
	say("serves", strings.Join(a.Serves, ", "), strings.Join(b.Serves, ", "), Neutral)
	for _, name := range slices.Sorted(maps.Keys(merged(a.Params, b.Params))) {
		p, q := a.Params[name], b.Params[name]
		say("params."+name+" type", p.Type, q.Type, Unclear)
		say("params."+name, compactJSON(p.Default), compactJSON(q.Default), Unclear)
	}
	if a.Config != nil || b.Config != nil {
		say("handler", compactJSON(a.Config), compactJSON(b.Config), Unclear)
	}
	return out
}

// compactJSON shows a value, "" for none.
func compactJSON(v any) string {
	if v == nil {
		return ""
	}
	if err := strictjson.Check(v); err != nil {
		return fmt.Sprintf("(not to be shown: %v)", err)
	}
	return string(strictjson.Append(nil, v))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func sortedWords(list []string) []string { return slices.Sorted(slices.Values(list)) }

func words(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// toggled is d where something is on now, else its opposite.
func toggled(on bool, d Direction) Direction {
	if on {
		return d
	}
	return d.opposite()
}

// reach compares sets of what a hook applies to.
func reach[T ~string](old, now []T) Direction {
	lost := slices.ContainsFunc(old, func(v T) bool { return !slices.Contains(now, v) })
	won := slices.ContainsFunc(now, func(v T) bool { return !slices.Contains(old, v) })
	switch {
	case lost && !won:
		return Weaker
	case won && !lost:
		return Stricter
	}
	return Unclear
}

// reachOrAll is reach where an empty list means everything.
func reachOrAll(old, now []string) Direction {
	switch {
	case len(old) == 0:
		return Weaker
	case len(now) == 0:
		return Stricter
	}
	return reach(old, now)
}

func onFault(a, b hook.OnFault) Direction {
	rank := map[hook.OnFault]int{hook.FaultContinue: 0, hook.FaultAsk: 1, hook.FaultDefault: 2, hook.FaultDeny: 2}
	switch {
	case rank[b] < rank[a]:
		return Weaker
	case rank[b] > rank[a]:
		return Stricter
	}
	return Neutral
}
