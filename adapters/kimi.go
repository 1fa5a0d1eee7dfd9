package adapters

import (
	"maps"
	"time"
)

// kimi speaks Kimi Code's hook protocol, as its package has it in version 2.1.0.
// Nobody here has driven it. It ignores questions and changed inputs.
var kimi = agent{
	name: "kimi", wait: 30 * time.Second, render: renderLikeClaude,
	events: []eventWord{
		{native: "PreToolUse", can: rejects},
		{native: "PostToolUse"},
		{native: "PostToolUseFailure"},
		{native: "PermissionRequest"},
		{native: "UserPromptSubmit", can: rejects},
		{native: "Stop", can: rejects | ends},
		{native: "StopFailure"},
		{native: "SessionStart"},
		{native: "SessionEnd"},
		{native: "SubagentStart"},
		{native: "SubagentStop"},
		{native: "PreCompact"},
		{native: "PostCompact"},
		{native: "Notification"},
	},
	fields: []pair{{"tool_call_id", "tool_use_id"}},
	tools: []toolWord{
		{native: "Shell", own: "Bash"},
		{native: "ReadFile", own: "Read", fields: "path=file_path"},
		{native: "Read", own: "Read", fields: "path=file_path"},
		{native: "WriteFile", own: "Write", fields: "path=file_path"},
		{native: "Write", own: "Write", fields: "path=file_path"},
		{native: "StrReplaceFile", own: "StrReplaceFile", open: openReplaceFile},
		{native: "Edit", own: "Edit", fields: "path=file_path old=old_string new=new_string"},
		{native: "Grep", own: "Grep"},
		{native: "Glob", own: "Glob", fields: "directory=path"},
		{native: "FetchURL", own: "WebFetch"},
		{native: "SearchWeb", own: "WebSearch"},
		{native: "Task", own: "Agent"},
		{native: "SetTodoList", own: "TodoWrite"},
	},
}

// openReplaceFile makes an edit of a tool that takes one or several.
func openReplaceFile(input map[string]any, _ string) (string, map[string]any, error) {
	if err := rename(input, pairsOf("path=file_path edit=edits"), ""); err != nil {
		return "", nil, err
	}
	edits, several := input["edits"].([]any)
	if !several && input["edits"] != nil {
		edits = []any{input["edits"]}
	}
	own := make([]any, len(edits))
	for i, e := range edits {
		own[i] = e
		if edit, ok := e.(map[string]any); ok {
			edit = maps.Clone(edit)
			if err := rename(edit, pairsOf("old=old_string new=new_string"), "edits."); err != nil {
				return "", nil, err
			}
			own[i] = edit
		}
	}
	input["edits"] = own
	return "MultiEdit", input, nil
}
