package adapters

import (
	_ "embed"
	"strconv"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// opencode speaks to the plugin of gate's own in OpenCode ([OpenCodePlugin]),
// which was driven with version 1.18.33. The plugin demands an answer with a
// word for each decision, so silence is never taken for one.
var opencode = agent{
	name: "opencode", wait: openCodeWait, server: opencodeServer,
	adapt: adaptOpenCode, render: renderOpenCode, project: []string{"OPENCODE_PROJECT_DIR"},
	events: []eventWord{
		{native: "PreToolUse", can: rejects | rewrites},
		{native: "PostToolUse", can: rejects | replaces | hears},
		{native: "UserPromptSubmit", can: rejects | hears},
		{native: "SessionStart"},
		{native: "session.created", name: hook.SessionStart},
		{native: "session.idle", name: hook.Stop},
		{native: "session.error", name: moment.StopFailure},
		{native: "permission.asked", name: hook.Notification},
		{native: "permission.updated", name: hook.Notification},
		{native: "permission.replied", name: hook.Notification},
		{native: "shell.env"},
	},
	tools: []toolWord{
		{native: "bash", own: "Bash"},
		{native: "write", own: "Write", fields: "filePath=file_path"},
		{native: "edit", own: "Edit", fields: "filePath=file_path oldString=old_string newString=new_string replaceAll=replace_all"},
		{native: "multiedit", own: "MultiEdit", fields: "filePath=file_path"},
		{native: "read", own: "Read", fields: "filePath=file_path"},
		{native: "apply_patch", own: "apply_patch", fields: "patchText=command", open: openPatch, shut: shutPatch},
		{native: "patch", own: "apply_patch", fields: "patchText=command", open: openPatch, shut: shutPatch},
		{native: "grep", own: "Grep", fields: "include=glob"},
		{native: "glob", own: "Glob"},
		{native: "list", own: "LS"},
		{native: "webfetch", own: "WebFetch"},
		{native: "websearch", own: "WebSearch"},
		{native: "codesearch", own: "WebSearch"},
		{native: "task", own: "Agent"},
		{native: "skill", own: "Skill", fields: "name=skill"},
		{native: "todowrite", own: "TodoWrite"},
		{native: "todoread", own: "TodoWrite"},
		{native: "question", own: "AskUserQuestion"},
		{native: "plan_enter", own: "EnterPlanMode"},
		{native: "plan_exit", own: "ExitPlanMode"},
	},
}

const openCodeWait = 60 * time.Second

// opencodeServer names the tool of an MCP server: the agent's own have no line
// in their names, but for those in the table. A server's own lines cannot be
// told from the one behind its name.
func opencodeServer(tool string, _ map[string]any) (string, bool) {
	server, name, ok := strings.Cut(tool, "_")
	return serverTool(server, name), ok && server != "" && name != ""
}

// adaptOpenCode takes the agent's own notifications apart.
func adaptOpenCode(fields, doc map[string]any, w *eventWord) error {
	about, _ := doc["event"].(map[string]any)
	properties, _ := about["properties"].(map[string]any)
	session, ok := properties["sessionID"].(string)
	if !ok {
		session, ok = doc["sessionID"].(string)
	}
	if ok && fields["session_id"] == nil {
		fields["session_id"] = session
	}
	if w.own() == hook.Notification {
		fields["notification_type"] = w.native
	}
	return nil
}

func renderOpenCode(r *reply) Answer {
	doc := map[string]any{"decision": "continue"}
	switch {
	case r.refused():
		doc["decision"], doc["reason"] = "deny", r.reason()
	case r.input != nil:
		doc["input"] = r.input
	case r.output != nil:
		doc["output"] = r.outputAndContext()
	}
	if r.context != "" {
		doc["context"] = r.context
	}
	return answerOf(doc)
}

//go:embed opencode_plugin.js
var openCodePlugin string

// OpenCodePlugin is the plugin that asks gate before each call of OpenCode, as
// JavaScript for a file in one of its plugin directories. command is the hook's
// command line, with an absolute path first; wait is how long an answer may
// take, a minute if it is not positive. Whatever goes wrong on the way (gate is
// missing, dies, is late or says nonsense), the call does not run.
func OpenCodePlugin(command []string, wait time.Duration) []byte {
	if wait <= 0 {
		wait = openCodeWait
	}
	return []byte(strings.NewReplacer(
		`["COMMAND"]`, string(strictjson.Append(nil, command)),
		`"WAIT"`, strconv.FormatInt(wait.Milliseconds(), 10),
	).Replace(openCodePlugin))
}
