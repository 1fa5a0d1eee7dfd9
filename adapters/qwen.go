package adapters

import (
	"time"

	"gate/hook"
)

// qwen speaks the hook protocol of Qwen Code, as observed for version 0.24.4:
// Claude Code's events, Gemini CLI's tools. It ignores a changed input and runs
// the call as it was, so every rewrite is a refusal.
var qwen = agent{
	name: "qwen", wait: time.Minute, render: renderQwen,
	attends: true, project: []string{"QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	events: []eventWord{
		{native: "PreToolUse", can: rejects | asks | halts | tells},
		{native: "PermissionRequest", can: rejects | dialog | approves | tells},
		{native: "PostToolUse", can: halts | hears | tells},
		{native: "PostToolUseFailure", can: tells},
		{native: "PostToolBatch", can: tells},
		{native: "UserPromptSubmit", can: rejects | hears | tells},
		{native: "Stop", can: rejects | ends | tells},
		{native: "SessionStart", can: tells},
		{native: "SessionEnd", can: tells},
		{native: "InstructionsLoaded", can: tells},
		{native: "Notification", can: tells},
		{native: "SubagentStart", can: tells},
		{native: "SubagentStop", can: tells},
		{native: "PreCompact", can: tells},
		{native: "PermissionDenied", can: tells},
	},
	tools: []toolWord{
		{native: "run_shell_command", own: "Bash", fields: "directory=workdir dir_path=workdir"},
		{native: "write_file", own: "Write"},
		{native: "edit", own: "Edit"},
		{native: "replace", own: "Edit"},
		{native: "read_file", own: "Read", fields: "absolute_path=file_path path=file_path"},
		{native: "notebook_edit", own: "NotebookEdit"},
		{native: "web_fetch", own: "WebFetch", open: openFetch},
		{native: "web_search", own: "WebSearch"},
		{native: "glob", own: "Glob"},
		{native: "grep_search", own: "Grep"},
		{native: "list_directory", own: "LS", fields: "dir_path=path"},
		{native: "agent", own: "Agent"},
		{native: "task", own: "Agent"},
		{native: "skill", own: "Skill"},
		{native: "todo_write", own: "TodoWrite"},
	},
}

func renderQwen(r *reply) Answer {
	doc, own := map[string]any{}, map[string]any{}
	switch {
	case r.refused():
		r.block(doc, own)
	case r.effect == hook.Ask && r.can(asks):
		own["permissionDecision"], own["permissionDecisionReason"] = "ask", r.reason()
	case r.effect == hook.Allow && r.can(approves):
		own["decision"] = map[string]any{"behavior": "allow"}
	}
	return r.besides(doc, own)
}
