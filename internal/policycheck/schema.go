package policycheck

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/adapters"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/catalogue"
	"gate/internal/moment"
	"gate/internal/strictjson"
	"gate/matcher"
)

// schemaFiles are JSON Schemas of what policies see: one file a tool, a kind of
// effect. schema/README.md says what is special about them.
//
//go:embed schema/*.json schema/tool/*.json schema/effect/*.json
var schemaFiles embed.FS

// A schema is all of them, ready to be asked.
type schema struct {
	common  *shape
	events  map[string]*shape
	tools   map[string]*shape
	effects map[string]*shape
	facts   *shape
}

var schemas = sync.OnceValues(readSchemas)

func readSchemas() (*schema, error) {
	r := schemaReader{done: map[string]*shape{}}
	s := &schema{
		common: r.file("common.json"), facts: r.file("facts.json"),
		events: map[string]*shape{}, tools: r.dir("tool"), effects: r.dir("effect"),
	}
	s.common.fields["agent"].known = append(adapters.Names(), adapters.ACS().Name(), adapters.Interceptor().Name())
	maps.Copy(s.common.fields, r.shape(fieldsSchema(moment.CommonFields()), "").fields)
	for _, m := range moment.Every() {
		s.events[string(m.Name)] = r.shape(EventSchema(m), "")
	}
	for name, tool := range s.tools {
		tool.fields["tool_input"].title = "the input of " + name
		tool.fields["tool_response"].title = "the response of " + name
	}
	return s, r.err
}

// with returns a schema that also has the kinds of effects that rows of settings'
// programs give. Their fields may hold anything.
func (sc *schema) with(programs map[string]any) *schema {
	var added value
	c := *sc
	c.effects = maps.Clone(sc.effects)
	rows := catalogue.New(programs)
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		row, ok := rows.Lookup(name)
		if !ok {
			continue // which Read reports
		}
		for i := range row.Effects {
			own, ok := row.Effects[i].Effect(func(any) any { return nil }).(*hook.OwnEffect)
			if !ok {
				continue
			}
			s := ownEffect(own)
			c.effects[own.Name] = s
			added = append(added, s)
		}
	}
	kinds := append(of(sc.facts.fields["effects"].items), added...)
	c.facts = sc.facts.with("effects", value{{kinds: array, items: &shape{union: kinds}}})
	c.common = sc.common.with("facts", value{c.facts})
	return &c
}

func ownEffect(e *hook.OwnEffect) *shape {
	s := &shape{kinds: object, title: e.Name, fields: map[string]*shape{}}
	for name := range hook.Members(&hook.FactEffect{Is: e}) {
		s.fields[name] = &shape{}
	}
	s.fields["kind"] = &shape{kinds: text, enum: []string{e.Name}}
	s.fields["command"] = &shape{kinds: number | null}
	return s
}

// A schemaReader turns the part of JSON Schema that the files use into shapes.
// The first mistake stays in err.
type schemaReader struct {
	done map[string]*shape
	err  error
}

func (r *schemaReader) dir(name string) map[string]*shape {
	entries, err := schemaFiles.ReadDir("schema/" + name)
	if err != nil && r.err == nil {
		r.err = err
	}
	out := make(map[string]*shape, len(entries))
	for _, e := range entries {
		out[strings.TrimSuffix(e.Name(), ".json")] = r.file(path.Join(name, e.Name()))
	}
	return out
}

func (r *schemaReader) file(name string) *shape {
	if s := r.done[name]; s != nil {
		return s
	}
	data, err := schemaFiles.ReadFile("schema/" + name)
	doc, decodeErr := strictjson.Decode(data, strictjson.Limits{})
	if err == nil {
		err = decodeErr
	}
	object, ok := doc.(map[string]any)
	if err != nil || !ok {
		if r.err == nil {
			r.err = fmt.Errorf("schema %s: %v", name, err)
		}
		return &shape{}
	}
	s := r.shape(object, "")
	r.done[name] = s
	return s
}

var schemaKinds = map[string]kinds{
	"null": null, "boolean": boolean, "number": number, "string": text, "array": array, "object": object,
}

func (r *schemaReader) shape(doc map[string]any, name string) *shape {
	if ref, ok := doc["$ref"].(string); ok {
		return r.file(ref)
	}
	s := &shape{name: name}
	s.title, _ = doc["title"].(string)
	s.unknown, _ = doc["unknown"].(string)
	s.says, _ = doc["$comment"].(string)
	if list, ok := doc["oneOf"].([]any); ok {
		for _, e := range list {
			s.union = append(s.union, r.shape(e.(map[string]any), name))
		}
		return s
	}
	for _, t := range strictjson.Texts(doc["type"]) {
		s.kinds |= schemaKinds[t]
	}
	if values, ok := doc["enum"]; ok {
		s.enum, s.kinds = strictjson.Texts(values), s.kinds|text
	}
	s.known = strictjson.Texts(doc["examples"])
	if not, ok := doc["not"].(map[string]any); ok {
		s.form = r.form(not, doc["description"], true)
	} else {
		s.form = r.form(doc, doc["description"], false)
	}
	if items, ok := doc["items"].(map[string]any); ok {
		s.items = r.shape(items, name)
	}
	if s.kinds&object != 0 {
		r.fields(s, doc)
	}
	return s
}

// form reads the pattern of texts; nil if there is none.
func (r *schemaReader) form(doc map[string]any, description any, not bool) *form {
	pattern, ok := doc["pattern"].(string)
	if !ok {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("schema: %w", err)
	}
	is, _ := description.(string)
	return &form{re, not, is}
}

func (r *schemaReader) fields(s *shape, doc map[string]any) {
	s.fields = map[string]*shape{}
	properties, _ := doc["properties"].(map[string]any)
	required, said := doc["required"]
	always := strictjson.Texts(required)
	for name, p := range properties {
		f := r.shape(p.(map[string]any), name)
		if said && !slices.Contains(always, name) {
			optional := *f // others may refer to it, too
			optional.optional = true
			f = &optional
		}
		s.fields[name] = f
	}
	switch rest := doc["additionalProperties"].(type) {
	case bool:
		if rest {
			s.rest = &shape{}
		}
	case map[string]any:
		s.rest = r.shape(rest, s.name)
	default:
		s.rest = &shape{}
	}
}

// input returns what a policy that listens to events, through a matcher and
// conditions, may be given: one shape for each event and, of events about a
// tool, for each tool. A nil hook may be given anything.
func (sc *schema) input(h *hook.Hook) value {
	var all value
	names := slices.Sorted(maps.Keys(sc.events))
	if h != nil {
		names = nil
		for _, e := range h.Events {
			names = append(names, string(e.Canonical()))
		}
	}
	for _, name := range names {
		event := sc.events[name]
		if event == nil {
			all = append(all, &shape{})
			continue
		}
		base := &shape{kinds: object, title: name, fields: maps.Clone(sc.common.fields)}
		maps.Copy(base.fields, event.fields)
		if event.fields["tool_name"] == nil {
			all = append(all, base)
			continue
		}
		for _, tool := range sc.toolsFor(h) {
			s := *base
			s.fields = maps.Clone(base.fields)
			for field, f := range tool.fields {
				if base.fields[field] != nil {
					s.fields[field] = f
				}
			}
			all = append(all, &s)
		}
	}
	return all
}

// toolsFor returns the tools that a matcher and conditions let through: those
// with a schema, and one shape for all others.
func (sc *schema) toolsFor(h *hook.Hook) []*shape {
	var list []*shape
	names := slices.Sorted(maps.Keys(sc.tools))
	for _, name := range names {
		if h == nil || mayConcern(h, name) {
			list = append(list, sc.tools[name])
		}
	}
	other := &shape{kinds: text, except: names}
	if h != nil {
		if only, plain := plainNames(h); plain {
			only = slices.DeleteFunc(only, func(n string) bool { return sc.tools[n] != nil })
			if len(only) == 0 {
				return list
			}
			other = &shape{kinds: text, enum: only}
		}
	}
	return append(list, &shape{kinds: object, fields: map[string]*shape{
		"tool_name": other, "tool_input": {}, "tool_response": {},
	}})
}

// mayConcern reports whether a policy may be asked about calls of a tool.
func mayConcern(h *hook.Hook, tool string) bool {
	if m, err := matcher.Compile(h.Matcher, backtracking.Compile); err == nil && m.Match(tool) == matcher.No {
		return false
	}
	names, only := toolConditions(h)
	if !only {
		return true
	}
	m, err := matcher.Compile(strings.Join(names, "|"), backtracking.Compile) // which knows that Task is Agent
	return err != nil || m.Match(tool) != matcher.No
}

// plainNames returns the tools that a policy lists by name, and whether it
// concerns no others.
func plainNames(h *hook.Hook) ([]string, bool) {
	if names, only := toolConditions(h); only {
		return names, true
	}
	if h.Matcher == "" || h.Matcher == "*" {
		return nil, false
	}
	var names []string
	for _, item := range strings.FieldsFunc(h.Matcher, func(r rune) bool { return r == '|' || r == ',' }) {
		item = strings.TrimSpace(item)
		if item == "" || strings.Trim(item, wordCharacters) != "" {
			return nil, false
		}
		names = append(names, item)
	}
	return names, len(names) > 0
}

// describes reports whether conditions name only tools with a schema, such as
// Bash(git push:*).
func (sc *schema) describes(conditions []string) bool {
	for _, c := range conditions {
		if name, _, pattern := strings.Cut(c, "("); !pattern || sc.tools[strings.TrimSpace(name)] == nil {
			return false
		}
	}
	return len(conditions) > 0
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- "

// toolConditions returns the tools that the conditions of a policy name alone,
// such as "Bash", and whether all of its conditions do. Conditions with a
// pattern are judged on facts, whatever the tool.
func toolConditions(h *hook.Hook) ([]string, bool) {
	var names []string
	for _, c := range h.If {
		if c == "unknown" || c == "effect" || c == "flow" || strings.ContainsAny(c, "(*") || strings.HasPrefix(c, "mcp__") {
			return nil, false
		}
		names = append(names, strings.TrimSpace(c))
	}
	return names, len(names) > 0
}

// EventSchema returns the JSON Schema of the fields of an event, those of every
// event left out.
func EventSchema(m moment.Moment) map[string]any {
	doc := fieldsSchema(m.Fields)
	doc["title"] = string(m.Name)
	doc["properties"].(map[string]any)["hook_event_name"] = map[string]any{"enum": []any{string(m.Name)}}
	return doc
}

// fieldTypes are the types of fields in the words of JSON Schema.
var fieldTypes = [...]string{
	moment.Text: "string", moment.Number: "number", moment.Boolean: "boolean", moment.Object: "object", moment.List: "array", moment.Texts: "array",
}

// fieldsSchema is the schema of an object that has these fields and no others.
func fieldsSchema(fields []moment.Field) map[string]any {
	properties := map[string]any{}
	for _, f := range fields {
		properties[f.Name] = fieldSchema(f)
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func fieldSchema(f moment.Field) map[string]any {
	if f.Type == moment.Anything {
		return map[string]any{}
	}
	doc := map[string]any{"type": fieldTypes[f.Type]}
	if f.Need == moment.OrNull {
		doc["type"] = []any{fieldTypes[f.Type], "null"}
	}
	var known []any
	for value := range strings.FieldsSeq(f.Known) {
		known = append(known, value)
	}
	if known != nil {
		doc["examples"] = known
	}
	inner := map[string]any{"type": "object"}
	if f.Of != nil {
		inner = fieldsSchema(f.Of)
		inner["additionalProperties"] = true
	}
	switch {
	case f.Type == moment.List:
		doc["items"] = inner
	case f.Type == moment.Texts:
		doc["items"] = map[string]any{"type": "string"}
	case f.Of != nil:
		return inner
	}
	return doc
}

// Schemas returns the JSON Schemas of what policies see otherwise: facts.json, flow.json,
// gate.json and session.json, common.json for what gate adds to every event, and
// one file a tool and a kind of effect in directories of their own.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		return schemaFiles // the name is valid: this is not reached
	}
	return sub
}
