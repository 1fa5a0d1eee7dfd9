package matcher

import (
	"strings"

	"gate/hook"
)

// Subject returns the text that matchers of an event are matched on.
// On events without any, matchers do not count and
// matched is false. missing reports that the event ought to have the text and
// does not.
func Subject(ev *hook.Event) (value string, matched, missing bool) {
	field := Field(ev.Name)
	if field == "" {
		if knownName(ev.Name) || ev.Tool() == "" {
			return "", false, false
		}
		field = "tool_name" // an event that gate has never heard of, about a tool
	}
	value, ok := ev.Fields[field].(string)
	if ev.Name == hook.FileChanged {
		value = value[strings.LastIndexAny(value, `/\`)+1:]
	}
	return value, true, !ok
}

// Field returns the name of the top-level field that matchers of an event are
// matched on, "" if there is none or the event is unknown.
func Field(n hook.Name) string {
	switch n {
	case hook.PreToolUse, hook.PermissionRequest, hook.PermissionDenied, hook.PostToolUse, hook.PostToolUseFailure:
		return "tool_name"
	case hook.SessionStart, hook.ConfigChange, hook.DirectoryAdded:
		return "source"
	case hook.Setup, hook.PreCompact, hook.PostCompact:
		return "trigger"
	case hook.UserPromptExpansion:
		return "command_name"
	case hook.Notification:
		return "notification_type"
	case hook.SubagentStart, hook.SubagentStop:
		return "agent_type"
	case hook.StopFailure:
		return "error"
	case hook.InstructionsLoaded:
		return "load_reason"
	case hook.FileChanged:
		return "file_path"
	case hook.PreModelSwitch, hook.PostModelSwitch:
		return "to_model"
	case hook.Elicitation, hook.ElicitationResult:
		return "mcp_server_name"
	case hook.SessionEnd:
		return "reason"
	}
	return ""
}

// knownName reports events that are known to be matched on nothing.
func knownName(n hook.Name) bool {
	switch n {
	case hook.UserPromptSubmit, hook.PostToolBatch, hook.MessageDisplay, hook.TaskCreated, hook.TaskCompleted,
		hook.Stop, hook.TeammateIdle, hook.CwdChanged, hook.WorktreeCreate, hook.WorktreeRemove:
		return true
	}
	return false
}
