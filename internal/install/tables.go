package install

// tables lists the agents that are described by tables. What they do is in
// docs/agents.md; where their files are and how an entry is written was observed
// for Codex, Gemini, Qwen, Copilot and OpenCode, and is by contract for the rest.
func tables() []*table {
	return []*table{&antigravityTable, &auggieTable, &clineTable, &codexTable, &copilotTable, &cursorTable, &droidTable, &geminiTable, &kimiTable, &kiroTable, &opencodeTable, &qwenTable, &windsurfTable}
}

var everywhere = []Scope{Project, User, Managed}

// In the texts of these, AGENT stands for the agent's title.
var (
	// byContract is what is said of agents that nobody here has driven.
	byContract = weakness{"gate.unproven", everywhere, Notice, "gate was never seen at work in AGENT: its files and answers are by its documents",
		"see it deny a call once: ask for mkfs.ext4 /dev/gate-test in a new session (there is no such device)"}
	// inTrusted is what holds for hooks of a project.
	inTrusted = weakness{"gate.trust", []Scope{Project}, Warning, "AGENT runs a project's hooks only where a person trusts the folder",
		"trust it when AGENT asks, or install in the user scope"}
	// late is what nearly all agents do about a hook that is late. One that does not
	// start, or dies, is closed by the shell before it, see elseRefuse.
	late = weakness{"gate.open", everywhere, Notice, "AGENT lets a call run when a hook is late, as when its process was stopped, and on Windows when it does not start",
		"keep gate's programs where no other account can write, and its processes where no other account can stop them"}
)

var codexTable = table{
	id: "codex", title: "Codex", shut: true, resume: "codex resume SESSION", home: ".codex", sessions: "sessions", user: "hooks.json", project: ".codex/hooks.json",
	managed: []systemFile{{"linux", "etc/codex/requirements.toml"}}, format: jsonHooks{}, toml: tomlHooks{},
	events: []string{"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
		"SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Interrupt"},
	matcher: ".*", wait: "timeout", beside: codexConfig, trustFile: "config.toml", trust: trustCodex,
	pins: []pin{{[]string{"allow_managed_hooks_only"}, "true", true}, {[]string{"features", "hooks"}, "true", true}},
	weak: []weakness{
		{"gate.trust", []Scope{Project, User}, Warning, "Codex skips a hook without a word until a person has trusted its present form",
			"gate install codex --trust-hooks at a terminal, or trust them in Codex (/hooks), or install in the managed scope"},
		{"gate.hidden", everywhere, Notice, "hooks never see text that is typed into a running shell (write_stdin)",
			"judge the call that opens such a shell; docs/agents.md says more"},
		late,
	},
}

var geminiTable = table{
	id: "gemini", title: "Gemini CLI", shut: true, bars: true, resume: "gemini --resume SESSION", home: ".gemini", user: "settings.json", project: ".gemini/settings.json",
	managed: []systemFile{{"linux", "etc/gemini-cli/settings.json"}, {"darwin", "Library/Application Support/GeminiCli/settings.json"}, {"windows", "ProgramData/gemini-cli/settings.json"}},
	format:  jsonHooks{}, lax: true,
	events:  []string{"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionStart", "SessionEnd", "Notification", "PreCompress"},
	matcher: "*", wait: "timeout", perSec: 1000, more: []field{{"name", `"gate"`}},
	pins: []pin{{[]string{"hooksConfig", "enabled"}, "true", true}},
	off:  []off{{[]string{"hooksConfig", "enabled"}, "false", false}, {[]string{"hooksConfig", "disabled"}, "gate", true}},
	weak: []weakness{
		{"gate.named", []Scope{Managed}, Warning, "a user can switch gate's hooks off by their name (hooksConfig.disabled), also where they are pinned",
			"put rules that must bind every user into /etc/gemini-cli/policies as well"},
		inTrusted, late,
	},
}

var qwenTable = table{
	id: "qwen", title: "Qwen Code", shut: true, home: ".qwen", sessions: "projects", user: "settings.json", project: ".qwen/settings.json",
	managed: []systemFile{{"linux", "etc/qwen-code/settings.json"}, {"darwin", "Library/Application Support/QwenCode/settings.json"}, {"windows", "ProgramData/qwen-code/settings.json"}},
	format:  jsonHooks{}, lax: true,
	events: []string{"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "Stop",
		"SessionStart", "SessionEnd", "InstructionsLoaded", "Notification", "SubagentStart", "SubagentStop", "PreCompact", "PermissionDenied"},
	matcher: "*", wait: "timeout", more: []field{{"name", `"gate"`}},
	pins: []pin{{[]string{"disableAllHooks"}, "false", true}},
	off:  []off{{[]string{"disableAllHooks"}, "true", false}},
	weak: []weakness{
		{"gate.undone", everywhere, Notice, "where a hook after gate's allows or changes a call, Qwen Code runs it though gate denied it",
			"let gate's be the last hook of PreToolUse, also among those of a project"},
		inTrusted, late,
	},
}

var copilotTable = table{
	id: "copilot", title: "Copilot CLI", shut: true, resume: "copilot --resume=SESSION", home: ".copilot", user: "hooks/gate.json", project: ".github/hooks/gate.json",
	managed: []systemFile{{"linux", "etc/github-copilot/policy.d/gate.json"}}, format: jsonHooks{}, flat: true,
	events: []string{"preToolUse", "permissionRequest", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "sessionStart", "sessionEnd",
		"agentStop", "subagentStart", "subagentStop", "preCompact", "errorOccurred", "notification"},
	command: "bash", wait: "timeoutSec", deny: `{"permissionDecision":"deny","permissionDecisionReason":"` + noAnswer + `"}`,
	pins:    []pin{{[]string{"version"}, "1", false}},
	plugins: "settings.json", copies: "installed-plugins", // as observed with 1.0.102
	markets: []string{".plugin/marketplace.json", ".github/plugin/marketplace.json", ".claude-plugin/marketplace.json"},
	weak: []weakness{inTrusted,
		late},
}

var opencodeTable = table{
	id: "opencode", title: "OpenCode", home: ".config/opencode", user: "plugin/gate.js", project: ".opencode/plugin/gate.js",
	format: ownFile{text: opencodePlugin}, events: []string{""},
	weak: []weakness{{"gate.plugin", []Scope{Project, User}, Warning,
		"OpenCode drops a plugin that does not load without a word, and all of them with --pure", "see it deny a call once: ask for mkfs.ext4 /dev/gate-test in a new session (there is no such device)"}},
}

var cursorTable = table{
	id: "cursor", title: "Cursor", programs: []string{"cursor-agent"}, resume: "cursor-agent --resume=SESSION", home: ".cursor", user: "hooks.json", project: ".cursor/hooks.json",
	managed: []systemFile{{"linux", "etc/cursor/hooks.json"}, {"darwin", "Library/Application Support/Cursor/hooks.json"}, {"windows", "ProgramData/Cursor/hooks.json"}},
	format:  jsonHooks{}, flat: true,
	// One call brings preToolUse and an event of its own kind: to judge both
	// would count it twice. The editor's completions have theirs only.
	events: []string{"preToolUse", "postToolUse", "postToolUseFailure", "beforeTabFileRead", "afterTabFileEdit", "beforeSubmitPrompt",
		"sessionStart", "sessionEnd", "stop", "subagentStart", "subagentStop", "preCompact"},
	wait: "timeout", more: []field{{"failClosed", "true"}},
	pins: []pin{{[]string{"version"}, "1", false}},
	weak: []weakness{byContract},
}

var droidTable = table{
	id: "droid", title: "Factory Droid", shut: true, home: ".factory", user: "hooks.json", project: ".factory/hooks.json", format: jsonHooks{},
	events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Notification", "Stop", "SubagentStop", "PreCompact",
		"SessionStart", "SessionEnd"},
	matcher: "*", wait: "timeout", weak: []weakness{byContract, late},
}

var auggieTable = table{
	id: "auggie", title: "Auggie", shut: true, home: ".augment", user: "settings.json", project: ".augment/settings.json",
	managed: []systemFile{{"linux", "etc/augment/settings.json"}}, format: jsonHooks{},
	events:  []string{"PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd", "Notification", "PromptSubmit"},
	matcher: ".*", wait: "timeout", weak: []weakness{byContract, late},
}

var antigravityTable = table{
	id: "antigravity", title: "Antigravity CLI", programs: []string{"agy"}, home: ".gemini/config", user: "hooks.json", project: ".agents/hooks.json",
	format: jsonHooks{}, in: "gate", events: []string{"PreToolUse", "PostToolUse", "Stop"}, matcher: ".*",
	weak: []weakness{byContract},
}

var windsurfTable = table{
	id: "windsurf", title: "Windsurf", shut: true, home: ".codeium/windsurf", user: "hooks.json", project: ".windsurf/hooks.json",
	managed: []systemFile{{"linux", "etc/windsurf/hooks.json"}, {"darwin", "Library/Application Support/Windsurf/hooks.json"}, {"windows", "ProgramData/Windsurf/hooks.json"}},
	format:  jsonHooks{}, flat: true,
	events: []string{"pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use", "pre_user_prompt", "post_run_command",
		"post_write_code", "post_read_code", "post_mcp_tool_use", "post_cascade_response"},
	more: []field{{"show_output", "true"}}, weak: []weakness{byContract, late},
}

var kiroTable = table{
	id: "kiro", title: "Kiro CLI", programs: []string{"kiro-cli"}, traces: []string{".kiro"}, shut: true, project: ".kiro/hooks/gate.json", format: ownFile{text: kiroHooks},
	events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"},
	weak:   []weakness{byContract, late},
}

var kimiTable = table{
	id: "kimi", title: "Kimi Code", shut: true, home: ".kimi-code", user: "config.toml", format: tomlHooks{list: true},
	events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptSubmit", "Stop", "StopFailure",
		"SessionStart", "SessionEnd", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Notification"},
	matcher: ".*", wait: "timeout", weak: []weakness{byContract, late},
}

var clineTable = table{
	id: "cline", title: "Cline", home: "Documents/Cline", user: "Hooks", project: ".clinerules/hooks", each: true,
	format: eventFiles{refuse: `'{"cancel":true,"errorMessage":"` + noAnswer + `"}'`},
	events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "TaskStart", "TaskResume", "TaskCancel", "TaskComplete", "TaskError", "PreCompact", "SessionShutdown"},
	weak:   []weakness{byContract, late},
}
