package adapters_test

import (
	"maps"
	"strings"
	"testing"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// step is a step of the standard as its server hands it over.
func step(method, metadata, payload, guardian string) string {
	if metadata != "" {
		metadata = "," + metadata
	}
	if guardian == "" {
		guardian = "{}"
	}
	return `{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":{"acs_version":"0.1.0","request_id":"r-1","metadata":{"agent_id":"a","session_id":"s"` +
		metadata + `},"payload":` + payload + `},"guardian":` + guardian + `}`
}

// TestACSParse says steps in gate's words. want has fields of the event, and "parts".
func TestACSParse(t *testing.T) {
	for _, row := range []struct{ name, step, want string }{
		{
			"a call", step("steps/toolCallRequest", `"cwd":"/w"`, `{"tool":{"name":"Bash"},"arguments":{"command":{"value":"ls","provenance":{"origin":"retrieved"}}}}`, ""),
			`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","session_id":"s","tool_use_id":"r-1"}`,
		},
		{
			"codex says its words", step("steps/toolCallRequest", `"platform":"codex"`, `{"tool":{"name":"exec_command"},"arguments":{"cmd":{"value":"ls"}}}`, ""),
			`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		},
		{
			"a patch has parts", step("steps/toolCallRequest", `"platform":"codex","cwd":"/w"`,
				`{"tool":{"name":"apply_patch"},"arguments":{"command":{"value":"*** Begin Patch\n*** Add File: a.txt\n+a\n*** Add File: b.txt\n+b\n*** End Patch"}}}`, ""),
			`{"tool_name":"apply_patch","parts":2}`,
		},
		{
			"another command than the arguments'", step("steps/toolCallRequest", "", `{"tool":{"name":"runner"},"arguments":{"job":{"value":1}},"raw_command":"rm -rf ~"}`, ""),
			`{"tool_name":"runner","tool_input":{"job":1},"parts":1}`,
		},
		{
			"the same command", step("steps/toolCallRequest", "", `{"tool":{"name":"Bash"},"arguments":{"command":{"value":"ls"}},"raw_command":"ls"}`, ""),
			`{"tool_name":"Bash","parts":0}`,
		},
		{
			"a server's tool", step("steps/toolCallRequest", `"platform":"cursor"`, `{"tool":{"name":"issues.list","provider":"tracker"},"arguments":{}}`, ""),
			`{"tool_name":"mcp__tracker__issues_list","tool_input":{}}`,
		},
		{
			"a provider makes no shell harmless", step("steps/toolCallRequest", "", `{"tool":{"name":"Bash","provider":"tracker"},"arguments":{"command":{"value":"ls"}}}`, ""),
			`{"tool_name":"Bash"}`,
		},
		{
			"a result", step("steps/toolCallResult", "", `{"tool":{"name":"Bash"},"exit_status":"success","outputs":[{"value":"out"}],"request_id_ref":"r-0"}`,
				`{"tool":"Bash","input":{"command":"ls"}}`),
			`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"out"}`,
		},
		{
			"a result of another tool's call", step("steps/toolCallResult", "", `{"tool":{"name":"Read"},"exit_status":"success","outputs":[{"value":"a"},{"value":"b"}]}`,
				`{"tool":"mine","input":{"command":"ls"}}`),
			`{"hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{},"tool_response":["a","b"]}`,
		},
		{
			"a result of a line that nobody remembers", step("steps/toolCallResult", `"platform":"codex"`, `{"tool":{"name":"exec_command"},"exit_status":"success","outputs":[{"value":"a"}]}`, ""),
			`{"tool_name":"Bash","tool_input":{"command":""},"tool_response":"a"}`,
		},
		{
			"a failure", step("steps/toolCallResult", "", `{"tool":{"name":"mine"},"exit_status":"timeout","outputs":[{"value":"half"}]}`, ""),
			`{"hook_event_name":"PostToolUseFailure","tool_name":"mine","tool_input":{},"error":"timeout\nhalf"}`,
		},
		{
			"a prompt", step("steps/userMessage", "", `{"content":[{"type":"text","value":"good"},{"type":"text","value":"morning"}]}`, ""),
			`{"hook_event_name":"UserPromptSubmit","prompt":"good\n\nmorning"}`,
		},
		{
			"what a store gave", step("steps/knowledgeRetrieval", "", `{"query":{"value":"q"},"results":[{"value":"text","provenance":{"origin":"retrieved"}}]}`, ""),
			`{"hook_event_name":"PostToolUse","tool_name":"mcp__acs__knowledge_retrieval","tool_input":{"query":"q"},"tool_response":"text"}`,
		},
		{
			"what goes into memory", step("steps/memoryStore", "", `{"content":{"value":"text"},"operation":"create"}`, ""),
			`{"hook_event_name":"PreToolUse","tool_name":"mcp__acs__memory_store","tool_input":{"content":"text","operation":"create"}}`,
		},
		{"an answer", step("steps/agentResponse", "", `{"content":[{"type":"text","value":"done"}]}`, ""), `{"hook_event_name":"AgentResponse","response":"done"}`},
		{"a compaction", step("steps/preCompact", "", `{"triggered_by":"manual"}`, ""), `{"hook_event_name":"PreCompact","trigger":"manual","custom_instructions":null}`},
		{"a sub-agent", step("steps/subagentStart", "", `{"subagent_session_id":"x","subagent_descriptor":{"name":"tester"}}`, ""), `{"hook_event_name":"SubagentStart","agent_id":"x","agent_type":"tester"}`},
		{"the end", step("steps/sessionEnd", "", `{"reason":"completed"}`, ""), `{"hook_event_name":"SessionEnd","reason":"completed"}`},
		{
			"a wrapped call", step("protocols/MCP/tools/call", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"issues","arguments":{"n":1}}}`, ""),
			`{"hook_event_name":"PreToolUse","tool_name":"mcp__acs__issues","tool_input":{"n":1}}`,
		},
		{
			"its answer", step("wrapped:mcp-2025-06-18/tools/call", "", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `{"tool":"issues","input":{"n":1}}`),
			`{"hook_event_name":"PostToolUse","tool_name":"mcp__acs__issues","tool_input":{"n":1},"tool_response":{"content":[]}}`,
		},
		{
			"a resource", step("protocols/MCP/resources/read", "", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a"}}`, ""),
			`{"hook_event_name":"PreToolUse","tool_name":"mcp__acs__resources_read","tool_input":{"uri":"file:///a"}}`,
		},
		{
			"another message", step("protocols/MCP/notifications/cancelled", "", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, ""),
			`{"hook_event_name":"MCPNotification"}`,
		},
		{
			"a list", step("protocols/MCP/tools/list", "", `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, ""),
			`{"hook_event_name":"MCPToolsList"}`,
		},
		{
			"the request of a list", step("protocols/MCP/tools/list", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, ""),
			`{"hook_event_name":"MCPMessage"}`,
		},

		{"no method of the standard", step("steps/other", "", `{}`, ""), ""},
		{"a tool without a name", step("steps/toolCallRequest", "", `{"tool":{},"arguments":{}}`, ""), ""},
		{"a bare argument", step("steps/toolCallRequest", "", `{"tool":{"name":"Bash"},"arguments":{"command":"ls"}}`, ""), ""},
		{"a command that is none", step("steps/toolCallRequest", "", `{"tool":{"name":"Bash"},"arguments":{"command":{"value":7}}}`, ""), ""},
		{"a look-alike", step("steps/toolCallRequest", "", `{"tool":{"name":"Bash"},"arguments":{"command":{"value":"ls"},"Command":{"value":"rm -rf ~"}}}`, ""), ""},
		{"a directory that is no text", step("steps/toolCallRequest", `"cwd":7`, `{"tool":{"name":"Bash"},"arguments":{"command":{"value":"ls"}}}`, ""), ""},
		{"a member twice", `{"method":"steps/turnStart","method":"steps/turnEnd"}`, ""},
		{"no payload", `{"method":"steps/turnStart","params":{"metadata":{}}}`, ""},
		{"arguments that are none", step("protocols/MCP/tools/call", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":[]}}`, ""), ""},
	} {
		ev, err := adapters.ACS().Parse([]byte(row.step), "")
		if row.want == "" {
			if err == nil {
				t.Errorf("%s: it is read as %v", row.name, ev.Fields)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		fields := maps.Clone(ev.Fields)
		fields["parts"] = len(ev.Parts)
		want, err := strictjson.Object([]byte(row.want), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range want {
			if got := asJSON(fields[name]); got != asJSON(v) {
				t.Errorf("%s: %s is %s, want %s", row.name, name, got, asJSON(v))
			}
		}
		if string(ev.Name) != ev.Text("hook_event_name") || ev.Agent != adapters.ACS().Name() {
			t.Errorf("%s: event %s of %s says %s", row.name, ev.Name, ev.Agent, ev.Text("hook_event_name"))
		}
	}
}

func asJSON(v any) string { return string(strictjson.Append(nil, v)) }

// TestACSRender says decisions in the standard's words. want has members of the result; a
// null is one that is not there.
func TestACSRender(t *testing.T) {
	call := step("steps/toolCallRequest", "", `{"tool":{"name":"Bash"},"arguments":{"command":{"value":"ls"},"timeout":{"value":5}}}`, "")
	fixed := strings.Replace(call, `"guardian":{}`, `"guardian":{"fixed":true}`, 1)
	result := step("steps/toolCallResult", "", `{"tool":{"name":"mine"},"exit_status":"success","outputs":[{"value":"out"}]}`, "")
	end := step("steps/sessionEnd", "", `{"reason":"completed"}`, "")
	because := func(e hook.Effect) []hook.Reason {
		return []hook.Reason{{ID: "rule", Effect: e, Reason: "so it is", Hook: "acme.p", Source: "user"}}
	}
	for _, row := range []struct {
		name, step string
		attended   bool
		d          *hook.Decision
		want       string
	}{
		{"pass", call, false, &hook.Decision{ID: "d1"}, `{"decision":"allow","reasoning":null,"policy_references":[],"reason_codes":null}`},
		{"allow", call, false, &hook.Decision{ID: "d1", Effect: hook.Allow, Reasons: because(hook.Allow)}, `{"decision":"allow","reasoning":null}`},
		{
			"deny", call, false, &hook.Decision{ID: "d1", Effect: hook.Deny, Reasons: because(hook.Deny)},
			`{"decision":"deny","reasoning":"so it is (gate d1)","reason_codes":["rule"],"policy_references":[{"policy_id":"acme.p","rule_id":"rule"}]}`,
		},
		{"ask", call, true, &hook.Decision{ID: "d1", Effect: hook.Ask, Reasons: because(hook.Ask)}, `{"decision":"ask","defer_details":null,"reason_codes":["rule"]}`},
		{"ask nobody", call, false, &hook.Decision{ID: "d1", Effect: hook.Ask, Reasons: because(hook.Ask)}, `{"decision":"deny","ask_details":null,"reason_codes":["rule","approver_unavailable"]}`},
		{
			"ask later", call, false, &hook.Decision{ID: "d1", Effect: hook.Ask, Pending: "d1", Reasons: because(hook.Ask)},
			`{"decision":"defer","ask_details":null,"defer_details":{"reason":"pending_dependency","resolution_method":"human_approval","resolution_timeout_ms":600000,"timeout_decision":"deny"}}`,
		},
		{"ask about a result", result, true, &hook.Decision{ID: "d1", Effect: hook.Ask, Reasons: because(hook.Ask)}, `{"decision":"deny"}`},
		{
			"rewrite", call, false, &hook.Decision{ID: "d1", Rewrite: map[string]any{"command": "ls -a", "timeout": 5}},
			`{"decision":"modify","modifications":{"parameter_overrides":{"command":"ls -a"}}}`,
		},
		{"an argument is gone", call, false, &hook.Decision{ID: "d1", Rewrite: map[string]any{"command": "ls -a"}}, `{"decision":"deny","modifications":null,"reason_codes":["modify_unsupported"]}`},
		{"a client that changes nothing", fixed, false, &hook.Decision{ID: "d1", Rewrite: map[string]any{"command": "ls -a", "timeout": 5}}, `{"decision":"deny","reason_codes":["modify_unsupported"]}`},
		{"output", result, false, &hook.Decision{ID: "d1", Output: "less"}, `{"decision":"modify","modifications":{"modified_content":"less"}}`},
		{"fault", call, false, &hook.Decision{ID: "d1", Effect: hook.Deny, Fault: hook.Faultf(hook.FaultTimeout, "no decision in time")}, `{"decision":"deny"}`},
		{"none", call, false, nil, `{"decision":"deny"}`},
		{"the end is no question", end, false, &hook.Decision{ID: "d1", Effect: hook.Deny, Reasons: because(hook.Deny)}, `{"decision":"allow","reason_codes":["rule","disposition_not_permitted"]}`},
		{"a halt", call, false, &hook.Decision{ID: "d1", Halt: &hook.Reason{Reason: "stop"}}, `{"decision":"deny","reasoning":"stop (gate d1)"}`},
	} {
		ev, err := adapters.ACS().Parse([]byte(row.step), "")
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		ev.Gate.Interactive = row.attended
		if row.d != nil {
			row.d.Event = ev.Name
		}
		got, err := strictjson.Object(adapters.ACS().Render(&ev, row.d).Stdout, strictjson.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		want, err := strictjson.Object([]byte(row.want), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range want {
			if asJSON(got[name]) != asJSON(v) {
				t.Errorf("%s: %s is %s, want %s", row.name, name, asJSON(got[name]), asJSON(v))
			}
		}
	}
	// An event that could not be read is denied.
	if got := string(adapters.ACS().Render(&hook.Event{}, nil).Stdout); !strings.Contains(got, `"decision":"deny"`) {
		t.Errorf("an event that could not be read: %s", got)
	}
}
