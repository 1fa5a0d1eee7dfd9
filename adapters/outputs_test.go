package adapters_test

import (
	"slices"
	"testing"

	"gate/adapters"
	"gate/hook"
)

// TestOutputs holds which agents send what a call printed, as docs/agents.md says.
func TestOutputs(t *testing.T) {
	without := []string{"amp", "antigravity", "windsurf"}
	for _, a := range agents {
		adapter, _ := adapters.Lookup(a.name)
		outputs := 0
		for _, s := range samples(t, a.name) {
			ev, err := adapter.Parse(s.data, s.event)
			if err == nil && ev.Name.Canonical() == hook.PostToolUse && ev.Fields["tool_response"] != nil {
				outputs++
			}
		}
		if (outputs == 0) != slices.Contains(without, a.name) {
			t.Errorf("%s: %d events bring an output", a.name, outputs)
		}
	}
	windsurf, _ := adapters.Lookup("windsurf")
	ev, err := windsurf.Parse([]byte(`{"agent_action_name":"post_mcp_tool_use","trajectory_id":"t1","tool_info":{"mcp_server_name":"s","mcp_tool_name":"read","mcp_result":"text"}}`), "")
	if err != nil || ev.Fields["tool_response"] != "text" {
		t.Errorf("%v, %v", ev.Fields, err)
	}
}
