package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Check reports why [Append] could not write v as it is: a type that it does not
// take, a number that JSON does not have, invalid UTF-8, or too much nesting.
func Check(v any) error { return check(v, defaultDepth) }

func check(v any, depth int) error {
	if depth < 0 {
		return fmt.Errorf("nested deeper than %d", defaultDepth)
	}
	switch v := v.(type) {
	case nil, bool, int, int64:
	case string:
		if !utf8.ValidString(v) {
			return errors.New("a string of invalid UTF-8")
		}
	case json.Number:
		if !validNumber(string(v)) {
			return fmt.Errorf("%q is no number", string(v))
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is no JSON number", v)
		}
	case []any:
		return checkList(v, depth)
	case []string:
		return checkList(v, depth)
	case []map[string]any:
		return checkList(v, depth)
	case map[string]any:
		return checkMap(v, depth)
	case map[string]string:
		return checkMap(v, depth)
	default:
		return fmt.Errorf("a Go value of type %T", v)
	}
	return nil
}

func checkList[T any](list []T, depth int) error {
	for i, e := range list {
		if err := check(e, depth-1); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

func checkMap[T any](m map[string]T, depth int) error {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !utf8.ValidString(k) {
			return errors.New("a key of invalid UTF-8")
		}
		if err := check(m[k], depth-1); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

// validNumber holds s against JSON's grammar.
func validNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	s = s[n:]
	if strings.HasPrefix(s, ".") {
		if n = digits(s[1:]); n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n = digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

// digits counts the leading digits of s.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
