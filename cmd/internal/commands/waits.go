package commands

import (
	"fmt"
	"sync"
	"time"

	"gate/hook"
	"gate/internal/handlers"
)

// patient is how long a handler may run before a person is told what is waited
// for.
const patient = time.Second

// waits tells on standard error of handlers that take long: once for each run that
// it is waited for, and how it ended. Only commands that people type use it: to
// agents, standard error is the reason of a denial, and stays exactly that. quiet
// tells nobody.
func (p process) waits(quiet bool) func(handlers.Progress) {
	if quiet {
		return nil
	}
	w := &waiting{runs: map[*hook.Hook][]*wait{}, tell: func(text string) { p.stderr.Write([]byte("gate: " + text + "\n")) }}
	return w.at
}

// waiting is who is waited for.
type waiting struct {
	mu   sync.Mutex
	runs map[*hook.Hook][]*wait
	tell func(text string)
}

// A wait is for one run of a hook.
type wait struct {
	timer *time.Timer
	told  bool
	over  bool
}

func (w *waiting) at(p handlers.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.runs[p.Hook]
	who := fmt.Sprintf("the %s hook %s", p.Hook.Kind, visible(p.Hook.ID))
	switch {
	case !p.Done:
		text := "waiting for " + who
		if p.Text != "" {
			text += ": " + visible(p.Text)
		}
		run := &wait{}
		run.timer = time.AfterFunc(patient, func() { w.patience(run, text) })
		w.runs[p.Hook] = append(list, run)
	case len(list) > 0:
		list[0].timer.Stop()
		list[0].over = true
		w.runs[p.Hook] = list[1:]
		if list[0].told {
			w.tell(fmt.Sprintf("%s ended after %s: %s", who, p.Took.Round(100*time.Millisecond), p.Outcome))
		}
	}
}

// patience ends: whoever waits hears what for.
func (w *waiting) patience(run *wait, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if run.told = !run.over; run.told {
		w.tell(text)
	}
}
