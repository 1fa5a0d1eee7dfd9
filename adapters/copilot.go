package adapters

import (
	"strings"
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// copilot speaks the two hook protocols of GitHub's Copilot CLI, as observed for
// version 1.0.102: its own, whose events begin with a small letter and do not
// name themselves, and Claude Code's, for files in that layout. The answer of one
// is none to the other, and then the call runs.
var copilot = agent{
	name: "copilot", wait: 30 * time.Second, server: copilotServer, guess: guessCopilot, render: renderCopilot,
	attends: true, hosts: true, project: []string{"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	events: []eventWord{
		{native: "preToolUse", name: hook.PreToolUse, can: rejects | asks | approves | rewrites | hears},
		{native: "permissionRequest", name: hook.PermissionRequest, can: rejects | dialog | approves},
		{native: "postToolUse", name: hook.PostToolUse, can: rejects | replaces | hears},
		{native: "postToolUseFailure", name: hook.PostToolUseFailure},
		{native: "userPromptSubmitted", name: hook.UserPromptSubmit, can: rejects | hears},
		{native: "sessionStart", name: hook.SessionStart, can: hears},
		{native: "sessionEnd", name: hook.SessionEnd},
		{native: "agentStop", name: hook.Stop, can: rejects | ends},
		{native: "subagentStart", name: hook.SubagentStart},
		{native: "subagentStop", name: hook.SubagentStop},
		{native: "preCompact", name: hook.PreCompact},
		{native: "errorOccurred", name: moment.StopFailure},
		{native: "notification", name: hook.Notification},

		{native: "PreToolUse", can: rejects},
		{native: "PermissionRequest", can: rejects | dialog},
		{native: "PostToolUse", can: rejects},
		{native: "PostToolUseFailure"},
		{native: "UserPromptSubmit", can: rejects},
		{native: "SessionStart"},
		{native: "SessionEnd"},
		{native: "Stop", can: rejects | ends},
		{native: "SubagentStart"},
		{native: "SubagentStop"},
		{native: "PreCompact"},
		{native: "Notification"},
	},
	fields: []pair{
		{"sessionId", "session_id"}, {"transcriptPath", "transcript_path"}, {"toolName", "tool_name"}, {"toolArgs", "tool_input"},
		{"toolInput", "tool_input"}, {"toolResult", "tool_response"}, {"tool_result", "tool_response"}, {"stopReason", "stop_reason"},
		{"initialPrompt", "initial_prompt"}, {"permissionSuggestions", "permission_suggestions"}, {"agentName", "agent_type"},
	},
	// They have the names of both dialects: with Claude Code's, the fields
	// are still the agent's own.
	tools: []toolWord{
		{native: "bash", own: "Bash"},
		{native: "write_bash", own: "Bash", fields: "input=command"},
		{native: "powershell", own: "PowerShell"},
		{native: "write_powershell", own: "PowerShell", fields: "input=command"},
		{native: "create", own: "Write", fields: "path=file_path file_text=content"},
		{native: "Write", own: "Write", fields: "path=file_path file_text=content"},
		{native: "edit", own: "Edit", fields: "path=file_path old_str=old_string new_str=new_string"},
		{native: "Edit", own: "Edit", fields: "path=file_path old_str=old_string new_str=new_string"},
		{native: "view", own: "Read", fields: "path=file_path"},
		{native: "Read", own: "Read", fields: "path=file_path"},
		{native: "str_replace_editor", own: "str_replace_editor", open: openEditor},
		{native: "apply_patch", own: "apply_patch", fields: "input=command patch=command", open: openPatch, shut: shutPatch},
		{native: "grep", own: "Grep"},
		{native: "glob", own: "Glob"},
		{native: "web_fetch", own: "WebFetch"},
		{native: "web_search", own: "WebSearch"},
		{native: "task", own: "Agent", fields: "agent_type=subagent_type"},
		{native: "Task", own: "Agent", fields: "agent_type=subagent_type"},
		{native: "skill", own: "Skill"},
		{native: "ask_user", own: "AskUserQuestion"},
		{native: "update_todo", own: "TodoWrite"},
	},
}

// copilotServer names the tool of an MCP server: only they have a slash, on
// permissionRequest, or a hyphen, on the other events. There a server's own hyphens
// cannot be told from the one behind its name, except for the server that comes with
// the agent.
func copilotServer(tool string, _ map[string]any) (string, bool) {
	const builtin = "github-mcp-server"
	if server, name, ok := strings.Cut(tool, "/"); ok {
		if server == builtin {
			server = "github"
		}
		return serverTool(server, name), server != "" && name != ""
	}
	if name, ok := strings.CutPrefix(tool, builtin+"-"); ok && name != "" {
		return serverTool("github", name), true
	}
	server, name, ok := strings.Cut(tool, "-")
	return serverTool(server, name), ok && server != "" && name != ""
}

// openEditor tells what an editor of many verbs is asked to do.
func openEditor(input map[string]any, _ string) (string, map[string]any, error) {
	verb, _ := input["command"].(string)
	tool, pairs := "", []pair(nil)
	switch verb {
	case "view":
		tool, pairs = "Read", pairsOf("path=file_path")
	case "create":
		tool, pairs = "Write", pairsOf("path=file_path file_text=content file_content=content")
	case "str_replace", "insert", "append":
		tool, pairs = "Edit", pairsOf("path=file_path old_str=old_string new_str=new_string")
	default:
		return "str_replace_editor", input, nil
	}
	if err := rename(input, pairs, ""); err != nil {
		return "", nil, err
	}
	delete(input, "command") // facts would take the verb for a command line
	return tool, input, nil
}

// guessCopilot tells an event by its fields.
func guessCopilot(doc map[string]any) string {
	has := func(key string) bool { _, ok := doc[key]; return ok }
	switch {
	case has("hookName"):
		name, _ := doc["hookName"].(string)
		return name
	case has("toolName") && has("toolResult"):
		return "postToolUse"
	case has("toolName") && has("error"):
		return "postToolUseFailure"
	case has("toolName"):
		return "preToolUse"
	case has("prompt"):
		return "userPromptSubmitted"
	case has("source"):
		return "sessionStart"
	case has("stopReason"):
		return "agentStop"
	case has("reason"):
		return "sessionEnd"
	}
	return ""
}

func renderCopilot(r *reply) Answer {
	if r.word.native == string(r.word.own()) { // Claude Code's name
		return renderCopilotAsClaude(r)
	}
	doc := map[string]any{}
	switch name := r.word.name; {
	case name == hook.PreToolUse && r.refused():
		doc["permissionDecision"], doc["permissionDecisionReason"] = "deny", r.reason()
	case name == hook.PreToolUse && r.effect == hook.Ask:
		doc["permissionDecision"], doc["permissionDecisionReason"] = "ask", r.reason()
	case name == hook.PreToolUse && r.effect == hook.Allow:
		doc["permissionDecision"] = "allow"
	case name == hook.PermissionRequest && r.refused():
		doc["behavior"], doc["message"] = "deny", r.reason()
	case name == hook.PermissionRequest && r.effect == hook.Allow:
		doc["behavior"] = "allow"
	case r.refused():
		doc["decision"], doc["reason"] = "block", r.reason()
	case r.output != nil:
		doc["modifiedResult"] = map[string]any{"textResultForLlm": r.outputAndContext(), "resultType": resultType(r.ev)}
	}
	if r.input != nil {
		doc["modifiedArgs"] = r.input
	}
	if r.context != "" {
		doc["additionalContext"] = r.context
	}
	return answerOf(doc)
}

// resultType is how the tool's own result was marked.
func resultType(ev *hook.Event) string {
	result, _ := ev.Fields["tool_response"].(map[string]any)
	if s, ok := result["resultType"].(string); ok {
		return s
	}
	return "success"
}

func renderCopilotAsClaude(r *reply) Answer {
	doc, own := map[string]any{}, map[string]any{}
	if r.refused() {
		r.block(doc, own)
	}
	r.own(doc, own)
	return answerOf(doc)
}
