package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/session"
)

// TestKept holds that a memory in the process is kept like one in a file: what is
// read is the reader's own, a change that fails is none, and none is lost.
func TestKept(t *testing.T) {
	store := session.Store{Dir: filepath.Join(t.TempDir(), "state", "sessions")}
	for name, kept := range map[string]session.Kept{"held": &session.Held{}, "stored": store.Of(session.Key{Agent: "generic", Session: "s"})} {
		if m, err := kept.Read(); err != nil || m.Calls != 0 || kept.Exists() {
			t.Errorf("%s: %+v, %v before anything was kept", name, m, err)
		}
		call := func(m *session.Memory) error {
			m.Begin(&hook.Event{Name: hook.PreToolUse}, time.Now())
			return nil
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := kept.Update(t.Context(), call); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		all.Wait()
		no := errors.New("no")
		if err := kept.Update(context.Background(), func(m *session.Memory) error { m.Calls = 99; return no }); !errors.Is(err, no) {
			t.Errorf("%s: %v", name, err)
		}
		mine, _ := kept.Read()
		mine.Calls = 77
		if m, err := kept.Read(); err != nil || m.Calls != 20 || !kept.Exists() {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}
