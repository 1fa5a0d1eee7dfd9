package adapters

import "gate/internal/moment"

type toolFields struct {
	name   string
	fields []moment.Field
}

// tools are the inputs of tools whose fields policies read. The client has
// checked the input against the tool's schema before hooks see it, so a missing
// command is no call of Bash.
var tools = [...]toolFields{
	{"Bash", []moment.Field{{Name: "command", Need: moment.Must}, {Name: "description"}}},
	{"PowerShell", []moment.Field{{Name: "command", Need: moment.Must}, {Name: "description"}}},
	{"Monitor", []moment.Field{{Name: "command"}, {Name: "description"}}},
	{"Write", []moment.Field{{Name: "file_path", Need: moment.Must}, {Name: "content", Need: moment.Must}}},
	{"Edit", []moment.Field{{Name: "file_path", Need: moment.Must}, {Name: "old_string", Need: moment.Must}, {Name: "new_string", Need: moment.Must}}},
	{"MultiEdit", []moment.Field{{Name: "file_path", Need: moment.Must}, {Name: "edits", Type: moment.List, Need: moment.Must}}},
	{"NotebookEdit", []moment.Field{{Name: "notebook_path", Need: moment.Must}, {Name: "new_source", Need: moment.Must}}},
	{"Read", []moment.Field{{Name: "file_path", Need: moment.Must}}},
	{"Glob", []moment.Field{{Name: "pattern", Need: moment.Must}, {Name: "path"}}},
	{"Grep", []moment.Field{{Name: "pattern", Need: moment.Must}, {Name: "path"}, {Name: "glob"}}},
	{"LS", []moment.Field{{Name: "path", Need: moment.Must}}},
	{"WebFetch", []moment.Field{{Name: "url", Need: moment.Must}, {Name: "prompt"}}},
	{"WebSearch", []moment.Field{{Name: "query", Need: moment.Must}}},
	{"Agent", []moment.Field{{Name: "prompt", Need: moment.Must}, {Name: "description"}, {Name: "subagent_type"}}},
	{"Task", []moment.Field{{Name: "prompt", Need: moment.Must}, {Name: "description"}, {Name: "subagent_type"}}},
	{"Skill", []moment.Field{{Name: "skill"}, {Name: "args"}}},
}

// inputKeys are the keys of any tool's input that facts look for.
var inputKeys = [...]string{"command", "cmd", "script", "code", "file_path", "notebook_path", "path", "url", "content", "pattern", "prompt"}
