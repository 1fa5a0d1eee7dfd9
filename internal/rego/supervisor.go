package rego

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"gate/engine"
	"gate/hook"
	"gate/internal/room"
)

// A supervisor asks hooks of one source, one after another, in a goroutine of
// their own, and watches clock and heap meanwhile. A hook that does not stop
// when it is cancelled (some builtins never look) is left behind together with
// its goroutine, and the rest goes on in a new one.
type supervisor struct {
	limits limits
	now    func() time.Time
	src    *source
	hooks  []*hook.Hook
	ev     *hook.Event
	input  *ast.Term
}

// A run is one goroutine's way through the hooks. What the supervisor reads of
// it is guarded by mu.
type run struct {
	done chan struct{} // closed when the goroutine ends
	stop chan struct{} // closed when nobody waits any more

	mu      sync.Mutex
	left    bool // nobody waits: answers are not written any more
	cut     bool // the whole call is over, not just one hook
	at      int  // the hook being asked, -1 while compiling
	since   time.Time
	cancel  topdown.Cancel
	why     *hook.Fault // set with the cancellation
	whyAt   time.Time
	base    uint64 // heap at the first look during this hook, 0 before
	answers []engine.Answer
}

// run returns one answer for each hook. Where ctx has a deadline it stops a
// little before: whoever set it will not take the answers after it.
func (s *supervisor) run(ctx context.Context) []engine.Answer {
	if deadline, ok := ctx.Deadline(); ok {
		margin := min(2*s.limits.grace, time.Until(deadline)/10)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
		s.limits.grace = min(s.limits.grace, margin/2)
	}
	answers := make([]engine.Answer, 0, len(s.hooks))
	for len(answers) < len(s.hooks) {
		rest := s.hooks[len(answers):]
		switch {
		case ctx.Err() != nil:
			return append(answers, faults(len(rest), hook.FaultTimeout, fmt.Errorf("no time left: %w", context.Cause(ctx)))...)
		case s.src.hung.Load():
			return append(answers, faults(len(rest), hook.FaultLoad,
				fmt.Errorf("compiling the policies of source %q has not come to an end", s.src.name))...)
		case s.src.stuck.Load() >= maxStuck:
			return append(answers, faults(len(rest), hook.FaultTimeout,
				fmt.Errorf("%d earlier evaluations of source %q have not stopped", maxStuck, s.src.name))...)
		}
		answers = append(answers, s.pass(ctx, rest)...)
	}
	return answers
}

// pass starts a goroutine for hooks and returns the answers up to its end, or up
// to and including the hook at which it was left behind.
func (s *supervisor) pass(ctx context.Context, hooks []*hook.Hook) []engine.Answer {
	r := &run{
		done: make(chan struct{}), stop: make(chan struct{}),
		at: -1, since: time.Now(), cancel: topdown.NewCancel(),
		answers: make([]engine.Answer, 0, len(hooks)),
	}
	defer close(r.stop)
	go func() {
		defer close(r.done)
		room.Evaluate()
		s.work(ctx, r, hooks)
	}()
	tick := time.NewTicker(s.limits.watch)
	defer tick.Stop()
	expired := ctx.Done()
	for {
		select {
		case <-r.done:
			return r.answers
		case <-expired:
			expired = nil // the ticks go on until the goroutine ends or is left
			r.abort(true, hook.Faultf(hook.FaultTimeout, "no time left: %w", context.Cause(ctx)))
		case <-tick.C:
			s.watch(r, hooks)
		}
		if answers, left := s.leave(r, hooks); left {
			return answers
		}
	}
}

// abort cancels what runs, for a reason that the first call fixes; with cut,
// nothing more is asked after it.
func (r *run) abort(cut bool, why *hook.Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = r.cut || cut
	if r.why == nil {
		r.why, r.whyAt = why, time.Now()
		r.cancel.Cancel()
	}
}

// watch cancels the running hook if its time or memory is used up.
func (s *supervisor) watch(r *run, hooks []*hook.Hook) {
	heap := heapSize()
	r.mu.Lock()
	// What cannot be compiled in its time is as broken as what cannot be at all.
	limit, what, late := s.limits.compileTime(len(s.src.files.all)), "compiling", hook.FaultLoad
	if r.at >= 0 {
		limit, what, late = s.timeout(hooks[r.at]), hooks[r.at].Pos()+": "+hooks[r.at].ID, hook.FaultTimeout
	}
	spent := time.Since(r.since)
	if r.base == 0 {
		r.base = heap
	}
	grown := r.at >= 0 && heap > r.base+s.limits.soft
	r.mu.Unlock()
	switch {
	case heap > s.limits.hard:
		if s.limits.oom != nil {
			s.limits.oom()
		}
		r.abort(false, hook.Faultf(hook.FaultMemory, "%s: heap is larger than %d MiB", what, s.limits.hard>>20))
	case grown:
		r.abort(false, hook.Faultf(hook.FaultMemory, "%s: used more than %d MiB", what, s.limits.soft>>20))
	case spent > limit:
		r.abort(false, hook.Faultf(late, "%s: no answer within %s", what, limit))
	}
}

func (s *supervisor) timeout(h *hook.Hook) time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return s.limits.policy
}

// leave gives up a goroutine that was cancelled and has not come back. The hook
// it is at gets the reason as its fault; if it is compiling, all do.
func (s *supervisor) leave(r *run, hooks []*hook.Hook) ([]engine.Answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why == nil || time.Since(r.whyAt) < s.limits.grace {
		return nil, false
	}
	r.left = true
	compiling := r.at < 0
	s.src.stuck.Add(1)
	if compiling {
		s.src.hung.Store(true)
	}
	go func() {
		<-r.done
		s.src.stuck.Add(-1)
		if compiling {
			s.src.hung.Store(false)
		}
	}()
	if compiling {
		return faults(len(hooks), r.why.Kind, r.why.Err), true
	}
	return append(r.answers, engine.Answer{Fault: r.why, Took: time.Since(r.since)}), true
}

// heapSize reads the size of all objects on the heap, dead ones included, and of
// stacks. It costs no pause.
func heapSize() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	var size uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			size += s.Value.Uint64()
		}
	}
	return size
}

// work is the goroutine of a run: it compiles what is missing and asks the
// hooks.
func (s *supervisor) work(ctx context.Context, r *run, hooks []*hook.Hook) {
	pkgs := make([]string, len(hooks))
	for i, h := range hooks {
		pkgs[i] = h.ID
	}
	if err := s.src.prepareSafely(r.stop, pkgs); err != nil {
		r.finish(faults(len(hooks), hook.FaultInternal, err)...)
		return
	}
	var shared caches
	for i, h := range hooks {
		cancel := topdown.NewCancel()
		if why := r.begin(i, cancel); why != nil {
			if !r.finish(engine.Answer{Fault: why}) {
				return
			}
			continue
		}
		start := s.now()
		a := s.ask(ctx, h, cancel, &shared)
		a.Took = s.now().Sub(start)
		if !r.finish(a) {
			return
		}
	}
}

// begin notes that hook i is asked. It returns a fault if the whole call has
// been cut: then nothing is asked any more.
func (r *run) begin(i int, cancel topdown.Cancel) *hook.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil {
		r.at = i
		return r.why
	}
	r.at, r.since, r.cancel, r.base = i, time.Now(), cancel, 0
	return nil
}

// finish records answers, and reports whether anybody still waits for more. A
// hook that was cancelled gets the reason as its fault, unless it had its
// answer all the same. The reason of one hook is not that of the next.
func (r *run) finish(answers ...engine.Answer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return false
	}
	for i, a := range answers {
		if r.why != nil && a.Fault != nil {
			answers[i] = engine.Answer{Fault: r.why, Took: a.Took}
		}
	}
	if !r.cut {
		r.why = nil
	}
	r.answers = append(r.answers, answers...)
	return true
}
