package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fixture is one of those that the interceptors of SEP-2624 are held to.
type fixture struct {
	Steps []struct {
		Phase   string
		Payload json.RawMessage
		Context struct{ SessionID string }
		Expect  struct{ Decision string }
	}
}

// TestInterceptors runs the fixtures about what is read from one MCP server and sent to
// another through both programs, as an agent's events of sessions that a person attends. The
// one with a redactor before the guard is not among them: the library judges a call as the
// agent made it, before what a person's own policies make of it.
func TestInterceptors(t *testing.T) {
	for _, name := range strings.Fields("no-prior-read-allowed relaybleed-aws_access_key relaybleed-github_pat relaybleed-stripe_secret_live same-origin-writeback-allowed session-isolation") {
		file := "../../../internal/conformance/testdata/mcp-interceptors/behavior/" + name + ".json"
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f fixture
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{"gate", "gate-hook"} {
			t.Run(program+"/"+filepath.Base(file), func(t *testing.T) { f.run(t, program) })
		}
	}
}

// run plays a fixture's steps, each of which is one event.
func (f *fixture) run(t *testing.T, program string) {
	dir := t.TempDir()
	args := []string{"--agent", "claude", "--managed-dir", dir + "/m", "--user-dir", dir + "/u", "--state-dir", dir + "/s"}
	if program == "gate" {
		args = append([]string{"hook"}, args...)
	}
	t.Setenv("CLAUDE_CODE_SESSION_ATTENDED", "1")
	var tool string
	var input any
	for i, s := range f.Steps {
		ev := map[string]any{"session_id": s.Context.SessionID, "cwd": "/workspace", "transcript_path": "/tmp/t.jsonl", "permission_mode": "default"}
		if s.Phase == "request" {
			var call struct {
				Name      string
				Arguments any
			}
			if err := json.Unmarshal(s.Payload, &call); err != nil {
				t.Fatal(err)
			}
			server := map[string]string{"read_file": "filesystem", "write_file": "filesystem", "write_query": "sqlite"}[call.Name]
			tool, input = "mcp__"+server+"__"+call.Name, call.Arguments
			ev["hook_event_name"] = "PreToolUse"
		} else {
			ev["hook_event_name"], ev["tool_response"] = "PostToolUse", s.Payload
		}
		ev["tool_name"], ev["tool_input"], ev["tool_use_id"] = tool, input, fmt.Sprintf("toolu_%d", i)
		event, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := answerOf(t, program, string(event), args...)
		got := "allow"
		if status != 0 || strings.Contains(answer, `"permissionDecision":"deny"`) {
			got = "deny"
		}
		if got != s.Expect.Decision {
			t.Errorf("step %d: %s where %s is wanted: %s", i, got, s.Expect.Decision, answer)
		}
	}
}
