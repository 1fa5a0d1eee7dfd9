package adapters

import (
	"fmt"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// windsurf speaks the hook protocol of Windsurf's Cascade, as its maker documents
// it. Only the status counts.
var windsurf = agent{
	name: "windsurf", nameKey: "agent_action_name", wait: time.Minute, adapt: adaptWindsurf, render: (*reply).byStatus,
	events: []eventWord{
		{native: "pre_run_command", name: hook.PreToolUse, tool: "run_command", can: rejects},
		{native: "pre_write_code", name: hook.PreToolUse, tool: "write_code", can: rejects},
		{native: "pre_read_code", name: hook.PreToolUse, tool: "read_code", can: rejects},
		{native: "pre_mcp_tool_use", name: hook.PreToolUse, tool: "mcp", can: rejects},
		{native: "pre_user_prompt", name: hook.UserPromptSubmit, can: rejects},
		{native: "post_run_command", name: hook.PostToolUse, tool: "run_command"},
		{native: "post_write_code", name: hook.PostToolUse, tool: "write_code"},
		{native: "post_read_code", name: hook.PostToolUse, tool: "read_code"},
		{native: "post_mcp_tool_use", name: hook.PostToolUse, tool: "mcp"},
		{native: "post_cascade_response", name: hook.Stop},
		{native: "post_setup_worktree", name: moment.WorktreeRemove}, // a report: what WorktreeCreate is not
	},
	tools: []toolWord{
		{native: "run_command", own: "Bash", fields: "command_line=command cwd=workdir"},
		{native: "write_code", own: "MultiEdit", open: openWriteCode},
		{native: "read_code", own: "Read"},
	},
}

// openWriteCode makes a call of a file tool of edits: one that replaces nothing
// writes a new file.
func openWriteCode(input map[string]any, _ string) (string, map[string]any, error) {
	edits, ok := input["edits"].([]any)
	if !ok || len(edits) != 1 {
		return "MultiEdit", input, nil
	}
	edit, ok := edits[0].(map[string]any)
	if !ok {
		return "", nil, fmt.Errorf("edits[0]: %s where an object is wanted", strictjson.TypeName(edits[0]))
	}
	if edit["old_string"] == "" {
		return "Write", map[string]any{"file_path": input["file_path"], "content": edit["new_string"]}, nil
	}
	return "Edit", map[string]any{"file_path": input["file_path"], "old_string": edit["old_string"], "new_string": edit["new_string"]}, nil
}

// adaptWindsurf makes a call of what an action is about.
func adaptWindsurf(fields, doc map[string]any, w *eventWord) error {
	info, ok := doc["tool_info"].(map[string]any)
	if doc["tool_info"] != nil && !ok {
		return fmt.Errorf("tool_info: %s where an object is wanted", strictjson.TypeName(doc["tool_info"]))
	}
	delete(fields, "tool_info")
	if doc["trajectory_id"] != nil {
		fields["session_id"] = doc["trajectory_id"]
	}
	if dir := info["cwd"]; dir != nil {
		fields["cwd"] = dir
	}
	switch {
	case w.own() == hook.UserPromptSubmit:
		prompt, ok := firstText(info, "prompt", "user_prompt", "text")
		if !ok {
			return fmt.Errorf("tool_info: there is no prompt in it")
		}
		fields["prompt"] = prompt
	case w.tool == "mcp":
		server, _ := firstText(info, "mcp_server_name", "server_name", "server")
		tool, ok := firstText(info, "mcp_tool_name", "tool_name", "tool")
		if !ok {
			return fmt.Errorf("tool_info: it names no tool")
		}
		fields["tool_name"] = serverTool(orElse(server, "unknown"), tool)
		fields["tool_input"] = info
		for _, key := range []string{"mcp_tool_arguments", "arguments", "args", "input"} {
			if input, ok := info[key].(map[string]any); ok {
				fields["tool_input"] = input
				break
			}
		}
	case w.tool != "" && info == nil:
		return fmt.Errorf("tool_info is missing")
	case w.tool != "":
		fields["tool_input"] = info
	}
	if w.own() == hook.PostToolUse {
		fields["tool_response"] = info["mcp_result"]
	}
	return nil
}

// firstText returns the first of doc's fields that is text.
func firstText(doc map[string]any, keys ...string) (string, bool) {
	for _, key := range keys {
		if s, ok := doc[key].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}
