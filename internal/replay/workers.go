package replay

import (
	"context"
	"sync"
)

// Workers do jobs side by side. Those that share something go to the same worker, which
// does them in order.
type workers struct {
	free   chan *job   // jobs that share nothing
	own    []chan *job // by worker
	of     map[string]int
	next   int // the worker that gets what is new
	ending sync.WaitGroup
	busy   sync.WaitGroup // jobs that are not done
}

// ahead is how many jobs wait for one worker while others have nothing to do.
const ahead = 256

func newWorkers(n int, do func(*job)) *workers {
	w := &workers{free: make(chan *job), of: map[string]int{}}
	for range n {
		own := make(chan *job, ahead)
		w.own = append(w.own, own)
		w.ending.Go(func() {
			free := w.free
			for own != nil || free != nil {
				var j *job
				var more bool
				select {
				case j, more = <-own:
					if !more {
						own = nil
					}
				case j, more = <-free:
					if !more {
						free = nil
					}
				}
				if more {
					do(j)
					w.busy.Done()
				}
			}
		})
	}
	return w
}

// give hands a job to the worker that had what it shares, and reports false where ctx has
// ended.
func (w *workers) give(ctx context.Context, j *job, shared []string) bool {
	to := w.free
	if len(shared) > 0 {
		to = w.own[w.worker(shared)]
	}
	w.busy.Add(1)
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		w.busy.Done()
		return false
	}
}

// worker is the one for what is shared. Where two workers had parts of it, all that was
// given is done first.
func (w *workers) worker(shared []string) int {
	at := -1
	for _, name := range shared {
		switch other, known := w.of[name]; {
		case !known:
		case at < 0:
			at = other
		case at != other:
			w.busy.Wait()
		}
	}
	if at < 0 {
		at = w.next
		w.next = (w.next + 1) % len(w.own)
	}
	for _, name := range shared {
		w.of[name] = at
	}
	return at
}

// end waits until all jobs are done. None is given any more.
func (w *workers) end() {
	close(w.free)
	for _, own := range w.own {
		close(own)
	}
	w.ending.Wait()
}
