package handlers

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"gate/hook"
)

// Watch calls decide and yields what handlers do for it, while they do it: that
// each starts, and how it ended. One that decide left behind, since it does not
// keep to its context, was cancelled. The context that decide is given is what ties
// them to it, so give it to the engine. Who stops the loop cancels it; the loop
// is over when decide has returned.
func Watch(ctx context.Context, decide func(context.Context)) iter.Seq[Progress] {
	return func(yield func(Progress) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &watcher{news: make(chan struct{}, 1)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			decide(context.WithValue(ctx, watching{}, w))
		}()
		defer func() {
			cancel()
			<-done
		}()
		for over := false; ; {
			list := w.take()
			if over {
				list = append(list, w.end()...)
			}
			for _, p := range list {
				if !yield(p) {
					return
				}
			}
			if over {
				return
			}
			select {
			case <-w.news:
			case <-done:
				over = true
			}
		}
	}
}

// watching is the key of a context's watcher.
type watching struct{}

// A watcher keeps what happened until somebody asks, so that no handler waits
// for whoever looks on.
type watcher struct {
	mu      sync.Mutex
	kept    []Progress
	running []Progress // starts without an end so far
	over    bool
	news    chan struct{}
}

func (w *watcher) tell(p Progress) {
	w.mu.Lock()
	if !w.over {
		w.kept = append(w.kept, p)
		w.follow(p)
	}
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// follow keeps in mind who is at work.
func (w *watcher) follow(p Progress) {
	at := slices.IndexFunc(w.running, func(r Progress) bool { return r.Hook == p.Hook })
	switch {
	case !p.Done:
		w.running = append(w.running, p)
	case at >= 0:
		w.running = slices.Delete(w.running, at, at+1)
	}
}

// end returns what was not taken, and the ends of those that are still at work.
// Nobody hears of their own any more.
func (w *watcher) end() []Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	list := w.kept
	for _, p := range w.running {
		p.Done, p.Took = true, time.Since(p.began)
		p.Fault, p.Outcome = hook.Faultf(hook.FaultTimeout, "%s was left behind", p.Hook.ID), hook.Cancelled
		list = append(list, p)
	}
	return list
}

func (w *watcher) take() []Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.kept
	w.kept = nil
	return list
}
