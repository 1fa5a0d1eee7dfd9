package policytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/strictjson"
)

// CasesSuffix ends the names of files with event cases.
const CasesSuffix = "_cases.yaml"

// ParseCases reads a file of event cases. What the file's world says is laid
// under the world of each case. The error holds every mistake, each with file
// and line; there are no cases then.
func ParseCases(file string, data []byte) ([]Case, error) {
	doc, err := load.Decode(file, data)
	if err != nil {
		return nil, err
	}
	p := &caseParser{doc: doc, file: file, noun: "case", whole: true}
	p.known(doc.Value(), "", "world", "cases")
	base := p.world(doc.Value()["world"], "/world")
	var cases []Case
	list, ok := doc.Value()["cases"].([]any)
	if !ok {
		p.fail("/cases", "cases must be a list of cases")
	} else if len(list) == 0 {
		p.fail("/cases", "there is no case; write one, or remove the file")
	}
	named := map[string]int{}
	for i, v := range list {
		at := "/cases/" + strconv.Itoa(i)
		c := p.oneCase(v, at)
		c.World = c.World.laidOver(base)
		if c.Session != nil && c.World.Session != nil {
			p.fail(at, "world.session says what the steps of the session make; keep one of them")
		}
		if first, twice := named[c.Name]; twice && c.Name != "" {
			p.fail(at, "a second case is named %q; the first is on line %d", c.Name, first)
		}
		named[c.Name] = c.Line
		cases = append(cases, c)
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(load.InOrder(p.errs)...)
	}
	return cases, nil
}

// ParseEvent reads what happens as an event case says it: one of the short forms such as
// bash or prompt, a tool with its input, or a whole event, each with cwd and agent. Of
// the case that it returns only Event and Agent are set.
func ParseEvent(file string, data []byte) (Case, error) {
	doc, err := load.Decode(file, data)
	if err != nil {
		return Case{}, err
	}
	p := &caseParser{doc: doc, file: file, noun: "case"}
	p.known(doc.Value(), "", append([]string{"input", "cwd", "agent"}, happenings...)...)
	c := p.happening(doc.Value(), "")
	if c.Lines != nil {
		p.fail("/lines", "lines are events of their own; give one as bash")
	}
	return c, errors.Join(load.InOrder(p.errs)...)
}

// A caseParser takes a document apart. Mistakes are collected.
type caseParser struct {
	doc   *load.Document
	file  string
	noun  string // what has an event: a case, or a step of one
	whole bool   // a case may be a whole session
	errs  []error
}

func (p *caseParser) fail(pointer, format string, args ...any) {
	p.errs = append(p.errs, p.doc.Errorf(pointer, format, args...))
}

// known reports keys that are not among names.
func (p *caseParser) known(m map[string]any, pointer string, names ...string) {
	for key := range m {
		if !slices.Contains(names, key) {
			p.errs = append(p.errs, p.doc.UnknownKey(pointer, key, names))
		}
	}
}

// get returns m[key] if it has type T, the zero value if it is not there.
func get[T any](p *caseParser, m map[string]any, pointer, key, want string) (t T, ok bool) {
	v, there := m[key]
	if !there {
		return t, false
	}
	if t, ok = v.(T); !ok {
		p.fail(load.Below(pointer, key), "%s is %s where %s is wanted", key, strictjson.TypeName(v), want)
	}
	return t, ok
}

// shortForms are the keys that say what happens, and the field of the tool's
// input that a text stands for.
var shortForms = []struct{ key, tool, field string }{
	{"bash", "Bash", "command"},
	{"write", "Write", "file_path"},
	{"edit", "Edit", "file_path"},
	{"read", "Read", "file_path"},
	{"fetch", "WebFetch", "url"},
}

// happenings lists the keys that say what happens.
func (p *caseParser) happenings() string {
	list := slices.Clone(happenings)
	switch {
	case p.noun == "step":
		list = slices.DeleteFunc(list, func(key string) bool { return key == "lines" })
	case p.whole:
		list = append(list, "session")
	}
	return strings.Join(list, ", ")
}

var happenings = []string{"bash", "lines", "write", "edit", "read", "fetch", "prompt", "tool", "event"}

func (p *caseParser) oneCase(v any, at string) Case {
	m, ok := v.(map[string]any)
	c := Case{File: p.file, Line: p.doc.Line(at)}
	if !ok {
		p.fail(at, "a case is an object with name, what happens (%s) and expect", p.happenings())
		return c
	}
	p.known(m, at, append([]string{"name", "input", "cwd", "agent", "world", "expect", "session"}, happenings...)...)
	if c.Name, ok = get[string](p, m, at, "name", "text"); c.Name == "" && (ok || m["name"] == nil) {
		p.fail(at, "a case needs a name")
	}
	c.World = p.world(m["world"], at+"/world")
	if _, whole := m["session"]; whole {
		c.Session, c.Agent = p.session(m, at), p.agent(m, at)
		return c
	}
	happening := p.happening(m, at)
	c.Event, c.Lines, c.Agent = happening.Event, happening.Lines, happening.Agent
	c.Expect = p.expectation(m, at)
	return c
}

// happening reads what happens, where, and to which agent.
func (p *caseParser) happening(m map[string]any, at string) Case {
	c := Case{Event: map[string]any{}}
	p.happens(&c, m, at)
	if dir, ok := get[string](p, m, at, "cwd", "a directory"); ok {
		c.Event["cwd"] = dir
	}
	c.Agent = p.agent(m, at)
	return c
}

func (p *caseParser) agent(m map[string]any, at string) string {
	name, _ := get[string](p, m, at, "agent", "an agent's name")
	if _, known := adapters.Lookup(name); name != "" && !known {
		p.fail(at+"/agent", "unknown agent %q; known are %s", name, strings.Join(adapters.Names(), ", "))
	}
	return name
}

// happens reads what happens: one of the short forms, a tool call or an event.
func (p *caseParser) happens(c *Case, m map[string]any, at string) {
	var said []string
	for _, key := range happenings {
		if _, ok := m[key]; ok {
			said = append(said, key)
		}
	}
	switch {
	case len(said) == 0:
		p.fail(at, "the %s does not say what happens; give one of %s", p.noun, p.happenings())
		return
	case len(said) > 1:
		p.fail(at, "%s: a %s has one event; give one of them", strings.Join(said, " and "), p.noun)
		return
	}
	if _, ok := m["input"]; ok && said[0] != "tool" {
		p.fail(at+"/input", "input goes with tool, not with %s", said[0])
	}
	pointer := at + "/" + said[0]
	for _, f := range shortForms {
		if f.key == said[0] {
			c.Event["tool_name"], c.Event["tool_input"] = f.tool, p.input(m[f.key], pointer, f.field)
			return
		}
	}
	switch said[0] {
	case "lines":
		c.Lines = p.texts(m["lines"], pointer, "lines")
		if len(c.Lines) == 0 {
			p.fail(pointer, "lines is empty: nothing is tested")
		}
	case "prompt":
		text, _ := get[string](p, m, at, "prompt", "text")
		c.Event["hook_event_name"], c.Event["prompt"] = string(hook.UserPromptSubmit), text
	case "tool":
		tool, _ := get[string](p, m, at, "tool", "a tool's name")
		input, ok := get[map[string]any](p, m, at, "input", "the tool's input")
		if !ok && m["input"] == nil {
			p.fail(pointer, "tool needs input")
		}
		c.Event["tool_name"], c.Event["tool_input"] = tool, input
	case "event":
		p.event(c, m, at)
	}
}

// event reads a whole event in canonical form.
func (p *caseParser) event(c *Case, m map[string]any, at string) {
	fields, _ := get[map[string]any](p, m, at, "event", "an object with hook_event_name and the event's fields")
	maps.Copy(c.Event, fields)
	if m["cwd"] != nil && fields["cwd"] != nil {
		p.fail(at+"/cwd", "cwd is in the event, too; keep one")
	}
	texts := []string{"hook_event_name", "tool_name", "cwd"}
	for _, key := range texts {
		if v, ok := fields[key]; ok {
			if s, isText := v.(string); !isText || s == "" {
				p.fail(at+"/event", "event.%s must be text", key)
			}
		}
	}
	if _, isMap := fields["tool_input"].(map[string]any); fields["tool_input"] != nil && !isMap {
		p.fail(at+"/event", "event.tool_input must be an object")
	}
	if fields != nil && fields["hook_event_name"] == nil {
		p.fail(at+"/event", "the event has no hook_event_name")
	}
}

// input reads a tool's input, or the one field that a text stands for.
func (p *caseParser) input(v any, pointer, field string) map[string]any {
	switch v := v.(type) {
	case string:
		input := map[string]any{field: v}
		for key, text := range fillers[field] {
			input[key] = text
		}
		if strings.HasSuffix(pointer, "/write") {
			input["content"] = ""
		}
		if strings.HasSuffix(pointer, "/edit") {
			input["old_string"], input["new_string"] = "a", "b"
		}
		return input
	case map[string]any:
		if _, ok := v[field].(string); !ok {
			p.fail(pointer, "the input has no %s", field)
		}
		return v
	}
	p.fail(pointer, "%s where a text or an object with %s is wanted", strictjson.TypeName(v), field)
	return nil
}

// fillers are fields that tools require beside the one that a case gives.
var fillers = map[string]map[string]string{"url": {"prompt": "read it"}}

// texts reads a list of texts; one text is a list of one.
func (p *caseParser) texts(v any, pointer, what string) []string {
	list, ok := v.([]any)
	if s, one := v.(string); one {
		return []string{s}
	}
	if !ok {
		p.fail(pointer, "%s must be a text or a list of texts", what)
		return nil
	}
	out := make([]string, 0, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			p.fail(fmt.Sprintf("%s/%d", pointer, i), "%s: %s where a text is wanted; quote it", what, strictjson.TypeName(e))
		}
		out = append(out, s)
	}
	return out
}
