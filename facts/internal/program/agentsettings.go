package program

import (
	"maps"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/hook"
	"gate/internal/strictjson"
)

// maxChange bounds what is said of a change of settings, in bytes.
const maxChange = 400

// Changes says what becomes of the project's own agent settings, where the event tells
// all of their new text: a person can then let an entry pass that switches no guard off.
func (p *Programs) Changes(d *draft.Draft) {
	for i := range d.Facts.Effects {
		self, ok := d.Facts.Effects[i].Is.(*hook.Self)
		if !ok || self.What != "agent settings" || self.Verb != "write" || self.Path == nil || !d.World.InProject(*self.Path) {
			continue
		}
		st, ok := d.Files[*self.Path]
		if !ok || st.Text == nil || d.World.Files == nil {
			continue
		}
		before := "{}"
		if d.World.Exists(*self.Path) {
			var err error
			if before, err = d.World.Read(*self.Path, maxScript); err != nil {
				continue
			}
		}
		if text := changeOfSettings(before, *st.Text); text != "" {
			self.Change = &text
		}
	}
}

// changeOfSettings says how one text of an agent's settings differs from another, ""
// where it cannot be told, is nothing or concerns a guard.
func changeOfSettings(before, after string) string {
	was, err := strictjson.Object([]byte(before), strictjson.Limits{})
	if err != nil {
		return ""
	}
	is, err := strictjson.Object([]byte(after), strictjson.Limits{})
	if err != nil {
		return ""
	}
	old, new := flatten("", was, map[string]bool{}), flatten("", is, map[string]bool{})
	var said []string
	for _, key := range slices.Sorted(maps.Keys(new)) {
		if !old[key] {
			if guardsSetting(key, true) {
				return ""
			}
			said = append(said, "adds "+key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if !new[key] {
			if guardsSetting(key, false) {
				return ""
			}
			said = append(said, "removes "+key)
		}
	}
	text := strings.Join(said, ", ")
	if len(text) > maxChange { // a person is to see all of it
		return ""
	}
	return text
}

// flatten notes each entry of a document as its path and value: permissions.allow
// "Bash(go test:*)". The order of lists does not count.
func flatten(at string, v any, into map[string]bool) map[string]bool {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			flatten(strings.TrimPrefix(at+"."+k, "."), member, into)
		}
	case []any:
		for _, e := range v {
			flatten(at, e, into)
		}
	default:
		into[at+" "+string(strictjson.Append(nil, v))] = true
	}
	return into
}

// guardName are parts of the names of settings that guard an agent, whichever agent it is.
var guardName = lazy(`(?i)hook|approv|bypass|yolo|sandbox|trust|dangerous|disable|defaultMode|autoAccept|skip|managed|helper|exclude`)

// guardsSetting reports an entry that guards the agent, or that lets it do anything
// unasked, where it is added or removed.
func guardsSetting(entry string, added bool) bool {
	key, value, _ := strings.Cut(entry, " ")
	switch {
	case guardName().MatchString(key), looseSetting().MatchString(`"` + key[strings.LastIndexByte(key, '.')+1:] + `": ` + value):
		return true
	case strings.HasPrefix(key, "enabledPlugins."): // any of them may be what guards
		return added == (value == "false") || strings.HasPrefix(key, "enabledPlugins.gate@")
	case strings.HasPrefix(key, "extraKnownMarketplaces."): // one that is there comes from elsewhere then
		return !added || strings.HasPrefix(key, "extraKnownMarketplaces.gate.")
	case strings.Contains(key, "allow") && added:
		return looseTools().MatchString(value)
	case strings.HasSuffix(key, "deny"), strings.HasSuffix(key, "ask"):
		return !added
	}
	return false
}
