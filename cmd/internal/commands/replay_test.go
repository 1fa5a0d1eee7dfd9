package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gate/internal/strictjson"
)

// sessionOf is a transcript with n calls: the lines, a prompt before each tenth
// and a result after each.
func sessionOf(n int, lines ...string) []byte {
	var b []byte
	entry := func(kind string, content any) {
		b = strictjson.Append(b, map[string]any{
			"type": kind, "uuid": fmt.Sprint(len(b)), "sessionId": "s1", "cwd": "/home/dev/project", "gitBranch": "main",
			"timestamp": "2026-01-15T10:00:00.000Z", "message": map[string]any{"role": kind, "content": content},
		})
		b = append(b, '\n')
	}
	for i := range n {
		if i%10 == 0 {
			entry("user", "please go on")
		}
		id := fmt.Sprintf("toolu_%d", i)
		entry("assistant", []any{map[string]any{
			"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": lines[i%len(lines)]},
		}})
		entry("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat("output ", 300), "is_error": i%len(lines) == 1}})
	}
	return b
}

const noPush = `# METADATA
# custom:
#   gate:
#     events: [PreToolUse]
#     if: effect(git.push)
package acme.push

deny contains sprintf("%s is not yours", [branch]) if {
	some push in input.facts.effects
	push.kind == "git.push"
	some branch in push.branches
}
`

// TestReplayThousand replays a session of 1 000 calls against a candidate.
func TestReplayThousand(t *testing.T) {
	dir := t.TempDir()
	candidate := filepath.Join(dir, "candidate")
	if err := os.MkdirAll(candidate, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"session.jsonl":       sessionOf(1000, "go test ./...", "git push", "git push -f origin main", "ls -la | head", "git push origin topic"),
		"candidate/push.rego": []byte(noPush),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), process{
		args: []string{
			"replay", filepath.Join(dir, "session.jsonl"), "--against", candidate, "--limit", "1", "--fail-on", "newly-denied", "--progress",
			"--managed-dir", filepath.Join(dir, "m"), "--user-dir", filepath.Join(dir, "u"), "--state-dir", filepath.Join(dir, "s"),
		},
		env: []string{"HOME=/home/dev"}, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
	})
	got := strings.ReplaceAll(stdout.String(), dir, "DIR")
	got = regexp.MustCompile(`\d+\.\d\d`).ReplaceAllString(got, "T")
	want := `1100 calls from 1 file: 400 changed, 0 not replayable
then: the policies in force here · now: with DIR/candidate, as one more source of yours

newly denied: 400
  acme.push: 400
    DIR/session.jsonl:4  Bash  git push  pass → deny  (200 times)
      now: main is not yours (acme.push)
      the agent got an error then
    … and 200 more

time of a decision, in ms (138 calls): median T → T, p95 T → T; added for each call: median T, p95 T
note: the facts of 1100 calls are worked out with the branch of then, and today's files, links and variables
`
	if got != want || status != exitReject {
		t.Errorf("status %d:\n%s\nwant:\n%s", status, got, want)
	}
	if !strings.HasSuffix(strings.TrimSpace(stderr.String()), "a second") || !strings.Contains(stderr.String(), "gate: 1100 calls, ") {
		t.Errorf("progress: %s", stderr.String())
	}
}
