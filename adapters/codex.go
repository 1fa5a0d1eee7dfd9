package adapters

import (
	"time"

	"gate/hook"
)

// codex speaks the hook protocol of OpenAI's Codex CLI, as observed for version
// 0.169.0. It holds every answer against a schema and voids one with a field too
// many, and then the call runs: an answer has the fields below and no others, and
// never two opinions.
var codex = agent{
	name: "codex", wait: 600 * time.Second, render: renderCodex,
	hosts: true, // hooks/hooks.json of plugins,
	// A question has no word that holds: "ask" voids the answer.
	events: []eventWord{
		{native: "PreToolUse", can: rejects | rewrites | hears | tells},
		{native: "PermissionRequest", can: rejects | dialog | approves},
		{native: "PostToolUse", can: rejects | replaces | halts | hears},
		{native: "UserPromptSubmit", can: rejects | hears},
		{native: "SessionStart", can: hears | tells},
		{native: "SessionEnd", wait: 3 * time.Second},
		{native: "Stop", can: rejects | ends},
		{native: "SubagentStart"},
		{native: "SubagentStop"},
		{native: "PreCompact"},
		{native: "PostCompact"},
		{native: "Interrupt", wait: 3 * time.Second},
	},
	// The client says Bash for its shells, so far. The names of the tools behind it
	// are what the model calls, and what earlier versions sent.
	tools: []toolWord{
		{native: "apply_patch", own: "apply_patch", fields: "input=command patch=command", open: openPatch, shut: shutPatch},
		{native: "shell", own: "Bash", open: openWords},
		{native: "local_shell", own: "Bash", open: openWords},
		{native: "container.exec", own: "Bash", open: openWords},
		{native: "shell_command", own: "Bash"},
		{native: "exec_command", own: "Bash", fields: "cmd=command"},
		{native: "write_stdin", own: "Bash", fields: "chars=command"},
		{native: "view_image", own: "Read", fields: "path=file_path"},
		{native: "web_search", own: "WebSearch"},
		{native: "spawn_agent", own: "Agent", fields: "message=prompt"},
	},
}

func renderCodex(r *reply) Answer {
	doc, own := map[string]any{}, map[string]any{}
	switch r.word.own() {
	case hook.PreToolUse:
		switch {
		case r.refused():
			own["permissionDecision"], own["permissionDecisionReason"] = "deny", r.reason()
		case r.input != nil: // its word for a rewrite; alone it would be void
			own["permissionDecision"], own["updatedInput"] = "allow", r.input
		}
	case hook.PermissionRequest:
		switch {
		case r.refused():
			own["decision"] = map[string]any{"behavior": "deny", "message": r.reason()}
		case r.effect == hook.Allow:
			own["decision"] = map[string]any{"behavior": "allow"}
		}
	case hook.PostToolUse:
		switch {
		case r.stops(): // the agent reads this in place of the output
			doc["continue"], doc["stopReason"] = false, r.reason()
		case r.refused():
			doc["decision"], doc["reason"] = "block", r.reason()
		case r.output != nil:
			doc["decision"], doc["reason"] = "block", r.outputAndContext()
		}
	default:
		if r.refused() {
			doc["decision"], doc["reason"] = "block", r.reason()
		}
	}
	return r.told(doc, own)
}
