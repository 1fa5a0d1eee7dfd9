package acs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gate/internal/moment"
	"gate/internal/strictjson"
)

// A member is one that a payload has to have: its name, its type, and for a text the words
// that it may be. A name with a dot stands in an object.
type member struct {
	name  string
	kind  string // object, array, list (at least one), text, value
	words string
}

// payloads is the table of what the standard requires. Members that it does not require
// may have any form, and those that nobody knows are ignored.
func payloads() map[string][]member {
	return map[string][]member{
		"steps/agentTrigger":           {{"trigger_type", "text", "user_message scheduled external_event a2a_inbound system"}},
		"steps/turnStart":              {{"turn_id", "text", ""}, {"triggered_by", "text", "user_message auto_continuation agent_loop subagent_return"}},
		"steps/userMessage":            {{"content", "list", ""}},
		"steps/agentResponse":          {{"content", "list", ""}},
		"steps/knowledgeRetrieval":     {{"query", "object", ""}, {"query.value", "value", ""}, {"results", "array", ""}},
		"steps/memoryContextRetrieval": {{"results", "array", ""}},
		"steps/memoryStore":            {{"content", "object", ""}, {"content.value", "value", ""}},
		"steps/toolCallRequest":        {{"tool", "object", ""}, {"tool.name", "text", ""}, {"arguments", "object", ""}},
		"steps/toolCallResult": {
			{"tool", "object", ""}, {"tool.name", "text", ""}, {"exit_status", "text", "success failure timeout blocked"}, {"outputs", "array", ""},
		},
		"steps/preCompact":  {{"entries_to_compact", "list", ""}, {"triggered_by", "text", "size_threshold manual agent_initiated framework_initiated"}},
		"steps/postCompact": {{"summary", "object", ""}, {"entries_compacted", "value", ""}, {"pre_compact_chain_hash", "text", ""}},
		"steps/subagentStart": {
			{"subagent_session_id", "text", ""}, {"parent_session_id", "text", ""}, {"parent_step_id", "text", ""},
			{"intent_derivation", "text", "inherit_full inherit_subset derived_from_parent fresh"},
		},
		"steps/subagentStop": {{"subagent_session_id", "text", ""}, {"outcome", "text", "completed failed cancelled timeout denied_at_spawn"}},
		"steps/skillRegister": {
			{"skill_id", "text", ""}, {"definition", "object", ""}, {"definition.ref", "value", ""}, {"definition.digest", "object", ""}, {"declared_capabilities", "value", ""},
		},
		"steps/skillLoad": {
			{"skill_id", "text", ""}, {"digest", "object", ""}, {"load_trigger", "text", "user agent_decision skill_composition system"}, {"load_path", "array", ""},
		},
		"steps/skillUnload": {{"skill_id", "text", ""}},
		"steps/turnEnd":     {{"turn_id", "text", ""}, {"outcome", "text", "completed deferred error interrupted denied_at_start"}},
	}
}

// checkPayload holds a payload against its method.
func checkPayload(method string, payload map[string]any) error {
	if mcp, wrapped := moment.WrappedMCP(method); wrapped {
		return checkMCP(mcp, payload)
	}
	for _, m := range payloads()[method] {
		if err := m.check(payload); err != nil {
			return err
		}
	}
	switch method {
	case "steps/toolCallRequest":
		for name, v := range payload["arguments"].(map[string]any) {
			if err := hasValue(v); err != nil {
				return fmt.Errorf("arguments.%s: %w", name, err)
			}
		}
	case "steps/sessionEnd":
		if textOf(payload, "reason") == "" && textOf(payload, "session_reason") == "" { // its page and its schema differ
			return fmt.Errorf("reason: a text is wanted")
		}
	}
	for _, name := range []string{"content", "results", "outputs"} {
		list, _ := payload[name].([]any)
		for i, v := range list {
			if err := hasValue(v); err != nil {
				return fmt.Errorf("%s[%d]: %w", name, i, err)
			}
		}
	}
	return nil
}

func textOf(doc map[string]any, name string) string {
	s, _ := doc[name].(string)
	return s
}

func hasValue(v any) error {
	doc, ok := v.(map[string]any)
	if _, has := doc["value"]; !ok || !has {
		return fmt.Errorf("an object with a value is wanted")
	}
	return nil
}

func (m member) check(payload map[string]any) error {
	doc, name := payload, m.name
	if outer, inner, nested := strings.Cut(m.name, "."); nested {
		doc, _ = payload[outer].(map[string]any)
		name = inner
	}
	v, given := doc[name]
	if !given {
		return fmt.Errorf("%s is missing", m.name)
	}
	ok := true
	switch m.kind {
	case "object":
		_, ok = v.(map[string]any)
	case "array":
		_, ok = v.([]any)
	case "list":
		list, is := v.([]any)
		ok = is && len(list) > 0
	case "text":
		var text string
		if text, ok = v.(string); ok && m.words != "" && !slices.Contains(strings.Fields(m.words), text) {
			return fmt.Errorf("%s: one of %s is wanted", m.name, m.words)
		}
		ok = ok && text != ""
	}
	if !ok {
		return fmt.Errorf("%s: %s where the standard wants another form", m.name, strictjson.TypeName(v))
	}
	return nil
}

// checkMCP holds a wrapped message against its method.
func checkMCP(method string, m map[string]any) error {
	if m["jsonrpc"] != "2.0" {
		return fmt.Errorf(`jsonrpc: "2.0" is wanted`)
	}
	id, hasID := m["id"]
	switch id.(type) {
	case string, json.Number:
	default:
		if hasID || !strings.HasPrefix(method, "notifications/") {
			return fmt.Errorf("id: a string or a number is wanted")
		}
	}
	own, isRequest := m["method"]
	result, hasResult := m["result"]
	failure, hasError := m["error"]
	if isRequest {
		params, given := m["params"]
		_, object := params.(map[string]any)
		switch {
		case own != method:
			return fmt.Errorf("method: the message is of another method than the one that wraps it")
		case hasResult || hasError:
			return fmt.Errorf("a request has no result and no error")
		case given && !object:
			return fmt.Errorf("params: an object is wanted")
		}
		return nil
	}
	if !hasID || hasResult == hasError {
		return fmt.Errorf("a response has an id, and either a result or an error")
	}
	if _, ok := result.(map[string]any); hasResult && !ok {
		return fmt.Errorf("result: an object is wanted")
	}
	if hasError {
		doc, _ := failure.(map[string]any)
		code, number := doc["code"].(json.Number)
		_, text := doc["message"].(string)
		if !number || !text {
			return fmt.Errorf("error: an object with a code and a message is wanted")
		}
		if _, err := code.Int64(); err != nil {
			return fmt.Errorf("error.code: a whole number is wanted")
		}
	}
	return nil
}
