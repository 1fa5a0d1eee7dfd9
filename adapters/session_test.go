package adapters_test

import (
	"strings"
	"testing"
)

// TestSession cuts events off behind the name of their session, as one that is too large is.
func TestSession(t *testing.T) {
	for agent, begun := range map[string]string{
		"antigravity": `"conversationId":"s1"`,
		"auggie":      `"conversation_id":"s1"`,
		"claude":      `"session_id":"s1"`,
		"cline":       `"taskId":"s1"`,
		"codex":       `"session_id":"s1"`,
		"copilot":     `"sessionId":"s1"`,
		"cursor":      `"conversation_id":"s1"`,
		"gemini":      `"session_id":"s1"`,
		"generic":     `"session_id":"s1"`,
		"windsurf":    `"trajectory_id":"s1"`,
	} {
		a := adapter(t, agent)
		ev := a.Session([]byte(`{"n":[1,{}],`+begun+`,"session_id2":null,"tool_response":{"stdout":"`+strings.Repeat("x", 100)), "PostToolUse")
		if ev.Agent != agent || ev.SessionID() != "s1" || ev.Name.Canonical() != "PostToolUse" || len(ev.Fields) != 1 {
			t.Errorf("%s: %q %+v", agent, ev.Name, ev.Fields)
		}
		if ev := a.Session([]byte(`{"tool_response":{"`), "PostToolUse"); ev.SessionID() != "" || ev.Name.Canonical() != "PostToolUse" {
			t.Errorf("%s without one: %+v", agent, ev)
		}
	}
}
