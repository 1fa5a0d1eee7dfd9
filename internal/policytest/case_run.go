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
// decision for each: one, one for each of its Lines, or one for each step of its Session.
// An error means that the case's world makes no sense.
func (s *Suite) Decide(ctx context.Context, c *Case) ([]hook.Decision, error) {
	p, err := s.pipeline(c)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
	}
	var list []hook.Decision
	for m, err := range s.moments(ctx, p, c) {
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", c.File, m.at, err)
		}
		if !m.result {
			list = append(list, m.decision)
		}
	}
	return list, nil
}

// decide decides about one call that nothing came before.
func (s *Suite) decide(ctx context.Context, p *pipeline, c call, m *moment) error {
	ev, w, err := p.event(c)
	if err != nil {
		return err
	}
	en, err := p.Seeing(func(ev *hook.Event) *hook.Facts { return s.events.factsOf(w, ev) })
	if err != nil {
		return err
	}
	m.event, m.decision, m.again = ev, en.Decide(ctx, *ev), en.Decide
	return nil
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

// runCase runs one case: a result for each of its lines, or steps.
func (s *Suite) runCase(ctx context.Context, c *Case) []Result {
	r := Result{Kind: EventCase, Name: c.Name, Policy: s.policyOf(c), File: c.File, Line: c.Line}
	p, err := s.pipeline(c)
	if err != nil {
		r.Err = fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
		return []Result{r}
	}
	ctx, cancel := context.WithTimeout(ctx, (s.timeout()+time.Minute)*time.Duration(max(1, len(c.Lines), len(c.Session))))
	defer cancel()
	var results []Result
	start := time.Now()
	for m, err := range s.moments(ctx, p, c) {
		one := r
		one.Name, one.Line, one.Judged = m.name(c), m.at, m.line
		s.judge(ctx, p, &one, m, err)
		one.Took = time.Since(start)
		if m.result && one.Passed() { // it is told of with its call
			results[len(results)-1].Took += one.Took
		} else {
			results = append(results, one)
		}
		start = time.Now()
	}
	return results
}

// name tells the events of a case apart.
func (m *moment) name(c *Case) string {
	switch {
	case m.result:
		return fmt.Sprintf("%s: output of step %d: %s", c.Name, m.number, m.line)
	case m.number > 0:
		return fmt.Sprintf("%s: step %d: %s", c.Name, m.number, m.line)
	case c.Lines != nil:
		return c.Name + ": " + m.line
	}
	return c.Name
}

// judge says of a result whether its event was decided as expected.
func (s *Suite) judge(ctx context.Context, p *pipeline, r *Result, m *moment, err error) {
	if err != nil {
		r.Err = fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
		return
	}
	d := &m.decision
	diff := m.differences()
	if len(diff) > 0 {
		r.Failed = true
		r.Message = fmt.Sprintf("%s:%d: not as expected: %s\n  %s",
			r.File, r.Line, m.line, strings.Join(append(diff, said(d, diff)...), "\n  "))
		return
	}
	if p.modify && (d.Rewrite != nil || d.Output != nil) {
		if problem := s.unsettled(ctx, p, m); problem != "" {
			r.Failed, r.Message = true, problem
		}
	}
}

// differences are those from what is expected.
func (m *moment) differences() []string {
	expect := m.expect
	if pass := hook.Pass; m.goesOn && m.decision.Effect >= hook.Ask {
		expect.Effect = &pass
	}
	return expect.differences(&m.decision)
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
