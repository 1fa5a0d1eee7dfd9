package adapters

import (
	"time"

	"gate/hook"
)

// antigravity speaks the hook protocol of the Antigravity CLI (agy), as others
// measured it for version 1.1.2. An answer without a decision makes it ask, so
// each one has a decision; its "allow" does not keep it from asking by its own
// rules.
var antigravity = agent{
	name: "antigravity", wait: time.Minute, adapt: adaptAntigravity, guess: guessAntigravity, call: antigravityCall, render: renderAntigravity, attends: true,
	events: []eventWord{
		{native: "PreToolUse", can: rejects | asks},
		{native: "PostToolUse"},
		{native: "PreInvocation"},
		{native: "Stop"},
	},
	fields: []pair{{"conversationId", "session_id"}, {"transcriptPath", "transcript_path"}, {"modelName", "model"}},
	tools: []toolWord{
		{native: "run_command", own: "Bash", fields: "CommandLine=command Cwd=workdir"},
		{native: "send_command_input", own: "Bash", fields: "Input=command"},
		{native: "write_to_file", own: "Write", fields: "TargetFile=file_path CodeContent=content"},
		{native: "replace_file_content", own: "Edit", fields: "TargetFile=file_path TargetContent=old_string ReplacementContent=new_string"},
		{native: "multi_replace_file_content", own: "MultiEdit", fields: "TargetFile=file_path ReplacementChunks=edits"},
		{native: "view_file", own: "Read", fields: "AbsolutePath=file_path"},
		{native: "list_dir", own: "LS", fields: "DirectoryPath=path"},
		{native: "grep_search", own: "Grep", fields: "SearchPath=path Query=pattern"},
		{native: "find_by_name", own: "Glob", fields: "SearchDirectory=path Pattern=pattern"},
		{native: "read_url_content", own: "WebFetch", fields: "Url=url"},
		{native: "search_web", own: "WebSearch"},
	},
}

// adaptAntigravity takes the call out of the object that is about it.
func adaptAntigravity(fields, doc map[string]any, _ *eventWord) error {
	if err := inWorkspace(fields, doc, "workspacePaths"); err != nil {
		return err
	}
	if tool, input := antigravityCall(doc); tool != "" {
		fields["tool_name"], fields["tool_input"] = tool, input
		delete(fields, "toolCall")
	}
	return nil
}

func antigravityCall(doc map[string]any) (tool string, input map[string]any) {
	call, _ := doc["toolCall"].(map[string]any)
	tool, _ = call["name"].(string)
	input, _ = call["args"].(map[string]any)
	return tool, input
}

// guessAntigravity takes an event with a call for one before it.
func guessAntigravity(doc map[string]any) string {
	if doc["toolCall"] != nil {
		return "PreToolUse"
	}
	return ""
}

func renderAntigravity(r *reply) Answer {
	doc := map[string]any{}
	switch name := r.word.own(); {
	case name != hook.PreToolUse:
	case r.refused():
		doc["decision"], doc["reason"] = "deny", r.reason()
	case r.effect == hook.Ask: // "ask" honours an earlier "always allow"
		doc["decision"], doc["reason"] = "force_ask", r.reason()
	default:
		doc["decision"] = "allow"
	}
	return answerOf(doc)
}
