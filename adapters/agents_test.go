package adapters_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/strictjson"
)

// agents are the adapters that are made of tables, and which of them were
// recorded from the real client. The events of the others are made up from what
// is known of their protocol.
var agents = []struct {
	name     string
	recorded bool
}{
	{"amp", false}, {"antigravity", false}, {"auggie", false}, {"cline", false}, {"codex", true}, {"copilot", true}, {"cursor", false},
	{"droid", false}, {"gemini", true}, {"kimi", false}, {"kiro", false}, {"opencode", true}, {"qwen", true}, {"windsurf", false},
}

// A sample is one event as an agent sends it, and its name on the command line.
type sample struct {
	name, event string
	data        []byte
}

// samples returns the events of an agent in the order of their names.
func samples(t testing.TB, agent string) []sample {
	t.Helper()
	var list []sample
	add := func(name string, data []byte) {
		event, _, _ := strings.Cut(name, "-")
		if event == "Event" || event == "ShellEnv" { // what the plugin forwards names itself
			event = ""
		}
		list = append(list, sample{name, event, data})
	}
	files, err := filepath.Glob("testdata/payloads/" + agent + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		add(strings.TrimSuffix(filepath.Base(f), ".json"), data)
	}
	if made, err := txtar.ParseFile("testdata/made/" + agent + ".txtar"); err == nil {
		for _, f := range made.Files {
			add(f.Name, f.Data)
		}
	}
	if len(list) == 0 {
		t.Fatalf("there is no event of %s", agent)
	}
	return list
}

// parsed reads a sample, which must be readable.
func parsed(t testing.TB, agent string, s sample) hook.Event {
	t.Helper()
	ev, err := adapter(t, agent).Parse(s.data, s.event)
	if err != nil {
		t.Fatalf("%s %s: %v", agent, s.name, err)
	}
	return ev
}

// compareText holds text against a file, or writes it there.
func compareText(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == text {
		return
	}
	now, then := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(now), len(then)) {
		a, b := "", ""
		if i < len(now) {
			a = now[i]
		}
		if i < len(then) {
			b = then[i]
		}
		if a != b {
			t.Fatalf("%s:%d: %s\nwant: %s\n(go test ./adapters -update writes it; review the difference)", file, i+1, a, b)
		}
	}
}

// TestEvents holds every sample in gate's words against testdata/events, which
// was reviewed by hand.
func TestEvents(t *testing.T) {
	for _, agent := range agents {
		t.Run(agent.name, func(t *testing.T) {
			var b strings.Builder
			for _, s := range samples(t, agent.name) {
				ev := parsed(t, agent.name, s)
				fmt.Fprintf(&b, "%s → %s", s.name, ev.Name)
				if ev.Tool() != "" {
					fmt.Fprintf(&b, " %s %s", ev.Tool(), strictjson.Append(nil, ev.ToolInput()))
				}
				b.WriteString("\n")
				for _, p := range ev.Parts {
					fmt.Fprintf(&b, "    part: %s %s\n", p.Tool, strictjson.Append(nil, p.Input))
				}
				about := maps.Clone(ev.Fields)
				delete(about, "tool_name")
				delete(about, "tool_input")
				delete(about, "hook_event_name")
				for _, k := range slices.Sorted(maps.Keys(about)) {
					if text := string(strictjson.Append(nil, about[k])); len(text) <= 200 {
						fmt.Fprintf(&b, "    %s: %s\n", k, text)
					} else {
						fmt.Fprintf(&b, "    %s: %.60s…\n", k, text)
					}
				}
			}
			compareText(t, "testdata/events/"+agent.name+".golden", b.String())
		})
	}
}

// An event that was renamed keeps what came in, and reads the same a second
// time, also without the command line's word for it where it names itself.
func TestNativeStays(t *testing.T) {
	for _, agent := range agents {
		for _, s := range samples(t, agent.name) {
			ev := parsed(t, agent.name, s)
			doc, err := strictjson.Object(s.data, strictjson.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if ev.Native == nil {
				if text(doc["hook_event_name"]) != string(ev.Name) || doc["tool_name"] != nil && text(doc["tool_name"]) != ev.Tool() {
					t.Errorf("%s %s: renamed without a trace", agent.name, s.name)
				}
				continue
			}
			for k, v := range doc {
				if got := ev.Native[k]; string(strictjson.Append(nil, got)) != string(strictjson.Append(nil, v)) {
					t.Errorf("%s %s: native.%s is %v", agent.name, s.name, k, got)
				}
			}
		}
	}
}

// What the command line says and what the event says must not be at odds, and
// the answer to either is still one that blocks.
func TestAnotherEvent(t *testing.T) {
	for _, agent := range agents {
		if agent.name == "amp" || agent.name == "antigravity" || agent.name == "copilot" {
			continue // their events do not name themselves
		}
		a := adapter(t, agent.name)
		for _, s := range samples(t, agent.name) {
			ev := parsed(t, agent.name, s)
			if ev.Name == hook.SessionEnd || s.event == "" {
				continue
			}
			got, err := a.Parse(s.data, "SessionEnd")
			if agent.name == "windsurf" && err == nil {
				t.Errorf("%s %s: read as SessionEnd", agent.name, s.name)
			}
			if err == nil || !strings.Contains(err.Error(), "installed for") || got.Fields != nil {
				t.Errorf("%s %s as SessionEnd: %v", agent.name, s.name, err)
			}
			if got.Name != ev.Name {
				t.Errorf("%s %s as SessionEnd: the answer is for %s", agent.name, s.name, got.Name)
			}
		}
	}
}

// A hostile event is refused by every agent, with its name as far as it goes.
func TestAgentsRefuse(t *testing.T) {
	for _, agent := range agents {
		a := adapter(t, agent.name)
		for _, s := range samples(t, agent.name) {
			in := string(s.data)
			for name, bad := range map[string]string{
				"a second document": in + "{}",
				"a key twice":       strings.Replace(in, "{", `{"x":1,"x":2,`, 1),
				"a look-alike key":  strings.Replace(in, "{", `{"c\u0443d":1,`, 1),
				"half of it":        in[:len(in)/2],
				"invalid UTF-8":     strings.Replace(in, "{", "{\"x\":\"\xff\",", 1),
				"nothing":           "",
			} {
				ev, err := a.Parse([]byte(bad), s.event)
				if err == nil {
					t.Errorf("%s %s with %s: accepted", agent.name, s.name, name)
				} else if ev.Fields != nil || ev.Agent != agent.name || strings.ContainsAny(err.Error(), "\n\r\x00") {
					t.Errorf("%s %s with %s: %+v, %v", agent.name, s.name, name, ev, err)
				}
			}
		}
	}
}

// Fields of another case, and two names of one thing, are refused.
func TestAgentsRefuseLookAlikes(t *testing.T) {
	for _, c := range []struct{ agent, event, in, want string }{
		{"cline", "", `{"hookName":"PreToolUse","preToolUse":{"toolName":"read_file","parameters":{"path":"a"}},"tool_call":{"name":"execute_command","input":{"command":"ls"}}}`, "it tells of two calls"},
		{"kiro", "preToolUse", `{"tool_name":"use_aws","tool_input":{"service_name":"s3","operation_name":"ls","parameters":"--recursive"}}`, "parameters: a string where an object is wanted"},
		{"copilot", "preToolUse", `{"toolname":"bash","toolArgs":{"command":"ls"}}`, `key "toolname" looks like "toolName"`},
		{"copilot", "preToolUse", `{"toolName":"bash","tool_name":"view","toolArgs":{"command":"ls"}}`, `say the same`},
		{"copilot", "preToolUse", `{"toolName":"create","toolArgs":{"path":"/a","file_path":"/b","file_text":""}}`, `tool_input.path and tool_input.file_path say the same`},
		{"copilot", "preToolUse", `{"toolName":"create","toolArgs":{"Path":"/a","file_text":""}}`, `tool_input.key "Path" looks like "path"`},
		{"copilot", "preToolUse", `{"toolName":"bash","toolArgs":"{\"command\":\"ls\",\"command\":\"rm\"}"}`, `duplicate key "command"`},
		{"copilot", "preToolUse", `{"toolName":"bash","toolArgs":{"command":null}}`, `tool_input.command is missing`},
		{"copilot", "preToolUse", `{"toolName":"bash","toolArgs":{"command":["ls"]}}`, `tool_input.command: an array where a string is wanted`},
		{"copilot", "", `{"sessionId":"s"}`, `hook_event_name is missing`},
		{"opencode", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_name":"write","tool_input":{"filepath":"/a","content":""}}`, `tool_input.key "filepath" looks like "filePath"`},
		{"gemini", "BeforeTool", `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"Command":"ls"}}`, `tool_input.command is missing`},
		{"gemini", "BeforeTool", `{"hook_event_name":"BeforeTool","tool_name":"web_fetch","tool_input":{"prompt":1}}`, `prompt: a number where a string is wanted`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":["x"]}}`, `the text of the patch is missing`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":["ls",1]}}`, `a word that is no text`},
		{"cursor", "beforeMCPExecution", `{"hook_event_name":"beforeMCPExecution","tool_name":"x","tool_input":"{"}`, `tool_input: `},
		{"windsurf", "pre_run_command", `{"agent_action_name":"pre_run_command","tool_info":[]}`, `tool_info: an array where an object is wanted`},
		{"windsurf", "", `{"tool_info":{}}`, `agent_action_name is missing`},
		{"windsurf", "", `{"agent_action_name":7}`, `agent_action_name: a number where a string is wanted`},
		{"amp", "delegate:Bash", `{"cmd":"ls"}`, `the command line does not name the tool and its directory`},
		{"windsurf", "pre_run_command", `{"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":7}}`, `cwd: a number where a string is wanted`},
		{"cursor", "beforeShellExecution", `{"command":"ls","cwd":["/"],"workspace_roots":["/home/dev"]}`, `cwd: an array where a string is wanted`},
		{"cursor", "beforeShellExecution", `{"command":"ls","cwd":"","workspace_roots":"/home/dev"}`, `workspace_roots: a string where an array is wanted`},
		{"cursor", "beforeShellExecution", `{"command":"ls","workspace_roots":[7]}`, `cwd: a number where a string is wanted`},
		{"auggie", "PreToolUse", `{"tool_name":"launch-process","tool_input":{"command":"ls"},"workspace_roots":{}}`, `workspace_roots: an object where an array is wanted`},
		{"antigravity", "PreToolUse", `{"toolCall":{"name":"view_file","args":{"AbsolutePath":"/a"}},"workspacePaths":1}`, `workspacePaths: a number where an array is wanted`},
		{"cline", "", `{"hookName":"PreToolUse","workspaceRoots":true,"preToolUse":{"toolName":"read_file","parameters":{"path":"a"}}}`, `workspaceRoots: a boolean where an array is wanted`},
		{"antigravity", "PreToolUse", `{"conversationId":"c"}`, `tool_name is missing`},
		{"cline", "PreToolUse", `{"hookName":"PreToolUse","preToolUse":{"toolName":"use_mcp_tool","parameters":{"server_name":"a","tool_name":"b","arguments":"[]"}}}`, `arguments: `},
	} {
		_, err := adapter(t, c.agent).Parse([]byte(c.in), c.event)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.agent, c.in, err, c.want)
		}
	}
}

// What a file tool is judged by must be there, or the call keeps its own name:
// facts then look at every field of it.
func TestUnknownForm(t *testing.T) {
	ev, err := adapter(t, "cursor").Parse([]byte(`{"hook_event_name":"preToolUse","tool_name":"TabWrite","tool_input":{"where":"/etc/passwd"}}`), "")
	if err != nil || ev.Tool() != "TabWrite" || ev.ToolInput()["where"] != "/etc/passwd" {
		t.Errorf("%+v, %v", ev, err)
	}
}

// A patch of several files is a call for each of them besides, also one that a
// shell is told to apply; a patch of one file is that call.
func TestPatches(t *testing.T) {
	parse := func(tool, command string) hook.Event {
		t.Helper()
		doc := map[string]any{"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": tool, "tool_input": map[string]any{"command": command}}
		ev, err := adapter(t, "codex").Parse(strictjson.Append(nil, doc), "PreToolUse")
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	for _, c := range []struct{ tool, command, want string }{
		{"apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch", `Write {"content":"x\ny\n","file_path":"/p/a"}`},
		{"apply_patch", "*** Begin Patch\n*** Update File: /e/a\n@@ f\n c\n-x\n+y\n\n*** End Patch", `Edit {"file_path":"/e/a","new_string":"c\ny\n","old_string":"c\nx\n"}`},
		{"apply_patch", "*** Update File: a\n@@\n-x\n@@\n+y\n", `MultiEdit {"edits":[{"new_string":"","old_string":"x"},{"new_string":"y","old_string":""}],"file_path":"/p/a"}`},
		{"apply_patch", "*** Delete File: a\n", `apply_patch {"command":"*** Delete File: a\n"}`},
		{"apply_patch", "*** Add File: a\n+x\n  *** Update File: ../b\n*** Move to: c\n@@\n-x\n", `apply_patch {"command":"*** Add File: a\n+x\n  *** Update File: ../b\n*** Move to: c\n@@\n-x\n"}
part Write {"content":"x\n","file_path":"/p/a"}
part Edit {"file_path":"/b","new_string":"","old_string":"x"}
part Write {"content":"","file_path":"/p/c"}`},
		{"Bash", "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE", `Bash {"command":"apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE"}
part Write {"content":"x\n","file_path":"/p/a"}`},
		{"Bash", "echo '*** Add File: a'", `Bash {"command":"echo '*** Add File: a'"}`},
	} {
		ev := parse(c.tool, c.command)
		got := ev.Tool() + " " + string(strictjson.Append(nil, ev.ToolInput()))
		for _, p := range ev.Parts {
			got += "\npart " + p.Tool + " " + string(strictjson.Append(nil, p.Input))
		}
		if got != c.want {
			t.Errorf("%q:\n%s\nwant:\n%s", c.command, got, c.want)
		}
	}
}

func TestAgentEnvironments(t *testing.T) {
	for agent, variables := range map[string][]string{
		"gemini": {"GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"}, "qwen": {"QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
		"copilot": {"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"}, "cursor": {"CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
		"droid": {"FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"}, "opencode": {"OPENCODE_PROJECT_DIR"}, "codex": nil,
	} {
		env := map[string]string{}
		for i := range variables {
			name := variables[len(variables)-1-i] // the first of them counts
			env[name] = "/of/" + name
			got := adapter(t, agent).Environment(func(k string) string { return env[k] })
			if got.ProjectDir != env[name] {
				t.Errorf("%s: %q with %v", agent, got.ProjectDir, env)
			}
		}
		none := adapter(t, agent).Environment(func(string) string { return "" })
		if none.ProjectDir != "" || none.EnvFile != "" || none.EnvAnswer {
			t.Errorf("%s: %+v of nothing", agent, none)
		}
	}
}

// fuzzAgent holds what FuzzClaudeParse does, for the samples of several agents.
func fuzzAgent(f *testing.F, names ...string) {
	for i, agent := range names {
		for _, s := range samples(f, agent) {
			f.Add(uint8(i), s.event, s.data)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, event string, data []byte) {
		agent := names[int(n)%len(names)]
		a := adapter(t, agent)
		ev, err := a.Parse(data, event)
		if err != nil {
			if ev.Fields != nil || ev.Agent != agent || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Fatalf("%q with %+v", err, ev)
			}
			a.Render(&ev, nil)
			return
		}
		if ev.Text("hook_event_name") != string(ev.Name) || ev.Name == "" || ev.Agent != agent {
			t.Fatalf("%+v", ev)
		}
		if ev.Name.Rewrites() == "tool_input" && (ev.Tool() == "" || ev.ToolInput() == nil) {
			t.Fatalf("a call without a tool or an input: %+v", ev)
		}
		if _, ok := ev.ToolInput()["command"].(string); ev.Name == hook.PreToolUse && ev.Tool() == "Bash" && !ok {
			t.Fatalf("Bash without a command: %+v", ev)
		}
		same := a.Render(&ev, &hook.Decision{Rewrite: ev.ToolInput(), Effect: hook.Pass})
		if same.Status != 0 && same.Status != 2 {
			t.Fatalf("status %d", same.Status)
		}
		again, err := a.Parse(data, event)
		if err != nil || string(strictjson.Append(nil, again.Fields)) != string(strictjson.Append(nil, ev.Fields)) {
			t.Fatalf("read again: %v", err)
		}
	})
}

func FuzzCodexParse(f *testing.F)    { fuzzAgent(f, "codex") }
func FuzzGeminiParse(f *testing.F)   { fuzzAgent(f, "gemini") }
func FuzzQwenParse(f *testing.F)     { fuzzAgent(f, "qwen") }
func FuzzCopilotParse(f *testing.F)  { fuzzAgent(f, "copilot") }
func FuzzOpenCodeParse(f *testing.F) { fuzzAgent(f, "opencode") }
func FuzzCursorParse(f *testing.F)   { fuzzAgent(f, "cursor") }
func FuzzDroidParse(f *testing.F)    { fuzzAgent(f, "droid") }

// FuzzOthersParse is for the agents that were never driven.
func FuzzOthersParse(f *testing.F) {
	fuzzAgent(f, "amp", "antigravity", "auggie", "cline", "kimi", "kiro", "windsurf")
}
