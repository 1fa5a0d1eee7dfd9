package handlers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gate/hook"
)

// ScriptLimit is how long a command may take that is no hook: the status line,
// suggestions for files.
const ScriptLimit = 5 * time.Second

// Output runs a command that is no hook, in the directory dir, and returns what
// it writes to standard output. by says what it is, as a hook of kind command,
// and stdin what it reads. It gets the time of [ScriptLimit], or less; any end
// but a success is an error. What it started is ended.
func (h *Handlers) Output(ctx context.Context, by *hook.Hook, dir string, stdin []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, ScriptLimit)
	defer cancel()
	ev := &hook.Event{Fields: map[string]any{"cwd": dir}}
	j, err := h.job(ctx, by, ev)
	if err != nil {
		return nil, err
	}
	j.Stdin, j.Async, j.Detaches = stdin, nil, false
	r := h.start(ctx, j)
	switch {
	case r.Err != "":
		return nil, fmt.Errorf("it cannot be run: %s", oneLine(r.Err))
	case r.TooMuch != "":
		return nil, fmt.Errorf("more than %d bytes on %s", maxOutput, r.TooMuch)
	case r.Overdue:
		return nil, errors.New("it did not end in time")
	case r.Signal != "":
		return nil, fmt.Errorf("it was ended by a signal (%s)", r.Signal)
	case r.Status != 0:
		return nil, fmt.Errorf("it ended with status %d", r.Status)
	}
	return r.Stdout, nil
}
