package policies_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gate/adapters"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// A nativeAgent writes calls as one agent does. It was written from the pages
// of the agents' protocols, not from the adapters.
type nativeAgent struct {
	agent string
	tools map[string]string // gate's tool: "name native=own …"
	event func(tool string, input map[string]any, dir string) (name string, doc map[string]any)
	mcp   func(server, tool string) string
}

// likeClaude writes the events of Claude Code's descendants.
func likeClaude(event string) func(string, map[string]any, string) (string, map[string]any) {
	return func(tool string, input map[string]any, dir string) (string, map[string]any) {
		return event, map[string]any{"hook_event_name": event, "session_id": "s", "cwd": dir, "tool_name": tool, "tool_input": input}
	}
}

func ofGemini(tool string, input map[string]any, dir string) (string, map[string]any) {
	name, doc := likeClaude("BeforeTool")(tool, input, dir)
	if rest, ok := strings.CutPrefix(tool, "mcp_"); ok {
		server, tool, _ := strings.Cut(rest, "_")
		doc["mcp_context"] = map[string]any{"server_name": server, "tool_name": tool}
	}
	return name, doc
}

func twoLines(server, tool string) string { return "mcp__" + server + "__" + tool }

var nativeAgents = []nativeAgent{
	{"codex", map[string]string{
		"Bash": "Bash", "Write": "apply_patch", "Edit": "apply_patch",
	}, likeClaude("PreToolUse"), twoLines},
	{"gemini", map[string]string{
		"Bash": "run_shell_command", "Write": "write_file", "Edit": "replace", "Read": "read_file", "WebFetch": "web_fetch",
		"Grep": "grep_search dir_path=path include=glob", "Glob": "glob dir_path=path", "LS": "list_directory dir_path=path",
	}, ofGemini, func(server, tool string) string { return "mcp_" + server + "_" + tool }},
	{"qwen", map[string]string{
		"Bash": "run_shell_command", "Write": "write_file", "Edit": "edit", "Read": "read_file", "WebFetch": "web_fetch",
		"Grep": "grep_search", "Glob": "glob", "LS": "list_directory",
	}, likeClaude("PreToolUse"), twoLines},
	{"copilot", map[string]string{
		"Bash": "bash", "Write": "create path=file_path file_text=content", "Edit": "edit path=file_path old_str=old_string new_str=new_string",
		"Read": "view path=file_path", "WebFetch": "web_fetch", "Grep": "grep", "Glob": "glob",
	}, func(tool string, input map[string]any, dir string) (string, map[string]any) {
		return "preToolUse", map[string]any{"sessionId": "s", "timestamp": 1, "cwd": dir, "toolName": tool, "toolArgs": input}
	}, func(server, tool string) string { return server + "-" + tool }},
	{"opencode", map[string]string{
		"Bash": "bash", "Write": "write filePath=file_path", "Edit": "edit filePath=file_path oldString=old_string newString=new_string",
		"Read": "read filePath=file_path", "WebFetch": "webfetch", "Grep": "grep include=glob", "Glob": "glob", "LS": "list",
	}, likeClaude("PreToolUse"), func(server, tool string) string { return server + "_" + tool }},
	{"cursor", map[string]string{
		"Bash": "Shell", "Write": "Write contents=content", "Edit": "Edit", "Read": "Read", "Grep": "Grep",
	}, func(tool string, input map[string]any, dir string) (string, map[string]any) {
		return "preToolUse", map[string]any{
			"hook_event_name": "preToolUse", "conversation_id": "c", "workspace_roots": []any{dir}, "cwd": "", "tool_name": tool, "tool_input": input,
		}
	}, nil},
	{"droid", map[string]string{
		"Bash": "Execute", "Write": "Create", "Edit": "Edit old_str=old_string new_str=new_string", "Read": "Read", "WebFetch": "FetchUrl",
		"Grep": "Grep glob_pattern=glob", "Glob": "Glob folder=path", "LS": "LS directory_path=path",
	}, likeClaude("PreToolUse"), func(server, tool string) string { return server + "___" + tool }},
	{"windsurf", map[string]string{
		"Bash": "pre_run_command command_line=command", "Read": "pre_read_code",
	}, func(tool string, input map[string]any, dir string) (string, map[string]any) {
		input["cwd"] = dir
		return tool, map[string]any{"agent_action_name": tool, "trajectory_id": "t", "tool_info": input}
	}, nil},
	{"cline", map[string]string{
		"Bash": "execute_command", "Write": "write_to_file path=file_path", "Read": "read_file path=file_path", "LS": "list_files", "WebFetch": "web_fetch",
	}, func(tool string, input map[string]any, dir string) (string, map[string]any) {
		return "PreToolUse", map[string]any{
			"hookName": "PreToolUse", "taskId": "t", "workspaceRoots": []any{dir}, "preToolUse": map[string]any{"toolName": tool, "parameters": input},
		}
	}, nil},
	{"kiro", map[string]string{"Bash": "execute_bash", "WebFetch": "web_fetch"}, likeClaude("PreToolUse"),
		func(server, tool string) string { return "@" + server + "/" + tool }},
	{"kimi", map[string]string{
		"Bash": "Shell", "Write": "WriteFile path=file_path", "Read": "ReadFile path=file_path", "WebFetch": "FetchURL", "Glob": "Glob directory=path",
	}, likeClaude("PreToolUse"), twoLines},
	{"auggie", map[string]string{
		"Bash": "launch-process", "Write": "save-file path=file_path file_content=content", "Read": "view path=file_path", "WebFetch": "web-fetch",
	}, likeClaude("PreToolUse"), nil},
	{"amp", map[string]string{
		"Bash": "Bash cmd=command", "Write": "create_file path=file_path", "Read": "Read path=file_path", "WebFetch": "read_web_page",
	}, func(tool string, input map[string]any, dir string) (string, map[string]any) {
		return "delegate:" + tool + ":" + dir, input
	}, twoLines},
	{"antigravity", map[string]string{
		"Bash": "run_command CommandLine=command", "Write": "write_to_file TargetFile=file_path CodeContent=content",
		"Read": "view_file AbsolutePath=file_path", "WebFetch": "read_url_content Url=url", "LS": "list_dir DirectoryPath=path",
	}, func(tool string, input map[string]any, dir string) (string, map[string]any) {
		return "PreToolUse", map[string]any{
			"conversationId": "c", "workspacePaths": []any{dir}, "toolCall": map[string]any{"name": tool, "args": input},
		}
	}, nil},
}

// sent says a call in the agent's words, and whether it can make such a call.
func (n *nativeAgent) sent(tool string, input map[string]any, dir string) (event string, data []byte, ok bool) {
	input = maps.Clone(input)
	if rest, mcp := strings.CutPrefix(tool, "mcp__"); mcp {
		server, name, _ := strings.Cut(rest, "__")
		if n.mcp == nil || strings.ContainsAny(server, "-_") {
			return "", nil, false
		}
		event, doc := n.event(n.mcp(server, name), input, dir)
		return event, strictjson.Append(nil, doc), true
	}
	words := strings.Fields(n.tools[tool])
	if len(words) == 0 {
		return "", nil, false
	}
	for _, pair := range words[1:] {
		native, own, _ := strings.Cut(pair, "=")
		if v, has := input[own]; has {
			delete(input, own)
			input[native] = v
		}
	}
	switch {
	case words[0] == "apply_patch":
		text, ok := patchOf(tool, input)
		if !ok {
			return "", nil, false
		}
		input = map[string]any{"command": text}
	case words[0] == "web_fetch" && n.agent == "gemini":
		input = map[string]any{"prompt": fmt.Sprintf("read %v and say what it holds", input["url"])}
	}
	event, doc := n.event(words[0], input, dir)
	return event, strictjson.Append(nil, doc), true
}

func patchOf(tool string, input map[string]any) (string, bool) {
	file, ok := input["file_path"].(string)
	if !ok || file == "" || strings.ContainsAny(file, "\n") || strings.TrimSpace(file) != file {
		return "", false
	}
	lines := func(mark string, text any) string {
		s, _ := text.(string)
		return mark + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+mark) + "\n"
	}
	if tool == "Write" {
		return "*** Begin Patch\n*** Add File: " + file + "\n" + lines("+", input["content"]) + "*** End Patch", true
	}
	return "*** Begin Patch\n*** Update File: " + file + "\n@@\n" + lines("-", input["old_string"]) + lines("+", input["new_string"]) + "*** End Patch", true
}

// known reports that an input has the form that gate's own tool has.
func known(tool string, input map[string]any) bool {
	for k, v := range input {
		if s, ok := v.(string); !ok || s != strings.ToValidUTF8(s, "") {
			return strings.HasPrefix(tool, "mcp__")
		}
		switch tool + "." + k {
		case "Bash.cmd", "Bash.script", "Write.path", "Read.path", "WebFetch.prompt":
			return false
		}
	}
	need := map[string]string{"Bash": "command", "Write": "file_path", "Edit": "file_path", "Read": "file_path", "WebFetch": "url", "Glob": "pattern", "Grep": "pattern", "LS": "path"}
	want, known := need[tool]
	_, has := input[want]
	return known && has || strings.HasPrefix(tool, "mcp__")
}

// TestAgentsDecideAlike: a call of the corpus is decided alike whichever agent
// makes it. One that reads as the same event is the same question; of those each
// agent gets a share, and what reads differently is asked both ways.
func TestAgentsDecideAlike(t *testing.T) {
	lib, src := library(t)
	judge := judgeOf(t, lib, src)
	var cases []judgedCase
	cases = append(append(cases, judgedCases(t, "testdata/cases.jsonl")...), judgedCases(t, "testdata/tools.jsonl")...)
	_, harmful := harmfulCores(t, "harmful.txt")
	for _, line := range slices.Concat(harmful, corpus(t, "harmless.txt")) {
		cases = append(cases, judgedCase{Tool: "Bash", Input: map[string]any{"command": line}})
	}
	counts := map[string]int{}
	for i, c := range cases {
		if c.Dir == "" {
			c.Dir = "/home/dev/project"
		}
		if !known(c.Tool, c.Input) {
			continue
		}
		ev, world, err := policytest.Event(map[string]any{"tool": c.Tool, "input": c.Input, "cwd": c.Dir})
		if err != nil {
			t.Fatal(err)
		}
		var once *hook.Decision
		for j := range nativeAgents {
			n := &nativeAgents[j]
			event, data, ok := n.sent(c.Tool, c.Input, c.Dir)
			if !ok {
				continue
			}
			a, _ := adapters.Lookup(n.agent)
			got, err := a.Parse(data, event)
			if err != nil {
				t.Errorf("%s: %s: %v", n.agent, data, err)
				continue
			}
			counts[n.agent]++
			same := got.Tool() == c.Tool && reflect.DeepEqual(got.ToolInput(), ev.ToolInput()) && got.Dir() == c.Dir
			if same && (i+j)%20 != 0 {
				continue
			}
			if once == nil {
				d := judge(*ev, world)
				once = &d
			}
			got.Gate = ev.Gate
			if d := judge(got, world); d.Effect != once.Effect {
				t.Errorf("%s %s: %s, and as %s sends it %s: %q", c.Tool, strictjson.Append(nil, c.Input), once.Effect, n.agent, d.Effect, said(d))
			}
		}
	}
	for _, n := range nativeAgents {
		if t.Logf("%s: %d calls", n.agent, counts[n.agent]); counts[n.agent] < 300 {
			t.Errorf("%s made %d calls only", n.agent, counts[n.agent])
		}
	}
}
