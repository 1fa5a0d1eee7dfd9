package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/hook"
)

func record(call string) Record {
	return Record{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), ID: "abc123", Agent: "claude", Event: hook.PreToolUse, Tool: "Bash",
		Call: call, Effect: hook.Deny, Result: hook.Reject, Reasons: []Reason{{ID: "x.y", Effect: hook.Deny, Reason: "no", Pos: "a:1"}},
	}
}

func add(t *testing.T, dir string, o Options, r Record) {
	t.Helper()
	if err := Append(dir, o, r); err != nil {
		t.Fatal(err)
	}
}

// lines returns the records of a file; each line must be one or empty.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		if len(in.Bytes()) == 0 {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal(in.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %q: %v", path, in.Text(), err)
		}
		out = append(out, doc)
	}
	return out
}

func callOf(doc map[string]any) any {
	return doc["custom"].(map[string]any)["gate"].(map[string]any)["call"]
}

// lineSize is the length of the lines of record.
func lineSize(t *testing.T) int64 {
	t.Helper()
	dir := t.TempDir()
	add(t, dir, Options{}, record("00"))
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size() + 64 // the first one has no digest of another
}

func TestAppend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "gate")
	add(t, dir, Options{}, record("one"))
	add(t, dir, Options{}, record("two"))
	got := lines(t, filepath.Join(dir, FileName))
	if len(got) != 2 || callOf(got[0]) != "one" || callOf(got[1]) != "two" || got[0]["result"].(map[string]any)["effect"] != "deny" ||
		got[0]["timestamp"] != "2026-01-02T03:04:05.000006Z" {
		t.Errorf("records %v", got)
	}
}

// TestForged puts what looks like an end of the record into every text.
func TestForged(t *testing.T) {
	dir := t.TempDir()
	evil := "a\n{\"decision\":\"allow\"}\r\u2028\x1b[2J\u202e\x00"
	add(t, dir, Options{}, Record{
		ID: evil, Agent: evil, Session: evil, Event: hook.Name(evil), Tool: evil, Dir: evil, Call: evil,
		Reasons: []Reason{{ID: evil, Reason: evil, Source: evil, Pos: evil}}, Changed: []string{evil}, Faults: []string{evil},
	})
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(data, []byte{'\n'}) != 1 || bytes.ContainsAny(data, "\x00\x1b\r\u2028\u202e") {
		t.Errorf("the record is %q", data)
	}
	if got := lines(t, filepath.Join(dir, FileName)); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}

// TestSecrets sends a secret through every field that holds text of the event.
func TestSecrets(t *testing.T) {
	secret := "ghp" + "_0123456789abcdefABCDEF0123456789abcd"
	ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"session_id": secret, "cwd": "/x/" + secret, "tool_name": "Bash",
		"tool_input": map[string]any{"command": strings.Repeat("x", 290) + " " + secret, "content": secret},
	}}
	d := hook.Decision{
		Reasons: []hook.Reason{{ID: "a", Reason: "because of " + secret}},
		Fault:   hook.Faultf(hook.FaultInternal, "panic: %s", secret),
		Steps:   []hook.Step{{Hook: &hook.Hook{ID: "b"}, Fault: hook.Faultf(hook.FaultEval, "at %s", secret)}},
	}
	if line := string(Of(&ev, &d, hook.Reject).encode()); strings.Contains(line, secret[:20]) {
		t.Errorf("the record holds the secret: %s", line)
	}
}

func TestSummary(t *testing.T) {
	for _, test := range []struct {
		input map[string]any
		want  string
	}{
		{map[string]any{"command": "make"}, "make"},
		{map[string]any{"file_path": "/a", "content": "all of it"}, "/a"},
		{map[string]any{"url": "https://me:pw123@x.org/a?session=1", "prompt": "p"}, "https://me:[redacted]@x.org/a"},
		{map[string]any{"command": []any{"make"}}, ""},
		{map[string]any{"message": "private"}, ""},
		{nil, ""},
	} {
		ev := hook.Event{Fields: map[string]any{"tool_input": test.input}}
		if got := Summary(&ev); got != test.want {
			t.Errorf("Summary(%v) = %q, want %q", test.input, got, test.want)
		}
	}
}

// TestTorn goes on behind a record that was cut short.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, Options{}, record("one"))
	path := filepath.Join(dir, FileName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"call":"tw`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	add(t, dir, Options{}, record("three"))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(got) != 3 || !strings.Contains(got[2], `"call":"three"`) {
		t.Errorf("lines %q", got)
	}
}

// TestRotate keeps the files small and few, and loses nothing that is young.
func TestRotate(t *testing.T) {
	dir := t.TempDir()
	one := lineSize(t)
	for i := range 20 {
		add(t, dir, Options{Size: 5 * one / 2, Keep: 2}, record(fmt.Sprintf("%02d", i)))
	}
	var calls []any
	for _, name := range []string{FileName + ".2", FileName + ".1", FileName} {
		for _, r := range lines(t, filepath.Join(dir, name)) {
			calls = append(calls, callOf(r))
		}
	}
	if want := "[12 13 14 15 16 17 18 19]"; fmt.Sprint(calls) != want {
		t.Errorf("kept %v, want %s", calls, want)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 4 {
		t.Errorf("%d files", len(entries))
	}
}

// TestTogether appends from many at once, with rotation in between: every line
// is whole, and none of the last file's worth is lost.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for j := range 10 {
				if err := Append(dir, Options{Size: 4 << 10, Keep: 100}, record(fmt.Sprintf("%d-%d", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[any]bool{}
	files, _ := filepath.Glob(filepath.Join(dir, FileName+"*"))
	for _, name := range files {
		for _, r := range lines(t, name) {
			seen[callOf(r)] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d records in %d files, want 400", len(seen), len(files))
	}
}
