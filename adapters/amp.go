package adapters

import (
	"errors"
	"path"
	"strings"
	"time"

	"gate/hook"
)

// amp speaks to Amp's permission rules that delegate, as mirrors of its manual
// have them: standard input is the input of the tool and nothing else, so the
// command line has the rest, as the event "delegate:TOOL:DIRECTORY". Only the
// status counts; a status for a question is not known to hold.
var amp = agent{
	name: "amp", wait: time.Minute, adapt: adaptAmp, render: (*reply).byStatus,
	events: []eventWord{{native: "delegate", name: hook.PreToolUse, can: rejects}},
	tools: []toolWord{
		{native: "Bash", own: "Bash", fields: "cmd=command cwd=workdir"},
		{native: "Read", own: "Read", fields: "path=file_path"},
		{native: "create_file", own: "Write", fields: "path=file_path"},
		{native: "edit_file", own: "Edit", fields: "path=file_path old_str=old_string new_str=new_string"},
		{native: "apply_patch", own: "apply_patch", fields: "input=command patch=command patchText=command", open: openPatch},
		{native: "glob", own: "Glob", fields: "filePattern=pattern"},
		{native: "read_web_page", own: "WebFetch"},
		{native: "web_search", own: "WebSearch"},
		{native: "Task", own: "Agent"},
		{native: "todo_write", own: "TodoWrite"},
	},
}

// adaptAmp makes an event of the bare input.
func adaptAmp(fields, doc map[string]any, w *eventWord) error {
	_, about, _ := strings.Cut(w.native, ":")
	tool, dir, _ := strings.Cut(about, ":")
	if tool == "" || !path.IsAbs(dir) {
		return errors.New("the command line does not name the tool and its directory: --event delegate:TOOL:DIRECTORY")
	}
	clear(fields)
	fields["hook_event_name"], fields["tool_name"], fields["tool_input"], fields["cwd"] = string(w.own()), tool, doc, dir
	return nil
}
