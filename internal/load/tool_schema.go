package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gate/internal/strictjson"
)

// schemaMistakes reports what is wrong with a schema of somebody's own, by the place
// of the keyword. A keyword that would be passed over is a mistake: whoever wrote it
// relies on it.
func schemaMistakes(v any, pointer string, report func(at, message string)) {
	rules, ok := v.(map[string]any)
	if _, isFlag := v.(bool); isFlag {
		return
	}
	if !ok {
		report(pointer, "a JSON Schema is wanted")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(rules)) {
		at := below(pointer, key)
		switch {
		case key == "$ref", key == "$defs", !slices.Contains(keywords, key):
			report(at, "gate does not know the keyword "+key+" of JSON Schema")
		case key == "properties":
			parts, ok := rules[key].(map[string]any)
			if !ok {
				report(at, "properties must be an object")
			}
			for _, name := range slices.Sorted(maps.Keys(parts)) {
				schemaMistakes(parts[name], below(at, name), report)
			}
		case key == "items", key == "additionalProperties", key == "propertyNames":
			schemaMistakes(rules[key], at, report)
		default:
			if wrong := keywordMistake(key, rules[key]); wrong != "" {
				report(at, wrong)
			}
		}
	}
}

// keywordMistake says what is wrong with the value of a keyword that holds no schema.
func keywordMistake(key string, v any) string {
	n, isNumber := number(v)
	text, isText := v.(string)
	list, isList := v.([]any)
	switch key {
	case "type":
		if isText {
			list = []any{text}
		}
		known := []string{"null", "boolean", "integer", "number", "string", "array", "object"}
		for _, e := range list {
			if name, _ := e.(string); !slices.Contains(known, name) {
				return fmt.Sprintf("type: %v is none of %s%s", e, strings.Join(known, ", "), didYouMean(name, "", known))
			}
		}
		if len(list) == 0 {
			return "type must be the name of a type, or a list of them"
		}
	case "enum":
		if !isList || len(list) == 0 {
			return "enum must be a list of values"
		}
	case "required":
		if !isList || len(strictjson.Texts(v)) != len(list) {
			return "required must be a list of names"
		}
	case "minItems", "maxItems", "minLength", "maxLength":
		if !isNumber || n < 0 || n != float64(int64(n)) {
			return key + " must be a whole number, not below 0"
		}
	case "minimum", "maximum":
		if !isNumber {
			return key + " must be a number"
		}
	case "pattern":
		if _, err := regexp.Compile(text); !isText || err != nil {
			return "pattern must be an RE2 expression"
		}
	case "const":
	default:
		if !isText {
			return key + " must be a string"
		}
	}
	return ""
}

// inputSchema checks the schema of a policy's METADATA, and returns it as a tree of
// JSON.
func (l *loader) inputSchema(s section, value any) (map[string]any, error) {
	before := len(l.src.Faults)
	schemaMistakes(value, "", func(at, message string) {
		l.fault("%s: schema%s: %s", s.posBelow("schema", at), strings.ReplaceAll(at, "/", "."), message)
	})
	if len(l.src.Faults) > before {
		return nil, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	tree, err := strictjson.Object(text, strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("schema must be an object: %w", err)
	}
	return tree, nil
}

// InputMistakes says in one sentence where the input of an event does not fit a
// schema of METADATA, "" where it does.
func InputMistakes(schema map[string]any, tool string, input any) string {
	object, ok := input.(map[string]any)
	if !ok {
		return "tool_input: expected object, but got " + typeName(input)
	}
	err := ToolSchemas{tool: schema}.Check(tool, object)
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
