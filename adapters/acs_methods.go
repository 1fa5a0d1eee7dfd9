package adapters

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// acsReader is what reads the payload of a method.
func acsReader(method string) func(*acsStep) error {
	if _, wrapped := moment.WrappedMCP(method); wrapped {
		return readACSMessage
	}
	switch method {
	case "steps/sessionStart":
		return readACSStart
	case "steps/userMessage":
		return readACSPrompt
	case "steps/agentResponse":
		return readACSResponse
	case "steps/knowledgeRetrieval", "steps/memoryContextRetrieval":
		return readACSRetrieval
	case "steps/memoryStore":
		return readACSStore
	case "steps/toolCallRequest":
		return readACSCall
	case "steps/toolCallResult":
		return readACSResult
	case "steps/preCompact":
		return readACSCompact
	case "steps/postCompact":
		return readACSCompacted
	case "steps/subagentStart", "steps/subagentStop":
		return readACSSubagent
	case "steps/sessionEnd":
		return readACSEnd
	}
	return readACSOwn
}

// acsStepOf is the method that an event came by, otherwise one with its name. Of one that
// nobody has heard of, a denial is the one thing that can be said.
func acsStepOf(ev *hook.Event) moment.Step {
	method, _ := ev.Native["method"].(string)
	if m, ok := moment.FindStep(method); ok {
		return m
	}
	return acsNamed(ev.Name)
}

func acsNamed(n hook.Name) moment.Step {
	list := moment.Steps()
	if i := slices.IndexFunc(list, func(m moment.Step) bool { return m.Event == n }); i >= 0 && n != hook.PostToolUse && n != hook.PreToolUse {
		return list[i]
	}
	return moment.Step{Event: n, Legal: moment.MayDeny}
}

func readACSStart(s *acsStep) error {
	s.fields["source"] = "startup"
	return readACSOwn(s)
}

// readACSOwn keeps the payload as it is.
func readACSOwn(s *acsStep) error {
	s.fields["acs"].(map[string]any)["payload"] = s.payload
	delete(s.fields, "tool_use_id")
	return nil
}

func readACSEnd(s *acsStep) error {
	reason, _ := s.payload["reason"].(string)
	s.fields["reason"] = reason
	return readACSOwn(s)
}

func readACSPrompt(s *acsStep) error {
	values, err := s.list("content")
	if err != nil {
		return err
	}
	s.fields["prompt"] = texts(values)
	return readACSOwn(s)
}

func readACSResponse(s *acsStep) error {
	values, err := s.list("content")
	if err != nil {
		return err
	}
	s.fields["response"] = texts(values)
	return readACSOwn(s)
}

// readACSRetrieval reads what came from a store: to policies, the output of a tool that
// gate did not see the call of.
func readACSRetrieval(s *acsStep) error {
	values, err := s.list("results")
	if err != nil {
		return err
	}
	name := "knowledge_retrieval"
	if s.method == "steps/memoryContextRetrieval" {
		name = "memory_retrieval"
	}
	input := map[string]any{}
	if query := textIn(s.payload["query"], "value"); query != "" {
		input["query"] = query
	}
	s.fields["tool_name"], s.fields["tool_input"], s.fields["tool_response"] = serverTool(acsName, name), input, one(values)
	return nil
}

// one is a single value as it is, and several as a list.
func one(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	return values
}

func readACSStore(s *acsStep) error {
	content, ok := s.payload["content"].(map[string]any)
	value, has := content["value"]
	if !ok || !has {
		return errors.New("payload.content: an object with a value is wanted")
	}
	s.note("/content", content["provenance"])
	input := map[string]any{"content": value}
	for _, name := range []string{"memory_id", "operation", "memory_store"} {
		if v, ok := s.payload[name]; ok {
			input[name] = v
		}
	}
	s.fields["tool_name"], s.fields["tool_input"] = serverTool(acsName, "memory_store"), input
	return nil
}

func readACSCall(s *acsStep) error {
	tool := textIn(s.payload["tool"], "name")
	if tool == "" {
		return errors.New("payload.tool.name: a text is wanted")
	}
	input, err := s.values(s.payload["arguments"])
	if err != nil {
		return err
	}
	s.fields["tool_name"], s.fields["tool_input"] = tool, input
	switch raw := s.payload["raw_command"].(type) {
	case nil:
	case string:
		if input["command"] != raw { // what a shell runs, whatever the tool is called
			s.parts = append(s.parts, hook.Call{Tool: "Bash", Input: map[string]any{"command": raw}})
		}
	default:
		return fmt.Errorf("payload.raw_command: %s where a string is wanted", strictjson.TypeName(raw))
	}
	return nil
}

func readACSResult(s *acsStep) error {
	tool := textIn(s.payload["tool"], "name")
	if tool == "" {
		return errors.New("payload.tool.name: a text is wanted")
	}
	values, err := s.list("outputs")
	if err != nil {
		return err
	}
	s.called(tool, tool)
	if ms, ok := s.payload["duration_ms"]; ok {
		s.fields["duration_ms"] = ms
	}
	if status, _ := s.payload["exit_status"].(string); status != "success" {
		s.fields["hook_event_name"] = string(hook.PostToolUseFailure)
		s.fields["error"] = strings.TrimSpace(status + "\n" + texts(values))
		return nil
	}
	s.fields["tool_response"] = one(values)
	return nil
}

func readACSCompact(s *acsStep) error {
	s.fields["trigger"], s.fields["custom_instructions"] = "auto", nil
	if s.payload["triggered_by"] == "manual" {
		s.fields["trigger"] = "manual"
	}
	return readACSOwn(s)
}

func readACSCompacted(s *acsStep) error {
	s.fields["trigger"], s.fields["compact_summary"] = "auto", textIn(s.payload["summary"], "value")
	return readACSOwn(s)
}

func readACSSubagent(s *acsStep) error {
	id, _ := s.payload["subagent_session_id"].(string)
	s.fields["agent_id"], s.fields["agent_type"] = id, textIn(s.payload["subagent_descriptor"], "name")
	if s.method == "steps/subagentStop" {
		s.fields["stop_hook_active"] = false
	}
	return readACSOwn(s)
}

// readACSMessage reads a wrapped message of MCP. The standard says nothing about which
// server it is for: gate calls all of them acs.
func readACSMessage(s *acsStep) error {
	method, _ := moment.WrappedMCP(s.method)
	params, _ := s.payload["params"].(map[string]any)
	tool, input := serverTool(acsName, method), params
	switch method {
	case "tools/call":
		if _, request := s.payload["method"]; request {
			name, _ := params["name"].(string)
			if name == "" {
				return errors.New("payload.params.name: a text is wanted")
			}
			tool, input = serverTool(acsName, name), map[string]any{}
			if args, given := params["arguments"]; given {
				var ok bool
				if input, ok = args.(map[string]any); !ok {
					return errors.New("payload.params.arguments: an object is wanted")
				}
			}
		}
	case "resources/read", "prompts/get":
	default:
		s.fields["mcp"] = s.payload
		_, request := s.payload["method"]
		s.fields["hook_event_name"] = string(moment.MCPEvent(method, !request))
		return nil
	}
	if _, request := s.payload["method"]; request {
		s.fields["tool_name"], s.fields["tool_input"] = tool, orNone(input)
		return nil
	}
	if kept, ok := s.guardian[moment.GuardianTool].(string); ok {
		tool = serverTool(acsName, kept)
	}
	s.called(tool, textIn(s.guardian, moment.GuardianTool))
	if failure, failed := s.payload["error"]; failed {
		s.fields["hook_event_name"], s.fields["error"] = string(hook.PostToolUseFailure), texts([]any{failure})
		return nil
	}
	s.fields["hook_event_name"], s.fields["tool_response"] = string(hook.PostToolUse), s.payload["result"]
	return nil
}

func orNone(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
