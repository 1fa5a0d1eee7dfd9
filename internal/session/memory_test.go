package session

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func event(name hook.Name, line string) *hook.Event {
	return &hook.Event{Agent: "claude", Name: name, Fields: map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}}
}

// judge counts an event from beginning to end.
func judge(m *Memory, at time.Time, name hook.Name, line string, d *hook.Decision) {
	ev := event(name, line)
	m.Begin(ev, at)
	m.End(ev, d, d.Effect == hook.Deny)
}

func denial(by string) *hook.Decision {
	return &hook.Decision{Effect: hook.Deny, Reasons: []hook.Reason{{Hook: by, Effect: hook.Deny, Reason: "no"}}}
}

// seen returns what a policy sees at the path, in a call that begins now.
func seen(m *Memory, path string) any {
	var v any = m.Document(event(hook.PreToolUse, "rm"))
	for key := range strings.SplitSeq(path, "/") {
		v = v.(map[string]any)[key]
	}
	return v
}

func TestCounts(t *testing.T) {
	pass := &hook.Decision{}
	m := &Memory{}
	check := func(path string, want any) {
		t.Helper()
		if got := seen(m, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	judge(m, noon, hook.SessionStart, "", pass)
	check("started", "2026-01-02T12:00:00Z")
	check("round/number", 0)
	judge(m, noon.Add(10*time.Second), hook.UserPromptSubmit, "", pass)
	check("round/started", "2026-01-02T12:00:10Z")
	for i, d := range []*hook.Decision{pass, denial("acme.rm"), denial("acme.rm"), denial("acme.other")} {
		judge(m, noon.Add(time.Duration(20+i)*time.Second), hook.PreToolUse, "rm", d)
	}
	judge(m, noon.Add(24*time.Second), hook.PostToolUse, "rm", denial("acme.after")) // stops no call
	check("calls", 4)
	check("denials", 3)
	check("consecutive_denials", 3)
	check("denials_by_policy", map[string]any{"acme.rm": 2, "acme.other": 1})
	check("denials_of_this_call", 3)
	check("round/calls", 4)
	check("round/denials", 3)
	check("round/seconds", 14)
	check("seconds", 24)
	check("calls_last_minute", 4)

	judge(m, noon.Add(81*time.Second), hook.PreToolUse, "ls", pass)
	check("calls_last_minute", 3) // those of second 20 and 21 are over
	check("consecutive_denials", 0)
	judge(m, noon.Add(82*time.Second), hook.PreToolUse, "ls", denial("acme.ls"))
	judge(m, noon.Add(90*time.Second), hook.UserPromptSubmit, "", pass)
	check("round/number", 2)
	check("round/denials", 0)
	check("denials_of_this_call", 0)
	check("consecutive_denials", 0)
	check("denials", 4)
}

func TestTold(t *testing.T) {
	m := &Memory{}
	judge(m, noon, hook.UserPromptSubmit, "", &hook.Decision{})
	judge(m, noon.Add(3*time.Second), hook.PreToolUse, "ls", &hook.Decision{
		Context: []hook.Context{{Text: "t", Hook: "acme.time"}}, Warnings: []hook.Reason{{Reason: "w", Hook: "acme.warn"}},
	})
	judge(m, noon.Add(8*time.Second), hook.PreToolUse, "ls", &hook.Decision{Context: []hook.Context{{Text: "t", Hook: "acme.time"}}})
	if got, want := seen(m, "round/told"), (map[string]any{"acme.time": 5, "acme.warn": 5}); !reflect.DeepEqual(got, want) {
		t.Errorf("told %v, not %v", got, want)
	}
	judge(m, noon.Add(9*time.Second), hook.UserPromptSubmit, "", &hook.Decision{})
	if got := seen(m, "round/told"); len(got.(map[string]any)) != 0 {
		t.Errorf("a new round was told %v", got)
	}
}

// A clock that is set back renews no budget.
func TestClockBack(t *testing.T) {
	m := &Memory{}
	judge(m, noon, hook.UserPromptSubmit, "", &hook.Decision{})
	judge(m, noon.Add(time.Hour), hook.PreToolUse, "ls", &hook.Decision{})
	judge(m, noon.AddDate(-1, 0, 0), hook.PreToolUse, "ls", &hook.Decision{})
	if got := seen(m, "round/seconds"); got != 3600 {
		t.Errorf("the round is %v s old, not 3600", got)
	}
	if got := seen(m, "calls_last_minute"); got != 2 {
		t.Errorf("%v calls in the last minute, not 2", got)
	}
}

func TestOnce(t *testing.T) {
	once := &hook.Hook{ID: "a", Source: "s", Once: true}
	other := &hook.Hook{ID: "b", Source: "s", Once: true}
	step := func(h *hook.Hook, o hook.Outcome, f *hook.Fault) *hook.Decision {
		return &hook.Decision{Steps: []hook.Step{{Hook: h, Outcome: o, Fault: f}}}
	}
	m := &Memory{}
	judge(m, noon, hook.PreToolUse, "ls", step(once, hook.Blocking, nil))
	judge(m, noon, hook.PreToolUse, "ls", step(once, hook.NonBlockingError, hook.Faultf(hook.FaultOutput, "x")))
	judge(m, noon, hook.PreToolUse, "ls", step(&hook.Hook{ID: "b", Source: "s"}, hook.Success, nil))
	if m.Done(once) || m.Done(other) {
		t.Error("a hook is done that did not succeed, or that is not once")
	}
	judge(m, noon, hook.PreToolUse, "ls", step(once, hook.Success, nil))
	if !m.Done(once) || m.Done(other) || m.Done(&hook.Hook{ID: "a", Source: "elsewhere"}) {
		t.Error("not exactly the hook that succeeded is done")
	}
	m.Notice("untrusted")
	if m.Notice("untrusted"); !m.Noticed("untrusted") || m.Noticed("something else") || len(m.done) != 2 || m.Finished() != 1 {
		t.Errorf("marks %q, of which %d of hooks", m.done, m.Finished())
	}
	if m.Forget("untrusted"); m.Noticed("untrusted") || !m.Done(once) {
		t.Errorf("after one was forgotten: %q", m.done)
	}
}

// What an agent can make as many of as it likes does not grow without bound,
// and is counted all the same.
func TestLimits(t *testing.T) {
	m := &Memory{}
	for i := range 2000 {
		line := strings.Repeat("x", i)
		d := denial("acme." + line)
		d.Context = []hook.Context{{Text: "t", Hook: "acme." + line}}
		d.Steps = []hook.Step{{Hook: &hook.Hook{ID: line, Once: true}, Outcome: hook.Success}}
		judge(m, noon.Add(time.Duration(i)*time.Second), hook.PreToolUse, line, d)
	}
	data, err := encode(Key{}, m)
	if err != nil || len(data) > 128<<10 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if _, err := decode(&Key{}, data); err != nil {
		t.Error(err)
	}
	if m.Denials != 2000 || m.ByPolicy[Others] == 0 {
		t.Errorf("%d denials, %d of other policies", m.Denials, m.ByPolicy[Others])
	}
}
