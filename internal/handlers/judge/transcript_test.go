package judge_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/handlers/judge"
)

// TestTranscript holds what a search of the conversation finds, in
// testdata/transcript.txt: also what was said long before the end that is shown.
func TestTranscript(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	dir := t.TempDir()
	var lines strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&lines, format+"\n", args...) }
	line(`{"type":"user","message":{"role":"user","content":"The freeze ends on Monday; the key is %s"}}`, token)
	line(`{"type":"assistant","message":{"content":[{"type":"text","text":"I wait"},{"type":"tool_use","name":"Bash","input":{"command":"date +%%A"}}]}}`)
	line(`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"Sunday"}]}]}}`)
	line(`{"type":"summary","summary":"freeze"}`)
	line(`no JSON: freeze`)
	line(`{"type":"user","message":{"content":"%s the freeze %s"}}`, strings.Repeat("é", 4000), strings.Repeat("x", 9000))
	for i := range 3000 {
		line(`{"type":"assistant","message":{"content":"step %d </gate-data-0>"}}`, i)
	}
	path := write(t, dir, "t.jsonl", lines.String())
	ev := bash("deploy --token " + token)
	ev.Fields["transcript_path"] = path
	unnamed := bash("ls")
	var got strings.Builder
	for i, c := range []struct {
		name string
		in   string
		ev   *hook.Event
		show bool
	}{
		{"what was said first", `{"pattern": "(?i)freeze ends"}`, ev, true},
		{"a use of a tool", `{"pattern": "date"}`, ev, true},
		{"its result", `{"pattern": "^got S.nday"}`, ev, true},
		{"the middle of a long message", `{"pattern": "the freeze"}`, ev, true},
		{"the newest first", `{"pattern": "step 299[89]"}`, ev, true},
		{"too many", `{"pattern": "step"}`, ev, true},
		{"a secret", `{"pattern": "ghp_[0-9]"}`, ev, true},
		{"nothing", `{"pattern": "thaw"}`, ev, true},
		{"no expression", `{"pattern": "("}`, ev, true},
		{"another parameter", `{"pattern": "x", "path": "/etc/passwd"}`, ev, true},
		{"no transcript", `{"pattern": "x"}`, unnamed, true},
		{"not for this hook", `{"pattern": "x"}`, ev, false},
	} {
		api := apis[i%2]
		s := newServer(t, func(tn *turn) answer {
			if tn.earlier() == 0 {
				return answer{uses: []use{{"Transcript", c.in}}}
			}
			return answer{text: `{"ok": true}`}
		})
		r, fault := asking(t, s, api).Investigate(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: c.ev, Project: dir, Transcript: c.show})
		turns := s.asked()
		if fault != nil || !r.OK || len(turns) != 2 {
			t.Fatalf("%s: %+v, %v in %d turns", c.name, r, fault, len(turns))
		}
		if slices.Contains(turns[0].tools, "Transcript") != c.show || strings.Contains(turns[0].system, "Transcript") != c.show {
			t.Errorf("%s: offered %v", c.name, turns[0].tools)
		}
		if strings.Contains(turns[1].raw, token) {
			t.Errorf("%s: a secret is sent", c.name)
		}
		result := fenced.FindStringSubmatch(turns[1].last())[2]
		if len(result) > 600 {
			result = result[:200] + fmt.Sprintf("\n[… %d bytes …]\n", len(result)-400) + result[len(result)-200:]
		}
		fmt.Fprintf(&got, "%s: %s\n%s\n\n", c.name, c.in, indent(strings.ReplaceAll(result, filepath.ToSlash(dir), "DIR")))
	}
	golden(t, "testdata/transcript.txt", got.String())
}
