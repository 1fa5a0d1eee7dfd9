package hookpath

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gate/internal/core"
	"gate/internal/places"
)

const bashEvent = `{"session_id":"s","transcript_path":"/t","cwd":"/tmp","hook_event_name":"PreToolUse",` +
	`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"}`

// TestHandOver holds what a program that cannot judge a call hands over, and
// that it closes where that fails, too.
func TestHandOver(t *testing.T) {
	for _, test := range []struct {
		name, flag string
		handed     string // the event, "-" where standard input must be untouched
	}{
		{"cannot load", "--timeout=1m", bashEvent},
		{"handed over before", "--spent=5s", bashEvent},
		{"unknown flag", "--nonsense", "-"},
		{"unknown agent", "--agent=nobody", "-"},
		{"nonsense spent", "--spent=-1s", "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			stdin := strings.NewReader(bashEvent)
			handed := "nothing"
			status := Run(t.Context(), Process{
				Args:  []string{"--agent", "claude", "--event", "PreToolUse", "--state-dir", filepath.Join(t.TempDir(), "s"), "--user-dir", t.TempDir(), test.flag},
				Stdin: stdin, Stdout: &stdout, Stderr: &stderr,
				LookupEnv: func(string) (string, bool) { return "", false },
				HandOver: func(event []byte, done Handed) error {
					if handed = string(event); event == nil && stdin.Len() == len(bashEvent) {
						handed = "-"
					}
					if spent := done.Spent; spent <= 0 || test.flag == "--spent=5s" && spent <= 5*time.Second {
						t.Errorf("%s was spent", spent)
					}
					return errors.New("there is no other")
				},
			}, func(*Call) (*core.Gate, error) { return nil, errors.New("nothing is compiled") })
			if handed != test.handed {
				t.Errorf("%s was handed over", handed)
			}
			if status != 2 || !strings.Contains(stdout.String()+stderr.String(), "there is no other") {
				t.Errorf("status %d, stdout %s, stderr %s", status, &stdout, &stderr)
			}
		})
	}
}

// TestUnknownAccount holds that a program which cannot find the account hands the
// call over, and that the last one does without its name.
func TestUnknownAccount(t *testing.T) {
	for _, last := range []bool{false, true} {
		var handed, loaded bool
		p := Process{
			Args: []string{
				"--agent", "claude", "--event", "PreToolUse", "--managed-dir", t.TempDir(), "--state-dir", filepath.Join(t.TempDir(), "s"), "--user-dir", t.TempDir(),
			},
			Stdin: strings.NewReader(bashEvent), Stdout: io.Discard, Stderr: io.Discard,
			LookupEnv: func(string) (string, bool) { return "", false },
			Account:   func() (places.Account, error) { return places.Account{}, errors.New("in a directory service") },
			HandOver:  func([]byte, Handed) error { handed = true; return errors.New("there is no other") },
		}
		if last {
			p.HandOver = nil
		}
		status := Run(t.Context(), p, func(*Call) (*core.Gate, error) { loaded = true; return nil, errors.New("it was asked") })
		if handed == last || loaded != last || status != 2 {
			t.Errorf("last %v: handed over %v, loaded %v, status %d", last, handed, loaded, status)
		}
	}
}

// TestSpent holds that a call that was handed over has no more time than the
// agent gives it.
func TestSpent(t *testing.T) {
	var stdout bytes.Buffer
	status := Run(t.Context(), Process{
		Args:  []string{"--agent", "claude", "--event", "PreToolUse", "--timeout", "1h", "--spent", "1h", "--state-dir", filepath.Join(t.TempDir(), "s")},
		Stdin: strings.NewReader(bashEvent), Stdout: &stdout, Stderr: io.Discard,
		LookupEnv: func(string) (string, bool) { return "", false },
	}, func(*Call) (*core.Gate, error) { return nil, errors.New("it was asked") })
	if status != 2 || strings.Contains(stdout.String(), "it was asked") {
		t.Errorf("status %d, stdout %s", status, &stdout)
	}
}

// TestOneShot holds that a process which ends with its call gives its answer when
// time is up or a signal comes, whatever it waits for, and then ends.
func TestOneShot(t *testing.T) {
	never, _ := io.Pipe()
	waits := func(*Call) (*core.Gate, error) { select {} }
	fails := func(*Call) (*core.Gate, error) { return nil, errors.New("it was asked") }
	for _, test := range []struct {
		name   string
		stdin  io.Reader
		load   Loader
		signal bool
		want   string
	}{
		{"no end of the event", never, fails, false, "standard input did not end in time"},
		{"a signal before the event", never, fails, true, "told to stop"},
		{"no end of the decision", strings.NewReader(bashEvent), waits, false, "no decision in time"},
		{"a signal before the decision", strings.NewReader(bashEvent), waits, true, "told to stop"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout bytes.Buffer
			ctx, stop := context.WithCancel(t.Context())
			limit := "--timeout=100ms"
			if test.signal {
				limit = "--timeout=1h"
				time.AfterFunc(10*time.Millisecond, stop)
			}
			ended := make(chan int, 1)
			go Run(ctx, Process{
				Args:  []string{"--agent", "claude", "--event", "PreToolUse", "--state-dir", filepath.Join(t.TempDir(), "s"), "--user-dir", t.TempDir(), limit},
				Stdin: test.stdin, Stdout: &stdout, Stderr: io.Discard, OneShot: true,
				LookupEnv: func(string) (string, bool) { return "", false },
				Exit:      func(status int) { ended <- status },
			}, test.load)
			if status := <-ended; status != 2 || !strings.Contains(stdout.String(), test.want) {
				t.Errorf("status %d, stdout %s", status, &stdout)
			}
			stop()
		})
	}
}

// TestOtherEvent has an event say that it is another than the hook was installed for: it
// closes as what the hook is there for, whatever it says.
func TestOtherEvent(t *testing.T) {
	for _, row := range []struct{ installed, says string }{
		{"PreToolUse", "PostToolUse"}, {"PreToolUse", "SessionEnd"}, {"PreToolUse", "Notification"}, {"PreToolUse", "pretooluse"}, {"PreToolUse", "PreToolUse "},
		{"PreToolUse", "Nonsense"}, {"", "pretooluse"}, {"", "pre_tool_use"}, {"", "PRETOOLUSE"},
	} {
		var stdout, stderr bytes.Buffer
		status := Run(t.Context(), Process{
			Args:  []string{"--agent", "claude", "--event=" + row.installed, "--state-dir", filepath.Join(t.TempDir(), "s"), "--user-dir", t.TempDir()},
			Stdin: strings.NewReader(strings.Replace(bashEvent, "PreToolUse", row.says, 1)), Stdout: &stdout, Stderr: &stderr,
			LookupEnv: func(string) (string, bool) { return "", false },
		}, func(*Call) (*core.Gate, error) {
			t.Errorf("%s as %s is judged", row.says, row.installed)
			return nil, errors.New("judged")
		})
		if status != 2 {
			t.Errorf("%s as %s: status %d, stdout %s, stderr %s", row.says, row.installed, status, &stdout, &stderr)
		}
	}
}

// TestReadAll holds that events of any size are read as they are, in pieces of any size,
// and that of one that is too long only a byte more is read than is allowed.
func TestReadAll(t *testing.T) {
	const most = 100_000
	for _, size := range []int{0, 1, usual - 1, usual, usual + 1, 8 * usual, most - 1, most, most + 1, 3 * most} {
		text := strings.Repeat("0123456789", size/10+1)[:size]
		for _, in := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			if got, err := readAll(in, most, func([]byte) {}); err != nil || string(got) != text[:min(size, most)] {
				t.Errorf("%d bytes: %d were read, %v", size, len(got), err)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := readAll(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(broken)), most, func([]byte) {}); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}
