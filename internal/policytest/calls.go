package policytest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gate/internal/strictjson"
)

// anywhere is a file of cases that all policies of a suite lie beside.
const anywhere = "calls" + CasesSuffix

// Calls returns the calls that tests and cases judge, each as a case of one event
// that expects nothing. The events of Rego tests are those that gate.event made in
// the runs of the suite until now. A call is named by the place of its test.
func (s *Suite) Calls() []Case {
	var list []Case
	for _, made := range s.events.calls() {
		if f := s.files[made.at.File]; f != nil && f.test && s.within(made.at.File) {
			c := caseOf(made.spec)
			c.File, c.Line, c.Name = anywhere, made.at.Row, fmt.Sprintf("%s:%d", made.at.File, made.at.Row)
			list = append(list, c)
		}
	}
	for _, c := range s.cases {
		c.Name, c.Expect = fmt.Sprintf("%s:%d", c.File, c.Line), Expectation{}
		switch {
		case c.Lines != nil:
			list = append(list, c.eachLine()...)
		case c.Session != nil:
			list = append(list, c.eachStep()...)
		default:
			list = append(list, c)
		}
	}
	return list
}

// eachLine returns a case for each of its lines.
func (c Case) eachLine() []Case {
	var list []Case
	for _, line := range c.Lines {
		one := c
		one.Lines, one.Event = nil, c.calling("Bash", map[string]any{"command": line})
		list = append(list, one)
	}
	return list
}

// eachStep returns a case for each step of a session: with those before it, and with its
// event as that of the case.
func (c Case) eachStep() []Case {
	var list []Case
	for i := range c.Session {
		one := c
		one.Session = slices.Clone(c.Session[:i+1])
		for j := range one.Session {
			one.Session[j].Expect = nil
		}
		last := &one.Session[i]
		one.Event, one.Agent = last.Event, cmp.Or(last.Agent, c.Agent)
		one.Line, one.Name = last.Line, fmt.Sprintf("%s:%d", c.File, last.Line)
		list = append(list, one)
	}
	return list
}

// Calling returns the case with another call in the place of its own, which of a session
// is the last one.
func (c Case) Calling(tool string, input map[string]any) Case {
	c.Event = c.calling(tool, input)
	if n := len(c.Session); n > 0 {
		c.Session = slices.Clone(c.Session)
		c.Session[n-1].Event = c.Event
	}
	return c
}

func (c Case) calling(tool string, input map[string]any) map[string]any {
	return merged(c.Event, map[string]any{"tool_name": tool, "tool_input": input})
}

// calls returns the events that were made, in the order of their calls.
func (e *events) calls() []*madeEvent {
	e.mu.Lock()
	files := map[string]bool{}
	for _, made := range e.known {
		if made.at != nil {
			files[made.at.File] = true
		}
	}
	e.mu.Unlock()
	return e.madeIn(files)
}

// caseOf returns the case that a spec of [Event] stands for.
func caseOf(spec any) Case {
	m, ok := spec.(map[string]any)
	if !ok {
		m = map[string]any{"bash": spec}
	}
	object := func(key string) map[string]any {
		o, _ := m[key].(map[string]any)
		return o
	}
	texts := func(key string) map[string]string {
		out := map[string]string{}
		for k, v := range object(key) {
			out[k], _ = v.(string)
		}
		return out
	}
	c := Case{Event: merged(nil, object("fields")), World: CaseWorld{
		Env: texts("env"), Files: texts("files"), Session: object("session"), Gate: object("gate"),
	}}
	c.Agent, _ = m["agent"].(string)
	if c.Event = maps.Clone(c.Event); c.Event == nil {
		c.Event = map[string]any{}
	}
	for field, key := range ofSpec {
		if v, ok := m[key]; ok {
			c.Event[field] = v
		}
	}
	if line, ok := m["bash"]; ok {
		c.Event["tool_name"], c.Event["tool_input"] = "Bash", map[string]any{"command": line}
	}
	return c
}

// IDs returns the ids of the policies that are tested, sorted.
func (s *Suite) IDs() []string {
	var list []string
	for _, h := range s.source.Hooks {
		if s.within(h.File) {
			list = append(list, h.ID)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// FileOf returns the file of a policy of [Suite.IDs].
func (s *Suite) FileOf(id string) string {
	for _, h := range s.source.Hooks {
		if h.ID == id {
			return h.File
		}
	}
	return ""
}

// String names the call in one text. Calls of a tool that has no field to name them by
// are told apart by all of their input.
func (c Case) String() string {
	text := judged(c.Event)
	tool, _ := c.Event["tool_name"].(string)
	input, _ := c.Event["tool_input"].(map[string]any)
	switch {
	case tool == "" || tool == "Bash":
		return text
	case text == tool && len(input) > 0:
		text = string(strictjson.Append(nil, input))
	}
	return tool + " " + text
}
