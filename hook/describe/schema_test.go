package describe

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// forms say how texts look, for people and as a pattern.
var forms = map[string]string{
	"path":    `"pattern": "^(/|(/[^/]+)+|[A-Za-z]:[^~]*)$", "description": "paths are absolute and clean: ~ and relative ones are resolved, and there is no slash at the end"`,
	"host":    `"pattern": "^[^/A-Z]*$", "description": "a host is a lower-case name or an address, without scheme, port and path"`,
	"program": `"pattern": "^[^/]*$", "description": "program is the base name; the path that was written is in path"`,
	"branch":  `"not": {"pattern": "^refs/heads/"}, "description": "refs/heads/ is taken off, so that a branch is just its name"`,
}

// effectSchema is the JSON Schema of a kind of effect.
func effectSchema(o *object) string {
	required := []string{"kind", "command"}
	properties := []string{`"kind": {"enum": [` + strconv.Quote(o.kind()) + `]}`, `"command": {"type": ["number", "null"]}`}
	for _, f := range o.fields {
		properties = append(properties, strconv.Quote(f.json)+": "+commented(f.comment, f.schema()))
		if f.typ != "OptionalText" {
			required = append(required, f.json)
		}
	}
	return "{\n  \"title\": " + strconv.Quote(o.kind()) + ",\n  \"$comment\": " + strconv.Quote(says(o)) + ",\n  \"type\": \"object\",\n  \"properties\": {\n    " + strings.Join(properties, ",\n    ") +
		"\n  },\n  \"required\": " + quoted(required) + ",\n  \"additionalProperties\": false\n}\n"
}

// factsSchema is the JSON Schema of facts.
func factsSchema(facts, kinds []*object) string {
	root := facts[slices.IndexFunc(facts, func(o *object) bool { return o.name == "Facts" })]
	var refs []string
	for _, o := range kinds {
		refs = append(refs, `{"$ref": "effect/`+o.kind()+`.json"}`)
	}
	return "{\n  \"description\": \"What the event would do (docs/facts.md).\",\n  \"type\": \"object\",\n" + body(root, facts, refs, "  ") + "\n}\n"
}

// flowSchema is the JSON Schema of input.flow.
func flowSchema(facts []*object) string {
	flow := facts[slices.IndexFunc(facts, func(o *object) bool { return o.name == "Flow" })]
	return "{\n  \"description\": \"Where the data of its effects came from (docs/flows.md).\",\n  \"type\": \"array\",\n  \"items\": {\n    \"type\": \"object\",\n" + body(flow, facts, nil, "    ") + "\n  }\n}\n"
}

func body(o *object, all []*object, effects []string, indent string) string {
	var properties []string
	for _, f := range o.fields {
		properties = append(properties, strconv.Quote(f.json)+": "+commented(f.comment, nested(f, all, effects, indent+"  ")))
	}
	return indent + "\"properties\": {\n  " + indent + strings.Join(properties, ",\n  "+indent) + "\n" + indent + "},\n" + indent + "\"additionalProperties\": false"
}

func nested(f field, all []*object, effects []string, indent string) string {
	name, list := f.element()
	at := slices.IndexFunc(all, func(o *object) bool { return o.name == name })
	switch {
	case name == "FactEffect":
		return `{"type": "array", "items": {"oneOf": [` + "\n  " + indent + strings.Join(effects, ",\n  "+indent) + "\n" + indent + "]}}"
	case list:
		return `{"type": "array", "items": {"type": "object",` + "\n" + body(all[at], all, effects, indent+"  ") + "\n" + indent + "}}"
	case name != "":
		return `{"type": ["object", "null"],` + "\n" + body(all[at], all, effects, indent+"  ") + "\n" + indent + "}"
	}
	return f.schema()
}

// commented is a schema with what a comment says of the field.
func commented(comment, schema string) string {
	if comment == "" {
		return schema
	}
	return `{"$comment": ` + strconv.Quote(comment) + ", " + schema[1:]
}

// schema describes a field that holds no objects.
func (f *field) schema() string {
	switch f.typ {
	case "bool":
		return `{"type": "boolean"}`
	case "*bool":
		return `{"type": ["boolean", "null"]` + f.more() + "}"
	case "int", "Version":
		return `{"type": ` + f.orNull("number") + "}"
	case "*Span":
		return `{"type": ["array", "null"], "items": {"type": "number"}}`
	case "any":
		return `{"type": ["string", "boolean", "null"]}`
	case "[]string":
		one := *f
		one.typ, one.tag = "string", reflect.StructTag(strings.ReplaceAll(string(f.tag), "unknown:", "_:"))
		return `{"type": "array", "items": ` + one.schema() + unknown(f) + "}"
	case "[]*string":
		return `{"type": "array", "items": {"type": ["string", "null"]` + f.more() + "}}"
	case "map[string]*string":
		return `{"type": "object", "additionalProperties": {"type": ["string", "null"]` + f.more() + "}}"
	case "map[string][]any":
		return `{"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["string", "boolean", "null"]` + f.more() + "}}}"
	case "*string", "OptionalText":
		return `{"type": ["string", "null"]` + f.more() + "}"
	}
	if values := f.tag.Get("enum"); values != "" {
		return `{"enum": ` + quoted(strings.Split(values, "|")) + "}"
	}
	return `{"type": ` + f.orNull("string") + f.more() + "}"
}

func (f *field) orNull(name string) string {
	if f.tag.Get("null") != "" {
		return `["` + name + `", "null"]`
	}
	return `"` + name + `"`
}

// more is what tags say of the texts of a field.
func (f *field) more() string {
	s := unknown(f)
	if values := f.tag.Get("examples"); values != "" {
		s += `, "examples": ` + quoted(strings.Split(values, "|"))
	}
	if form := f.tag.Get("form"); form != "" {
		s += ", " + forms[form]
	}
	return s
}

func unknown(f *field) string {
	if how := f.tag.Get("unknown"); how != "" {
		return `, "unknown": ` + strconv.Quote(how)
	}
	return ""
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
