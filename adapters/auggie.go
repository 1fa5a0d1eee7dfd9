package adapters

import (
	"time"

	"gate/hook"
)

// auggie speaks the hook protocol of Augment's Auggie, as its package has it in
// version 0.36.0. Nobody here has driven it. Whether a changed input counts, and
// beside which decision, is not known: it is refused.
var auggie = agent{
	name: "auggie", wait: time.Minute, adapt: adaptAuggie, render: renderLikeClaude,
	events: []eventWord{
		{native: "PreToolUse", can: rejects},
		{native: "PostToolUse", can: rejects},
		{native: "Stop", can: rejects | ends},
		{native: "SessionStart"},
		{native: "SessionEnd"},
		{native: "Notification"},
		{native: "PromptSubmit", name: hook.UserPromptSubmit, can: rejects},
	},
	tools: []toolWord{
		{native: "launch-process", own: "Bash"},
		{native: "write-process", own: "Bash", fields: "input_text=command"},
		{native: "save-file", own: "Write", fields: "path=file_path file_content=content"},
		{native: "str-replace-editor", own: "Edit", fields: "path=file_path old_str_1=old_string new_str_1=new_string", open: openAuggieEditor},
		{native: "view", own: "Read", fields: "path=file_path"},
		{native: "remove-files", own: "delete_file", fields: "file_paths=path"},
		{native: "apply_patch", own: "apply_patch", fields: "input=command patch=command", open: openPatch},
		{native: "web-fetch", own: "WebFetch"},
		{native: "web-search", own: "WebSearch"},
	},
}

// openAuggieEditor drops the verb: facts would take it for a command line.
func openAuggieEditor(input map[string]any, _ string) (string, map[string]any, error) {
	delete(input, "command")
	return "Edit", input, nil
}

// adaptAuggie names the tools of MCP servers and fills in what other events call
// differently.
func adaptAuggie(fields, doc map[string]any, _ *eventWord) error {
	if fields["session_id"] == nil && doc["conversation_id"] != nil {
		fields["session_id"] = doc["conversation_id"]
	}
	if err := inWorkspace(fields, doc, "workspace_roots"); err != nil {
		return err
	}
	if tool, ok := fields["tool_name"].(string); ok && doc["is_mcp_tool"] == true {
		fields["tool_name"] = serverTool("unknown", tool)
	}
	return nil
}
