package past

import (
	"context"
	"maps"
	"sync"

	"gate/hook"
	"gate/internal/core"
	"gate/internal/replay"
	"gate/internal/session"
)

// maxShown is how many sessions are remembered that were shown something. One takes 1 MiB
// at most, and calls of a session stand close together.
const maxShown = 256

// A shown keeps what the sessions of the past were shown, those that were heard of last.
type shown struct {
	mu    sync.Mutex
	clock int
	kept  map[memoryKey]*heard
}

// A heard is what one session was shown, and when it was last asked for.
type heard struct {
	texts session.Texts
	at    int
}

// of is what one session was shown.
func (s *shown) of(key memoryKey) *session.Texts {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[memoryKey]*heard{}
	}
	s.clock++
	h := s.kept[key]
	if h == nil {
		h = &heard{}
		s.kept[key] = h
	}
	if h.at = s.clock; len(s.kept) > maxShown {
		oldest := s.clock
		for one := range maps.Values(s.kept) {
			oldest = min(oldest, one.at)
		}
		maps.DeleteFunc(s.kept, func(_ memoryKey, one *heard) bool { return one.at == oldest })
	}
	return &h.texts
}

// shows reports a call of which something is known that the agent was shown.
func shows(c *replay.Call) bool {
	switch c.Event.Name.Canonical() {
	case hook.PostToolUse, hook.PostToolUseFailure, hook.UserPromptSubmit:
		return true
	}
	return c.Output != ""
}

// show notes what a call showed, whatever is decided about it now.
func show(g *core.Gate, c *replay.Call) {
	ev := c.Event
	if c.Output != "" {
		ev.Fields = maps.Clone(ev.Fields)
		ev.Name = hook.PostToolUse
		if c.Failed {
			ev.Name = hook.PostToolUseFailure
			ev.Fields["error"] = c.Output
		} else {
			ev.Fields["tool_response"] = c.Output
		}
		ev.Fields["hook_event_name"] = string(ev.Name)
		c.Output = "" // it may be long, and reports keep calls
	}
	// What is kept in this process cannot fail.
	_ = g.Show(context.Background(), &ev)
}
