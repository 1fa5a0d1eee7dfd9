package engine

import (
	"context"
	"errors"
	"time"

	"gate/hook"
)

// Limit bounds a Decide whose context has no deadline.
const Limit = 55 * time.Second

// reserve is what is kept of the time for combining and answering: a
// twentieth, at most 100 ms.
func reserve(left time.Duration) time.Duration { return min(left/20, 100*time.Millisecond) }

// limit returns the context for everything that a decision waits for. It ends
// a little before the caller's, so that the answer is given and not lost, and
// no later than settings allow; zero is no limit of theirs.
func limit(ctx context.Context, settings time.Duration) (context.Context, context.CancelFunc) {
	left := Limit
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	if settings > 0 {
		left = min(left, settings)
	}
	return context.WithTimeout(ctx, left-reserve(left))
}

// guard runs f and waits for it no longer than ctx allows; an overdue f is
// abandoned. A panic is a fault.
func guard[T any](ctx context.Context, f func() T) (T, *hook.Fault) {
	type outcome struct {
		value T
		fault *hook.Fault
	}
	var zero T
	if fault := overdue(ctx); fault != nil {
		return zero, fault
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{fault: hook.Faultf(hook.FaultInternal, "panic: %v", p)}
			}
			done <- o
		}()
		room(false)
		o.value = f()
	}()
	select {
	case o := <-done:
		return o.value, o.fault
	case <-ctx.Done():
		return zero, overdue(ctx)
	}
}

// room makes the goroutine's stack as large as working out facts usually needs:
// growing bit by bit, each time copying all of it, takes longer than that. That
// it could use so much is enough for the stack to grow.
//
//go:noinline
func room(use bool) byte {
	if !use {
		return 0
	}
	var frame [60 << 10]byte
	for i := range frame {
		frame[i] = byte(i)
	}
	return frame[len(frame)/2]
}

// overdue returns the fault of a hook for which no time is left.
func overdue(ctx context.Context) *hook.Fault {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return &hook.Fault{Kind: hook.FaultTimeout, Err: context.Canceled}
	}
	return hook.Faultf(hook.FaultTimeout, "no answer in time")
}
