package outgoing

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gate/internal/strictjson"
)

// reference is a place of the event in a template: keys and indices with dots
// between them.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`) })

// CheckTemplate reports what is wrong with a JSON tree that [FillTemplate] is
// to fill.
func CheckTemplate(tree any) error {
	_, err := fill(tree, func(path string) (any, error) { return "", nil })
	return err
}

// FillTemplate puts parts of an event's document in the place of each ${path}
// in the texts of a JSON tree: "${tool_input.command}". A text that is nothing
// else becomes the part itself, whatever it is; within a text, what is no text
// is written as JSON. A part that the event does not have is an error.
func FillTemplate(tree any, doc map[string]any) (any, error) {
	return fill(tree, func(path string) (any, error) { return part(doc, path) })
}

func part(doc map[string]any, path string) (any, error) {
	var v any = doc
	for key := range strings.SplitSeq(path, ".") {
		found := false
		switch at := v.(type) {
		case map[string]any:
			v, found = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if found = err == nil && i >= 0 && i < len(at); found {
				v = at[i]
			}
		}
		if !found {
			return nil, fmt.Errorf("the event has no %s", path)
		}
	}
	return v, nil
}

func fill(tree any, get func(path string) (any, error)) (any, error) {
	var errs []error
	switch v := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			filled, err := fill(v[key], get)
			out[key], errs = filled, append(errs, err)
		}
		return out, errors.Join(errs...)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			filled, err := fill(e, get)
			out[i], errs = filled, append(errs, err)
		}
		return out, errors.Join(errs...)
	case string:
		return fillText(v, get)
	}
	return tree, nil
}

func fillText(text string, get func(path string) (any, error)) (any, error) {
	var errs []error
	var whole any
	n := 0
	filled := variable().ReplaceAllStringFunc(text, func(ref string) string {
		path := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
		if !strings.HasSuffix(ref, "}") || !reference().MatchString(path) {
			errs = append(errs, fmt.Errorf("%q is no part of an event; write ${tool_input.command}", ref))
			return ""
		}
		v, err := get(path)
		errs = append(errs, err)
		if whole = v; len(ref) == len(text) {
			n++
		}
		switch v := v.(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
		return string(strictjson.Append(nil, v))
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if n == 1 {
		return whole, nil
	}
	return filled, nil
}
