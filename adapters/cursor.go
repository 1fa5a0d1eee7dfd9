package adapters

import (
	"fmt"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
)

// cursor speaks Cursor's hook protocol, as others measured it for version
// 3.9.16 and its maker documents it. Its hooks are installed to fail closed, and
// then an empty answer blocks: each one says what it permits.
var cursor = agent{
	name: "cursor", wait: time.Minute, server: cursorServer, adapt: adaptCursor, render: renderCursor,
	project: []string{"CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	// A question is not enforced on preToolUse, so there is no word for one.
	events: []eventWord{
		{native: "preToolUse", name: hook.PreToolUse, can: rejects | rewrites},
		{native: "beforeShellExecution", name: hook.PreToolUse, tool: "Shell", can: rejects},
		{native: "beforeMCPExecution", name: hook.PreToolUse, can: rejects},
		{native: "beforeReadFile", name: hook.PreToolUse, tool: "Read", can: rejects},
		{native: "beforeTabFileRead", name: hook.PreToolUse, tool: "TabRead", can: rejects},
		{native: "postToolUse", name: hook.PostToolUse, can: hears | reshapes},
		{native: "postToolUseFailure", name: hook.PostToolUseFailure},
		{native: "afterShellExecution", name: hook.PostToolUse, tool: "Shell"},
		{native: "afterMCPExecution", name: hook.PostToolUse},
		{native: "afterFileEdit", name: hook.PostToolUse, tool: "Edit"},
		{native: "afterTabFileEdit", name: hook.PostToolUse, tool: "Edit"},
		{native: "beforeSubmitPrompt", name: hook.UserPromptSubmit, can: rejects},
		{native: "sessionStart", name: hook.SessionStart, can: hears},
		{native: "sessionEnd", name: hook.SessionEnd},
		{native: "stop", name: hook.Stop, can: rejects | ends},
		{native: "subagentStart", name: hook.SubagentStart, can: rejects},
		{native: "subagentStop", name: hook.SubagentStop},
		{native: "preCompact", name: hook.PreCompact},
	},
	fields: []pair{{"tool_output", "tool_response"}, {"result_json", "tool_response"}, {"error_message", "error"}, {"subagent_type", "agent_type"}},
	tools: []toolWord{
		{native: "Shell", own: "Bash", fields: "working_directory=workdir"},
		{native: "Read", own: "Read", fields: "path=file_path target_file=file_path"},
		{native: "TabRead", own: "Read", fields: "path=file_path target_file=file_path"},
		{native: "Write", own: "Write", fields: "path=file_path target_file=file_path contents=content file_text=content"},
		{native: "TabWrite", own: "Write", fields: "path=file_path target_file=file_path contents=content"},
		{native: "Edit", own: "Edit", fields: "path=file_path target_file=file_path"},
		{native: "Delete", own: "delete_file", fields: "target_file=path file_path=path"},
		{native: "Grep", own: "Grep"},
		{native: "Task", own: "Agent"},
	},
}

// cursorServer names the tool of an MCP server. The agent does not say which
// server it is.
func cursorServer(tool string, _ map[string]any) (string, bool) {
	name, ok := strings.CutPrefix(tool, "MCP:")
	return serverTool("unknown", name), ok && name != ""
}

// adaptCursor gathers the input of the events that are about one kind of call.
func adaptCursor(fields, doc map[string]any, w *eventWord) error {
	if session, _ := fields["session_id"].(string); session == "" && doc["conversation_id"] != nil {
		fields["session_id"] = doc["conversation_id"]
	}
	if fields["cwd"] == "" {
		delete(fields, "cwd")
	}
	if err := inWorkspace(fields, doc, "workspace_roots"); err != nil {
		return err
	}
	gather := func(names ...string) {
		input := map[string]any{}
		for _, name := range names {
			if v := doc[name]; v != nil {
				input[name] = v
			}
		}
		fields["tool_input"] = input
	}
	switch w.native {
	case "beforeShellExecution", "afterShellExecution":
		gather("command")
	case "beforeReadFile", "beforeTabFileRead":
		gather("file_path")
		delete(fields, "content") // what would be read: no part of the call
	case "afterFileEdit", "afterTabFileEdit":
		gather("file_path", "edits")
	case "beforeMCPExecution", "afterMCPExecution":
		tool, _ := fields["tool_name"].(string)
		if tool == "" {
			return fmt.Errorf("tool_name is missing")
		}
		fields["tool_name"] = "MCP:" + strings.TrimPrefix(tool, "MCP:")
	}
	if w.own() == hook.PostToolUse {
		if fields["tool_response"] == nil {
			fields["tool_response"] = doc["output"]
		}
		if s, ok := fields["tool_response"].(string); ok { // JSON within JSON
			if v, err := strictjson.Decode([]byte(s), strictjson.Limits{Bytes: MaxEvent}); err == nil {
				fields["tool_response"] = v
			}
		}
	}
	return nil
}

func renderCursor(r *reply) Answer {
	doc := map[string]any{}
	switch name := r.word.own(); {
	case name == hook.PreToolUse || name == hook.SubagentStart:
		doc["permission"] = "allow"
		if r.refused() {
			doc["permission"], doc["user_message"], doc["agent_message"] = "deny", r.reason(), r.reason()
		}
		if r.input != nil {
			doc["updated_input"] = r.input
		}
	case name == hook.UserPromptSubmit:
		doc["continue"] = !r.refused()
		if r.refused() {
			doc["user_message"] = r.reason()
		}
	case name == hook.Stop && r.refused():
		doc["followup_message"] = r.reason()
	case r.output != nil:
		doc["updated_mcp_tool_output"] = r.output
	}
	if r.context != "" {
		doc["additional_context"] = r.context
	}
	if len(doc) == 0 {
		return Answer{Stdout: []byte("{}")}
	}
	return answerOf(doc)
}
