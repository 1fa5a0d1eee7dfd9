package handlers

import (
	"context"
	"iter"
	"sync"
)

// Watch calls decide and yields what handlers do for it, while they do it: that
// each starts, and how it ended. The context that decide is given is what ties
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
			for _, p := range w.take() {
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
	mu   sync.Mutex
	kept []Progress
	news chan struct{}
}

func (w *watcher) tell(p Progress) {
	w.mu.Lock()
	w.kept = append(w.kept, p)
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *watcher) take() []Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.kept
	w.kept = nil
	return list
}
