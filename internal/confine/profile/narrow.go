package profile

import (
	"slices"
	"strings"
	"time"
)

// Narrow returns a profile that lets a program do what both profiles let it do, and
// nothing more. The name is that of the second. Both must have been put in their places
// by [Profile.At].
func Narrow(outer, inner Profile) Profile {
	readable := func(p Profile) []string { return slices.Concat(p.Read, p.Write, p.Cache) }
	changed := func(p Profile) []string { return slices.Concat(p.Write, p.Cache) }
	out := Profile{
		Name:  inner.Name,
		Write: common(outer.Write, inner.Write),
		Cache: slices.Concat(common(outer.Cache, changed(inner)), common(outer.Write, inner.Cache)),
		Read:  common(readable(outer), readable(inner)),
		Guard: union(outer.Guard, inner.Guard),
		Deny:  union(outer.Deny, inner.Deny),
		Hosts: shared(outer.Hosts, inner.Hosts),
		Limits: Limits{
			Processes: lesser(outer.Limits.Processes, inner.Limits.Processes),
			Files:     lesser(outer.Limits.Files, inner.Limits.Files),
			Memory:    lesser(outer.Limits.Memory, inner.Limits.Memory),
			Temp:      lesser(outer.Limits.Temp, inner.Limits.Temp),
			CPU:       lesser[time.Duration](outer.Limits.CPU, inner.Limits.CPU),
		},
	}
	out.Cache = LeastOf(out.Cache)
	out.Read = slices.DeleteFunc(out.Read, func(p string) bool { return WithinAny(p, changed(out)) })
	out.Programs = ifBoth(outer.Programs, inner.Programs, common)
	out.Env = ifBoth(outer.Env, inner.Env, commonNames)
	return out
}

// nothing is a list that names no path and no variable, where an empty one names all.
var nothing = []string{"/.nothing"}

// ifBoth is what two lists have in common, of which an empty one stands for everything.
func ifBoth(a, b []string, common func(a, b []string) []string) []string {
	switch {
	case len(a) == 0:
		return slices.Clone(b)
	case len(b) == 0:
		return slices.Clone(a)
	}
	if both := common(a, b); len(both) > 0 {
		return both
	}
	return nothing
}

// common is what lies in a directory of both lists: of two that lie in each other the
// deeper one.
func common(a, b []string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			switch {
			case Within(x, y):
				out = append(out, x)
			case Within(y, x):
				out = append(out, y)
			}
		}
	}
	return LeastOf(out)
}

// LeastOf leaves out what lies in another directory of the list.
func LeastOf(list []string) (out []string) {
	slices.Sort(list)
	for _, p := range slices.Compact(list) { // a directory stands before what is in it
		if !WithinAny(p, out) {
			out = append(out, p)
		}
	}
	return out
}

func union(a, b []string) []string { return LeastOf(slices.Concat(a, b)) }

func shared(a, b []string) (out []string) {
	for _, x := range a {
		if slices.Contains(b, x) && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// commonNames is what two lists of names with stars at their ends have in common.
func commonNames(a, b []string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			switch {
			case named(x, y):
				out = append(out, x)
			case named(y, x):
				out = append(out, y)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// named reports that a name, or all names that a pattern stands for, are among those of
// another pattern.
func named(name, pattern string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(strings.TrimSuffix(name, "*"), prefix)
	}
	return name == pattern
}

// lesser is the lesser of two limits, of which 0 is none.
func lesser[N int | int64 | time.Duration](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
