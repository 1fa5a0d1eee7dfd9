package core_test

import (
	"testing"

	"gate/hook"
	"gate/internal/core"
	"gate/internal/session"
)

// TestListens has hooks of a session asked about the calls that a patch amounts to, too,
// and about no others.
func TestListens(t *testing.T) {
	m := &session.Memory{Registered: []session.Registration{{Kind: session.File, Listeners: []session.Listener{{Events: []hook.Name{hook.PreToolUse}, Matcher: "Write"}}}}}
	for _, c := range []struct {
		tool, part string
		listens    bool
	}{
		{"Write", "", true}, {"Bash", "", false}, {"Bash", "Write", true}, {"Bash", "Read", false},
	} {
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": c.tool}}
		if c.part != "" {
			ev.Parts = []hook.Call{{Tool: c.part}}
		}
		if got := core.Listens(m, ev); got != c.listens {
			t.Errorf("%s with %q: %v", c.tool, c.part, got)
		}
	}
}
