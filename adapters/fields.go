package adapters

import "gate/hook"

type toolFields struct {
	name   string
	fields []hook.Field
}

// tools are the inputs of tools whose fields policies read. The client has
// checked the input against the tool's schema before hooks see it, so a missing
// command is no call of Bash.
var tools = [...]toolFields{
	{"Bash", []hook.Field{{Name: "command", Need: hook.Must}, {Name: "description"}}},
	{"PowerShell", []hook.Field{{Name: "command", Need: hook.Must}, {Name: "description"}}},
	{"Monitor", []hook.Field{{Name: "command"}, {Name: "description"}}},
	{"Write", []hook.Field{{Name: "file_path", Need: hook.Must}, {Name: "content", Need: hook.Must}}},
	{"Edit", []hook.Field{{Name: "file_path", Need: hook.Must}, {Name: "old_string", Need: hook.Must}, {Name: "new_string", Need: hook.Must}}},
	{"MultiEdit", []hook.Field{{Name: "file_path", Need: hook.Must}, {Name: "edits", Type: hook.List, Need: hook.Must}}},
	{"NotebookEdit", []hook.Field{{Name: "notebook_path", Need: hook.Must}, {Name: "new_source", Need: hook.Must}}},
	{"Read", []hook.Field{{Name: "file_path", Need: hook.Must}}},
	{"Glob", []hook.Field{{Name: "pattern", Need: hook.Must}, {Name: "path"}}},
	{"Grep", []hook.Field{{Name: "pattern", Need: hook.Must}, {Name: "path"}, {Name: "glob"}}},
	{"LS", []hook.Field{{Name: "path", Need: hook.Must}}},
	{"WebFetch", []hook.Field{{Name: "url", Need: hook.Must}, {Name: "prompt"}}},
	{"WebSearch", []hook.Field{{Name: "query", Need: hook.Must}}},
	{"Agent", []hook.Field{{Name: "prompt", Need: hook.Must}, {Name: "description"}, {Name: "subagent_type"}}},
	{"Task", []hook.Field{{Name: "prompt", Need: hook.Must}, {Name: "description"}, {Name: "subagent_type"}}},
	{"Skill", []hook.Field{{Name: "skill"}, {Name: "args"}}},
}

// inputKeys are the keys of any tool's input that facts look for.
var inputKeys = [...]string{"command", "cmd", "script", "code", "file_path", "notebook_path", "path", "url", "content", "pattern", "prompt"}
