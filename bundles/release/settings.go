package release

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/bundles"
	"gate/scopes"
	"gate/strictjson"
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
	audience := func(list []string) string {
		if len(list) == 0 {
			return "every machine"
		}
		return strings.Join(sortedWords(list), ", ")
	}
	say("audience", audience(a.Gate.Audience), audience(b.Gate.Audience), reachOrAll(a.Gate.Audience, b.Gate.Audience))
	say("expires", untilWhen(a.Gate.Expires), untilWhen(b.Gate.Expires), Neutral)
	say("min_gate", a.Gate.MinGate, b.Gate.MinGate, Neutral)
	say("roots", strings.Join(sortedWords(a.Roots), ", "), strings.Join(sortedWords(b.Roots), ", "), Neutral)
	return out
}

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

// compareSettings compares what settings say by what it brings about.
func compareSettings(a, b map[string]any) []Difference {
	var out []Difference
	old, now := plainSettings(a), plainSettings(b)
	for _, key := range slices.Sorted(maps.Keys(merged(old, now))) {
		was, is := old[key], now[key]
		if compactJSON(was) == compactJSON(is) {
			continue
		}
		switch key {
		case "approvals":
			if a, b := object(was)["enabled"] == true, object(is)["enabled"] == true; a != b {
				out = append(out, Difference{"setting", "approvals.enabled", "changed", toggled(b, Weaker), fmt.Sprint(a) + " → " + fmt.Sprint(b), ""})
				continue
			}
			out = append(out, compareBelow(key, object(was), object(is))...)
			continue
		case "policies", "labels", "plugins", "params", "stale":
			out = append(out, compareBelow(key, object(was), object(is))...)
			continue
		}
		out = append(out, Difference{"setting", key, changeOf(was, is), settingDirection(key, was, is), settingText(was, is), ""})
	}
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

// plainSettings gives each key its one name.
func plainSettings(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for alias, name := range map[string]string{"disable_all_hooks": "disableAllHooks", "allow_managed_hooks_only": "allowManagedHooksOnly"} {
		if v, ok := out[alias]; ok {
			delete(out, alias)
			out[name] = v
		}
	}
	return out
}

// compareBelow compares a setting that is an object key by key.
func compareBelow(key string, a, b map[string]any) []Difference {
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(merged(a, b))) {
		was, is := a[name], b[name]
		if compactJSON(was) == compactJSON(is) {
			continue
		}
		d, text := Unclear, settingText(was, is)
		switch key {
		case "policies":
			x, y := effectiveLevel(a, name), effectiveLevel(b, name)
			d, text = ranked(slices.Index(scopes.Levels(), x), slices.Index(scopes.Levels(), y)), string(x)+" → "+string(y)
		case "approvals":
			d = approvalDirection(name, was, is)
		case "stale":
			d = staleDirection(name, was, is)
		}
		out = append(out, Difference{"setting", key + "." + name, changeOf(was, is), d, text, ""})
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

// effectiveLevel is what settings say about a policy or group: the longest key
// that covers it decides; nothing said is as written.
func effectiveLevel(levels map[string]any, name string) scopes.Level {
	best, level := -1, scopes.LevelDeny
	for key, v := range levels {
		text, _ := v.(string)
		covers := key == name || strings.HasPrefix(name, key+".")
		if l, err := scopes.ParseLevel(text); err == nil && covers && len(key) > best {
			best, level = len(key), l
		}
	}
	return level
}

func approvalDirection(name string, was, is any) Direction {
	switch name {
	case "keyRequired":
		return toggled(is == true, Stricter)
	case "minutes":
		return ranked(whole(is), whole(was))
	case "keys":
		return lists(was, is).opposite()
	}
	return Unclear
}

// staleDirection compares what follows when bundles grow old.
func staleDirection(name string, was, is any) Direction {
	fallback := map[string]string{"after": "7d", "then": "warn", "expired": "close"}[name]
	text := func(v any) string {
		if s, ok := v.(string); ok {
			return s
		}
		return fallback
	}
	if name == "after" {
		return ranked(int(age(text(is)).Seconds()), int(age(text(was)).Seconds()))
	}
	steps := []string{"warn", "ask", "close"}
	return ranked(slices.Index(steps, text(was)), slices.Index(steps, text(is)))
}

// age reads a time such as 72h or 7d that the loader has taken.
func age(s string) time.Duration {
	var days int
	if _, err := fmt.Sscanf(s, "%dd", &days); err == nil && s == fmt.Sprintf("%dd", days) {
		return time.Duration(days) * 24 * time.Hour
	}
	d, _ := time.ParseDuration(s)
	return d
}

func whole(v any) int {
	if n, ok := v.(json.Number); ok {
		i, _ := n.Int64()
		return int(i)
	}
	return 0
}

// lists compares lists of which every entry holds something back.
func lists(was, is any) Direction {
	entries := func(v any) []string {
		var out []string
		list, _ := v.([]any)
		for _, e := range list {
			out = append(out, compactJSON(e))
		}
		return out
	}
	return reach(entries(was), entries(is))
}

// settingDirection says what a change of a key brings about. What is not known
// here is unclear.
func settingDirection(key string, was, is any) Direction {
	switch key {
	case "disableAllHooks":
		return toggled(is == true, Weaker)
	case "allowManagedHooksOnly": // whatever is not false means true
		return toggled(is != nil && is != false, Stricter)
	case "exceptions", "delegate":
		return lists(was, is).opposite()
	case "faults":
		return toggled(is == "deny", Stricter)
	case "log", "record":
		return toggled(is != false, Stricter)
	case "version", "statusLine", "fileSuggestion":
		return Neutral
	}
	return Unclear
}
