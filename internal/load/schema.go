package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/strictjson"
)

// A schema is one of our JSON Schemas, read as it stands: with those keywords of
// draft 2020-12 that our files use, and no others. A library that knows all of
// them compiles the drafts' own schemas whenever a process starts, which took a
// third of what a call of gate takes; the tests hold that one against the other.
type schema struct {
	root  string                    // where checking begins
	texts map[string]map[string]any // by URL
}

const schemaBase = "mem://gate/"

// keywords are those that check knows, or may pass over.
var keywords = []string{
	"$schema", "$id", "$defs", "title", "description", "$ref", "type", "const", "enum", "properties", "required",
	"propertyNames", "additionalProperties", "items", "minItems", "maxItems", "minLength", "maxLength", "pattern",
	"minimum", "maximum",
}

// A violation is one place in a value that is not as the schema wants it.
type violation struct {
	at      string // JSON pointer
	keyword string
	message string
	key     string   // of additionalProperties: the one too many
	known   []string // and those there are
}

// check tells report of each violation in v.
func (s *schema) check(v any, report func(violation)) {
	c := checker{texts: s.texts, report: report}
	c.value(scheme{s.root, s.texts[s.root]}, v, "")
}

// A scheme is a part of a schema; url is that of the text it stands in.
type scheme struct {
	url  string
	text any
}

// A checker walks value and schema together.
type checker struct {
	texts  map[string]map[string]any
	report func(violation)
}

func (c *checker) fail(at, keyword, format string, args ...any) {
	c.report(violation{at: at, keyword: keyword, message: fmt.Sprintf(format, args...)})
}

func (c *checker) value(s scheme, v any, at string) {
	rules, ok := s.text.(map[string]any)
	if !ok {
		return // true: whatever it is
	}
	if ref, ok := rules["$ref"].(string); ok {
		c.value(c.target(s, ref), v, at)
	}
	if types := strictjson.Texts(rules["type"]); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isOfType(v, t) }) {
		c.fail(at, "type", "expected %s, but got %s", strings.Join(types, " or "), typeName(v))
		return
	}
	if want, ok := rules["const"]; ok && !same(v, want) {
		c.fail(at, "const", "value must be %v", want)
	}
	if among, ok := rules["enum"].([]any); ok && !slices.ContainsFunc(among, func(e any) bool { return same(v, e) }) {
		c.fail(at, "enum", "value must be one of %s", quotedList(among))
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(s, rules, v, at)
	case []any:
		c.array(s, rules, v, at)
	case string:
		c.text(rules, v, at)
	default:
		if n, ok := number(v); ok {
			c.number(rules, n, v, at)
		}
	}
}

// target follows a reference: URL#/pointer, or #/pointer within the same text.
func (c *checker) target(s scheme, ref string) scheme {
	url, pointer, _ := strings.Cut(ref, "#")
	if url == "" {
		url = s.url
	}
	return scheme{url, lookup(c.texts[url], pointer)}
}

func (c *checker) object(s scheme, rules, v map[string]any, at string) {
	var missing []string
	for _, key := range strictjson.Texts(rules["required"]) {
		if _, ok := v[key]; !ok {
			missing = append(missing, "'"+key+"'")
		}
	}
	if len(missing) > 0 {
		c.fail(at, "required", "it lacks %s", strings.Join(missing, ", "))
	}
	known, _ := rules["properties"].(map[string]any)
	names, others := rules["propertyNames"], rules["additionalProperties"]
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if names != nil {
			c.value(scheme{s.url, names}, key, below(at, key))
		}
		if part, ok := known[key]; ok {
			c.value(scheme{s.url, part}, v[key], below(at, key))
			continue
		}
		if others == false {
			c.report(violation{at: at, keyword: "additionalProperties", key: key, known: slices.Sorted(maps.Keys(known))})
			continue
		}
		c.value(scheme{s.url, others}, v[key], below(at, key))
	}
}

func (c *checker) array(s scheme, rules map[string]any, v []any, at string) {
	if least, ok := number(rules["minItems"]); ok && float64(len(v)) < least {
		c.fail(at, "minItems", "minimum %v items required, but found %d items", least, len(v))
	}
	if most, ok := number(rules["maxItems"]); ok && float64(len(v)) > most {
		c.fail(at, "maxItems", "maximum %v items allowed, but found %d items", most, len(v))
	}
	for i, item := range v {
		c.value(scheme{s.url, rules["items"]}, item, element(at, i))
	}
}

func (c *checker) text(rules map[string]any, v, at string) {
	if least, ok := number(rules["minLength"]); ok && float64(utf8.RuneCountInString(v)) < least {
		c.fail(at, "minLength", "length must be >= %v, but got %d", least, utf8.RuneCountInString(v))
	}
	if most, ok := number(rules["maxLength"]); ok && float64(utf8.RuneCountInString(v)) > most {
		c.fail(at, "maxLength", "length must be <= %v, but got %d", most, utf8.RuneCountInString(v))
	}
	if pattern, ok := rules["pattern"].(string); ok {
		if matched, err := regexp.MatchString(pattern, v); err != nil || !matched {
			c.fail(at, "pattern", "does not match pattern '%s'", pattern)
		}
	}
}

func (c *checker) number(rules map[string]any, n float64, v any, at string) {
	if least, ok := number(rules["minimum"]); ok && n < least {
		c.fail(at, "minimum", "must be >= %v but found %v", rules["minimum"], v)
	}
	if most, ok := number(rules["maximum"]); ok && n > most {
		c.fail(at, "maximum", "must be <= %v but found %v", rules["maximum"], v)
	}
}

func quotedList(list []any) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = fmt.Sprintf("%q", e)
	}
	return strings.Join(out, ", ")
}

// number returns the value of a number as a decoder of one of the formats gives
// it.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Float64()
		return n, err == nil || math.IsInf(n, 0)
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

// typeName names the JSON type of a value as schemas do.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	if _, ok := number(v); ok {
		return "number"
	}
	return fmt.Sprintf("%T", v)
}

func isOfType(v any, t string) bool {
	if t != "integer" {
		return typeName(v) == t
	}
	n, ok := number(v)
	return ok && n == math.Trunc(n) && !math.IsInf(n, 0)
}

// same compares what const and enum name with a value: texts, numbers, booleans.
func same(v, want any) bool {
	if n, ok := number(want); ok {
		m, ok := number(v)
		return ok && n == m
	}
	return typeName(v) == typeName(want) && typeName(v) != "object" && typeName(v) != "array" && v == want
}
