package moment

// common are the fields of every event.
var common = [...]Field{
	{Name: "session_id", Need: Sent}, {Name: "transcript_path", Need: Sent}, {Name: "cwd", Need: Sent},
	{Name: "hook_event_name", Need: Must}, {Name: "prompt_id"},
	{Name: "permission_mode", Known: "default acceptEdits plan dontAsk auto bypassPermissions"},
	{Name: "agent_id"}, {Name: "agent_type"},
	{Name: "effort", Type: Object, Of: []Field{{Name: "level", Known: "low medium high xhigh max"}}},
}

// unlisted are the types that well-known fields keep on an event nobody has
// heard of.
var unlisted = [...]Field{
	{Name: "tool_name"}, {Name: "tool_input", Type: Object}, {Name: "tool_use_id"},
	{Name: "prompt"}, {Name: "tool_calls", Type: List}, {Name: "file_path"},
}

// moments is the table. Its rows are the events of Claude Code 2.1.329. Fields
// that nothing is decided by may be missing even where the client always sends
// them: a gate that trips over the next version's small change gets removed.
var moments = [...]Moment{
	{
		Name: SessionStart, Matches: "source", Closes: ClosesNever, Shell: true, Example: "source",
		Fields: []Field{
			{Name: "source", Need: Sent, Known: "startup resume clear compact fork"}, {Name: "model"}, {Name: "session_title"},
			{Name: "seconds_since_last_response", Type: Number}, {Name: "context_tokens", Type: Number},
			{Name: "prompt_cache_likely_expired", Type: Boolean}, {Name: "estimated_cache_write_usd", Type: Number},
		},
	},
	{
		Name: Setup, Matches: "trigger", Closes: ClosesNever, Shell: true, Example: "trigger",
		Fields: []Field{{Name: "trigger", Need: Sent, Known: "init maintenance"}},
	},
	{
		// The person must be able to talk while gate is broken: tools stay closed.
		Name: UserPromptSubmit, Alias: "message_submit", Rewrites: "prompt", Closes: ClosesForHooks, Example: "prompt",
		Fields: []Field{
			{Name: "prompt", Need: Must}, {Name: "source", Known: "user sdk system loop_wakeup schedule_wakeup poll_event"},
			{Name: "session_title"},
		},
	},
	{
		// A command's own lines run while it is expanded, without a PreToolUse.
		// The person can still talk without it.
		Name: UserPromptExpansion, Matches: "command_name", Closes: ClosesAlways, Example: "prompt",
		Fields: []Field{
			{Name: "prompt", Need: Must}, {Name: "command_name", Need: Sent}, {Name: "expansion_type", Known: "slash_command mcp_prompt"},
			{Name: "command_args"}, {Name: "command_source"},
		},
	},
	{
		Name: PreToolUse, Matches: "tool_name", Rewrites: "tool_input", Closes: ClosesAlways, Example: "tool_input",
		Fields: []Field{
			{Name: "tool_name", Need: Must}, {Name: "tool_input", Type: Object, Need: Must}, {Name: "tool_use_id"},
			{Name: "mcp_server", Type: Object, Of: server},
		},
	},
	{
		Name: PermissionRequest, Matches: "tool_name", Rewrites: "tool_input", Closes: ClosesAlways, Example: "tool_input",
		Fields: []Field{
			{Name: "tool_name", Need: Must}, {Name: "tool_input", Type: Object, Need: Must}, {Name: "tool_use_id"},
			{Name: "permission_suggestions", Type: List}, {Name: "mcp_server", Type: Object, Of: server},
		},
	},
	{
		Name: PermissionDenied, Matches: "tool_name", Closes: ClosesNever,
		Fields: []Field{
			{Name: "tool_name", Need: Must}, {Name: "tool_input", Type: Object, Need: Must}, {Name: "tool_use_id"},
			{Name: "reason"}, {Name: "mcp_server", Type: Object, Of: server},
		},
	},
	{
		Name: PostToolUse, Matches: "tool_name", Rewrites: "tool_response", Closes: ClosesNever, Example: "tool_response",
		Fields: []Field{
			{Name: "tool_name", Need: Must}, {Name: "tool_input", Type: Object, Need: Must}, {Name: "tool_response", Type: Anything, Need: Must},
			{Name: "tool_use_id"}, {Name: "duration_ms", Type: Number}, {Name: "mcp_server", Type: Object, Of: server},
		},
	},
	{
		Name: PostToolUseFailure, Matches: "tool_name", Closes: ClosesNever, Example: "error",
		Fields: []Field{
			{Name: "tool_name", Need: Must}, {Name: "tool_input", Type: Object, Need: Must}, {Name: "error", Need: Sent}, {Name: "tool_use_id"},
			{Name: "is_interrupt", Type: Boolean}, {Name: "duration_ms", Type: Number}, {Name: "mcp_server", Type: Object, Of: server},
		},
	},
	{
		Name: PostToolBatch, Closes: ClosesNever,
		Fields: []Field{{Name: "tool_calls", Type: List, Need: Must, Of: []Field{
			{Name: "tool_name", Need: Must}, {Name: "tool_input", Type: Object, Need: Must}, {Name: "tool_use_id"}, {Name: "tool_response", Type: Anything},
		}}},
	},
	{
		Name: Notification, Matches: "notification_type", Closes: ClosesNever, Example: "message",
		Fields: []Field{{Name: "message", Need: Sent}, {Name: "notification_type", Need: Sent}, {Name: "title"}},
	},
	{
		Name: MessageDisplay, Closes: ClosesNever,
		Fields: []Field{
			{Name: "delta", Need: Sent}, {Name: "turn_id"}, {Name: "message_id"}, {Name: "index", Type: Number}, {Name: "final", Type: Boolean},
		},
	},
	{
		Name: SubagentStart, Alias: "subagent_spawn", Matches: "agent_type", Closes: ClosesNever, Example: "agent_type",
		Fields: []Field{{Name: "agent_id", Need: Sent}, {Name: "agent_type", Need: Sent}},
	},
	{
		// A block on the ends of turns and tasks keeps the agent going.
		Name: SubagentStop, Alias: "subagent_complete", Matches: "agent_type", Closes: ClosesNever, Example: "agent_type",
		Fields: []Field{
			{Name: "agent_id", Need: Sent}, {Name: "agent_type", Need: Sent}, {Name: "stop_hook_active", Type: Boolean, Need: Sent},
			{Name: "agent_transcript_path"}, {Name: "last_assistant_message"},
			{Name: "background_tasks", Type: List}, {Name: "session_crons", Type: List},
		},
	},
	{
		Name: TaskCreated, Closes: ClosesAlways, Example: "task_subject",
		Fields: []Field{
			{Name: "task_id", Need: Sent}, {Name: "task_subject", Need: Sent}, {Name: "task_description"},
			{Name: "teammate_name"}, {Name: "team_name"},
		},
	},
	{
		Name: TaskCompleted, Closes: ClosesNever, Example: "task_subject",
		Fields: []Field{
			{Name: "task_id", Need: Sent}, {Name: "task_subject", Need: Sent}, {Name: "task_description"},
			{Name: "teammate_name"}, {Name: "team_name"},
		},
	},
	{
		Name: Stop, Alias: "turn_end", Closes: ClosesNever, Example: "last_assistant_message",
		Fields: []Field{
			{Name: "stop_hook_active", Type: Boolean, Need: Sent}, {Name: "last_assistant_message"},
			{Name: "background_tasks", Type: List}, {Name: "session_crons", Type: List},
		},
	},
	{
		Name: StopFailure, Matches: "error", Closes: ClosesNever,
		Fields: []Field{{Name: "error", Need: Sent}, {Name: "error_details"}, {Name: "last_assistant_message"}},
	},
	{
		Name: TeammateIdle, Closes: ClosesNever,
		Fields: []Field{{Name: "teammate_name", Need: Sent}, {Name: "team_name"}},
	},
	{
		Name: InstructionsLoaded, Matches: "load_reason", Closes: ClosesNever, File: "file_path", Example: "file_path",
		Fields: []Field{
			{Name: "file_path", Need: Must}, {Name: "memory_type", Known: "User Project Local Managed"},
			{Name: "load_reason", Need: Sent, Known: "session_start nested_traversal path_glob_match include compact"},
			{Name: "globs", Type: Texts}, {Name: "trigger_file_path"}, {Name: "parent_file_path"},
		},
	},
	{
		Name: ConfigChange, Matches: "source", Closes: ClosesAlways, File: "file_path", Example: "source",
		Fields: []Field{
			{Name: "source", Need: Sent, Known: "user_settings project_settings local_settings policy_settings skills"}, {Name: "file_path"},
		},
	},
	{
		Name: CwdChanged, Closes: ClosesNever, Shell: true, Example: "new_cwd",
		Fields: []Field{{Name: "new_cwd", Need: Must}, {Name: "old_cwd", Need: Sent}},
	},
	{
		Name: DirectoryAdded, Matches: "source", Closes: ClosesNever,
		Fields: []Field{{Name: "directory", Need: Must}, {Name: "source", Need: Sent, Known: "slash_command register_repo_root"}},
	},
	{
		Name: FileChanged, Matches: "file_path", Closes: ClosesNever, File: "file_path", Shell: true, Example: "file_path",
		Fields: []Field{{Name: "file_path", Need: Must}, {Name: "event", Need: Sent, Known: "change add unlink"}},
	},
	{
		Name: WorktreeCreate, Closes: ClosesAlways,
		Fields: []Field{{Name: "name", Need: Sent}},
	},
	{
		Name: WorktreeRemove, Closes: ClosesNever,
		Fields: []Field{{Name: "worktree_path", Need: Must}},
	},
	{
		// A session whose memory is full must be able to go on.
		Name: PreCompact, Matches: "trigger", Closes: ClosesForHooks, Example: "trigger",
		Fields: []Field{{Name: "trigger", Need: Sent, Known: "manual auto"}, {Name: "custom_instructions", Need: OrNull}},
	},
	{
		Name: PostCompact, Matches: "trigger", Closes: ClosesNever,
		Fields: []Field{{Name: "trigger", Need: Sent, Known: "manual auto"}, {Name: "compact_summary"}},
	},
	{Name: PreModelSwitch, Matches: "to_model", Closes: ClosesAlways, Example: "to_model", Fields: modelSwitch},
	{Name: PostModelSwitch, Matches: "to_model", Closes: ClosesNever, Example: "to_model", Fields: modelSwitch},
	{
		Name: Elicitation, Matches: "mcp_server_name", Closes: ClosesAlways, Example: "message",
		Fields: []Field{
			{Name: "mcp_server_name", Need: Must}, {Name: "message", Need: Sent}, {Name: "mode", Known: "form url"}, {Name: "url"},
			{Name: "elicitation_id"}, {Name: "requested_schema", Type: Object},
		},
	},
	{
		Name: ElicitationResult, Matches: "mcp_server_name", Closes: ClosesAlways,
		Fields: []Field{
			{Name: "mcp_server_name", Need: Must}, {Name: "action", Need: Must, Known: "accept decline cancel"}, {Name: "mode", Known: "form url"},
			{Name: "elicitation_id"}, {Name: "content", Type: Object},
		},
	},
	{
		Name: SessionEnd, Matches: "reason", Closes: ClosesNever, Example: "reason",
		Fields: []Field{{Name: "reason", Need: Sent, Known: "clear resume logout prompt_input_exit other"}},
	},
}

// server is the MCP server whose tool is called.
var server = []Field{{Name: "name"}, {Name: "source"}}

var modelSwitch = []Field{
	{Name: "to_model", Need: Must}, {Name: "from_model", Need: Sent}, {Name: "requested_model", Need: OrNull},
	{Name: "source", Known: "command picker sdk auto resume"}, {Name: "context_tokens", Type: Number}, {Name: "prompt_cache_warm", Type: Boolean},
	{Name: "cache_ttl", Known: "5m 1h"}, {Name: "estimated_cache_write_usd", Type: Number}, {Name: "pricing", Known: "configured catalog default"},
}
