package adapters

import (
	"errors"
	"fmt"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// cline speaks the hook protocol of Cline, as its package has it in version
// 3.0.65. Nobody here has driven it. Its words for a question and for a changed
// input are not known to hold, so both are refused.
var cline = agent{
	name: "cline", nameKey: "hookName", wait: 30 * time.Second, adapt: adaptCline, call: clineCall, render: renderCline,
	events: []eventWord{
		{native: "PreToolUse", can: rejects | hears},
		{native: "tool_call", name: hook.PreToolUse, can: rejects | hears},
		{native: "PostToolUse", can: hears},
		{native: "tool_result", name: hook.PostToolUse, can: hears},
		{native: "UserPromptSubmit", can: rejects | hears},
		{native: "TaskStart", name: hook.SessionStart, can: hears},
		{native: "TaskResume", name: hook.SessionStart, can: hears},
		{native: "TaskCancel", name: hook.Stop},
		{native: "TaskComplete", name: hook.Stop},
		{native: "TaskError", name: moment.StopFailure},
		{native: "PreCompact"},
		{native: "SessionShutdown", name: hook.SessionEnd},
	},
	tools: []toolWord{
		{native: "execute_command", own: "Bash"},
		{native: "write_to_file", own: "Write", fields: "path=file_path absolutePath=file_path"},
		{native: "replace_in_file", own: "replace_in_file", fields: "absolutePath=path"},
		{native: "read_file", own: "Read", fields: "path=file_path absolutePath=file_path"},
		{native: "apply_patch", own: "apply_patch", fields: "input=command patch=command", open: openPatch},
		{native: "list_files", own: "LS"},
		{native: "search_files", own: "Grep", fields: "regex=pattern file_pattern=glob"},
		{native: "web_fetch", own: "WebFetch"},
		{native: "web_search", own: "WebSearch", fields: "search_term=query"},
		{native: "use_mcp_tool", own: "use_mcp_tool", open: openClineServer},
		{native: "new_task", own: "Agent", fields: "context=prompt"},
	},
}

// openClineServer names the tool of an MCP server. Its arguments may be JSON as
// text, as all parameters are.
func openClineServer(input map[string]any, _ string) (string, map[string]any, error) {
	server, _ := input["server_name"].(string)
	tool, _ := input["tool_name"].(string)
	if server == "" || tool == "" {
		return "use_mcp_tool", input, nil
	}
	switch args := input["arguments"].(type) {
	case map[string]any:
		return serverTool(server, tool), args, nil
	case string:
		m, err := strictjson.Object([]byte(args), strictjson.Limits{Bytes: MaxEvent})
		if err != nil {
			return "", nil, fmt.Errorf("arguments: %w", err)
		}
		return serverTool(server, tool), m, nil
	case nil:
		return serverTool(server, tool), map[string]any{}, nil
	}
	return "", nil, fmt.Errorf("arguments: %s where an object is wanted", strictjson.TypeName(input["arguments"]))
}

// adaptCline takes the call out of the object that is about it.
func adaptCline(fields, doc map[string]any, w *eventWord) error {
	if doc["taskId"] != nil {
		fields["session_id"] = doc["taskId"]
	}
	if err := inWorkspace(fields, doc, "workspaceRoots"); err != nil {
		return err
	}
	for _, key := range []string{"userPromptSubmit", "user_prompt_submit"} {
		if about, ok := doc[key].(map[string]any); ok && fields["prompt"] == nil {
			fields["prompt"] = about["prompt"]
		}
	}
	if w.own() != hook.PreToolUse && w.own() != hook.PostToolUse {
		return nil
	}
	if !clineAgrees(doc) {
		return errors.New("it tells of two calls, one in each of its forms; only one can be what runs")
	}
	if tool, input := clineCall(doc); tool != "" {
		fields["tool_name"], fields["tool_input"] = tool, input
	}
	if about, ok := doc["postToolUse"].(map[string]any); ok {
		fields["tool_response"] = about["result"]
	}
	return nil
}

// clineForms are the objects that an event tells of a call in. The older ones have
// all parameters as text.
var clineForms = [...]struct{ about, tool, input string }{
	{"preToolUse", "toolName", "parameters"}, {"postToolUse", "toolName", "parameters"},
	{"tool_call", "name", "input"}, {"tool_result", "name", "input"},
}

// clineAgrees reports whether all that an event says of its call is the same.
func clineAgrees(doc map[string]any) bool {
	seen := false
	var tool, input any
	for _, form := range clineForms {
		about, ok := doc[form.about].(map[string]any)
		if !ok {
			continue
		}
		if seen && (!equal(about[form.tool], tool) || !clineSame(about[form.input], input)) {
			return false
		}
		seen, tool, input = true, about[form.tool], about[form.input]
	}
	return true
}

// clineSame reports whether two inputs are one: what the older form has as text
// may be the JSON of what the other one has, its keys in any order.
func clineSame(a, b any) bool {
	x, ok := a.(map[string]any)
	y, is := b.(map[string]any)
	if !ok || !is {
		return equal(a, b)
	}
	if len(x) != len(y) {
		return false
	}
	for key, v := range x {
		w, ok := y[key]
		if !ok || !equal(v, w) && !clineTextOf(v, w) && !clineTextOf(w, v) {
			return false
		}
	}
	return true
}

// clineTextOf reports whether a text says what a value is that is none.
func clineTextOf(text, v any) bool {
	s, ok := text.(string)
	if _, is := v.(string); !ok || is {
		return false
	}
	read, err := strictjson.Decode([]byte(s), strictjson.Limits{})
	return err == nil && equal(read, v)
}

// clineCall finds the call in either of its forms.
func clineCall(doc map[string]any) (tool string, input map[string]any) {
	for _, form := range clineForms {
		about, ok := doc[form.about].(map[string]any)
		if !ok {
			continue
		}
		tool, _ = about[form.tool].(string)
		input, _ = about[form.input].(map[string]any)
		return tool, input
	}
	return "", nil
}

func renderCline(r *reply) Answer {
	doc := map[string]any{}
	if r.refused() {
		doc["cancel"], doc["errorMessage"] = true, r.reason()
	}
	if r.context != "" {
		doc["contextModification"] = r.context
	}
	if len(doc) == 0 {
		doc["cancel"] = false
	}
	return answerOf(doc)
}
