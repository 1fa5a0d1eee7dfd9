package release

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/bundles"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

// compareManifests compares for whom and until when a bundle is.
func compareManifests(a, b bundles.Manifest) []Difference {
	var out []Difference
	say := func(key, was, is string, d Direction) {
		if was != is {
			out = append(out, Difference{"bundle", key, "changed", d, orNothing(was) + " → " + orNothing(is), ""})
		}
	}
	say("name", a.Gate.Name, b.Gate.Name, Unclear)
	if a.Gate.Name == b.Gate.Name && b.Gate.Version < a.Gate.Version {
		say("version", fmt.Sprint(a.Gate.Version), fmt.Sprint(b.Gate.Version)+", which machines that have the old one refuse", Neutral)
	}
	machines := func(list []string) string {
		if len(list) == 0 {
			return "every machine"
		}
		return strings.Join(sortedWords(list), ", ")
	}
	say("labels", machines(a.Gate.Audience), machines(b.Gate.Audience), reachOrAll(a.Gate.Audience, b.Gate.Audience))
	say("expires", untilWhen(a.Gate.Expires), untilWhen(b.Gate.Expires), Neutral)
	say("min_gate", a.Gate.MinGate, b.Gate.MinGate, Neutral)
	say("facts", schemaOf(a.Gate), schemaOf(b.Gate), Neutral)
	say("roots", strings.Join(sortedWords(a.Roots), ", "), strings.Join(sortedWords(b.Roots), ", "), Neutral)
	return out
}

// schemaOf is the schema of facts that a bundle is written for.
func schemaOf(g bundles.Metadata) string { return strconv.FormatInt(max(g.Facts, 1), 10) }

func untilWhen(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// compareData compares data, each value that differs by its path. What a policy
// makes of it cannot be told from the value.
func compareData(path string, a, b any) []Difference {
	m, isMap := a.(map[string]any)
	n, alsoMap := b.(map[string]any)
	if isMap && alsoMap {
		var out []Difference
		for _, key := range slices.Sorted(maps.Keys(merged(m, n))) {
			was, before := m[key]
			is, after := n[key]
			at := strings.TrimPrefix(path+"."+key, ".")
			switch {
			case !before:
				out = append(out, Difference{"data", at, "added", Unclear, shortValue(is), ""})
			case !after:
				out = append(out, Difference{"data", at, "removed", Unclear, shortValue(was), ""})
			default:
				out = append(out, compareData(at, was, is)...)
			}
		}
		return out
	}
	if compactJSON(a) == compactJSON(b) {
		return nil
	}
	return []Difference{{"data", path, "changed", Unclear, shortValue(a) + " → " + shortValue(b), ""}}
}

// shortValue shows the beginning of a value, on one line.
func shortValue(v any) string {
	s := strings.TrimRight(strictjson.OneLine(compactJSON(v)), " ")
	if runes := []rune(s); len(runes) > mostOfValue {
		return string(runes[:mostOfValue-1]) + "…"
	}
	return s
}

const mostOfValue = 60 // characters

// compareSettings compares what settings say, in normal form, by what it brings
// about.
func compareSettings(a, b map[string]any) []Difference {
	var out []Difference
	for _, row := range setting.Table() {
		was, is := a[row.Key], b[row.Key]
		switch {
		case compactJSON(was) == compactJSON(is):
		case row.Type.Kind == setting.Map || row.Type.Kind == setting.Object:
			out = append(out, compareBelow(&row, object(was), object(is))...)
		default:
			out = append(out, Difference{"setting", row.Key, changeOf(was, is), settingDirection(&row.Field, was, is), settingText(was, is), ""})
		}
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func changeOf(was, is any) string {
	switch {
	case was == nil:
		return "added"
	case is == nil:
		return "removed"
	}
	return "changed"
}

func settingText(was, is any) string {
	text := func(v any) string {
		if v == nil {
			return "nothing"
		}
		return shortValue(v)
	}
	return text(was) + " → " + text(is)
}

// compareBelow compares a setting that is an object key by key.
func compareBelow(row *setting.Setting, a, b map[string]any) []Difference {
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(merged(a, b))) {
		was, is := a[name], b[name]
		if compactJSON(was) == compactJSON(is) {
			continue
		}
		d := Difference{"setting", row.Key + "." + name, changeOf(was, is), Unclear, settingText(was, is), ""}
		switch f := row.Type.FieldNamed(name); {
		case row.Key == "policies":
			x, y := scopes.LevelOf(a, name), scopes.LevelOf(b, name)
			d.Direction, d.Detail = ranked(slices.Index(setting.Levels(), x), slices.Index(setting.Levels(), y)), string(x)+" → "+string(y)
		case row.Bearing == setting.Neutral:
			d.Direction = Neutral
		case f != nil:
			d.Direction = settingDirection(f, was, is)
			if x, y := was == true, is == true; name == "enabled" && x != y { // the rest follows from it
				d.Change, d.Detail = "changed", fmt.Sprint(x)+" → "+fmt.Sprint(y)
				return []Difference{d}
			}
		}
		out = append(out, d)
	}
	return out
}

// ranked compares ranks of which the higher holds back more.
func ranked(was, is int) Direction {
	switch {
	case is < was:
		return Weaker
	case is > was:
		return Stricter
	}
	return Neutral
}

// settingDirection says what a change of a value brings about.
func settingDirection(f *setting.Field, was, is any) Direction {
	more, ok := f.Compare(was, is)
	switch {
	case f.Bearing == setting.Neutral:
		return Neutral
	case f.Bearing == setting.Unclear || !ok:
		return Unclear
	case f.Bearing == setting.Looser:
		more = -more
	}
	return ranked(0, more)
}
