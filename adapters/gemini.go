package adapters

import (
	"fmt"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
)

// gemini speaks the hook protocol of Google's Gemini CLI, as observed for
// version 0.61.0. Claude Code's answers mean nothing to it.
var gemini = agent{
	name: "gemini", wait: time.Minute, server: geminiServer, render: renderGemini,
	attends: true, merges: true, project: []string{"GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	events: []eventWord{
		{native: "BeforeTool", name: hook.PreToolUse, can: rejects | asks | rewrites | halts | tells},
		{native: "AfterTool", name: hook.PostToolUse, can: rejects | replaces | halts | hears | tells},
		{native: "BeforeAgent", name: hook.UserPromptSubmit, can: rejects | halts | hears | tells},
		{native: "AfterAgent", name: hook.Stop, can: rejects | ends | halts | tells},
		{native: "SessionStart", can: hears | tells},
		{native: "SessionEnd", can: tells},
		{native: "Notification", can: tells},
		{native: "PreCompress", name: hook.PreCompact, can: tells},
		{native: "BeforeModel"},
		{native: "AfterModel"},
		{native: "BeforeToolSelection"},
	},
	tools: []toolWord{
		{native: "run_shell_command", own: "Bash", fields: "dir_path=workdir directory=workdir"},
		{native: "write_file", own: "Write"},
		{native: "replace", own: "Edit"},
		{native: "read_file", own: "Read", fields: "absolute_path=file_path path=file_path"},
		{native: "web_fetch", own: "WebFetch", open: openFetch},
		{native: "google_web_search", own: "WebSearch"},
		{native: "glob", own: "Glob", fields: "dir_path=path"},
		{native: "grep_search", own: "Grep", fields: "dir_path=path include=glob include_pattern=glob"},
		{native: "search_file_content", own: "Grep", fields: "dir_path=path include=glob"},
		{native: "list_directory", own: "LS", fields: "dir_path=path"},
		{native: "invoke_agent", own: "Agent", fields: "agent_name=subagent_type"},
		{native: "activate_skill", own: "Skill", fields: "name=skill"},
		{native: "write_todos", own: "TodoWrite"},
	},
}

// geminiServer names a tool of an MCP server, which the event describes beside
// the call. Without that, the server's name is what stands before the first line.
func geminiServer(tool string, doc map[string]any) (string, bool) {
	if about, ok := doc["mcp_context"].(map[string]any); ok {
		server, _ := about["server_name"].(string)
		name, _ := about["tool_name"].(string)
		if server != "" && name != "" {
			return serverTool(server, name), true
		}
	}
	rest, ok := strings.CutPrefix(tool, "mcp_")
	if server, name, cut := strings.Cut(strings.TrimPrefix(rest, "_"), "_"); ok && cut {
		return serverTool(server, strings.TrimPrefix(name, "_")), true
	}
	return "", false
}

// openFetch finds the address of a tool that takes it in its prompt. Facts see
// each of several.
func openFetch(input map[string]any, _ string) (string, map[string]any, error) {
	if _, given := input["url"]; given {
		return "WebFetch", input, nil
	}
	prompt, ok := input["prompt"].(string)
	if !ok {
		return "", nil, fmt.Errorf("prompt: %s where a string is wanted", strictjson.TypeName(input["prompt"]))
	}
	for _, word := range strings.Fields(prompt) {
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			input["url"] = strings.TrimRight(word, ".,)>\"'")
			return "WebFetch", input, nil
		}
	}
	input["url"] = ""
	return "WebFetch", input, nil
}

func renderGemini(r *reply) Answer {
	doc, own := map[string]any{}, map[string]any{}
	switch {
	case r.refused():
		doc["decision"], doc["reason"] = "deny", r.reason()
	case r.effect == hook.Ask && r.can(asks):
		doc["decision"], doc["reason"] = "ask", r.reason()
	case r.output != nil: // the reason takes its place
		doc["decision"], doc["reason"] = "deny", r.outputAndContext()
	case r.input != nil:
		own["tool_input"] = r.input
	}
	return r.besides(doc, own)
}
