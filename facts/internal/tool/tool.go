// Package tool says what calls of tools that are no shell do: file tools, web tools,
// MCP tools and tools that gate does not know. Texts that are lines of a shell or SQL
// go through the interface [Lines]. It is not for programs, which package program
// judges.
//
// [New] comes first, then [Call.Judge].
package tool

import (
	"maps"
	"slices"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
	"gate/internal/paths"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// A toolRow says what the fields of a tool's input are: " field=role …", where a
// role is shell, read, write … An empty row is of a tool whose texts are for
// people: they are never scanned.
type toolRow string

func (r toolRow) silent() bool { return r == "" }

// role is that of a field, "" when the row does not name it.
func (r toolRow) role(field string) string {
	_, rest, _ := strings.Cut(string(r), " "+field+"=")
	role, _, _ := strings.Cut(rest, " ")
	return role
}

// tools finds a tool whose fields are known.
func tools(name string) (row toolRow, known bool) {
	text, known := wordlist.Lookup(toolRows, name)
	return toolRow(text), known
}

// toolRows are tools and their fields, Claude Code's names first, then what other
// agents call the same.
const toolRows = `Bash bash shell run_shell_command run_terminal_cmd run_terminal exec exec_command execute_command local_shell unified_exec Shell | command=shell cmd=shell script=shell input=shell workdir=dir cwd=dir dir_path=dir directory=dir
Execute run_command terminal execute_bash BashTool | command=shell cmd=shell script=shell input=shell workdir=dir cwd=dir dir_path=dir
PowerShell powershell pwsh | command=dialect:powershell
Monitor | command=shell
Write write_file create create_file WriteFile | file_path=write path=write filename=write content=content
apply_patch ApplyPatch | input=patch patch=patch patchText=patch command=patch
write_bash write_stdin write-process launch-process | command=shell input=shell chars=shell input_text=shell cwd=dir
Edit MultiEdit multiedit replace edit edit_file str_replace str_replace_editor search_replace apply_diff | file_path=edit filePath=edit path=edit target_file=edit new_string=content
NotebookEdit | notebook_path=edit
Read read_file view read ReadFile NotebookRead view_image read_many_files open_file | file_path=read path=read absolute_path=read notebook_path=read paths=read include=read
Grep grep search_file_content grep_search codebase_search | path=search glob=searchglob dir_path=search include=searchglob includePattern=searchglob
Glob glob LS ls list_directory list_dir find_files | path=list dir_path=list
WebFetch web_fetch fetch http_request webfetch read_url_content | url=url prompt=urls
delete_file DeleteFile remove_file | path=delete target_file=delete file_path=delete
WebSearch web_search google_web_search Task Agent TodoWrite TaskCreate TaskUpdate TaskGet TaskList TaskOutput TaskStop |
AskUserQuestion ExitPlanMode EnterPlanMode Skill ToolSearch SlashCommand BashOutput KillShell KillBash SendMessage |
invoke_agent write_todos save_memory ask_user update_plan get_goal ScheduleWakeup EnterWorktree ExitWorktree CronList |
TeamCreate StructuredOutput LSP task todowrite todoread activate_skill complete_task enter_plan_mode exit_plan_mode |
plan_enter plan_exit update_topic get_internal_docs todo_write ask_user_question report_intent update_todo store_memory |
request_user_input list_mcp_resources create_goal update_goal wait_agent close_agent send_input tool_search question |
codesearch websearch read_bash stop_bash list_bash fetch_copilot_cli_documentation skill think ask_followup_question |
attempt_completion plan_mode_respond |
`

// Known reports whether gate knows what the fields of a tool's input are. Of
// other tools it guesses, and their facts are opaque.
func Known(name string) bool {
	_, known := tools(name)
	return known
}

// Lines takes the texts in a tool's input that other rooms read.
type Lines interface {
	// Follow judges a shell line that runs in a directory, "" for an unknown one.
	// The spans of the facts point into the first line.
	Follow(line, dir string)
	// FollowPowerShell judges a line of PowerShell that runs in the event's directory.
	FollowPowerShell(line string)
	// IsLine reports a text that a shell would take.
	IsLine(text string) bool
	// Statements judges SQL that a tool sends to its database.
	Statements(tool string, text flow.Word)
}

// A Call is the call of a tool. Make one with [New].
type Call struct {
	*draft.Draft
	lines Lines
}

// New returns a call that writes what it finds into a draft, and hands on its lines.
func New(d *draft.Draft, lines Lines) Call { return Call{d, lines} }

// Judge judges a call of any tool by its name and its input.
func (c Call) Judge(name string, input map[string]any) {
	row, known := tools(name)
	switch {
	case known && row.silent():
	case known:
		c.knownTool(name, row, input)
	default:
		c.strangeTool(name, input)
	}
}

func (c Call) knownTool(name string, row toolRow, input map[string]any) {
	dir := c.World.Dir
	for _, k := range slices.Sorted(maps.Keys(input)) {
		if s, ok := input[k].(string); ok && row.role(k) == "dir" {
			if ts := c.Absolute(c.Here(), flow.Literal(s)); len(ts) == 1 {
				dir = ts[0].Path
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(input)) {
		role := row.role(k)
		known := role != ""
		if !known {
			role = toolRole(name, guess(k))
		}
		if role == "shell" {
			c.shellField(input[k], dir)
			continue
		}
		if m, ok := input[k].(map[string]any); ok && !known {
			c.scan(name, m, 1) // {"action": {"command": …}}
			continue
		}
		if role == "search" {
			c.search(input)
			continue
		}
		c.Field(k, input[k], role)
	}
	c.missing(name, row, input)
	c.contents(row, input)
	if row.role("glob") != "" && input["path"] == nil && input["dir_path"] == nil {
		c.search(input)
	}
}

// contents notes what the call writes to a file: all of it, or pieces.
func (c Call) contents(row toolRow, input map[string]any) {
	file, role := "", ""
	for _, k := range slices.Sorted(maps.Keys(input)) {
		if s, ok := input[k].(string); ok && (row.role(k) == "write" || row.role(k) == "edit") {
			file, role = s, row.role(k)
		}
	}
	if file == "" {
		return
	}
	for _, t := range c.Absolute(c.Here(), flow.Literal(file)) {
		if text, ok := input["content"].(string); ok && role == "write" {
			c.Written(t.Path, flow.Stream{Text: &text, Some: true})
		}
		whole, err := c.World.Read(t.Path, maxEdited)
		changed := false
		edit := func(input map[string]any) {
			text, ok := input["new_string"].(string)
			if !ok {
				if text, ok = input["file_text"].(string); !ok {
					return
				}
			}
			if old, _ := input["old_string"].(string); err == nil && old != "" && strings.Contains(whole, old) {
				whole, changed = strings.Replace(whole, old, text, 1), true
				return
			}
			c.Piece(t.Path, text)
		}
		edit(input)
		edits, _ := input["edits"].([]any)
		for _, e := range edits {
			if m, ok := e.(map[string]any); ok {
				edit(m)
			}
		}
		if changed {
			c.Written(t.Path, flow.Stream{Text: &whole, Some: true})
		}
	}
}

// maxEdited bounds the file of which an edit changes a part.
const maxEdited = 64 << 10

// missing says that a call of a file tool has no field that holds a file.
func (c Call) missing(name string, row toolRow, input map[string]any) {
	wants := false
	for pair := range strings.FieldsSeq(string(row)) {
		field, role, _ := strings.Cut(pair, "=")
		switch role {
		case "write", "edit", "read", "delete", "patch":
			if wants = true; input[field] != nil {
				return
			}
		}
	}
	for field := range input {
		if guess(field) != "" {
			return // by another name
		}
	}
	if wants {
		c.Unknown("tool", name+" says no file", 0, nil)
	}
}

// shellField judges a command line: a string, or the words of one.
func (c Call) shellField(v any, dir string) {
	switch v := v.(type) {
	case string:
		c.lines.Follow(v, dir)
	case []any:
		words := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				c.Unknown("tool", "a command whose words are not text", 0, nil)
				return
			}
			words = append(words, bash.Quote(s))
		}
		c.lines.Follow(strings.Join(words, " "), dir)
	case nil:
	default:
		c.Unknown("tool", "a command that is not text", 0, nil)
	}
}

// Field judges one value of a tool's input in its role.
func (c Call) Field(name string, v any, role string) {
	if list, ok := v.([]any); ok {
		for _, e := range list {
			c.Field(name, e, role)
		}
		return
	}
	text, ok := v.(string)
	if !ok || text == "" {
		return
	}
	f := flow.Literal(text)
	if slices.Contains([]string{"write", "edit", "delete"}, role) && strings.ContainsFunc(text, draft.Invisible) {
		c.Unknown("characters", "an invisible or misleading character stands in the path", 0, nil)
	}
	switch role {
	case "write":
		c.UsePath(c.Here(), 0, f, draft.Access{Kind: "write", How: "overwrite"})
	case "edit":
		c.UsePath(c.Here(), 0, f, draft.Access{Kind: "write", How: "edit"})
	case "read":
		c.UsePath(c.Here(), 0, flow.Word{Parts: []flow.Part{{Text: text}}}, draft.Access{Kind: "read", Shown: true})
	case "delete":
		c.UsePath(c.Here(), 0, f, draft.Access{Kind: "delete", How: "remove", Recursive: true})
	case "list":
		if !strings.Contains(text, "://") && !strings.ContainsAny(text, "\n") {
			c.UsePath(c.Here(), 0, f, draft.Access{Kind: "list"})
		}
	case "patch":
		c.Patch(c.Here(), 0, text)
	case "url":
		c.urlField(text)
	case "urls":
		for _, word := range strings.Fields(text) {
			if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "file://") {
				c.urlField(strings.TrimRight(word, ".,)>\"'"))
			}
		}
	case "sql":
		if !isStatement(text) {
			return // a search, not a statement
		}
		c.lines.Statements(name, f)
	case "content", "dir":
	default:
		if d, ok := strings.CutPrefix(role, "dialect:"); ok {
			if d == "powershell" {
				c.lines.FollowPowerShell(text)
				return
			}
			c.Facts.Shell = &hook.Shell{Dialect: d, Text: text, Commands: []hook.ShellCommand{}}
			c.Unknown("dialect", "gate does not parse "+d, 0, nil)
		}
	}
}

// isStatement tells SQL from other things that fields called query hold.
func isStatement(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	if len(words) < 2 {
		return false
	}
	switch strings.TrimSuffix(words[0], ";") {
	case "commit", "rollback", "abort":
		return strings.Contains(text, ";")
	case "select", "insert", "update", "delete", "drop", "truncate", "alter", "create", "grant", "revoke", "copy", "with", "merge", "call", "exec", "attach", "vacuum", "begin", "set", "load", "replace":
		return true
	}
	return strings.HasPrefix(words[0], "--") || strings.HasPrefix(words[0], "/*")
}

func (c Call) urlField(text string) {
	p := peer.Parse(text, true)
	if p.Host == "" {
		if i := strings.Index(strings.ToLower(text), "file:"); i >= 0 {
			text = text[i:]
			c.Effect(0, &hook.NetFetch{URL: new(text), Method: new("GET"), Private: true})
			c.UsePath(c.Here(), 0, flow.Literal(text), draft.Access{Kind: "read", Shown: true})
		}
		return
	}
	c.Host(hook.Host{Host: new(p.Host), URL: new(text), Access: "fetch"})
	if what := secret.Sent(text, p.Host); what != "" {
		c.Effect(0, &hook.NetSend{Host: new(p.Host), URL: new(text), Method: new("GET"), Source: "text", Secret: new(what), Private: p.Private, Metadata: p.Metadata})
	}
	c.Effect(0, &hook.NetFetch{Host: new(p.Host), URL: new(text), Method: new("GET"), Private: p.Private, Metadata: p.Metadata})
}

// search judges Grep: the directory it looks through, narrowed by its glob.
func (c Call) search(input map[string]any) {
	dir, _ := input["path"].(string)
	if dir == "" {
		dir, _ = input["dir_path"].(string)
	}
	if dir == "" {
		dir = c.World.Dir
	}
	shown := input["output_mode"] == "content" || input["output_mode"] == nil && (input["glob"] != nil || input["includePattern"] != nil)
	name := ""
	for _, field := range []string{"glob", "include", "includePattern"} {
		if s, ok := input[field].(string); ok && name == "" {
			name = s
		}
	}
	c.UsePath(c.Here(), 0, flow.Literal(dir), draft.Access{Kind: "read", Shown: shown, Recursive: true})
	if name != "" && shown {
		names, whole := paths.Alternatives(name)
		if !whole {
			names = []string{"*"}
			c.Limit("a pattern of names with braces that gate does not follow")
		}
		for _, n := range names {
			f := flow.Word{Parts: []flow.Part{{Text: strings.TrimSuffix(dir, "/") + "/", Quoted: true}, {Text: strings.TrimPrefix(n, "**/")}}}
			c.UsePath(c.Here(), 0, f, draft.Access{Kind: "read", Shown: true})
		}
	}
}
