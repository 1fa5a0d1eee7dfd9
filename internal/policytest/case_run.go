package policytest

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/hook"
)

// Decide runs the events of a case through the whole pipeline and returns a
// decision for each: one, or one for each of its Lines. An error means that the
// case's world makes no sense.
func (s *Suite) Decide(ctx context.Context, c *Case) ([]hook.Decision, error) {
	p, err := s.pipeline(c)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
	}
	var list []hook.Decision
	for _, call := range c.calls() {
		d, _, err := s.decide(ctx, p, call)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
		}
		list = append(list, d)
	}
	return list, nil
}

// decide decides about one call, whose event it returns, too.
func (s *Suite) decide(ctx context.Context, p *pipeline, c call) (hook.Decision, *hook.Event, error) {
	ev, w, err := p.event(c)
	if err != nil {
		return hook.Decision{}, nil, err
	}
	en, err := p.Seeing(func(ev *hook.Event) *hook.Facts { return s.events.factsOf(w, ev) })
	if err != nil {
		return hook.Decision{}, nil, err
	}
	return en.Decide(ctx, *ev), ev, nil
}

// event makes the event of a call, as the settings have it.
func (p *pipeline) event(c call) (*hook.Event, World, error) {
	ev, w, err := Event(c.spec)
	if err != nil {
		return nil, w, err
	}
	if len(ev.Gate.Labels) == 0 {
		ev.Gate.Labels = p.Set.Settings().Labels
	}
	w.Programs = p.Set.Settings().Programs
	return ev, w, nil
}

// runCases runs cases side by side. With FirstFailure they end soon after the
// first that fails.
func (s *Suite) runCases(ctx context.Context, cases []Case, first bool) []Result {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := make([][]Result, len(cases))
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(cases)) {
		wg.Go(func() {
			for i := range work {
				results[i] = s.runCase(ctx, &cases[i])
				if first && slices.ContainsFunc(results[i], func(r Result) bool { return !r.Passed() }) {
					stop()
				}
			}
		})
	}
feed:
	for i := range cases {
		select {
		case work <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	wg.Wait()
	return slices.Concat(results...)
}

// runCase runs one case: a result for each of its lines.
func (s *Suite) runCase(ctx context.Context, c *Case) []Result {
	p, err := s.pipeline(c)
	if err != nil {
		return []Result{{Kind: EventCase, Name: c.Name, Policy: s.policyOf(c), File: c.File, Line: c.Line, Err: fmt.Errorf("%s:%d: %w", c.File, c.Line, err)}}
	}
	var results []Result
	for _, call := range c.calls() {
		results = append(results, s.runCall(ctx, p, c, call))
	}
	return results
}

func (s *Suite) runCall(ctx context.Context, p *pipeline, c *Case, call call) (r Result) {
	r = Result{Kind: EventCase, Name: c.Name, Policy: s.policyOf(c), File: c.File, Line: c.Line, Judged: call.line}
	if c.Lines != nil {
		r.Name += ": " + call.line
	}
	start := time.Now()
	defer func() { r.Took = time.Since(start) }()
	ctx, cancel := context.WithTimeout(ctx, s.timeout()+time.Minute)
	defer cancel()
	d, ev, err := s.decide(ctx, p, call)
	if err != nil {
		r.Err = fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
		return r
	}
	diff := c.Expect.differences(&d)
	if len(diff) > 0 {
		r.Failed = true
		r.Message = fmt.Sprintf("%s:%d: not as expected: %s\n  %s",
			c.File, c.Line, call.line, strings.Join(append(diff, said(&d, diff)...), "\n  "))
		return r
	}
	if p.modify && (d.Rewrite != nil || d.Output != nil) {
		if problem := s.unsettled(ctx, p, call, ev, &d); problem != "" {
			r.Failed, r.Message = true, problem
		}
	}
	return r
}

// said tells who said what, so that a difference can be understood. What is said above it
// about a policy that cannot answer is not said again.
func said(d *hook.Decision, above []string) []string {
	var list []string
	for _, r := range d.Reasons {
		told := slices.ContainsFunc(above, func(line string) bool {
			_, why, fault := strings.Cut(line, r.ID+" could not answer: ")
			return fault && strings.HasSuffix(r.Reason, why)
		})
		if !told {
			list = append(list, fmt.Sprintf("said by %s (%s, %s): %s", r.ID, r.Effect, cmp.Or(r.Pos, r.Source), r.Reason))
		}
	}
	return list
}
