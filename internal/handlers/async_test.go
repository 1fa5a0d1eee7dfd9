//go:build linux

package handlers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/hook"
)

// TestAsync holds that the call goes on without a command that says so, and
// that the next event hears what it said.
func TestAsync(t *testing.T) {
	const wait = `while [ ! -e go ]; do sleep 0.02; done; `
	const says = `echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "tests pass"}, "systemMessage": "done"}'`
	for name, c := range map[string]struct {
		command  string
		declared bool
		want     string
	}{
		"declared":        {wait + says, true, `h: ["tests pass"] ["done"]`},
		"by first line":   {`echo '{"async": true, "asyncTimeout": 60000}'; ` + wait + says, false, `h: ["tests pass"] ["done"]`},
		"by an object":    {`printf '{\n  "async": true,\n  "asyncTimeout": 60000\n}\n'; ` + wait + says, false, `h: ["tests pass"] ["done"]`},
		"by its pieces":   {`printf '{\n  "async": tr'; sleep 0.05; printf 'ue\n}'; sleep 0.05; echo; ` + wait + says, false, `h: ["tests pass"] ["done"]`},
		"is quick":        {`echo '{"async": true}'; ` + says, false, `h: ["tests pass"] ["done"]`},
		"objects":         {wait + `echo '{"decision": "block", "reason": "bad"}'`, true, `h: [] ["h objects, too late to stop the call: bad"]`},
		"fails":           {wait + `echo broken >&2; exit 3`, true, `h: [] ["in the background: h ended with status 3: broken"]`},
		"says too much":   {wait + `yes`, true, `h: [] ["in the background: h wrote more than 1024 KiB to standard output"]`},
		"exceeds a limit": {`echo '{"async": true, "asyncTimeout": 50}'; sleep 86400.` + fmt.Sprint(os.Getpid()), false, `h: [] ["in the background: h did not end in time"]`},
	} {
		for _, way := range []string{"supervisor", "direct"} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				o := testOptions(t)
				o.LateDir = t.TempDir()
				if way == "direct" {
					o.Supervisor = nil
				}
				h, ev := New(o), testEvent(t, false)
				by := &hook.Hook{ID: "h", Kind: hook.Command, Async: c.declared, Timeout: time.Minute, Config: map[string]any{"command": c.command}}
				if got := describe(h.command(t.Context(), by, ev)); got != "no opinion" {
					t.Fatalf("at once: %s", got)
				}
				if err := os.WriteFile(filepath.Join(ev.Dir(), "go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				var late []Late
				for range 3000 {
					if late = h.Late(ev); len(late) > 0 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				if len(late) != 1 {
					t.Fatalf("%d late answers", len(late))
				}
				if got := fmt.Sprintf("%s: %q %q", late[0].Hook, late[0].Context, late[0].Notices); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				nobody(t, way, "86400."+fmt.Sprint(os.Getpid()))
			})
		}
	}
}

// TestAsyncObject holds which openings let the call go on.
func TestAsyncObject(t *testing.T) {
	for said, want := range map[string]time.Duration{
		`{"async": true}`:                                        asyncLimit,
		"\n\n {\"async\": true}\r\n":                             asyncLimit,
		` {"async":true,"asyncTimeout":1500} `:                   1500 * time.Millisecond,
		"{\n  \"async\": true,\n  \"asyncTimeout\": 15000\n}\n":  15 * time.Second,
		"{\n  \"async\": true,\n  \"async_timeout\": 2000\n}":    2 * time.Second,
		`{"async": true, "asyncTimeout": 1e30}`:                  0,
		`{"async": true, "asyncTimeout": 99999999999}`:           maxAsync,
		`{"async": true, "asyncTimeout": -1}`:                    0,
		`{"async": true, "asyncTimeout": "15"}`:                  0,
		`{"async": true, "asyncTimeout": 1, "async_timeout": 1}`: 0,
		`{"async": false}`:                                       0,
		`{"async": "true"}`:                                      0,
		`{"async": true, "async": true}`:                         0,
		`{"async": true, "decision": "block"}`:                   0,
		"{\n\"async\": true,\n\"reason\": \"} no {\\\"\"\n}\n":   0,
		`[{"async": true}]`:                                      0,
		`{"async": true} {}`:                                     0,
		"{\n\"async\": true\n} {\"decision\": \"block\"}\n":      0,
		"checking\n{\"async\": true}\n":                          0,
		"{\"async\": true":                                       0,
		strings.Repeat(" ", 4096) + `{"async": true}`:            0,
		"{\"async\": true" + strings.Repeat(" ", 4096) + "}\n":   0,
		"": 0,
	} {
		end, over := opening([]byte(said), true)
		if got, ok := asyncObject([]byte(said)[:end]); got != want || ok != (want > 0) || !over {
			t.Errorf("%q: %v %v, want %v", said, got, ok, want)
		}
	}
}

// TestLateOnce holds that a late answer is fetched once, by its own session, and
// not after a day.
func TestLateOnce(t *testing.T) {
	now := time.Now()
	h := New(Options{LateDir: t.TempDir(), Now: func() time.Time { return now }})
	mine := &hook.Event{Agent: "claude", Fields: map[string]any{"session_id": "../../a"}}
	other := &hook.Event{Agent: "claude", Fields: map[string]any{"session_id": "b"}}
	const n = 20
	keep := func() {
		l := lateAnswer{Dir: h.LateDir, Session: sessionKey(mine), Hook: "h", Event: hook.PreToolUse}
		l.keep(&result{Stdout: []byte(`{"systemMessage": "x"}`)}, now)
	}
	for range n {
		keep()
	}
	if got := h.Late(other); len(got) != 0 {
		t.Errorf("another session got %v", got)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	total := 0
	for range 8 {
		wg.Go(func() {
			got := h.Late(mine)
			mu.Lock()
			defer mu.Unlock()
			total += len(got)
		})
	}
	wg.Wait()
	if total != n {
		t.Errorf("%d answers fetched, %d kept", total, n)
	}
	keep()
	now = now.Add(25 * time.Hour)
	h.SweepLate()
	if left, _ := os.ReadDir(h.LateDir); len(left) > 0 {
		t.Errorf("not swept: %v", left)
	}
}

// TestKilled holds that a command ends when whoever waits for it is killed, and
// when its supervisor is.
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		line string
		end  func(*exec.Cmd, *os.File)
	}{
		"gate":           {"env -i setsid sleep 86400.MARK & trap '' TERM; sleep 86400.MARK; sleep 86400.MARK", func(_ *exec.Cmd, in *os.File) { in.Close() }},
		"the supervisor": {"exec sleep 86400.MARK", func(cmd *exec.Cmd, _ *os.File) { cmd.Process.Kill() }},
	} {
		t.Run(name, func(t *testing.T) {
			mark := fmt.Sprintf("%d%d", os.Getpid(), 1000+len(name))
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			cmd := exec.Command(exe, "supervise")
			cmd.Stdin = r
			apart(cmd)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r.Close()
			defer cmd.Wait()
			j := job{Path: "/bin/sh", Args: []string{"sh", "-c", strings.ReplaceAll(c.line, "MARK", mark)}, Env: os.Environ(), Limit: time.Hour}
			if err := json.NewEncoder(w).Encode(j); err != nil {
				t.Fatal(err)
			}
			begun := func() bool { return len(withMark("\x0086400."+mark+"\x00")) > 0 }
			for range 1000 {
				if begun() {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if !begun() {
				t.Fatal("the command did not begin")
			}
			c.end(cmd, w)
			nobody(t, name, mark)
		})
	}
}

// FuzzAsyncObject holds that an opening which lets the call go on says nothing else:
// a denial in it must not be lost. Nor does it matter in which pieces it comes.
func FuzzAsyncObject(f *testing.F) {
	for _, said := range []string{
		`{"async": true}`, `{"async": true, "asyncTimeout": 15000}`, `{"async": true, "decision": "block"}`,
		"{\n  \"async\": true\n}\nlater", "{\"async\": true} {\"decision\": \"block\"}\n",
	} {
		f.Add([]byte(said), 5)
	}
	f.Fuzz(func(t *testing.T, said []byte, cut int) {
		end, over := opening(said, true)
		limit, ok := asyncObject(said[:end])
		if !over || ok != (limit > 0) || limit > maxAsync {
			t.Errorf("%q: %v %v", said, limit, ok)
		}
		if early, known := opening(said[:max(0, min(cut, len(said)))], false); known && early != end {
			t.Errorf("%q: its opening ends at %d, and at %d when %d bytes are there", said, end, early, cut)
		}
		if !ok {
			return
		}
		a := readAnswer(&hook.Hook{ID: "h"}, &hook.Event{Name: hook.PreToolUse}, said[:end])
		if len(a.Verdict.Reasons)+len(a.Verdict.Halt)+len(a.Verdict.Rewrites) > 0 {
			t.Errorf("%q lets the call go on, and says %s", said, describe(a))
		}
	})
}
