package core

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/mark"
	"gate/internal/session"
)

// A full memory can be read, and takes nothing in.
type full struct{ session.Held }

func (*full) Update(context.Context, func(*session.Memory) error) error {
	return errors.New("no space left on device")
}

// TestMarkLost lets no call run whose mark cannot be kept, and says so of one that has run.
func TestMarkLost(t *testing.T) {
	for _, c := range []struct {
		name  hook.Name
		marks []mark.Mark
		want  hook.Effect
		said  string
	}{
		{hook.PreToolUse, []mark.Mark{{Source: "project", Name: "read", Value: "true", By: "p"}}, hook.Deny, ""},
		{hook.PostToolUse, []mark.Mark{{Source: "project", Name: "read", Value: "true", By: "p"}}, hook.Pass, "this decision is not remembered: no space left on device"},
		{hook.PreToolUse, nil, hook.Pass, ""},
	} {
		ev := hook.Event{Name: c.name, Fields: map[string]any{"tool_name": "Bash"}, Gate: hook.Gate{Now: time.Unix(1, 0)}}
		d := hook.Decision{Event: c.name, Remember: c.marks}
		s := &Session{kept: &full{}}
		s.end(t.Context(), &begun{memory: &session.Memory{}, came: ev}, &d, false, nil)
		if d.Effect != c.want || len(d.Remember) > 0 || !strings.Contains(strings.Join(d.Notices, "\n"), c.said) {
			t.Errorf("%s with %d marks: %v, %q, remembers %v", c.name, len(c.marks), d.Effect, d.Notices, d.Remember)
		}
	}
}
