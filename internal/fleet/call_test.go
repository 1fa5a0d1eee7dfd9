package fleet

import (
	"strings"
	"testing"
)

// TestCallID gives a call one name before and after it, without the agent's own.
func TestCallID(t *testing.T) {
	r := Reducer{Level: Effects, Pseudonyms: Pseudonyms{Key: []byte("sixteen bytes or more")}}
	sent := func(event, session, id string) Sent {
		t.Helper()
		line := `{"custom":{"gate":{"agent":"claude","chain":{"log":"a","seq":1},"event":"` + event + `","id":"x","session":"` + session + `","v":3}},"decision_id":"x-1","input":{"tool_use_id":"` + id + `"},"path":"gate/decision","result":{"effect":"ask","result":"reject"},"timestamp":"2026-11-28T10:00:00.000000Z"}`
		body, err := r.Reduce([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSent(body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "toolu") {
			t.Errorf("the agent's own name leaves the machine: %s", body)
		}
		return s
	}
	before, after := sent("PreToolUse", "s", "toolu_1"), sent("PostToolUse", "s", "toolu_1")
	if before.Call != after.Call || len(before.Call) != len("c-")+16 {
		t.Errorf("%q before and %q after", before.Call, after.Call)
	}
	if other := sent("PreToolUse", "s", "toolu_2"); other.Call == before.Call {
		t.Error("two calls have one name")
	}
	if other := sent("PreToolUse", "t", "toolu_1"); other.Call == before.Call {
		t.Error("calls of two sessions have one name")
	}
	if none := sent("PreToolUse", "s", ""); none.Call != "" {
		t.Errorf("a call without a name is %q", none.Call)
	}
}
