package adapters

import (
	"gate/hook"
)

// A kind is the JSON type of a field.
type kind uint8

const (
	anything kind = iota
	text
	number
	boolean
	object
	list
)

// A need says when a field may be missing.
type need uint8

const (
	maybe  need = iota // may be missing
	orNull             // may be missing or null
	sent               // the agent always sends it; a canonical event may leave it out
	must               // judging the event without it would be a guess
)

type field struct {
	name string
	kind kind
	need need
}

// common are the fields of every event.
var common = []field{
	{"session_id", text, sent}, {"transcript_path", text, sent}, {"cwd", text, sent},
	{"hook_event_name", text, must}, {"prompt_id", text, maybe}, {"permission_mode", text, maybe},
	{"agent_id", text, maybe}, {"agent_type", text, maybe}, {"effort", object, maybe},
}

type eventFields struct {
	name   hook.Name
	fields []field
}

// events are the fields of each event besides the common ones, the canonical
// names and types. Fields that nothing is decided by may
// be missing even where the client always sends them: a gate that trips over
// the next version's small change gets removed.
var events = [...]eventFields{
	{hook.SessionStart, []field{{"source", text, sent}, {"model", text, maybe}, {"session_title", text, maybe}}},
	{hook.Setup, []field{{"trigger", text, sent}}},
	{hook.UserPromptSubmit, []field{{"prompt", text, must}, {"source", text, maybe}, {"session_title", text, maybe}}},
	{hook.UserPromptExpansion, []field{{"prompt", text, must}, {"command_name", text, sent},
		{"expansion_type", text, maybe}, {"command_args", text, maybe}, {"command_source", text, maybe}}},
	{hook.PreToolUse, []field{{"tool_name", text, must}, {"tool_input", object, must},
		{"tool_use_id", text, maybe}, {"mcp_server", object, maybe}}},
	{hook.PermissionRequest, []field{{"tool_name", text, must}, {"tool_input", object, must},
		{"permission_suggestions", list, maybe}, {"mcp_server", object, maybe}}},
	{hook.PermissionDenied, []field{{"tool_name", text, must}, {"tool_input", object, must},
		{"tool_use_id", text, maybe}, {"reason", text, maybe}, {"mcp_server", object, maybe}}},
	{hook.PostToolUse, []field{{"tool_name", text, must}, {"tool_input", object, must}, {"tool_response", anything, must},
		{"tool_use_id", text, maybe}, {"duration_ms", number, maybe}, {"mcp_server", object, maybe}}},
	{hook.PostToolUseFailure, []field{{"tool_name", text, must}, {"tool_input", object, must}, {"error", text, sent},
		{"tool_use_id", text, maybe}, {"is_interrupt", boolean, maybe}, {"duration_ms", number, maybe}, {"mcp_server", object, maybe}}},
	{hook.PostToolBatch, []field{{"tool_calls", list, must}}},
	{hook.Notification, []field{{"message", text, sent}, {"notification_type", text, sent}, {"title", text, maybe}}},
	{hook.MessageDisplay, []field{{"delta", text, sent}, {"turn_id", text, maybe}, {"message_id", text, maybe},
		{"index", number, maybe}, {"final", boolean, maybe}}},
	{hook.SubagentStart, []field{{"agent_id", text, sent}, {"agent_type", text, sent}}},
	{hook.SubagentStop, []field{{"agent_id", text, sent}, {"agent_type", text, sent}, {"stop_hook_active", boolean, sent},
		{"agent_transcript_path", text, maybe}, {"last_assistant_message", text, maybe},
		{"background_tasks", list, maybe}, {"session_crons", list, maybe}}},
	{hook.TaskCreated, []field{{"task_id", text, sent}, {"task_subject", text, sent}, {"task_description", text, maybe},
		{"teammate_name", text, maybe}, {"team_name", text, maybe}}},
	{hook.TaskCompleted, []field{{"task_id", text, sent}, {"task_subject", text, sent}, {"task_description", text, maybe},
		{"teammate_name", text, maybe}, {"team_name", text, maybe}}},
	{hook.Stop, []field{{"stop_hook_active", boolean, sent}, {"last_assistant_message", text, maybe},
		{"background_tasks", list, maybe}, {"session_crons", list, maybe}}},
	{hook.StopFailure, []field{{"error", text, sent}, {"error_details", text, maybe}, {"last_assistant_message", text, maybe}}},
	{hook.TeammateIdle, []field{{"teammate_name", text, sent}, {"team_name", text, maybe}}},
	{hook.InstructionsLoaded, []field{{"file_path", text, must}, {"memory_type", text, maybe}, {"load_reason", text, sent},
		{"globs", list, maybe}, {"trigger_file_path", text, maybe}, {"parent_file_path", text, maybe}}},
	{hook.ConfigChange, []field{{"source", text, sent}, {"file_path", text, maybe}}},
	{hook.CwdChanged, []field{{"new_cwd", text, must}, {"old_cwd", text, sent}}},
	{hook.DirectoryAdded, []field{{"directory", text, must}, {"source", text, sent}}},
	{hook.FileChanged, []field{{"file_path", text, must}, {"event", text, sent}}},
	{hook.WorktreeCreate, []field{{"name", text, sent}}},
	{hook.WorktreeRemove, []field{{"worktree_path", text, must}}},
	{hook.PreCompact, []field{{"trigger", text, sent}, {"custom_instructions", text, orNull}}},
	{hook.PostCompact, []field{{"trigger", text, sent}, {"compact_summary", text, maybe}}},
	{hook.PreModelSwitch, []field{{"to_model", text, must}, {"from_model", text, sent}, {"requested_model", text, orNull}, {"source", text, maybe}}},
	{hook.PostModelSwitch, []field{{"to_model", text, must}, {"from_model", text, sent}, {"requested_model", text, orNull}, {"source", text, maybe}}},
	{hook.Elicitation, []field{{"mcp_server_name", text, must}, {"message", text, sent}, {"mode", text, maybe}, {"url", text, maybe},
		{"elicitation_id", text, maybe}, {"requested_schema", object, maybe}}},
	{hook.ElicitationResult, []field{{"mcp_server_name", text, must}, {"action", text, must}, {"mode", text, maybe},
		{"elicitation_id", text, maybe}, {"content", object, maybe}}},
	{hook.SessionEnd, []field{{"reason", text, sent}}},
}

// unlisted are the types that well-known fields keep on an event nobody has
// heard of.
var unlisted = []field{
	{"tool_name", text, maybe}, {"tool_input", object, maybe}, {"tool_use_id", text, maybe},
	{"prompt", text, maybe}, {"tool_calls", list, maybe}, {"file_path", text, maybe},
}

type toolFields struct {
	name   string
	fields []field
}

// tools are the inputs of tools whose fields policies read. The client has
// checked the input against the tool's schema before hooks see it, so a missing
// command is no call of Bash.
var tools = [...]toolFields{
	{"Bash", []field{{"command", text, must}, {"description", text, maybe}}},
	{"PowerShell", []field{{"command", text, must}, {"description", text, maybe}}},
	{"Monitor", []field{{"command", text, maybe}, {"description", text, maybe}}},
	{"Write", []field{{"file_path", text, must}, {"content", text, must}}},
	{"Edit", []field{{"file_path", text, must}, {"old_string", text, must}, {"new_string", text, must}}},
	{"MultiEdit", []field{{"file_path", text, must}, {"edits", list, must}}},
	{"NotebookEdit", []field{{"notebook_path", text, must}, {"new_source", text, must}}},
	{"Read", []field{{"file_path", text, must}}},
	{"Glob", []field{{"pattern", text, must}, {"path", text, maybe}}},
	{"Grep", []field{{"pattern", text, must}, {"path", text, maybe}, {"glob", text, maybe}}},
	{"LS", []field{{"path", text, must}}},
	{"WebFetch", []field{{"url", text, must}, {"prompt", text, maybe}}},
	{"WebSearch", []field{{"query", text, must}}},
	{"Agent", []field{{"prompt", text, must}, {"description", text, maybe}, {"subagent_type", text, maybe}}},
	{"Task", []field{{"prompt", text, must}, {"description", text, maybe}, {"subagent_type", text, maybe}}},
	{"Skill", []field{{"skill", text, maybe}, {"args", text, maybe}}},
}

// inputKeys are the keys of any tool's input that facts look for.
var inputKeys = []field{
	{name: "command"}, {name: "cmd"}, {name: "script"}, {name: "code"}, {name: "file_path"}, {name: "notebook_path"},
	{name: "path"}, {name: "url"}, {name: "content"}, {name: "pattern"}, {name: "prompt"},
}
