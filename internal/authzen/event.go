package authzen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/strictjson"
)

// Access is the event of an evaluation that is about no call of a tool.
const Access hook.Name = "AccessEvaluation"

// message is the event of a message of MCP that calls no tool.
const message hook.Name = "MCPMessage"

// A question is one evaluation.
type question struct {
	subject, action, resource, context map[string]any
	verb, kind, id                     string // of the action and the resource
}

// newQuestion holds an evaluation against what every one has.
func newQuestion(doc map[string]any) (*question, error) {
	q := &question{}
	for name, part := range map[string]*map[string]any{"subject": &q.subject, "action": &q.action, "resource": &q.resource, "context": &q.context} {
		v, given := doc[name]
		if !given && name == "context" {
			continue
		}
		if !given {
			return nil, errors.New(name + " is missing")
		}
		var ok bool
		if *part, ok = v.(map[string]any); !ok {
			return nil, fmt.Errorf("%s: %s where an object is wanted", name, strictjson.TypeName(v))
		}
	}
	var err error
	take := func(doc map[string]any, of, name string) string {
		s, ok := doc[name].(string)
		if err == nil && (!ok || s == "") {
			err = fmt.Errorf("%s.%s: a text is wanted", of, name)
		}
		return s
	}
	take(q.subject, "subject", "type")
	take(q.subject, "subject", "id")
	q.verb = take(q.action, "action", "name")
	q.kind, q.id = take(q.resource, "resource", "type"), take(q.resource, "resource", "id")
	for name, part := range map[string]map[string]any{"subject": q.subject, "action": q.action, "resource": q.resource} {
		if v, given := part["properties"]; given && err == nil {
			if _, ok := v.(map[string]any); !ok {
				err = fmt.Errorf("%s.properties: %s where an object is wanted", name, strictjson.TypeName(v))
			}
		}
	}
	return q, err
}

// event says the evaluation as one of gate's events.
func (q *question) event() (map[string]any, error) {
	if own, ok := q.context["gate"].(map[string]any); ok && own["event"] != nil {
		// An answer about another thing than the one that was named would be taken for its.
		return nil, errors.New("context.gate.event: an evaluation is about its resource, and /v1/decide takes a whole event")
	}
	fields := map[string]any{"session_id": q.session(), "authzen": map[string]any{
		"subject": q.subject, "action": q.action, "resource": q.resource, "context": orNone(q.context),
	}}
	if dir, ok := q.context["cwd"].(string); ok {
		fields["cwd"] = dir
	}
	switch {
	case q.kind == "tool" && slices.Contains([]string{"tools/call", q.id}, q.verb):
		input, err := q.arguments()
		if err != nil {
			return nil, err
		}
		fields["hook_event_name"], fields["tool_name"], fields["tool_input"] = string(hook.PreToolUse), q.id, input
	case q.is("resource", "resources/read"):
		fields["hook_event_name"], fields["tool_name"] = string(hook.PreToolUse), "mcp__authzen__resources_read"
		fields["tool_input"] = map[string]any{"uri": q.id}
	case q.is("prompt", "prompts/get"):
		fields["hook_event_name"], fields["tool_name"] = string(hook.PreToolUse), "mcp__authzen__prompts_get"
		fields["tool_input"] = map[string]any{"name": q.id}
	case q.is("mcp_server", "initialize", "tools/list", "resources/list", "prompts/list", "logging/setLevel", "tasks/list"),
		q.is("resource", "resources/subscribe", "resources/unsubscribe", "completion/complete"), q.is("prompt", "completion/complete"),
		q.is("task", "tasks/get", "tasks/result", "tasks/cancel"):
		fields["hook_event_name"] = string(message)
		fields["mcp"] = map[string]any{"method": q.verb}
	default:
		fields["hook_event_name"] = string(Access)
	}
	return fields, nil
}

// is reports one of the draft COAZ's pairs of a resource and a method.
func (q *question) is(kind string, methods ...string) bool {
	return q.kind == kind && slices.Contains(methods, q.verb)
}

// session is the caller's name for the session, otherwise the subject: gate's counts
// belong to it.
func (q *question) session() string {
	if id, ok := q.context["session_id"].(string); ok && id != "" {
		return id
	}
	kind, _ := q.subject["type"].(string)
	id, _ := q.subject["id"].(string)
	return strings.Join([]string{"authzen", kind, id}, ":")
}

// arguments are those of the call. They stand with the resource or in the context.
func (q *question) arguments() (map[string]any, error) {
	properties, _ := q.resource["properties"].(map[string]any)
	of, inContext := properties["arguments"], q.context["arguments"]
	if of != nil && inContext != nil && string(strictjson.Append(nil, of)) != string(strictjson.Append(nil, inContext)) {
		return nil, errors.New("resource.properties.arguments and context.arguments are not the same")
	}
	if of == nil {
		of = inContext
	}
	if of == nil {
		return map[string]any{}, nil
	}
	input, ok := of.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("arguments: %s where an object is wanted", strictjson.TypeName(of))
	}
	return input, nil
}

func orNone(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
