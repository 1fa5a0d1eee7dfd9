package replay

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"gate/hook"
	"gate/internal/audit"
)

// A Decider decides about a call, always: what goes wrong is a fault in the
// record. Several ask it at once.
type Decider func(context.Context, *Call) audit.Record

// Options say what calls are decided by. Now is required.
type Options struct {
	// Now decides by the policies that the report is about.
	Now Decider

	// Then decides by what they are compared with; nil: by what was recorded,
	// and a call without a record counts as one that went ahead.
	Then Decider

	// Shared names what a call has in common with others, such as its session. Calls
	// that share anything are decided one after the other, in their order. Nil: no calls
	// do.
	Shared func(*Call) []string

	// Prepare completes a call before anybody decides about it, such as with
	// its facts, and may say that it is lost. Several ask it at once; nil does
	// nothing.
	Prepare func(*Call)

	// Each is told of each call that was decided, in their order, by one goroutine, with
	// what it is compared with; nil: nobody is.
	Each func(c *Call, then, now *audit.Record)

	Workers  int            // how many calls are decided at once; 0: one a processor
	Progress func(done int) // is told after each call, by one goroutine; nil: nobody is
}

// A job is a call on its way through the workers.
type job struct {
	n         int
	call      *Call
	repeated  bool // a resumed session holds it a second time
	then, now audit.Record
}

// Run decides about calls and reports what is different. The error is the first
// of calls, or that of ctx; what was decided until then is in the report.
func Run(ctx context.Context, calls iter.Seq2[*Call, error], o Options) (*Report, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := make(chan *job)
	w := newWorkers(o.Workers, func(j *job) {
		if !j.repeated {
			o.decide(ctx, j)
		}
		results <- j
	})
	var failed error
	go func() {
		failed = o.feed(ctx, calls, w)
		w.end()
		close(results)
	}()
	c := newCollector()
	waiting := map[int]*job{}
	next := 0
	for j := range results {
		for waiting[j.n] = j; waiting[next] != nil; next++ {
			c.add(waiting[next], &o)
			delete(waiting, next)
			if o.Progress != nil {
				o.Progress(next + 1)
			}
		}
	}
	if failed == nil && ctx.Err() == nil {
		c.time(ctx, &o)
	}
	return c.report(), failed
}

// feed hands the calls to the workers.
func (o *Options) feed(ctx context.Context, calls iter.Seq2[*Call, error], w *workers) error {
	n := 0
	seen := map[string]struct{}{} // uses of tools that were read
	for call, err := range calls {
		if err != nil {
			return err
		}
		j := &job{n: n, call: call}
		if use := call.Event.Text("tool_use_id"); call.Kind == Transcript && use != "" {
			_, j.repeated = seen[use]
			if len(seen) < maxSeen {
				seen[use] = struct{}{}
			}
		}
		var shared []string
		if o.Shared != nil && !j.repeated && call.Lost == "" {
			shared = o.Shared(call)
		}
		if !w.give(ctx, j, shared) {
			return ctx.Err()
		}
		n++
	}
	return nil
}

func (o *Options) decide(ctx context.Context, j *job) {
	defer func() {
		if p := recover(); p != nil {
			j.call.Lost = fmt.Sprintf("gate failed: %v", p)
		}
	}()
	if o.Prepare != nil && j.call.Lost == "" {
		o.Prepare(j.call)
	}
	if j.call.Lost != "" {
		return
	}
	j.now = o.Now(ctx, j.call)
	switch {
	case o.Then != nil:
		j.then = o.Then(ctx, j.call)
	case j.call.Then != nil:
		j.then = *j.call.Then
	default:
		j.then = audit.Record{Effect: hook.Pass, Result: hook.Continue}
	}
}

// strayed reports a call that the very policies of then decide otherwise today.
// Where it lost secrets, that says nothing about policies.
func (o *Options) strayed(j *job) bool {
	today := &j.now
	if o.Then != nil {
		today = &j.then
	}
	return len(j.call.Redacted) > 0 && j.call.Then != nil && today.Effect != j.call.Then.Effect && samePolicies(j.call.Then, today)
}

// time measures how long decisions take: of a sample, one after the other, with
// everything loaded.
func (c *collector) time(ctx context.Context, o *Options) {
	for _, call := range c.sample {
		if ctx.Err() != nil {
			return
		}
		now := o.Now(ctx, call).Took
		c.now = append(c.now, now)
		if o.Then != nil {
			then := o.Then(ctx, call).Took
			c.then, c.added = append(c.then, then), append(c.added, now-then)
		}
	}
}

// Times are those of a sample of the calls.
type Times struct {
	Median, P95 time.Duration
}
