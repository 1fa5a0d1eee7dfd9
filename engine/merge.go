package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// merge applies an RFC 7386 merge patch and leaves its arguments alone. An
// array is replaced as a whole, and null removes a field.
func merge(target any, patch map[string]any) any {
	old, _ := target.(map[string]any)
	out := make(map[string]any, len(old)+len(patch))
	maps.Copy(out, old)
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(out, k)
		case map[string]any:
			out[k] = merge(out[k], v)
		default:
			out[k] = v
		}
	}
	return out
}

// patchTo is the merge patch that makes b of a. There is none if b holds a null
// where a does not: in a patch that removes a field.
func patchTo(a, b map[string]any) (patch map[string]any, ok bool) {
	patch = map[string]any{}
	for k := range a {
		if _, stays := b[k]; !stays {
			patch[k] = nil
		}
	}
	for k, is := range b {
		was, had := a[k]
		if had && equal(was, is) {
			continue
		}
		object, isObject := is.(map[string]any)
		if !isObject {
			if is == nil {
				return nil, false
			}
			patch[k] = is
			continue
		}
		before, _ := was.(map[string]any) // a patch begins anew where there was no object
		inner, ok := patchTo(before, object)
		if !ok {
			return nil, false
		}
		patch[k] = inner
	}
	return patch, true
}

// union puts two merge patches together. They go together unless they give one
// field two values; then path names it.
func union(a, b map[string]any, at string) (out map[string]any, path string, ok bool) {
	out = make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	for _, k := range slices.Sorted(maps.Keys(b)) {
		have, both := out[k]
		if !both {
			out[k] = b[k]
			continue
		}
		path = at + k
		left, isLeft := have.(map[string]any)
		right, isRight := b[k].(map[string]any)
		if isLeft && isRight {
			merged, path, ok := union(left, right, path+".")
			if !ok {
				return nil, path, false
			}
			out[k] = merged
			continue
		}
		if !equal(have, b[k]) {
			return nil, path, false
		}
	}
	return out, "", true
}

// equal compares JSON trees. Numbers are equal when their texts are; values of
// other types are equal to nothing.
func equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	}
	left, ok := number(a)
	right, both := number(b)
	return ok && both && left == right
}

func number(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return string(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
