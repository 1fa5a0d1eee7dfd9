package consent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

// TestForged writes approvals that add up but that gate never grants, as
// somebody would who edits the store and mends the sum.
func TestForged(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Gate: hook.Gate{Now: now}, Fields: map[string]any{
		"tool_name": "Bash", "cwd": "/home/ada", "tool_input": map[string]any{"command": "ls"},
	}}
	d := hook.Decision{ID: "k3v9qx", Effect: hook.Ask, Reasons: []hook.Reason{{Effect: hook.Ask, Reason: "why"}}}
	rules := Approvals{Enabled: true}
	for _, row := range []struct {
		name string
		edit func(*approval)
		want string
	}{
		{"right", func(*approval) {}, ""},
		{"for a year", func(a *approval) { a.until = now.AddDate(1, 0, 0) }, "grants no such time"},
		{"for an hour and a bit", func(a *approval) { a.until = now.Add(maxLife + 1) }, "grants no such time"},
		{"from tomorrow", func(a *approval) { a.at, a.until = now.AddDate(0, 0, 1), now.AddDate(0, 0, 1).Add(time.Minute) }, "grants no such time"},
		{"no reasons", func(a *approval) { a.pending.Reasons = nil }, "there are no reasons"},
		{"no id", func(a *approval) { a.pending.ID = "" }, "no decision's id"},
		{"input in another order", func(a *approval) { a.pending.Call.Input = `{"command": "ls"}` }, "not canonical"},
		{"half a signature", func(a *approval) { a.signature = make([]byte, 32) }, "no Ed25519 signature"},
	} {
		s := Store{filepath.Join(t.TempDir(), "consent")}
		if err := os.Chmod(filepath.Dir(s.Dir), 0o700); err != nil {
			t.Fatal(err)
		}
		p, err := s.AddPending(&ev, &d, rules)
		if err != nil {
			t.Fatal(err)
		}
		a := approval{pending: p, at: now, until: now.Add(time.Minute), by: "ada"}
		row.edit(&a)
		root, err := s.open(false)
		if err == nil {
			err = s.write(root, approvedDir, p.Call.Digest(), a.encode())
			root.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Use(&ev, &d, rules); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// The kind is part of the sum: to change the one word is not enough.
func TestKindOfRecord(t *testing.T) {
	record := seal("pending", map[string]any{"a": "b"})
	if _, err := unseal("pending", record); err != nil {
		t.Fatal(err)
	}
	if _, err := unseal("approval", record); err == nil || !strings.Contains(err.Error(), "another kind") {
		t.Error(err)
	}
	if _, err := unseal("approval", bytes.Replace(record, []byte("pending"), []byte("approval"), 1)); err == nil || !strings.Contains(err.Error(), "does not add up") {
		t.Error(err)
	}
}
