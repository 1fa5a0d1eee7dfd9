package commands

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gate/internal/consent"
)

// inject runs gate inject as a person at a terminal.
func (m *machine) inject(args ...string) (status int, out string) {
	m.t.Helper()
	status, stdout, stderr := m.gate(nil, true, append([]string{"inject", "--session", "s"}, args...)...)
	return status, stdout + stderr
}

// says checks what the agent is told with an event, in all.
func (m *machine) says(event, want string) {
	m.t.Helper()
	status, stdout, stderr := m.gate(strings.NewReader(event), false, "hook", "--agent", "claude")
	if status != 0 || stderr != "" {
		m.t.Errorf("%s: status %d: %s%s", event, status, stdout, stderr)
	}
	if want == "" {
		if stdout != "" {
			m.t.Errorf("%s\nsays %s", event, stdout)
		}
		return
	}
	if !strings.Contains(stdout, `"additionalContext":`+strconv.Quote(want)) {
		m.t.Errorf("%s\nsays %s\nnot  %s", event, stdout, want)
	}
}

func eventOf(name, fields string) string {
	return fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":"/tmp","hook_event_name":%q,%s}`, name, fields)
}

var (
	lsEvent     = eventOf("PreToolUse", `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"`)
	helperEvent = eventOf("PreToolUse", `"agent_id":"a1","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"`)
	readEvent   = eventOf("PreToolUse", `"tool_name":"Read","tool_input":{"file_path":"/tmp/a"},"tool_use_id":"u"`)
	promptEvent = eventOf("UserPromptSubmit", `"prompt":"go on"`)
)

// A text reaches the agent with its next matching call, once and in order, and
// with the next prompt where no call brought it.
func TestInject(t *testing.T) {
	m := newMachine(t)
	for i, args := range [][]string{{"first"}, {"--matcher", "Read", "second"}, {"third"}, {"--matcher", "Write|Edit", "fourth"}} {
		if status, out := m.inject(args...); status != 0 || out != fmt.Sprintf("number %d waits for session s\n", i+1) {
			t.Fatalf("%v: %d, %s", args, status, out)
		}
	}
	if status, out := m.inject("--list"); status != 0 || !strings.Contains(out, "1  first\n2  second (with Read)\n3  third\n") {
		t.Errorf("%d: %s", status, out)
	}
	m.says(strings.Replace(lsEvent, `"s"`, `"other"`, 1), "")
	m.says(helperEvent, "")
	m.says(lsEvent, "first\n\nthird")
	m.says(lsEvent, "")
	m.says(readEvent, "second")
	m.says(readEvent, "")
	m.says(promptEvent, "fourth")
	m.says(promptEvent, "")
	if status, out := m.inject("--list"); status != 0 || out != "nothing waits for this session\n" {
		t.Errorf("%d: %s", status, out)
	}
	if status, out := m.inject("--expires", "1ns", "too late"); status != 0 {
		t.Errorf("%d: %s", status, out)
	}
	m.says(lsEvent, "")
}

// A denial brings what waits, too.
func TestInjectWithDenial(t *testing.T) {
	m := newMachine(t)
	m.inject("look at the plan first")
	if status, answer := m.hook("rm -rf /"); status != 2 || !strings.Contains(answer, "look at the plan first") {
		t.Errorf("%d: %s", status, answer)
	}
	m.says(lsEvent, "")
}

func TestInjectOnce(t *testing.T) {
	m := newMachine(t)
	m.inject("only once")
	var brought atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, stdout, _ := m.gate(strings.NewReader(lsEvent), false, "hook", "--agent", "claude")
			brought.Add(int64(strings.Count(stdout, "only once")))
		})
	}
	wg.Wait()
	if n := brought.Load(); n != 1 {
		t.Errorf("it was brought %d times", n)
	}
}

// No tool call tells an agent anything: nobody at a terminal, or within an
// agent's session.
func TestInjectRefuses(t *testing.T) {
	m := newMachine(t)
	if status, _, stderr := m.gate(strings.NewReader(""), false, "inject", "--session", "s", "text"); status != 1 || !strings.Contains(stderr, "a person at a terminal") {
		t.Errorf("without a terminal: %d, %s", status, stderr)
	}
	m.above = []consent.Ancestor{{Args: []string{"claude"}}}
	if status, out := m.inject("text"); status != 1 {
		t.Errorf("below an agent: %d, %s", status, out)
	}
	m.above, m.env = nil, append(m.env, "CLAUDECODE=1")
	if status, out := m.inject("text"); status != 1 {
		t.Errorf("in an agent's session: %d, %s", status, out)
	}
	m.env = m.env[:1]
	m.says(lsEvent, "")
	for _, args := range [][]string{{""}, {"--matcher", "(", "x"}, {"--expires", "soon", "x"}, {"--expires", "-1s", "x"}, {"--strategy", "aside", "x"}, {"--agent", "nobody", "x"}, {}} {
		if status, out := m.inject(args...); status != 1 {
			t.Errorf("%q: %d, %s", args, status, out)
		}
	}
	for _, line := range []string{"gate inject --session s 'go on'", "gate session add hooks.json"} {
		if status, answer := m.hook(line); status != 2 {
			t.Errorf("%s: %d, %s", line, status, answer)
		}
	}
}
