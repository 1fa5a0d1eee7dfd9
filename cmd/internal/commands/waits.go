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

// waits tells on standard error, once for each run, of handlers that take long.
// Only commands that people type use it: to agents, standard error is the reason
// of a denial, and stays exactly that. quiet tells nobody.
func (p process) waits(quiet bool) func(handlers.Progress) {
	if quiet {
		return nil
	}
	var mu sync.Mutex
	timers := map[*hook.Hook][]*time.Timer{}
	return func(at handlers.Progress) {
		mu.Lock()
		defer mu.Unlock()
		list := timers[at.Hook]
		switch {
		case !at.Done:
			text := fmt.Sprintf("gate: waiting for the %s hook %s\n", at.Hook.Kind, visible(at.Hook.ID))
			timers[at.Hook] = append(list, time.AfterFunc(patient, func() { p.stderr.Write([]byte(text)) }))
		case len(list) > 0:
			list[0].Stop()
			timers[at.Hook] = list[1:]
		}
	}
}
