package adapters

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/strictjson"
)

// Limits of texts, in UTF-16 units as the clients count. Claude Code replaces a
// longer context or message by a preview; a reason is not
// capped there, but nobody reads more.
const (
	maxReason  = 8_000
	maxContext = 10_000
	maxMessage = 10_000
)

const shortened = " … (shortened)"

// shorten cuts s to at most limit UTF-16 units, at a character.
func shorten(s string, limit int) string {
	if len(s) <= limit { // never fewer bytes than units
		return s
	}
	cut, units := 0, 0
	for i, r := range s {
		units++
		if r > 0xFFFF {
			units++
		}
		if units <= limit-len(shortened) {
			cut = i + utf8.RuneLen(r)
		}
		if units > limit {
			return s[:cut] + shortened
		}
	}
	return s
}

// showInput describes a rewritten tool input to somebody who has to make the
// change by hand: the fields that differ.
func showInput(before map[string]any, after any) string {
	input, ok := after.(map[string]any)
	if !ok {
		return showValue(after)
	}
	keys := map[string]bool{}
	for k := range before {
		keys[k] = true
	}
	for k := range input {
		keys[k] = true
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		was, had := before[k]
		is, has := input[k]
		switch {
		case !has:
			lines = append(lines, "without "+k)
		case !had || !equal(was, is):
			lines = append(lines, k+": "+showValue(is))
		}
	}
	return strings.Join(lines, "\n")
}

func showValue(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if strictjson.Check(v) != nil {
		return "(unreadable)"
	}
	return string(strictjson.Append(nil, v))
}

func equal(a, b any) bool {
	return strictjson.Check(a) == nil && strictjson.Check(b) == nil &&
		string(strictjson.Append(nil, a)) == string(strictjson.Append(nil, b))
}
