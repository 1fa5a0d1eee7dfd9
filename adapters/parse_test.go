package adapters_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

func adapter(t testing.TB, name string) adapters.Adapter {
	t.Helper()
	a, ok := adapters.Lookup(name)
	if !ok {
		t.Fatalf("no adapter %q", name)
	}
	return a
}

func TestNames(t *testing.T) {
	if got := adapters.Names(); !reflect.DeepEqual(got, []string{
		"amp", "antigravity", "auggie", "claude", "cline", "codex", "copilot", "cursor", "droid", "gemini", "generic", "kimi", "kiro",
		"opencode", "qwen", "windsurf",
	}) {
		t.Errorf("Names() = %q", got)
	}
	if _, ok := adapters.Lookup("Claude"); ok {
		t.Error("Lookup folds case")
	}
}

// payloads are real events of Claude Code 2.1.329.
func payloads(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/payloads/*.json")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = data
	}
	return all
}

func TestParsePayloads(t *testing.T) {
	for file, data := range payloads(t) {
		for _, agent := range []string{"claude", "generic"} {
			ev, err := adapter(t, agent).Parse(data, "")
			if err != nil {
				t.Errorf("%s: %s: %v", agent, file, err)
				continue
			}
			var want map[string]any
			dec := json.NewDecoder(strings.NewReader(string(data)))
			dec.UseNumber()
			if err := dec.Decode(&want); err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(file, ".")
			if ev.Agent != agent || string(ev.Name) != name || ev.Native != nil || !reflect.DeepEqual(ev.Fields, want) {
				t.Errorf("%s: %s: %+v", agent, file, ev)
			}
		}
	}
}

// bash returns a PreToolUse event of Bash with one thing about it changed.
func bash(old, new string) string {
	const event = `{"session_id":"s","transcript_path":"/t","cwd":"/p","permission_mode":"default",` +
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","description":"d"},"tool_use_id":"u"}`
	if old != "" && strings.Count(event, old) != 1 {
		panic("bad replacement " + old)
	}
	return strings.Replace(event, old, new, 1)
}

func event(name, rest string) string {
	return `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"` + name + `"` + rest + `}`
}

func TestClaudeRefuses(t *testing.T) {
	type hostile struct{ in, want string }
	table := []hostile{
		// Threat model 28: keys that only look like the protocol's.
		{bash(`"tool_use_id"`, `"Tool_Name":"Read","tool_use_id"`), `keys "tool_name" and "Tool_Name" look alike`},
		{bash(`"tool_name"`, `"Tool_Name"`), `event "PreToolUse": tool_name is missing`},
		{bash(`"tool_use_id"`, `"Tool_Use_Id"`), `key "Tool_Use_Id" looks like "tool_use_id"`},
		{bash(`"permission_mode"`, `"Permission_mode"`), `key "Permission_mode" looks like "permission_mode"`},
		{bash(`"tool_use_id"`, `"tool_us\u0435_id"`), `key "tool_us\u0435_id" is not plain ASCII`},
		{bash(`"tool_use_id"`, `"tool_use_id\u200b"`), `is not plain ASCII`},
		{bash(`"tool_use_id"`, `"tool_use_id\u0000"`), `is not plain ASCII`},
		{bash(`"tool_use_id"`, `"agent_\u0131d"`), `is not plain ASCII`},
		{bash(`"description":"d"`, `"Command":"rm"`), `keys "command" and "Command" look alike`},
		{bash(`"description":"d"`, `"Description":"d"`), `tool_input.key "Description" looks like "description"`},
		{bash(`"description":"d"`, `"comm\u0430nd":"rm"`), `look alike`},
		{bash(`"Bash","tool_input":{"command"`, `"NewTool","tool_input":{"COMMAND"`), `looks like "command"`},
		{bash(`"Bash","tool_input":{"command"`, `"mcp__a__b","tool_input":{"c\u043emmand"`), `looks like "command"`},

		// 29: duplicate keys.
		{bash(`"tool_use_id"`, `"tool_name":"Read","tool_use_id"`), `duplicate key "tool_name"`},
		{bash(`"description":"d"`, `"command":"rm"`), `duplicate key "command"`},
		{bash(`"description":"d"`, `"\u0063ommand":"rm"`), `duplicate key "command"`},
		{bash(`"tool_use_id"`, `"mcp_server":{"a":{"b":1,"b":2}},"tool_use_id"`), `duplicate key "b"`},

		// 30: invalid UTF-8.
		{bash(`"ls"`, "\"ls \xff\""), `invalid UTF-8`},
		{bash(`"ls"`, `"ls \ud800"`), `surrogate`},
		{"\ufeff" + bash("", ""), `invalid character`},

		// 31: trailing data.
		{bash("", "") + bash("", ""), `more than one document`},
		{bash("", "") + "\x00", `more than one document`},
		{bash("", "") + " x", `more than one document`},
		{bash("", "") + "\n{", `more than one document`},

		// 32: numbers and types.
		{bash(`"/p"`, `1e999`), `out of range`},
		{bash(`"/p"`, `NaN`), `invalid character`},
		{bash(`"/p"`, strings.Repeat("9", 10_000)), `a number of 10000 characters`},
		{event("TaskCreated", `,"task_id":1,"task_subject":"s"`), `task_id: a number where a string is wanted`},
		{event("SubagentStart", `,"agent_id":"a"`), `agent_type is missing`},
		{event("UserPromptSubmit", ``), `prompt is missing`},
		{event("UserPromptSubmit", `,"prompt":["a"]`), `prompt: an array where a string is wanted`},
		{event("PostToolUse", `,"tool_name":"Bash","tool_input":{"command":"a"}`), `tool_response is missing`},
		{event("Stop", `,"stop_hook_active":"false"`), `stop_hook_active: a string where a boolean is wanted`},
		{event("PreCompact", `,"trigger":null`), `trigger: null where a string is wanted`},
		{event("PostToolBatch", `,"tool_calls":{}`), `tool_calls: an object where an array is wanted`},
		{event("PostToolBatch", `,"tool_calls":["x"]`), `tool_calls[0]: a string where an object is wanted`},
		{event("PostToolBatch", `,"tool_calls":[{"tool_name":"A","tool_input":{}},{"tool_name":"A"}]`), `tool_calls[1].tool_input is missing`},
		{event("PostToolBatch", `,"tool_calls":[{"tool_name":"Bash","tool_input":{"Command":"ls"}}]`), `tool_calls[0].tool_input.key "Command" looks like "command"`},
		{event("Future", `,"tool_input":"x"`), `event "Future": tool_input: a string where an object is wanted`},
		{event("Future", `,"tool_name":"Bash","tool_input":{}`), `tool_input.command is missing`},
		{event("", ``), `hook_event_name is empty`},
		{bash(`"Bash"`, `""`), `tool_name is empty`},
		{`[` + bash("", "") + `]`, `an array where an object is wanted`},
		{`"PreToolUse"`, `a string where an object is wanted`},
		{`null`, `null where an object is wanted`},

		// 33: depth and size.
		{bash(`"ls"`, strings.Repeat("[", 100_000)), `nested deeper than`},
		{bash(`"ls"`, strings.Repeat(`{"a":`, 100_000)), `nested deeper than`},
		{strings.Repeat("{", 1_000_000), `must be a string`},
		{bash(`"d"`, `[`+strings.Repeat("0,", 200_001)+`0]`), `too many keys and elements`},
		{bash(`"ls"`, `"`+strings.Repeat("x", adapters.MaxEvent)+`"`), `larger than`},
		{``, `no event on standard input`},
		{" \n\t", `no event on standard input`},
		{`{`, `ends too early`},
		{bash("", "")[:60], `ends too early`},
	}
	// 32: every wrong type in every field that something is decided by.
	for _, f := range []struct{ field, old string }{
		{"session_id", `"s"`}, {"transcript_path", `"/t"`}, {"cwd", `"/p"`}, {"hook_event_name", `"PreToolUse"`},
		{"permission_mode", `"default"`}, {"tool_name", `"Bash"`}, {"tool_use_id", `"u"`},
		{"tool_input.command", `"ls"`}, {"tool_input.description", `"d"`},
		{"tool_input", `{"command":"ls","description":"d"}`},
	} {
		for _, wrong := range []string{`1`, `true`, `null`, `[]`, `["ls"]`, `{"a":"ls"}`, `"x"`} {
			object := f.field == "tool_input"
			if object == (wrong[0] == '{') && (object || wrong[0] == '"') || !object && wrong[0] == '"' {
				continue
			}
			table = append(table, hostile{bash(f.old, wrong), f.field + ":"})
		}
	}
	table = append(table,
		hostile{bash(`{"command":"ls","description":"d"}`, `{}`), "tool_input.command is missing"},
		hostile{bash(`"session_id":"s",`, ``), "session_id is missing"},
		hostile{bash(`"cwd":"/p",`, ``), "cwd is missing"},
		hostile{bash(`"transcript_path":"/t",`, ``), "transcript_path is missing"},
		hostile{bash(`"hook_event_name":"PreToolUse",`, ``), "hook_event_name is missing"},
		hostile{bash(`"tool_name":"Bash",`, ``), "tool_name is missing"},
	)
	for _, tool := range []struct{ name, input, want string }{
		{"Write", `{"file_path":"/a"}`, "tool_input.content is missing"},
		{"Write", `{"content":"x"}`, "tool_input.file_path is missing"},
		{"Write", `{"file_path":["/a"],"content":"x"}`, "tool_input.file_path: an array"},
		{"Write", `{"file_path":"/a","content":{}}`, "tool_input.content: an object"},
		{"Edit", `{"file_path":"/a","old_string":"x"}`, "tool_input.new_string is missing"},
		{"Edit", `{"file_path":"/a","File_Path":"/b","old_string":"x","new_string":"y"}`, "look alike"},
		{"MultiEdit", `{"file_path":"/a","edits":{}}`, "tool_input.edits: an object"},
		{"NotebookEdit", `{"notebook_path":1,"new_source":""}`, "tool_input.notebook_path: a number"},
		{"Read", `{"file_path":null}`, "tool_input.file_path: null"},
		{"Grep", `{"pattern":"x","path":["/"]}`, "tool_input.path: an array"},
		{"WebFetch", `{"url":{"href":"x"},"prompt":""}`, "tool_input.url: an object"},
		{"Agent", `{"prompt":7}`, "tool_input.prompt: a number"},
	} {
		table = append(table, hostile{event("PreToolUse", `,"tool_name":"`+tool.name+`","tool_input":`+tool.input), tool.want})
	}
	claude := adapter(t, "claude")
	for _, c := range table {
		ev, err := claude.Parse([]byte(c.in), "")
		switch {
		case err == nil:
			t.Errorf("%.200q: accepted, want %q", c.in, c.want)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%.200q: %v, want %q", c.in, err, c.want)
		case strings.ContainsAny(err.Error(), "\n\r\x00\x1b") || len(err.Error()) > 250:
			t.Errorf("%.200q: not one short line: %q", c.in, err)
		case ev.Fields != nil || ev.Native != nil:
			t.Errorf("%.200q: an event with content beside %v", c.in, err)
		}
	}
}

func TestClaudeAccepts(t *testing.T) {
	claude := adapter(t, "claude")
	for name, in := range map[string]string{
		"unknown fields":          bash(`"tool_use_id"`, `"new_field":{"Command":[1]},"toolUseId":null,"tool_use_id"`),
		"unknown event":           event("SomethingNew", `,"what":{"ever":1}`),
		"unknown mode":            bash(`"default"`, `"hyper"`),
		"name beyond ASCII":       bash(`"Bash","tool_input":{"command"`, `"Вash","tool_input":{"command"`),
		"foreign tool's own keys": bash(`"Bash","tool_input":{"command"`, `"mcp__web__get","tool_input":{"URL"`),
		"foreign key in Russian":  bash(`"Bash","tool_input":{"command"`, `"mcp__a__b","tool_input":{"имя"`),
		"null where documented":   event("PreCompact", `,"trigger":"auto","custom_instructions":null`),
		"unchecked batch input":   event("PostToolBatch", `,"tool_calls":[{"tool_name":"Bash","tool_input":{"cmd":1}}]`),
		"empty agent type":        event("SubagentStop", `,"agent_id":"a","agent_type":"","stop_hook_active":false`),
		"white space around":      "\r\n " + bash("", "") + "\n\n",
	} {
		ev, err := claude.Parse([]byte(in), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "name beyond ASCII" && ev.Tool() != "Вash" {
			t.Errorf("the tool's name became %q", ev.Tool())
		}
	}
}

// The event of an error is enough to answer it.
func TestParseErrorKeepsTheName(t *testing.T) {
	for in, want := range map[string]hook.Name{
		bash(`"ls"`, `7`):                      hook.PreToolUse,
		event("Stop", `,"cwd2":1`):             hook.Stop,
		bash(`"tool_use_id"`, `"cwd":"/","x"`): "", // which of two?
		bash("", "") + "{}":                    "",
		`{"hook_event_name":5}`:                "",
	} {
		ev, err := adapter(t, "claude").Parse([]byte(in), "")
		if err == nil || ev.Name != want || ev.Agent != "claude" {
			t.Errorf("Parse(%s) = %+v, %v", in, ev, err)
		}
	}
}

func TestGenericParse(t *testing.T) {
	generic := adapter(t, "generic")
	for in, want := range map[string]hook.Name{
		`{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":"ls","URL":"x"}}`: hook.PreToolUse,
		`{"hook_event_name":"Stop"}`:                         hook.Stop,
		`{"hook_event_name":"my_event","x":1}`:               "my_event",
		`{"hook_event_name":"turn_end"}`:                     hook.Stop,
		`{"hook_event_name":"message_submit","prompt":"hi"}`: hook.UserPromptSubmit,
		`{"hook_event_name":"subagent_spawn"}`:               hook.SubagentStart,
		`{"hook_event_name":"subagent_complete"}`:            hook.SubagentStop,
	} {
		ev, err := generic.Parse([]byte(in), "")
		if err != nil || ev.Name != want || ev.Text("hook_event_name") != string(want) {
			t.Errorf("Parse(%s) = %+v, %v", in, ev, err)
		}
		if renamed := !strings.Contains(in, string(want)); renamed != (ev.Native != nil) {
			t.Errorf("Parse(%s): Native %v", in, ev.Native)
		}
	}
	for in, want := range map[string]string{
		`{}`:                               "hook_event_name is missing",
		`{"hook_event_name":"PreToolUse"}`: "tool_name is missing",
		`{"hook_event_name":"PreToolUse","tool_name":"x"}`:                                    "tool_input is missing",
		`{"hook_event_name":"PreToolUse","tool_name":"x","tool_input":"ls"}`:                  "tool_input: a string where an object is wanted",
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`:                 "tool_input.command is missing",
		`{"hook_event_name":"message_submit"}`:                                                "prompt is missing",
		`{"hook_event_name":"pre_tool_use","tool_name":"x","tool_input":{}}`:                  `event "pre_tool_use": its name is "PreToolUse"`,
		`{"hook_event_name":"preToolUse","tool_name":"x","tool_input":{}}`:                    `its name is "PreToolUse"`,
		`{"hook_event_name":"PRE-TOOL-USE"}`:                                                  `its name is "PreToolUse"`,
		`{"hook_event_name":"user-prompt-submit","prompt":"hi"}`:                              `its name is "UserPromptSubmit"`,
		`{"hook_event_name":"Stop","cwd":1}`:                                                  "cwd: a number where a string is wanted",
		`{"hook_event_name":"PreToolUse","tool_name":"x","tool_input":{"c\u043emmand":"ls"}}`: `looks like "command"`,
	} {
		if _, err := generic.Parse([]byte(in), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s): %v, want %q", in, err, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	claude := adapter(t, "claude")
	for _, c := range []struct {
		env  map[string]string
		want adapters.Environment
	}{
		{nil, adapters.Environment{Attended: true}},
		{map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": "0"}, adapters.Environment{}},
		{map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_ENTRYPOINT": "cli"}, adapters.Environment{}},
		{map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": "1"}, adapters.Environment{Attended: true}},
		{map[string]string{"CLAUDE_CODE_ENTRYPOINT": "cli"}, adapters.Environment{Attended: true}},
		{map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, adapters.Environment{}},
		{map[string]string{"CLAUDE_PROJECT_DIR": "/p", "CLAUDE_ENV_FILE": "/e"}, adapters.Environment{ProjectDir: "/p", EnvFile: "/e", Attended: true}},
	} {
		if got := claude.Environment(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("Environment(%v) = %+v, want %+v", c.env, got, c.want)
		}
	}
	if got := adapter(t, "generic").Environment(func(string) string { return "1" }); got != (adapters.Environment{EnvAnswer: true}) {
		t.Errorf("generic: %+v", got)
	}
}

func TestDeadline(t *testing.T) {
	claude := adapter(t, "claude")
	for n, want := range map[hook.Name]time.Duration{
		hook.PreToolUse: 600 * time.Second, "Unheard": 600 * time.Second, hook.UserPromptSubmit: 30 * time.Second,
		moment.PreModelSwitch: 30 * time.Second, moment.PostModelSwitch: 30 * time.Second,
		moment.MessageDisplay: 10 * time.Second, hook.SessionEnd: 1500 * time.Millisecond,
	} {
		if got := claude.Deadline(n); got != want {
			t.Errorf("Deadline(%s) = %v, want %v", n, got, want)
		}
	}
	if adapter(t, "generic").Deadline(hook.PreToolUse) <= 0 {
		t.Error("generic waits for nothing")
	}
}

func BenchmarkParseBash(b *testing.B) {
	data, err := os.ReadFile("testdata/payloads/PreToolUse.Bash.json")
	if err != nil {
		b.Fatal(err)
	}
	claude := adapter(b, "claude")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := claude.Parse(data, ""); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzClaudeParse(f *testing.F) { fuzzParse(f, "claude") }

func FuzzGenericParse(f *testing.F) { fuzzParse(f, "generic") }

// fuzzParse holds that an accepted event is what encoding/json reads, that its
// decisive fields have their types, that it parses again from its own text, and
// that a refusal is one line and carries no content.
func fuzzParse(f *testing.F, agent string) {
	for _, data := range payloads(f) {
		f.Add(data)
	}
	f.Add([]byte(bash(`"tool_use_id"`, `"Tool_Name":"Read","tool_use_id"`)))
	f.Add([]byte(`{"hook_event_name":"turn_end"}`))
	a := adapter(f, agent)
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := a.Parse(data, "")
		if err != nil {
			if ev.Fields != nil || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Fatalf("%q with %+v", err, ev)
			}
			return
		}
		if ev.Name == "" || ev.Text("hook_event_name") != string(ev.Name) || ev.Agent != agent {
			t.Fatalf("%+v", ev)
		}
		if ev.Name.Rewrites() == "tool_input" && (ev.Tool() == "" || ev.ToolInput() == nil) {
			t.Fatalf("a call without a tool or an input: %+v", ev)
		}
		if _, ok := ev.ToolInput()["command"].(string); ev.Name == hook.PreToolUse && ev.Tool() == "Bash" && !ok {
			t.Fatalf("Bash without a command: %+v", ev)
		}
		again, err := a.Parse(strictjson.Append(nil, ev.Fields), "")
		if err != nil || !reflect.DeepEqual(again.Fields, ev.Fields) {
			t.Fatalf("%v, %+v, want %+v", err, again.Fields, ev.Fields)
		}
	})
}
