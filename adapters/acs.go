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

// ACS speaks the payloads and dispositions of OWASP's Agent Control Standard, version
// 0.1.0: a step of a session comes in, a decision goes out. [Lookup] does not know it,
// because no agent starts gate with such a step. gate serve checks the envelope around
// it, and signs the answer.
//
// It reads the request, with a member "guardian" beside "params" for the server's own knowledge
// (see [moment.Guardian]). Its answer is the result of the response, without what the envelope
// adds.
func ACS() Adapter { return acs{} }

// acsName is what gate calls the adapter, and what policies read as input.agent.
const acsName = "acs"

type acs struct{}

func (acs) Name() string { return acsName }

func (acs) RunsHooks() bool { return false }

// CanAsk reports whether the client can put a question to a person, as the server was
// told, and the standard has the word for it.
func (acs) CanAsk(ev *hook.Event) bool {
	return ev != nil && ev.Gate.Interactive && ev.Name == hook.PreToolUse && acsStepOf(ev).Legal&moment.MayAsk != 0
}

func (acs) Closes(n hook.Name) bool { return acsNamed(n).Legal&moment.MayDeny != 0 }

// Deadline is what gate's handshake offers.
func (acs) Deadline(hook.Name) time.Duration { return 5 * time.Second }

func (acs) Environment(func(string) string) Environment { return Environment{} }

// Named takes a method of the standard or gate's name of an event.
func (acs) Named(event string) hook.Event {
	if m, ok := moment.FindStep(event); ok {
		return hook.Event{Agent: acsName, Name: m.Event, Native: map[string]any{"method": event}}
	}
	return hook.Event{Agent: acsName, Name: hook.Name(event)}
}

// Session reads the beginning of one step.
func (a acs) Session(data []byte, event string) hook.Event {
	doc := strictjson.Beginning(data)
	if method, _ := doc["method"].(string); event == "" {
		event = method
	}
	ev := hook.Event{Agent: acsName, Name: a.Named(event).Name}
	params, _ := doc["params"].(map[string]any)
	about, _ := params["metadata"].(map[string]any)
	if id, _ := about["session_id"].(string); id != "" {
		ev.Fields = map[string]any{"session_id": id}
	}
	return ev
}

// Parse reads one step.
func (a acs) Parse(data []byte, event string) (hook.Event, error) {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: MaxEvent})
	if err != nil {
		return a.Named(event), fmt.Errorf("step: %w", err)
	}
	method, _ := doc["method"].(string)
	m, known := moment.FindStep(method)
	if !known {
		return a.Named(event), fmt.Errorf("step: there is no method %s", quote(method))
	}
	ev := hook.Event{Agent: acsName, Name: m.Event, Native: map[string]any{"method": method}}
	if event != "" && acsEvent(event) != m.Event {
		return ev, anotherEvent(method, event)
	}
	s, err := newACSStep(doc, method)
	if err == nil {
		err = acsReader(method)(s)
	}
	if err == nil && s.fields["tool_name"] != nil {
		err = s.translate()
	}
	s.unknownCall()
	if name, _ := s.fields["hook_event_name"].(string); err == nil && name == "" {
		s.fields["hook_event_name"] = string(m.Event)
	} else {
		ev.Name = hook.Name(name) // a result may be of a failure
	}
	if err == nil {
		err = checkForeign(s.fields)
	}
	if err != nil {
		ev.Name = m.Event
		return ev, fmt.Errorf("step %s: %w", quote(method), err)
	}
	ev.Fields, ev.Native = s.fields, doc
	ev.Parts = append(ev.Parts, s.parts...)
	return ev, nil
}

// acsEvent is gate's name of what a command line calls by either name.
func acsEvent(event string) hook.Name {
	if m, ok := moment.FindStep(event); ok {
		return m.Event
	}
	return hook.Name(event).Canonical()
}

// An acsStep is a step on its way into gate's words.
type acsStep struct {
	method   string
	metadata map[string]any
	payload  map[string]any
	guardian map[string]any
	fields   map[string]any
	parts    []hook.Call
	result   bool // it is what came of a call
}

func newACSStep(doc map[string]any, method string) (*acsStep, error) {
	s := &acsStep{method: method, fields: map[string]any{}}
	params, ok := doc["params"].(map[string]any)
	if !ok {
		return s, errors.New("params: an object is wanted")
	}
	if s.metadata, ok = params["metadata"].(map[string]any); !ok {
		return s, errors.New("metadata: an object is wanted")
	}
	if s.payload, ok = params["payload"].(map[string]any); !ok {
		return s, errors.New("payload: an object is wanted")
	}
	s.guardian, _ = doc[moment.Guardian].(map[string]any)
	for _, name := range []string{"session_id", "cwd", "transcript_path", "permission_mode"} {
		switch v := s.metadata[name].(type) {
		case nil:
		case string:
			s.fields[name] = v
		default:
			return s, fmt.Errorf("metadata.%s: %s where a string is wanted", name, strictjson.TypeName(v))
		}
	}
	if id, ok := params["request_id"].(string); ok {
		s.fields["tool_use_id"] = id
	}
	s.fields["acs"] = s.context()
	return s, nil
}

// context is what policies see as input.acs: whose step it is and what the session's own
// record says of it. The claims of the client stand below "claims".
func (s *acsStep) context() map[string]any {
	claims := map[string]any{}
	for _, name := range []string{"agent_name", "environment", "platform", "platform_version", "user_context", "model"} {
		if v, ok := s.metadata[name]; ok {
			claims[name] = v
		}
	}
	doc := map[string]any{
		"method": s.method, "agent_id": s.metadata["agent_id"], "turn_id": s.metadata["turn_id"], "claims": claims,
		"intent": s.guardian[moment.GuardianIntent], "turn": s.guardian[moment.GuardianTurn],
	}
	for _, name := range []string{"capability", "operation"} {
		if v, ok := s.payload[name].(string); ok {
			doc[name] = v
		}
	}
	return doc
}

// note keeps for policies where data of the payload came from, as the client says.
func (s *acsStep) note(at string, provenance any) {
	if provenance == nil {
		return
	}
	doc := s.fields["acs"].(map[string]any)
	list, _ := doc["provenance"].([]any)
	doc["provenance"] = append(list, map[string]any{"of": at, "said": provenance})
}

// translate says a call in gate's words. It goes by the words of the agent that the client
// claims to be, if gate knows it, and by Claude Code's name for a server's tool.
func (s *acsStep) translate() error {
	platform, _ := s.metadata["platform"].(string)
	if known, ok := Lookup(strings.TrimSuffix(platform, "-cli")); ok {
		if a, ok := known.(*agent); ok {
			if err := a.translateCall(s.fields, s.payload, "payload."); err != nil {
				return err
			}
			if s.method == "steps/toolCallRequest" {
				s.parts = append(s.parts, a.parts(&hook.Event{Name: hook.PreToolUse, Fields: s.fields})...)
			}
		}
	}
	tool, _ := s.fields["tool_name"].(string)
	provider := textIn(s.payload["tool"], "provider")
	if provider != "" && provider != platform && fieldsOf(tool) == nil && !strings.HasPrefix(tool, "mcp__") {
		s.fields["tool_name"] = serverTool(provider, tool)
	}
	return nil
}

// textIn is a text member of an object, "" if there is none.
func textIn(v any, name string) string {
	doc, _ := v.(map[string]any)
	s, _ := doc[name].(string)
	return s
}

// values unwraps arguments, each of which stands in an object of its own.
func (s *acsStep) values(v any) (map[string]any, error) {
	wrapped, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("payload.arguments: %s where an object is wanted", strictjson.TypeName(v))
	}
	input := make(map[string]any, len(wrapped))
	for _, name := range slices.Sorted(maps.Keys(wrapped)) {
		arg, ok := wrapped[name].(map[string]any)
		value, has := arg["value"]
		if !ok || !has {
			return nil, fmt.Errorf("payload.arguments.%s: an object with a value is wanted", name)
		}
		input[name] = value
		s.note("/arguments/"+name, arg["provenance"])
	}
	return input, nil
}

// list is a member that must be a list of objects, each with a value.
func (s *acsStep) list(name string) (values []any, err error) {
	list, ok := s.payload[name].([]any)
	if !ok {
		return nil, fmt.Errorf("payload.%s: %s where a list is wanted", name, strictjson.TypeName(s.payload[name]))
	}
	for i, v := range list {
		part, ok := v.(map[string]any)
		value, has := part["value"]
		if !ok || !has {
			return nil, fmt.Errorf("payload.%s[%d]: an object with a value is wanted", name, i)
		}
		values = append(values, value)
		s.note(fmt.Sprintf("/%s/%d", name, i), part["provenance"])
	}
	return values, nil
}

// texts are those of values that are text, one after the other.
func texts(values []any) string {
	var list []string
	for _, v := range values {
		if text, ok := v.(string); ok {
			list = append(list, text)
		} else {
			list = append(list, string(strictjson.Append(nil, v)))
		}
	}
	return strings.Join(list, "\n\n")
}

// unknownCall gives the result of a call that nobody remembers what a call of its tool has:
// the result is judged all the same.
func (s *acsStep) unknownCall() {
	input, ok := s.fields["tool_input"].(map[string]any)
	if !ok || !s.result {
		return
	}
	tool, _ := s.fields["tool_name"].(string)
	for _, f := range demanded(fieldsOf(tool), shellsOf) {
		if _, there := input[f.Name]; !there && f.Need == moment.Must && f.Type == moment.Text {
			input = maps.Clone(input)
			input[f.Name] = ""
		}
	}
	s.fields["tool_input"] = input
}

// called gives the call that a result belongs to, as the server kept it. Of one that it
// knows nothing of, the input is empty. said is the client's word for the tool.
func (s *acsStep) called(tool, said string) {
	s.result = true
	s.fields["tool_name"], s.fields["tool_input"] = tool, map[string]any{}
	if input, ok := s.guardian[moment.GuardianInput].(map[string]any); ok && s.guardian[moment.GuardianTool] == said {
		s.fields["tool_input"] = input
	}
}
