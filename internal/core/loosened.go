package core

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

// Loosened says what the user's settings loosen beyond what a person confirmed, a
// sentence for each value. A process of the account can write these settings, and then
// a person has to hear of it. What managed settings keep from counting loosens nothing.
func (g *Gate) Loosened() []string { return g.loosened(true) }

// These begin each sentence about a loosened value.
const (
	loosensMark   = "settings loosen "
	mayLoosenMark = "settings may loosen "
)

func loosens(notice string) bool {
	return strings.HasPrefix(notice, loosensMark) || strings.HasPrefix(notice, mayLoosenMark)
}

// loosened also compares what nothing is said of any more, if removed is true.
func (g *Gate) loosened(removed bool) []string {
	said, layer := g.userSays()
	if layer == nil && !removed || !removed && len(scopes.Loosening(nil, said)) == 0 {
		return nil // the most frequent case reads no file
	}
	is, err := g.Grants().Settled(g.User)
	var notices []string
	if err != nil {
		notices = append(notices, "what settings loosen is not known to be confirmed: "+err.Error())
	}
	for _, c := range scopes.Loosening(is.Values, said) {
		at := g.User
		if c.Is != nil {
			if !g.countsFor(c.Key) {
				continue
			}
			at = layer.Pos(c.Key)
		}
		mark := loosensMark
		if c.Direction == setting.Untold {
			mark = mayLoosenMark
		}
		notices = append(notices, fmt.Sprintf(mark+"%s: it was %s and is %s (%s); if you meant it, run gate settings confirm",
			c.Key, saidText(c.Was), saidText(c.Is), filepath.FromSlash(at)))
	}
	return notices
}

// KeepTighter remembers what the user's settings have tightened since a person confirmed
// them, so that taking it back is told.
func (g *Gate) KeepTighter() {
	said, _ := g.userSays()
	is, err := g.Grants().Settled(g.User)
	if err != nil {
		return
	}
	values, tighter := maps.Clone(is.Values), false
	for _, c := range scopes.Changes(is.Values, said) {
		if c.Direction != setting.Tightens {
			continue
		}
		if values == nil {
			values = map[string]any{}
		}
		tighter = true
		delete(values, c.Key)
		if c.Is != nil {
			values[c.Key] = c.Is
		}
	}
	if tighter {
		g.Grants().Tighten(g.User, values) // a state directory that cannot be written is no reason to be loud
	}
}

// userSays is what the user's own settings file says; nil where there is none.
func (g *Gate) userSays() (map[string]any, *scopes.Layer) {
	for i := range g.Layers {
		if l := &g.Layers[i]; l.Authority == hook.User && l.Bundle == "" {
			return l.Said(), l
		}
	}
	return nil, nil
}

// countsFor reports whether what the user says under a key counts, or a part of it.
func (g *Gate) countsFor(key string) bool {
	return slices.ContainsFunc(g.Set.Explain(), func(r setting.Row) bool {
		return r.Authority == hook.User && r.Counts && (r.Key == key || strings.HasPrefix(r.Key, key+"."))
	})
}

// saidText is a value in a sentence.
func saidText(v any) string {
	if v == nil {
		return "not set"
	}
	return Clip(string(strictjson.Append(nil, v)))
}
