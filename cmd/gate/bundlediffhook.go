package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/strictjson"
)

// compareHook compares when a hook takes part, and how.
func compareHook(a, b *hook.Hook) []releaseChange {
	var out []releaseChange
	say := func(field, was, is string, d direction) {
		if was != is {
			out = append(out, releaseChange{"policy", a.ID, "changed", d, fmt.Sprintf("%s: %s → %s", field, orNothing(was), orNothing(is)), b.Pos()})
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
	say("type", string(a.Kind), string(b.Kind), unclear)
	say("on_fault", string(a.OnFault), string(b.OnFault), onFault(a.OnFault, b.OnFault))
	say("opaque", yes(a.Opaque), yes(b.Opaque), toggled(b.Opaque, weaker))
	say("once", yes(a.Once), yes(b.Once), toggled(b.Once, weaker))
	say("async", yes(a.Async), yes(b.Async), toggled(b.Async, weaker))
	say("consult", yes(a.Consult), yes(b.Consult), toggled(b.Consult, weaker))
	say("recheck", yes(a.Rechecks()), yes(b.Rechecks()), toggled(b.Rechecks(), stricter))
	say("priority", fmt.Sprint(a.Priority), fmt.Sprint(b.Priority), neutral)
	say("timeout", fmt.Sprint(a.Timeout), fmt.Sprint(b.Timeout), neutral)
	say("title", a.Title, b.Title, neutral)
	say("description", a.Description, b.Description, neutral)
	for _, name := range slices.Sorted(maps.Keys(merged(a.Params, b.Params))) {
		p, q := a.Params[name], b.Params[name]
		say("params."+name+" type", p.Type, q.Type, unclear)
		say("params."+name, compactJSON(p.Default), compactJSON(q.Default), unclear)
	}
	if a.Config != nil || b.Config != nil {
		say("handler", compactJSON(plainValue(a.Config)), compactJSON(plainValue(b.Config)), unclear)
	}
	return out
}

func compactJSON(v any) string {
	if v == nil {
		return ""
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
func toggled(on bool, d direction) direction {
	if on {
		return d
	}
	return d.opposite()
}

// reach compares sets of what a hook applies to.
func reach[T ~string](old, now []T) direction {
	lost := slices.ContainsFunc(old, func(v T) bool { return !slices.Contains(now, v) })
	won := slices.ContainsFunc(now, func(v T) bool { return !slices.Contains(old, v) })
	switch {
	case lost && !won:
		return weaker
	case won && !lost:
		return stricter
	}
	return unclear
}

// reachOrAll is reach where an empty list means everything.
func reachOrAll(old, now []string) direction {
	switch {
	case len(old) == 0:
		return weaker
	case len(now) == 0:
		return stricter
	}
	return reach(old, now)
}

func onFault(a, b hook.OnFault) direction {
	rank := map[hook.OnFault]int{hook.FaultContinue: 0, hook.FaultAsk: 1, hook.FaultDefault: 2, hook.FaultDeny: 2}
	switch {
	case rank[b] < rank[a]:
		return weaker
	case rank[b] > rank[a]:
		return stricter
	}
	return neutral
}
