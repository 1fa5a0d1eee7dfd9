package adapters_test

import (
	"maps"
	"slices"
	"strings"

	"gate/adapters"
	"gate/internal/strictjson"
)

// An outcome is what an agent makes of an answer.
type outcome struct {
	blocked  bool           // what the event is about does not happen; at the end of a turn, the turn goes on
	asked    bool           // a person is asked, or the agent takes it for a refusal
	granted  bool           // it goes ahead without the agent's own question
	replaced bool           // the model reads the answer in place of the output
	ended    bool           // the turn ends
	input    map[string]any // what the call runs with; nil is what it was made with
}

// readers are the agents as the page of their protocols describes them, faults
// included: an answer that an agent voids is one that lets everything happen.
// They know nothing of how the adapters are made.
var readers = map[string]func(event string, came map[string]any, a adapters.Answer) outcome{
	"codex": readCodex, "gemini": readGemini, "qwen": readQwen, "copilot": readCopilot, "opencode": readOpenCode, "cursor": readCursor,
	"droid": readDroid, "kimi": readDroid, "auggie": readDroid, "windsurf": readStatus, "kiro": readStatus, "amp": readStatus,
	"cline": readCline, "antigravity": readAntigravity,
}

// stoppable are the events on which an agent can be stopped, or kept from an
// output.
var stoppable = map[string][]string{
	"codex":       {"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop"},
	"gemini":      {"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"},
	"qwen":        {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop"},
	"copilot":     {"preToolUse", "permissionRequest", "postToolUse", "userPromptSubmitted", "agentStop", "PreToolUse", "UserPromptSubmit", "Stop"},
	"opencode":    {"PreToolUse", "PostToolUse", "UserPromptSubmit"},
	"cursor":      {"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeSubmitPrompt", "subagentStart", "stop"},
	"droid":       {"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"},
	"kimi":        {"PreToolUse", "UserPromptSubmit", "Stop"},
	"auggie":      {"PreToolUse", "PostToolUse", "PromptSubmit", "Stop"},
	"windsurf":    {"pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use", "pre_user_prompt"},
	"kiro":        {"PreToolUse", "preToolUse", "UserPromptSubmit"},
	"amp":         {"delegate"},
	"cline":       {"PreToolUse", "tool_call", "UserPromptSubmit"},
	"antigravity": {"PreToolUse"},
}

func objectOf(data []byte) map[string]any {
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return nil
	}
	return doc
}

func part(doc map[string]any, key string) map[string]any {
	m, _ := doc[key].(map[string]any)
	return m
}

func only(doc map[string]any, keys ...string) bool {
	for k := range doc {
		if !slices.Contains(keys, k) {
			return false
		}
	}
	return true
}

func laidOver(came, changed map[string]any) map[string]any {
	if changed == nil {
		return nil
	}
	input := maps.Clone(came)
	maps.Copy(input, changed)
	return input
}

// readCodex holds the answer against the schemas that the client carries.
func readCodex(event string, came map[string]any, a adapters.Answer) (o outcome) {
	after := event == "PostToolUse"
	if a.Status == 2 && len(a.Stderr) > 0 {
		return outcome{blocked: !after, replaced: after}
	}
	doc := objectOf(a.Stdout)
	if a.Status != 0 || doc == nil || !only(doc, "continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput") {
		return outcome{}
	}
	own := part(doc, "hookSpecificOutput")
	known := map[string][]string{
		"PreToolUse":        {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
		"PermissionRequest": {"decision"}, "PostToolUse": {"additionalContext"}, "UserPromptSubmit": {"additionalContext"}, "SessionStart": {"additionalContext"},
	}[event]
	if !only(own, append(known, "hookEventName")...) || own != nil && own["hookEventName"] != event || doc["hookSpecificOutput"] != nil && own == nil {
		return outcome{}
	}
	blocks := doc["decision"] == "block" && text(doc["reason"]) != ""
	if doc["decision"] != nil && !blocks {
		return outcome{}
	}
	switch event {
	case "PreToolUse":
		if !only(doc, "systemMessage", "decision", "reason", "hookSpecificOutput") {
			return outcome{}
		}
		changed := part(own, "updatedInput")
		switch own["permissionDecision"] {
		case "deny":
			o.blocked = text(own["permissionDecisionReason"]) != "" && changed == nil
		case "allow":
			o.input = changed
		}
		o.blocked = o.blocked || blocks
	case "PermissionRequest":
		decision := part(own, "decision")
		if !only(decision, "behavior", "message") {
			return outcome{}
		}
		o.blocked, o.granted = decision["behavior"] == "deny", decision["behavior"] == "allow"
	case "PostToolUse":
		o.replaced = blocks || doc["continue"] == false && text(doc["stopReason"]) != ""
		o.ended = doc["continue"] == false
	default:
		o.blocked = blocks
	}
	return o
}

func readGemini(event string, came map[string]any, a adapters.Answer) (o outcome) {
	data := a.Stdout
	if len(data) == 0 {
		data = a.Stderr
	}
	doc := objectOf(data)
	after := event == "AfterTool"
	if doc == nil {
		stops := a.Status >= 2 && len(a.Stderr) > 0
		return outcome{blocked: stops && !after, replaced: stops && after}
	}
	denies := doc["decision"] == "deny" || doc["decision"] == "block"
	o.ended = doc["continue"] == false
	o.blocked, o.replaced, o.asked = denies && !after || o.ended && event == "BeforeTool", denies && after, doc["decision"] == "ask"
	if own := part(doc, "hookSpecificOutput"); event == "BeforeTool" && own["hookEventName"] == event {
		o.input = laidOver(came, part(own, "tool_input"))
	}
	return o
}

func readQwen(event string, came map[string]any, a adapters.Answer) (o outcome) {
	if a.Status == 2 {
		return outcome{blocked: len(a.Stderr) > 0 && event != "PostToolUse"}
	}
	doc := objectOf(a.Stdout)
	own := part(doc, "hookSpecificOutput")
	o.ended = doc["continue"] == false
	decision := doc["decision"]
	if v := own["permissionDecision"]; v != nil && event == "PreToolUse" {
		decision = v
	}
	if v := part(own, "decision")["behavior"]; event == "PermissionRequest" {
		decision, o.granted = v, v == "allow"
	}
	o.blocked, o.asked = decision == "deny" || decision == "block" || o.ended && event == "PreToolUse", decision == "ask"
	if event == "PostToolUse" {
		o.blocked = false // neither hides nor marks the output
	}
	return o
}

func readCopilot(event string, came map[string]any, a adapters.Answer) (o outcome) {
	if a.Status != 0 {
		return outcome{blocked: true}
	}
	doc := objectOf(a.Stdout)
	block := doc["decision"] == "block" && text(doc["reason"]) != ""
	decision, behavior := doc["permissionDecision"], doc["behavior"]
	if event[0] < 'a' { // Claude Code's names
		own := part(doc, "hookSpecificOutput")
		if own["hookEventName"] != event {
			own = nil
		}
		decision, behavior = own["permissionDecision"], part(own, "decision")["behavior"]
	}
	switch event {
	case "preToolUse", "PreToolUse":
		o.blocked, o.asked, o.granted = decision == "deny", decision == "ask", decision == "allow"
		if event == "preToolUse" {
			o.input = part(doc, "modifiedArgs")
		}
	case "permissionRequest", "PermissionRequest":
		o.blocked, o.granted = behavior == "deny", behavior == "allow"
	case "postToolUse":
		o.replaced = block || doc["modifiedResult"] != nil
	default:
		o.blocked = block
	}
	return o
}

// readOpenCode is what the plugin does, in Go.
func readOpenCode(event string, came map[string]any, a adapters.Answer) (o outcome) {
	if a.Status != 0 {
		return outcome{blocked: true, replaced: true}
	}
	doc := objectOf(a.Stdout)
	if doc["decision"] != "continue" {
		return outcome{blocked: event != "PostToolUse", replaced: true}
	}
	o.replaced, o.input = doc["output"] != nil, part(doc, "input")
	return o
}

// readCursor is an entry with failClosed, which blocks on an empty answer too.
func readCursor(event string, came map[string]any, a adapters.Answer) (o outcome) {
	doc := objectOf(a.Stdout)
	if a.Status == 2 || doc == nil {
		return outcome{blocked: true}
	}
	switch event {
	case "beforeSubmitPrompt":
		o.blocked = doc["continue"] == false
	case "stop":
		o.blocked = doc["followup_message"] != nil
	case "preToolUse":
		o.input = part(doc, "updated_input")
		fallthrough
	default:
		o.blocked = doc["permission"] == "deny"
	}
	return o
}

func readDroid(event string, came map[string]any, a adapters.Answer) (o outcome) {
	if a.Status == 2 && len(a.Stderr) > 0 {
		o.blocked, o.replaced = event != "PostToolUse", event == "PostToolUse"
	}
	doc := objectOf(a.Stdout)
	own := part(doc, "hookSpecificOutput")
	o.ended = doc["continue"] == false
	o.blocked = o.blocked || own["permissionDecision"] == "deny"
	o.granted = own["permissionDecision"] == "allow"
	o.input = laidOver(came, part(own, "updatedInput"))
	return o
}

func readStatus(event string, came map[string]any, a adapters.Answer) outcome {
	return outcome{blocked: a.Status == 2 && len(a.Stderr) > 0}
}

func readCline(event string, came map[string]any, a adapters.Answer) outcome {
	return outcome{blocked: objectOf(a.Stdout)["cancel"] == true}
}

// readAntigravity asks when it is told nothing; a plain "ask" it may skip.
func readAntigravity(event string, came map[string]any, a adapters.Answer) outcome {
	switch objectOf(a.Stdout)["decision"] {
	case "deny":
		return outcome{blocked: true}
	case "allow", "ask":
		return outcome{}
	}
	return outcome{asked: true}
}

// nativeInput is the input of a call as the agent sent it.
func nativeInput(doc map[string]any) map[string]any {
	for _, key := range []string{"tool_input", "toolArgs", "toolInput"} {
		switch v := doc[key].(type) {
		case map[string]any:
			return v
		case string:
			return objectOf([]byte(v))
		}
	}
	return nil
}

// eventNamed is the agent's name of a sample's event.
func eventNamed(s sample) string {
	name, _, _ := strings.Cut(s.event, ":")
	if name != "" {
		return name
	}
	return text(objectOf(s.data)["hook_event_name"])
}
