package engine

import (
	"context"
	"errors"
	"time"

	"gate/hook"
	"gate/internal/room"
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
// abandoned, or with [WithInline] waited for. A panic is a fault.
func guard[T any](ctx context.Context, inline bool, f func() T) (T, *hook.Fault) {
	var zero T
	if fault := overdue(ctx); fault != nil {
		return zero, fault
	}
	if inline {
		value, fault := try(f)
		if fault == nil {
			fault = overdue(ctx)
		}
		return value, fault
	}
	type outcome struct {
		value T
		fault *hook.Fault
	}
	done := make(chan outcome, 1)
	go func() {
		room.Decide()
		var o outcome
		o.value, o.fault = try(f)
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.fault
	case <-ctx.Done():
		return zero, overdue(ctx)
	}
}

// try runs f. A panic is a fault.
func try[T any](f func() T) (value T, fault *hook.Fault) {
	defer func() {
		if p := recover(); p != nil {
			fault = hook.Faultf(hook.FaultInternal, "panic: %v", p)
		}
	}()
	return f(), nil
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
