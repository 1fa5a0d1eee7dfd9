package adapters

import (
	"strings"
	"time"
)

// droid speaks Factory Droid's hook protocol, as its package has it in version
// 0.215.0. Nobody here has driven it.
var droid = agent{
	name: "droid", wait: time.Minute, server: droidServer, render: renderLikeClaude,
	merges: true, project: []string{"FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	// An ask keeps the agent's own confirmation, which may be none.
	events: []eventWord{
		{native: "PreToolUse", can: rejects | rewrites | halts | tells},
		{native: "PostToolUse", can: rejects | halts | tells},
		{native: "UserPromptSubmit", can: rejects | tells},
		{native: "Notification", can: tells},
		{native: "Stop", can: rejects | ends | tells},
		{native: "SubagentStop", can: rejects | ends | tells},
		{native: "PreCompact", can: tells},
		{native: "SessionStart", can: tells},
		{native: "SessionEnd", can: tells},
	},
	tools: []toolWord{
		{native: "Execute", own: "Bash"},
		{native: "Create", own: "Write", fields: "path=file_path file_text=content"},
		{native: "Edit", own: "Edit", fields: "path=file_path old_str=old_string new_str=new_string"},
		{native: "MultiEdit", own: "MultiEdit", fields: "path=file_path changes=edits"},
		{native: "ApplyPatch", own: "apply_patch", fields: "input=command patch=command", open: openPatch, shut: shutPatch},
		{native: "Read", own: "Read", fields: "path=file_path"},
		{native: "LS", own: "LS", fields: "directory_path=path"},
		{native: "Grep", own: "Grep", fields: "glob_pattern=glob"},
		{native: "Glob", own: "Glob", fields: "folder=path"},
		{native: "FetchUrl", own: "WebFetch"},
		{native: "Task", own: "Agent"},
	},
}

// droidServer names the tool of an MCP server.
func droidServer(tool string, _ map[string]any) (string, bool) {
	server, name, ok := strings.Cut(tool, "___")
	return serverTool(server, name), ok && server != "" && name != ""
}

// renderLikeClaude answers the agents that follow Claude Code closely: a refusal
// is its JSON, and exit 2 with the same reason on standard error.
func renderLikeClaude(r *reply) Answer {
	doc, own := map[string]any{}, map[string]any{}
	switch {
	case r.refused():
		r.block(doc, own)
	case r.input != nil:
		own["updatedInput"] = r.input
	}
	a := r.besides(doc, own)
	if r.refused() {
		a.Status, a.Stderr = 2, []byte(r.reason()+"\n")
	}
	return a
}
