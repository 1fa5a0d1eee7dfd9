package hookpath

import (
	"bytes"
	"io"
	"sync"

	"gate/adapters"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/strictjson"
)

// A desk gives the one answer that an agent gets: whole, at once and only
// once, whoever comes first: the decision, the deadline, a signal, or the
// watchdog that found no memory left.
type desk struct {
	stdout, stderr io.Writer
	told           func(d *hook.Decision, canAsk bool) // nil: nobody is told
	mu             sync.Mutex
	given          bool
	status         int
	adapter        adapters.Adapter // nil until it is known
	ev             hook.Event       // as far as it is known
}

// expect notes whom the answer is for.
func (k *desk) expect(a adapters.Adapter, ev hook.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.adapter, k.ev = a, ev
}

// known returns whom the answer is for.
func (k *desk) known() (adapters.Adapter, hook.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.adapter, k.ev
}

// answer gives d as the answer, unless there was one already, and returns the
// exit status.
func (k *desk) answer(d *hook.Decision) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.given {
		return k.status
	}
	k.given = true
	a := k.render(d)
	if k.told != nil {
		k.told(d, k.adapter != nil && k.adapter.CanAsk(&k.ev))
	}
	if k.status = a.Status; k.status != 0 {
		k.status = 2
	}
	if len(a.Stdout) > 0 && a.Stdout[0] == '{' { // a line, for those who read lines
		a.Stdout = append(bytes.TrimRight(a.Stdout, "\n"), '\n')
	}
	if !write(k.stdout, a.Stdout) && (k.adapter == nil || k.adapter.Closes(k.ev.Name)) {
		// What was said did not arrive; the status is all that is left.
		k.status = 2
		if len(a.Stderr) == 0 {
			a.Stderr = []byte("gate: standard output is closed, so gate's answer was lost\n")
		}
	}
	write(k.stderr, a.Stderr)
	return k.status
}

// close answers that gate could not decide. That is the agent's blocking form
// where closing stops something.
func (k *desk) close(f *hook.Fault) int {
	_, ev := k.known()
	d := core.Closing(ev.Name, f)
	return k.answer(&d)
}

// render never fails: without an adapter, or with one that does, the answer is
// the status and the reason, which block in every agent that gate knows.
func (k *desk) render(d *hook.Decision) (a adapters.Answer) {
	plain := "gate: there is no decision\n"
	if d.Fault != nil {
		plain = "gate: " + strictjson.OneLine(d.Fault.Error()) + "\n"
	}
	a = adapters.Answer{Stderr: []byte(plain), Status: 2}
	if k.adapter == nil {
		return a
	}
	defer func() {
		if recover() != nil {
			a = adapters.Answer{Stderr: []byte(plain), Status: 2}
		}
	}()
	return k.adapter.Render(&k.ev, d)
}

// write writes data with one call, and reports whether it arrived.
func write(w io.Writer, data []byte) bool {
	if len(data) == 0 {
		return true
	}
	n, err := w.Write(data)
	return err == nil && n == len(data)
}
