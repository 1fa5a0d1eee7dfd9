package release

import (
	"maps"
	"slices"
)

// A Direction says what a change does to what a bundle holds back.
type Direction string

// The directions.
const (
	Weaker   Direction = "weaker"   // something is held back less
	Stricter Direction = "stricter" // something is held back more
	Unclear  Direction = "unclear"  // reading does not tell
	Neutral  Direction = "neutral"  // nothing that decides about a call
)

// opposite is the direction of the same change to a rule that loosens.
func (d Direction) opposite() Direction {
	switch d {
	case Weaker:
		return Stricter
	case Stricter:
		return Weaker
	}
	return d
}

// A Difference is one thing in which two releases differ.
type Difference struct {
	Kind      string // bundle, policy, rule, data, setting, test
	Name      string // of the policy, the rule's path, the setting's key …
	Change    string // added, removed, changed
	Direction Direction
	Detail    string // what was and what is, for people
	At        string // file:line, in the release that has it; "" if it has none
}

// Compare lists in what two releases differ: the bundle itself first, then
// policies with their rules, data, settings and tests, each in the order of names.
func Compare(old, now *Release) []Difference {
	return slices.Concat(
		compareManifests(old.Manifest, now.Manifest), comparePolicies(old, now),
		compareData("", old.data, now.data), compareSettings(old.settings, now.settings), compareTests(old, now),
	)
}

// merged has the keys of both.
func merged[V any](old, now map[string]V) map[string]V {
	all := maps.Clone(old)
	if all == nil {
		return now
	}
	maps.Copy(all, now)
	return all
}
