package adapters

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// Interceptor speaks the messages that invokers of MCP interceptors (SEP-2624) hand over: the
// params or the result of a request come in, a verdict goes out. [Lookup] does not know it,
// because no agent starts gate with such a message. gate serve checks what is around it.
//
// It reads {"event", "phase", "payload", "context", "host"}; "host" is the server's own
// knowledge: "server" is the MCP server's name, and of a response "tool" and "input" are the
// call that it belongs to. The answer has the members of both kinds of results, and "fault"
// where gate could not decide. "denied" says that nothing may go on.
func Interceptor() Adapter { return interceptor{} }

// interceptorName is what gate calls the adapter, and what policies read as input.agent.
const interceptorName = "interceptor"

type interceptor struct{}

func (interceptor) Name() string { return interceptorName }

func (interceptor) RunsHooks() bool { return false }

// CanAsk is false: a verdict is valid or not.
func (interceptor) CanAsk(*hook.Event) bool { return false }

func (interceptor) Closes(hook.Name) bool { return true }

// Deadline is how long an invoker waits that does not say it.
func (interceptor) Deadline(hook.Name) time.Duration { return 5 * time.Second }

func (interceptor) Environment(func(string) string) Environment { return Environment{} }

func (interceptor) Named(event string) hook.Event {
	return hook.Event{Agent: interceptorName, Name: hook.Name(event)}
}

// Session reads the beginning of a message.
func (a interceptor) Session(data []byte, event string) hook.Event {
	ev := a.Named(event)
	if id := textIn(strictjson.Beginning(data)["context"], "sessionId"); id != "" {
		ev.Fields = map[string]any{"session_id": id}
	}
	return ev
}

// Parse reads one message.
func (a interceptor) Parse(data []byte, event string) (hook.Event, error) {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: MaxEvent})
	if err != nil {
		return a.Named(event), fmt.Errorf("message: %w", err)
	}
	m := &intercepted{event: textIn(doc, "event"), response: textIn(doc, "phase") == "response", fields: map[string]any{}}
	if err = m.unwrap(doc); err == nil {
		err = m.read()
	}
	if err == nil {
		err = checkForeign(m.fields)
	}
	name := hook.Name(textIn(m.fields, "hook_event_name"))
	if err == nil && event != "" && hook.Name(event).Canonical() != name {
		err = anotherEvent(string(name), event)
	}
	if err != nil {
		return hook.Event{Agent: interceptorName, Name: name}, fmt.Errorf("message %s: %w", quote(m.event), err)
	}
	return hook.Event{Agent: interceptorName, Name: name, Fields: m.fields, Native: doc}, nil
}

// An intercepted is a message on its way into gate's words.
type intercepted struct {
	event    string
	response bool
	payload  map[string]any // the params or the result
	host     map[string]any
	server   string
	fields   map[string]any
}

// unwrap finds the params in a payload that is a whole request, and checks what is around it.
func (m *intercepted) unwrap(doc map[string]any) error {
	m.host, _ = doc["host"].(map[string]any)
	m.server = textIn(m.host, "server")
	payload, err := interceptedParams(m.event, m.response, doc["payload"])
	if err != nil {
		return err
	}
	m.payload = payload
	about, _ := doc["context"].(map[string]any)
	if id := textIn(about, "sessionId"); id != "" {
		m.fields["session_id"] = id
	}
	m.fields["interceptor"] = map[string]any{"event": m.event, "phase": doc["phase"], "principal": about["principal"]}
	return nil
}

// interceptedParams is what a payload is about. It may be {"method", "params"}, as the text of
// the standard has it, or the params themselves, as its fixtures have it.
func interceptedParams(event string, response bool, v any) (map[string]any, error) {
	payload, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("payload: %s where an object is wanted", strictjson.TypeName(v))
	}
	if err := lookAlikes(payload, slices.Values([]string{"name", "arguments", "uri", "method", "params", "result", "task", "content"}), "payload.", false); err != nil {
		return nil, err
	}
	method, wrapped := payload["method"].(string)
	if _, has := payload["params"]; response || !wrapped || !has {
		return payload, nil
	}
	if method != event {
		return nil, fmt.Errorf("payload.method: %s, and the event is %s", quote(method), quote(event))
	}
	for name := range payload {
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params"}, name) {
			return nil, fmt.Errorf("payload.%s stands beside params", strictjson.Visible(name))
		}
	}
	return interceptedParams("", true, payload["params"])
}

// read says the message in gate's words.
func (m *intercepted) read() error {
	switch m.event {
	case "tools/call", "resources/read", "prompts/get":
		if m.response {
			return m.result()
		}
		return m.call()
	case "elicitation/create":
		return m.elicit()
	}
	m.other()
	return nil
}

// call reads a request that runs something at the server.
func (m *intercepted) call() error {
	m.fields["hook_event_name"] = string(hook.PreToolUse)
	if _, given := m.payload["task"]; given {
		return errors.New("payload.task: a call as a task has its result where gate does not look")
	}
	name, input := strings.ReplaceAll(m.event, "/", "_"), maps.Clone(m.payload)
	delete(input, "_meta")
	needed := "name"
	if m.event == "resources/read" {
		needed = "uri"
	}
	said := textIn(m.payload, needed)
	if said == "" {
		return fmt.Errorf("payload.%s: a text is wanted", needed)
	}
	if m.event == "tools/call" {
		name, input = said, map[string]any{}
		if args, given := m.payload["arguments"]; given {
			var ok bool
			if input, ok = args.(map[string]any); !ok {
				return fmt.Errorf("payload.arguments: %s where an object is wanted", strictjson.TypeName(args))
			}
		}
	}
	m.fields["tool_name"], m.fields["tool_input"] = serverTool(m.server, name), input
	return nil
}

// result reads what came of a call. Of one that nobody remembers the input is empty.
func (m *intercepted) result() error {
	m.fields["hook_event_name"], m.fields["tool_response"] = string(hook.PostToolUse), m.payload
	m.fields["tool_name"], m.fields["tool_input"] = serverTool(m.server, strings.ReplaceAll(m.event, "/", "_")), map[string]any{}
	if tool := textIn(m.host, "tool"); tool != "" {
		m.fields["tool_name"] = tool
	}
	if input, ok := m.host["input"].(map[string]any); ok {
		m.fields["tool_input"] = input
	}
	return nil
}

// elicit reads a server's question to the person and the person's answer.
func (m *intercepted) elicit() error {
	m.other()
	m.fields["mcp_server_name"] = m.server
	copyTo := map[string]string{"message": "message", "mode": "mode", "url": "url", "elicitationId": "elicitation_id", "requestedSchema": "requested_schema"}
	name := moment.Elicitation
	if m.response {
		name, copyTo = moment.ElicitationResult, map[string]string{"action": "action", "content": "content"}
	}
	m.fields["hook_event_name"] = string(name)
	for theirs, ours := range copyTo {
		if v, given := m.payload[theirs]; given && v != nil {
			m.fields[ours] = v
		}
	}
	return nil
}

// other reads a message that has no older event of its own.
func (m *intercepted) other() {
	part := "params"
	if m.response {
		part = "result"
	}
	m.fields["hook_event_name"] = string(moment.MCPEvent(m.event, m.response))
	m.fields["mcp_server_name"] = m.server
	m.fields["mcp"] = map[string]any{"method": m.event, "server": m.server, part: m.payload}
}

// Render writes the verdict. What has no form in the message becomes a denial.
func (interceptor) Render(ev *hook.Event, d *hook.Decision) Answer {
	if ev == nil {
		ev = &hook.Event{}
	}
	if d == nil {
		d = undecided()
	}
	v := &verdict{ev: ev, d: d, ruling: Rule(ev, d), opinion: settle(d, moment.ClosesAlways)}
	if v.fault != "" && v.ruling.Result != hook.Reject { // an invoker takes an error for no
		v.ruling.Result, v.ruling.Reason = hook.Reject, v.fault
	}
	if v.effect == hook.Deny && v.ruling.Result != hook.Reject {
		v.ruling.Result, v.ruling.Reason = hook.Reject, v.reason()
	}
	payload, changed, err := v.change()
	if err != nil {
		v.refuse("what a policy made of this cannot be said")
		v.ruling.Result, v.ruling.Reason = hook.Reject, "a policy wants this changed, which cannot be done here: "+err.Error()
		payload, changed = ev.Native["payload"], false
	}
	own := map[string]any{"id": d.ID, "effect": v.effect.String()}
	if len(v.ruling.Context) > 0 {
		own["context"] = visibleAll(v.ruling.Context)
	}
	doc := map[string]any{"valid": true, "modified": changed, "payload": payload, "info": map[string]any{"gate": own}}
	switch {
	case v.ruling.Result == hook.Reject:
		doc["valid"], doc["denied"], doc["severity"], doc["messages"] = false, true, "error", v.messages()
		if v.fault != "" {
			doc["fault"] = strictjson.Visible(v.fault)
		}
	case len(d.Warnings) > 0:
		doc["severity"], doc["messages"] = "warn", messagesOf(d.Warnings, "warn")
	}
	return Answer{Stdout: strictjson.Append(nil, doc)}
}

// A verdict is an answer on its way into the standard's words.
type verdict struct {
	opinion
	ev     *hook.Event
	d      *hook.Decision
	ruling Ruling
}

// messages say why nothing may go on: the policies' reasons, otherwise gate's own.
func (v *verdict) messages() []any {
	if v.effect == hook.Deny && v.d.Effect == hook.Deny && v.fault == "" && v.halt == "" {
		var denials []hook.Reason
		for _, r := range v.d.Reasons {
			if r.Effect == hook.Deny {
				denials = append(denials, r)
			}
		}
		if list := messagesOf(denials, "error"); list != nil {
			return list
		}
	}
	reason := v.ruling.Reason
	if v.d.Pending != "" {
		reason += "\nA person may approve this one call in a terminal of their own: gate approve " + v.d.Pending
	}
	return []any{map[string]any{"message": reason, "severity": "error"}}
}

func messagesOf(reasons []hook.Reason, severity string) (list []any) {
	for _, r := range reasons {
		doc := map[string]any{"message": strictjson.Visible(r.Reason), "severity": severity}
		if !slices.ContainsFunc(list, func(v any) bool { return v.(map[string]any)["message"] == doc["message"] }) {
			list = append(list, doc)
		}
	}
	return list
}

// change is the payload as it goes on, in the form that it came in.
func (v *verdict) change() (payload any, changed bool, err error) {
	payload = v.ev.Native["payload"]
	if v.ruling.Result == hook.Reject {
		return payload, false, nil
	}
	event := textIn(v.ev.Native, "event")
	switch {
	case v.d.Output != nil && v.ev.Name == hook.PostToolUse:
		result, err := changedResult(event, v.d.Output)
		return result, err == nil, err
	case v.ruling.Input != nil && v.ev.Name == hook.PreToolUse:
	case v.d.Rewrite != nil || v.d.Output != nil:
		return payload, false, errors.New("the message is not a call")
	default:
		return payload, false, nil
	}
	whole, _ := payload.(map[string]any)
	params, err := interceptedParams(event, false, payload)
	if err != nil {
		return payload, false, err
	}
	after := map[string]any{}
	if event == "tools/call" {
		after = maps.Clone(params)
		after["arguments"] = v.ruling.Input
	} else {
		maps.Copy(after, v.ruling.Input)
		if meta, given := params["_meta"]; given {
			after["_meta"] = meta
		}
	}
	if _, has := whole["params"]; has && textIn(whole, "method") == event {
		whole = maps.Clone(whole)
		whole["params"] = after
		return whole, true, nil
	}
	return after, true, nil
}

// changedResult writes a changed output as the result of an event.
func changedResult(event string, output any) (any, error) {
	switch out := output.(type) {
	case map[string]any:
		return out, nil
	case []any:
		if event == "tools/call" {
			return map[string]any{"content": out}, nil
		}
	case string:
		if event == "tools/call" {
			return map[string]any{"content": []any{map[string]any{"type": "text", "text": out}}}, nil
		}
	}
	return nil, fmt.Errorf("the result of %s is an object", event)
}
