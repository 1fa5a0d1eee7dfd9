package adapters

import (
	"maps"
	"slices"

	"gate/internal/strictjson"
)

// fitOutput returns changed as a value that the tool of the output before can
// have, and whether there is one. Text for the output of a shell is its
// standard output.
func fitOutput(before, changed any) (any, bool) {
	if s, ok := changed.(string); ok {
		if shell, ok := before.(map[string]any); ok && isText(shell["stdout"]) && isText(shell["stderr"]) {
			fit := maps.Clone(shell)
			fit["stdout"], fit["stderr"] = s, ""
			return fit, true
		}
	}
	return changed, sameShape(before, changed)
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// sameShape reports whether changed has the keys and types of before. A null
// shows no type, so it stays null; an element of a list is like the one in its
// place or like one of the first 16.
func sameShape(before, changed any) bool {
	switch b := before.(type) {
	case map[string]any:
		c, ok := changed.(map[string]any)
		if !ok || len(c) != len(b) {
			return false
		}
		for k, v := range b {
			w, ok := c[k]
			if !ok || !sameShape(v, w) {
				return false
			}
		}
		return true
	case []any:
		c, ok := changed.([]any)
		if !ok {
			return false
		}
		for i, e := range c {
			if (i >= len(b) || !sameShape(b[i], e)) && !likeOneOf(b[:min(len(b), 16)], e) {
				return false
			}
		}
		return true
	}
	return strictjson.TypeName(before) == strictjson.TypeName(changed)
}

func likeOneOf(elements []any, e any) bool {
	return slices.ContainsFunc(elements, func(b any) bool { return sameShape(b, e) })
}
