package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// callsEach are the calls of one session of the corpus.
const callsEach = 50

// corpus has gate-hook judge the calls of files of cases, as those of sessions: both
// hooks of a call, or the first alone where it rejects. What agents wait is measured
// outside, with the start of processes, and as gate log --stats has it.
func (l *lab) corpus(ctx context.Context, out io.Writer, cases ...string) error {
	var data []byte
	for _, file := range cases {
		more, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			return err
		}
		data = append(data, more...)
	}
	machine := l.file("corpus")
	var sessions []measure
	calls, rejected := 0, 0
	for line := range strings.Lines(string(data)) {
		doc, err := strictjson.Object([]byte(line), strictjson.Limits{})
		if err != nil {
			return fmt.Errorf("a case: %w", err)
		}
		if calls%callsEach == 0 {
			sessions = append(sessions, measure{})
		}
		m, ran, err := l.bothHooks(ctx, machine, doc, len(sessions))
		if err != nil {
			return err
		}
		if !ran {
			rejected++
		}
		calls++
		sessions[len(sessions)-1].wall += m.wall
	}
	stats := append([]string{"log", "--stats"}, directories(machine)...)
	said, err := exec.CommandContext(ctx, l.tool("gate"), stats...).Output()
	if err != nil {
		return fmt.Errorf("gate log --stats: %w", err)
	}
	at := func(part float64) float64 { return time.Duration(quantile(sessions, part)).Seconds() }
	fmt.Fprintf(out, "\n**%d sessions of %d calls** (%d rejected): agents wait %.2f s at p50, %.2f s at p90, %.2f s at p99, with the start of processes.\n\n%s",
		len(sessions), callsEach, rejected, at(0.5), at(0.9), at(0.99), said)
	return nil
}

// bothHooks has gate-hook judge a case as a call of a session, and reports whether the
// call ran.
func (l *lab) bothHooks(ctx context.Context, machine string, doc map[string]any, session int) (sum measure, ran bool, err error) {
	event := map[string]any{
		"session_id": fmt.Sprintf("corpus-%d", session), "transcript_path": l.file("t.jsonl"), "cwd": l.dir, "permission_mode": "default",
		"tool_name": doc["tool_name"], "tool_input": doc["tool_input"], "tool_use_id": "toolu_1",
	}
	for _, name := range []string{"PreToolUse", "PostToolUse"} {
		event["hook_event_name"] = name
		if name == "PostToolUse" {
			var text string
			if err := json.Unmarshal([]byte(`"`+output(2)+`"`), &text); err != nil {
				return sum, false, err
			}
			event["tool_response"] = map[string]any{"stdout": text}
		}
		in := filepath.Join(l.dir, "corpus.json")
		if err := os.WriteFile(in, strictjson.Append(nil, event), 0o600); err != nil {
			return sum, false, err
		}
		c := candidate{name: name, args: append([]string{l.tool("gate-hook"), "--agent", "claude", "--event", name}, directories(machine)...), stdin: in}
		m, err := inTurn(ctx, []candidate{c})
		sum.wall += m.wall
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == 2:
			return sum, false, nil
		case err != nil:
			return sum, false, err
		}
	}
	return sum, true, nil
}
