package core

import (
	"context"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/consent"
)

// A slow asker keeps the call at a moment of the test's, and is not heard in time.
type slow struct {
	store       consent.Store
	rules       consent.Approvals
	begun, keep chan struct{}
	kept        chan error
}

func (s *slow) Ask(_ context.Context, ev *hook.Event, d *hook.Decision, _ func() *audit.Record) Told {
	close(s.begun)
	<-s.keep
	_, err := s.store.AddPending(ev, d, s.rules)
	s.kept <- err
	return Told{}
}

// TestAbandoned gives up on somebody who asks elsewhere, before and after they kept the
// call: whatever the agent is told of waits.
func TestAbandoned(t *testing.T) {
	for _, late := range []bool{true, false} {
		store := consent.Store{Dir: filepath.Join(t.TempDir(), "consent")}
		rules := consent.Approvals{Enabled: true, Elsewhere: func(_, _ []byte, _ time.Time) (string, error) { return "", fs.ErrInvalid }}
		s := &slow{store: store, rules: rules, begun: make(chan struct{}), keep: make(chan struct{}), kept: make(chan error, 1)}
		a := &approver{store: store, rules: rules, elsewhere: s}
		ev := &hook.Event{Agent: "claude", Name: hook.PreToolUse, Gate: hook.Gate{Now: time.Now()}, Fields: map[string]any{"session_id": "s", "cwd": "/x", "tool_name": "Bash", "tool_input": map[string]any{"command": "make"}}}
		d := &hook.Decision{ID: "5spyyq", Effect: hook.Ask, Facts: &hook.Facts{}, Reasons: []hook.Reason{{Hook: "acme.x", ID: "acme.x", Effect: hook.Ask, Reason: "may it", Source: "user"}}}
		asked := *d
		go a.use(t.Context(), ev, &asked)
		<-s.begun
		if !late {
			close(s.keep)
			if err := <-s.kept; err != nil {
				t.Fatal(err)
			}
		}
		notices := a.remember(ev, d)
		if _, err := store.Pending(d.Pending); err != nil || d.Pending == "" {
			t.Errorf("late %v: the agent is told of %q, which does not wait: %v; %q", late, d.Pending, err, notices)
		}
		if late {
			close(s.keep)
			if err := <-s.kept; err == nil {
				t.Error("the call was kept twice")
			}
		}
	}
}
