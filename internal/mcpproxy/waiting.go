package mcpproxy

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	maxWaiting   = 4096     // requests at once
	maxHeld      = 64 << 20 // bytes of the calls among them
	maxCancelled = 1024     // whose late answers are still known
)

// A request of the client that the server has not answered.
type request struct {
	id     []byte // as the client wrote it
	key    string
	method string
	call   *call       // nil unless it runs a tool, or reads a prompt or resource
	own    chan []byte // takes the answer, where gate itself asks; otherwise nil
	since  int         // how often the list of tools had changed
}

// A call is such a request under way.
type call struct {
	tool    string         // mcp__SERVER__TOOL
	server  string         // as it calls itself, or was named
	input   map[string]any // that it runs with
	size    int            // of the message, in bytes
	context []string       // for the agent, to be shown beside the result
	sent    time.Time      // to the server; zero: not yet
	trace   string         // the client's trace context, "" if it told none
	name    string         // of the tool, as the server has it
	again   *glance        // what the result is held against, nil: nothing
}

// waiting holds the requests that have no answer yet. Whoever takes a request
// out answers it, so each gets one answer.
type waiting struct {
	mu        sync.Mutex
	fewer     sync.Cond // a request was taken out
	requests  map[string]*request
	cancelled []string // keys of requests that nobody waits for any more, the oldest first
	held      int      // bytes of the calls
}

func (w *waiting) init() {
	w.fewer.L = &w.mu
	w.requests = map[string]*request{}
}

// empty waits until no request waits.
func (w *waiting) empty() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.requests) > 0 {
		w.fewer.Wait()
	}
}

// add takes a request in.
func (w *waiting) add(r *request, size int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.requests[r.key] != nil || slices.Contains(w.cancelled, r.key):
		return fmt.Errorf("the id %s is in use", clip(string(r.id)))
	case len(w.requests) >= maxWaiting:
		return fmt.Errorf("%d requests are waiting for an answer already", maxWaiting)
	case r.call != nil && w.held > 0 && w.held+size > maxHeld:
		return fmt.Errorf("calls of %d bytes are waiting for an answer already", w.held)
	}
	if r.call != nil {
		r.call.size = size
		w.held += size
	}
	w.requests[r.key] = r
	return nil
}

// take removes a request and returns it, nil if there is none. It reports
// whether the id is that of a cancelled one.
func (w *waiting) take(key string) (r *request, cancelled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.cancelled, key); i >= 0 {
		w.cancelled = slices.Delete(w.cancelled, i, i+1)
		return nil, true
	}
	r = w.requests[key]
	w.remove(r)
	return r, false
}

// is reports the request that waits under a key.
func (w *waiting) is(key string) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests[key]
}

// send reports whether r still waits, and notes that it goes to the server with
// that input now.
func (w *waiting) send(r *request, input map[string]any, context []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.requests[r.key] != r {
		return false
	}
	r.call.input, r.call.context, r.call.sent = input, context, time.Now()
	return true
}

// cancel forgets a request that the client does not wait for any more.
func (w *waiting) cancel(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.requests[key]
	if r == nil {
		return
	}
	w.remove(r)
	if r.call != nil && r.call.sent.IsZero() {
		return // it never gets to the server
	}
	if len(w.cancelled) == maxCancelled {
		w.cancelled = w.cancelled[1:]
	}
	w.cancelled = append(w.cancelled, key)
}

// all removes all requests and returns them.
func (w *waiting) all() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]*request, 0, len(w.requests))
	for _, r := range w.requests {
		list = append(list, r)
		w.remove(r)
	}
	slices.SortFunc(list, func(a, b *request) int { return slices.Compare(a.id, b.id) })
	return list
}

func (w *waiting) remove(r *request) {
	if r == nil {
		return
	}
	delete(w.requests, r.key)
	if r.call != nil {
		w.held -= r.call.size
	}
	w.fewer.Broadcast()
}

// A budget bounds how many bytes of messages are judged at once.
type budget struct {
	mu   sync.Mutex
	free sync.Cond
	left int
	most int
}

func newBudget(most int) *budget {
	b := &budget{left: most, most: most}
	b.free.L = &b.mu
	return b
}

// spend waits until n bytes are free, or everything is, and returns what gives
// them back.
func (b *budget) spend(n int) (giveBack func()) {
	n = min(n, b.most)
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left < n {
		b.free.Wait()
	}
	b.left -= n
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.left += n
		b.free.Broadcast()
	}
}
