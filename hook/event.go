// Package hook is gate's vocabulary: what happened ([Event]), what it would do
// ([Facts]), who wants a say ([Hook]), one answer ([Verdict]) and the
// conclusion ([Decision]).
//
// It holds plain values that every other package shares. The names of events come
// from internal/moment, and marks of a session from internal/mark; it imports no other package of ours. It decides nothing and
// reads nothing. Start with [Event].
package hook

import (
	"maps"
	"time"

	"gate/internal/mark"
)

// An Event is one moment of an agent's work in gate's own terms. Adapters make
// Events; no other package reads an agent's native format.
//
// Fields is the one place where the event's content lives. It uses Claude
// Code's names (hook_event_name, session_id, cwd, tool_name, tool_input …),
// whatever the agent calls them. Values are plain JSON trees. Treat it as
// immutable: [Event.With] makes a changed copy.
type Event struct {
	Agent  string         // the adapter's name, such as "claude"
	Name   Name           // the same as Fields["hook_event_name"]
	Fields map[string]any // the canonical document
	Native map[string]any // as received, where the adapter renamed something; else nil
	Parts  []Call         // the calls that this one amounts to, where they are several: each is judged, too; else nil
	Facts  *Facts         // nil until the engine has worked them out
	Gate   Gate           // what gate itself adds
	// Confined is the profile by which the event's line runs, or ran; "" where it is not
	// confined. The line in Fields is then the one inside.
	Confined string

	Memory map[string]any // input.session: counters of this session; nil means none
	Marks  mark.Marks     // of this session: each source sees its own, and the shared ones, as input.session.marks

	// Recall is asked once, before any hook, with an event that has facts. It may
	// set Memory and Marks; a fault closes. Nil: they are what they are.
	Recall func(*Event) *Fault
}

// A Call is the call of one tool, in gate's own words.
type Call struct {
	Tool  string
	Input map[string]any
}

// Gate is what gate knows besides the event, input.gate in Rego.
type Gate struct {
	Now         time.Time         // one timestamp a call
	User        string            // account name
	OS          string            // "linux", "darwin", "windows"
	Interactive bool              // somebody can answer a question
	Labels      map[string]string // from managed settings only
	Trace       string            // the traceparent of the caller, "" if it told none; for the log alone: policies do not see it
}

// InputSchema is the version of the document that policies see.
const InputSchema = 1

// Text returns a top-level field when it is a string, else "".
func (e *Event) Text(field string) string {
	s, _ := e.Fields[field].(string)
	return s
}

// Dir returns the agent's working directory, as the event claims it.
func (e *Event) Dir() string { return e.Text("cwd") }

// SessionID returns the agent's own name for the session. It is any string the
// agent likes: never use it as a file name.
func (e *Event) SessionID() string { return e.Text("session_id") }

// Tool returns the name of the tool, "" on events without one.
func (e *Event) Tool() string { return e.Text("tool_name") }

// ToolInput returns the arguments of the call, nil on events without any.
func (e *Event) ToolInput() map[string]any {
	m, _ := e.Fields["tool_input"].(map[string]any)
	return m
}

// With returns a copy of e in which one top-level field is replaced and the
// facts, which no longer hold, are gone.
func (e *Event) With(field string, value any) Event {
	c := *e
	c.Fields = maps.Clone(e.Fields)
	c.Fields[field] = value
	c.Facts = nil
	return c
}

// Document returns what Rego sees as input: the fields of the event plus
// agent, facts, flow, native, session and gate. A field of the event that has one of
// those names is hidden: nothing an agent sends can pose as gate's own.
func (e *Event) Document() map[string]any { return e.DocumentWith(e.Facts.Document()) }

// DocumentWith is Document with something else in the place of the facts.
func (e *Event) DocumentWith(facts any) map[string]any {
	doc := make(map[string]any, len(e.Fields)+6)
	maps.Copy(doc, e.Fields)
	doc["agent"] = e.Agent
	doc["facts"] = facts
	doc["flow"] = e.Facts.flow()
	doc["session"] = orEmpty(e.Memory)
	delete(doc, "native")
	if e.Native != nil {
		doc["native"] = e.Native
	}
	labels := make(map[string]any, len(e.Gate.Labels))
	for k, v := range e.Gate.Labels {
		labels[k] = v
	}
	doc["gate"] = map[string]any{
		"schema":      InputSchema,
		"now":         e.Gate.Now.UTC().Format(time.RFC3339Nano),
		"user":        e.Gate.User,
		"os":          e.Gate.OS,
		"interactive": e.Gate.Interactive,
		"labels":      labels,
	}
	return doc
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
