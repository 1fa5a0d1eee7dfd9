package ocsf_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/audit/ocsf"
)

// required are the attributes that OCSF 1.5.0 requires of a class, and of those of its
// objects that events have; one attribute behind "|" is enough.
var required = map[float64][]string{
	1007: {"actor.user|actor.process", "device.type_id", "process.name|process.cmd_line"},
	2004: {"finding_info.uid", "finding_info.title"},
	3002: {"user.name|user.uid", "device.type_id"},
	6002: {"app.name", "app.vendor_name"},
	6005: {"actor.user|actor.process", "src_endpoint.name|src_endpoint.hostname|src_endpoint.ip", "database.type_id"},
}

// always are those of every class.
var always = []string{"activity_id", "category_uid", "class_uid", "type_uid", "severity_id", "time", "metadata.version", "metadata.product.name"}

// TestEvent writes a record of each kind, and holds it against the attributes that its
// class requires and against the table of docs/log.md.
func TestEvent(t *testing.T) {
	call := func(effect hook.Effect, result hook.Result) audit.Record {
		return audit.Record{Version: 3, Time: time.UnixMilli(1_790_000_000_123), ID: "abc123", Key: "abc123-00", User: "dev", Agent: "claude", Session: "s",
			Event: hook.PreToolUse, Tool: "Bash", Call: "git push --force", Dir: "/home/dev/x", Effect: effect, Result: result,
			Reasons: []audit.Reason{{ID: "acme.push", Effect: effect, Reason: "no force", Source: "managed:acme"}}, Bundles: []audit.Bundle{{Name: "acme", Revision: "7"}},
			Labels: map[string]string{"host": "box"}}
	}
	with := func(r audit.Record, change func(*audit.Record)) audit.Record { change(&r); return r }
	event := func(name hook.Name) audit.Record {
		return audit.Record{Version: 3, Time: time.UnixMilli(1_790_000_000_123), ID: "abc123", Agent: "claude", Event: name, Result: hook.Continue}
	}
	observed := audit.Policy{ID: "acme.push", Would: &audit.Would{Effect: hook.Deny}}
	for _, test := range []struct {
		name                                           string
		record                                         audit.Record
		class, activity, severity, action, disposition float64
	}{
		{"denied", call(hook.Deny, hook.Reject), 2004, 1, 4, 2, 2},
		{"asked", call(hook.Ask, hook.Continue), 2004, 1, 3, 99, 23},
		{"asked where nobody can be asked", call(hook.Ask, hook.Reject), 2004, 1, 3, 99, 23},
		{"approved", with(call(hook.Pass, hook.Continue), func(r *audit.Record) { r.Approved = true }), 2004, 1, 3, 1, 8},
		{"changed", call(hook.Pass, hook.ModifyInput), 2004, 1, 2, 4, 11},
		{"passed", call(hook.Pass, hook.Continue), 1007, 1, 1, 1, 1},
		{"observed", with(call(hook.Pass, hook.Continue), func(r *audit.Record) { r.Policies = []audit.Policy{observed} }), 1007, 1, 1, 3, 17},
		{"fault", with(call(hook.Pass, hook.Reject), func(r *audit.Record) { r.Reasons, r.Faults = nil, []string{"gate: no time"} }), 2004, 1, 4, 2, 2},
		{"nothing known", event(""), 6002, 99, 1, 1, 1},
		{"begin", event(hook.SessionStart), 3002, 1, 1, 1, 1},
		{"end of a sub-agent", event(hook.SubagentStop), 3002, 2, 1, 1, 1},
		{"prompt", event(hook.UserPromptSubmit), 6002, 99, 1, 1, 1},
		{"compaction", event(hook.PreCompact), 6005, 99, 1, 1, 1},
		{"review", with(event(""), func(r *audit.Record) {
			r.Call, r.Review = "false alarm: xyz789", &audit.Review{Of: "xyz789", Key: "xyz789-00", Says: audit.FalseAlarm, Policies: []string{"acme.push"}, Note: "a test"}
		}), 2004, 2, 1, 0, 0},
		{"bundle", with(event(""), func(r *audit.Record) { r.Sync = &audit.Sync{Name: "acme", Version: 7, Digest: "sha256:ab"} }), 6002, 8, 1, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			line, err := ocsf.Event(&test.record, "1.2.3")
			var e map[string]any
			if err != nil || strings.Contains(string(line), "\n") || json.Unmarshal(line, &e) != nil {
				t.Fatalf("%v: %s", err, line)
			}
			for key, want := range map[string]float64{"class_uid": test.class, "category_uid": float64(int(test.class) / 1000), "activity_id": test.activity,
				"type_uid": test.class*100 + test.activity, "severity_id": test.severity, "action_id": test.action, "disposition_id": test.disposition, "time": 1_790_000_000_123} {
				if got, _ := e[key].(float64); got != want {
					t.Errorf("%s: %v, want %v", key, e[key], want)
				}
			}
			for _, one := range append(always, required[test.class]...) {
				if !has(e, one) {
					t.Errorf("no %s in %s", one, line)
				}
			}
			var whole any
			if err := json.Unmarshal(test.record.JSON(), &whole); err != nil || !reflect.DeepEqual(e["unmapped"].(map[string]any)["gate"], whole) {
				t.Errorf("%v, unmapped: %v", err, e["unmapped"])
			}
		})
	}
}

// has reports whether an event has one of some attributes.
func has(e map[string]any, names string) bool {
	for name := range strings.SplitSeq(names, "|") {
		var v any = e
		for part := range strings.SplitSeq(name, ".") {
			m, _ := v.(map[string]any)
			v = m[part]
		}
		if v != nil && v != "" {
			return true
		}
	}
	return false
}

// TestPolicy names the policy that decided and the release that it came with.
func TestPolicy(t *testing.T) {
	r := audit.Record{Version: 3, Event: hook.PreToolUse, Tool: "Bash", Effect: hook.Deny, Result: hook.Reject,
		Reasons: []audit.Reason{{ID: "acme.push", Effect: hook.Deny, Reason: "no force", Source: "managed:acme"}}, Bundles: []audit.Bundle{{Name: "acme", Revision: "7"}}}
	line, err := ocsf.Event(&r, "1.2.3")
	var e struct {
		Policy       map[string]string
		StatusDetail string `json:"status_detail"`
		FindingInfo  struct {
			Types []string
		} `json:"finding_info"`
	}
	if err != nil || json.Unmarshal(line, &e) != nil {
		t.Fatal(err)
	}
	want := map[string]string{"uid": "acme.push", "name": "acme.push", "desc": "no force", "version": "7"}
	if !reflect.DeepEqual(e.Policy, want) || e.StatusDetail != "no force" || !reflect.DeepEqual(e.FindingInfo.Types, []string{"acme.push"}) {
		t.Errorf("%+v", e)
	}
}
