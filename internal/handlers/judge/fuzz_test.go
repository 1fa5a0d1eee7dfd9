package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

// FuzzRuling holds that nothing reads as a yes but the one object that says so,
// and that what is shown of an answer steers no terminal.
func FuzzRuling(f *testing.F) {
	for _, text := range []string{
		`{"ok": true}`, `{"ok": false, "reason": "no"}`, " \n{\"ok\":true}\n", `{"ok":true,"ok":false}`, `{"ok":true,"Ok":false}`, `{"ok":true}{"ok":false}`,
		`{"ok":"true"}`, `{"ok":false}`, `{"ok":false,"reason":"\u001b[2J"}`, `{"ok":false,"reason":7}`, "```json\n{\"ok\":true}\n```", `{"ok":false,"reason":"a","b":1}`, "\x1b\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRuling(text)
		if err != nil && strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
			t.Errorf("%q: %q", text, err)
		}
		if strings.ContainsAny(r.Reason, "\x00\x1b\u202e") || len(r.Reason) > MaxReason+len("…") {
			t.Errorf("%q: the reason is %q", text, r.Reason)
		}
		if !r.OK {
			if err == nil && r.Reason == "" {
				t.Errorf("%q: neither a yes nor a reason", text)
			}
			return
		}
		var doc map[string]any
		if err != nil || json.Unmarshal([]byte(text), &doc) != nil || len(doc) != 1 || doc["ok"] != true {
			t.Errorf("%q is a yes (%v)", text, err)
		}
	})
}

// FuzzTranscript holds that what was said last is shown whatever stands before
// it, that each line is one message, and that there are not too many.
func FuzzTranscript(f *testing.F) {
	for _, text := range []string{
		`{"type":"user","message":{"role":"user","content":"hello"}}`, `{"type":"assistant","message":{"content":[{"type":"text","text":"a\nb"},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}`,
		`{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x"}]}]}`, `{"type":"user","message":[]}`, "\xff\n{", `{"type":"summary"}`,
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "transcript.jsonl")
	m := audit.NewMasker(&hook.Event{})
	f.Fuzz(func(t *testing.T, before []byte) {
		last := `{"from":"user","said":"the last word"}`
		if err := os.WriteFile(path, append(before, "\n"+`{"type":"user","message":{"content":"the last word"}}`+"\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		shown, err := transcript(path, m)
		if err != nil || !strings.HasSuffix("\n"+shown, "\n"+last) {
			t.Fatalf("%q: %q, %v", before, shown, err)
		}
		lines := strings.Split(shown, "\n")
		if len(lines) > maxMessages || len(shown) > maxTold+maxMessages {
			t.Fatalf("%d lines, %d bytes", len(lines), len(shown))
		}
		for _, line := range lines {
			if doc, err := strictjson.Object([]byte(line), strictjson.Limits{}); err != nil || doc["from"] != "user" && doc["from"] != "assistant" || len(doc) != 2 {
				t.Fatalf("%q shows %q: %v", before, line, err)
			}
		}
	})
}

// FuzzKept holds that a verdict that was kept is a yes only where one was
// written, and that a damaged one is none.
func FuzzKept(f *testing.F) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	c := cache{dir: f.TempDir()}
	if err := os.Chmod(c.dir, 0o700); err != nil {
		f.Fatal(err)
	}
	key := []any{"q"}
	for _, r := range []Ruling{{OK: true}, {Reason: "no"}} {
		c.put(key, r, now, time.Hour)
		data, err := os.ReadFile(c.path(key))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(c.path(key), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, ok := c.get(key, now, time.Hour)
		var doc map[string]any
		if ok && (json.Unmarshal(data, &doc) != nil || doc["ok"] != r.OK || r.OK == (r.Reason != "")) {
			t.Errorf("%q is taken for %+v", data, r)
		}
		if _, late := c.get(key, now.Add(2*time.Hour), time.Hour); ok && late {
			t.Errorf("%q holds for ever", data)
		}
		if !ok {
			return
		}
		c.put(key, r, now, time.Hour)
		if again, ok := c.get(key, now, time.Hour); !ok || again != r {
			t.Errorf("%+v is kept as %+v", r, again)
		}
	})
}

// FuzzToolInput holds that a tool gets only parameters that it has, of their
// types.
func FuzzToolInput(f *testing.F) {
	for _, text := range []string{`{"path":"a"}`, `{"pattern":"x","path":"/"}`, `{"path":"a","from":1e99}`, `{"path":7}`, `{"x":1}`, `[]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i := range tools {
			in, err := tools[i].read(text)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\x00\x1b") {
					t.Errorf("%q: %q", text, err)
				}
				continue
			}
			for _, p := range tools[i].params {
				if n := in.number(p.name); n < 0 || n > maxFile {
					t.Errorf("%q: %s is %d", text, p.name, n)
				}
			}
			for _, name := range tools[i].Required {
				if in.text(name) == "" {
					t.Errorf("%q: without %s", text, name)
				}
			}
		}
	})
}
