package audit_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins/logs"

	"gate/hook"
	"gate/internal/audit"
)

// TestOPA has OPA read a record and a gap as its own decision log's, and finds
// in its fields what they are for.
func TestOPA(t *testing.T) {
	ev := hook.Event{
		Agent: "claude", Name: hook.PreToolUse,
		Fields: map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/home/dev/x", "tool_name": "Bash",
			"tool_input": map[string]any{"command": "curl -u me:swordfish1 https://example.com"}},
		Gate: hook.Gate{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), User: "dev", Labels: map[string]string{"ring": "canary"}},
	}
	d := hook.Decision{
		ID: "abc123", Effect: hook.Deny, Took: 1500 * time.Microsecond, Reasons: []hook.Reason{{ID: "a.b", Effect: hook.Deny, Reason: "no"}},
		Facts: &hook.Facts{Opaque: true},
	}
	r := audit.Of(&ev, &d, hook.Reject)
	r.Bundles = []audit.Bundle{{Name: "company", Revision: "7", Digest: "sha256:ab"}}
	r.Keep(&ev, &d, d.Facts)
	r.Kept.Cut = append(r.Kept.Cut, audit.Cut{At: "/input/facts"})
	r.Key = "abc123-0123456789abcdef"

	var got logs.EventV1
	decoder := json.NewDecoder(bytes.NewReader(r.JSON()))
	decoder.DisallowUnknownFields() // but digest of a bundle, below
	if err := decoder.Decode(&got); err != nil && !strings.Contains(err.Error(), `"digest"`) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	if _, err := got.AST(); err != nil {
		t.Error(err)
	}
	result := (*got.Result).(map[string]any)
	input := (*got.Input).(map[string]any)
	for _, c := range []struct{ name, got, want any }{
		{"decision_id", got.DecisionID, "abc123-0123456789abcdef"},
		{"timestamp", got.Timestamp.Equal(ev.Gate.Now), true},
		{"path", got.Path, "gate/decision"},
		{"labels", got.Labels, map[string]string{"ring": "canary"}},
		{"bundles", got.Bundles, map[string]logs.BundleInfoV1{"company": {Revision: "7"}}},
		{"requested_by", got.RequestedBy, "dev"},
		{"result.effect", result["effect"], "deny"},
		{"input", input["tool_name"], "Bash"},
		{"masked", got.Masked, []string{"/input/tool_input/command"}},
		{"erased", got.Erased, []string{"/input/facts"}},
		{"metrics", got.Metrics["timer_gate_decision_ns"], 1.5e6},
		{"custom", got.Custom["gate"].(map[string]any)["id"], "abc123"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}

	var gap logs.EventV1
	if err := json.Unmarshal(audit.Gap{Log: "x", From: 2, To: 3}.JSON(map[string]string{"a": "b"}), &gap); err != nil {
		t.Fatal(err)
	}
	if gap.DecisionID != "gap-x-2-3" || gap.Path != "gate/gap" || gap.Labels["a"] != "b" {
		t.Errorf("%+v", gap)
	}
	var finding logs.EventV1
	f := audit.Finding{Kind: audit.Anew, Before: audit.Cursor{Log: "x", Seq: 2}, Log: "y", User: "dev"}
	if err := json.Unmarshal(f.JSON(map[string]string{"a": "b"}), &finding); err != nil {
		t.Fatal(err)
	}
	if finding.DecisionID != "log-anew-x-2-y-0" || finding.Path != "gate/log" || finding.RequestedBy != "dev" || finding.Labels["a"] != "b" {
		t.Errorf("%+v", finding)
	}
}
