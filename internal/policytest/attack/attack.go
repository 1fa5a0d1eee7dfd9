// Package attack finds out what a policy is worth against somebody who wants past
// it: it writes the calls that the policy holds back in other ways that do the
// same, and sees which of them pass. It also puts them where they are only
// mentioned, and sees which of those are held back.
//
// It takes its calls from the policy's own tests and knows no policy. It changes
// nothing, prints nothing and runs no call. [Run] does everything; [Disguises] and
// [Mentions] give the templates to other tests.
package attack

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"gate/hook"
	"gate/internal/policytest"
)

// Options say what to attack. The zero value attacks every policy of a suite.
type Options struct {
	// IDs are the policies to attack, of those that the suite has; nil: all.
	IDs []string

	// Most is how many calls of each policy are disguised; zero means all.
	Most int

	// Parallel is how many calls are judged at a time; zero means GOMAXPROCS.
	Parallel int

	// Progress, if set, is called after each call, by one goroutine at a time.
	Progress func(done, total int)
}

// A Report is what became of all attempts, a Result for each policy.
type Report struct{ Results []Result }

// A Result is what became of the attempts on one policy.
type Result struct {
	ID, File string
	Calls    int       // of its tests that it holds back or rewrites
	Tried    int       // disguises of them
	Mentions int       // places where they were only mentioned
	Passed   []Attempt // disguises that nobody holds back
	Others   []Attempt // disguises that only other policies hold back
	Alarms   []Attempt // mentions that the policy holds back
}

// An Attempt is one call that is made of another.
type Attempt struct {
	How  string   // the disguise, in words or as a template
	Of   string   // the call of the tests
	At   string   // file:line of the test
	Call string   // what was tried
	By   []string // the other policies that hold it back, sorted
}

// Run attacks the policies of a suite whose tests have run. It is an error if the
// world of a case makes no sense, or if ctx ends.
func Run(ctx context.Context, suite *policytest.Suite, o Options) (Report, error) {
	r := runner{suite: suite, options: o}
	if r.options.IDs == nil {
		r.options.IDs = suite.IDs()
	}
	targets, err := r.targets(ctx)
	if err != nil {
		return Report{}, err
	}
	var jobs []job
	for _, t := range targets {
		list, err := r.jobs(ctx, t)
		if err != nil {
			return Report{}, err
		}
		jobs = append(jobs, list...)
	}
	if err := r.judge(ctx, jobs); err != nil {
		return Report{}, err
	}
	return r.report(targets, jobs), nil
}

type runner struct {
	suite   *policytest.Suite
	options Options
}

// A target is a call that a policy holds back.
type target struct {
	id   string
	call policytest.Case
}

// A job is an attempt that is to be judged.
type job struct {
	target  *target
	mention bool
	how     string
	call    policytest.Case
	end     end
	by      []string
}

// An end is what became of an attempt.
type end uint8

const (
	passed end = iota
	others
	held
)

// targets finds the calls of tests that the policies hold back, each once.
func (r *runner) targets(ctx context.Context) ([]*target, error) {
	type key struct{ id, call, dir string }
	var list []*target
	seen, count := map[key]bool{}, map[string]int{}
	for _, c := range r.suite.Calls() {
		if name, _ := c.Event["hook_event_name"].(string); name != "" && hook.Name(name).Canonical() != hook.PreToolUse {
			continue
		}
		d, err := r.decide(ctx, c, false)
		if err != nil {
			return nil, err
		}
		dir, _ := c.Event["cwd"].(string)
		for _, id := range r.options.IDs {
			k := key{id, c.String(), dir}
			if seen[k] || r.options.Most > 0 && count[id] >= r.options.Most {
				continue
			}
			if acts(&d, id) {
				seen[k], count[id] = true, count[id]+1
				list = append(list, &target{id, c})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *target) int { return cmp.Compare(a.id, b.id) })
	return list, nil
}

// jobs makes the attempts on one target.
func (r *runner) jobs(ctx context.Context, t *target) ([]job, error) {
	var list []job
	add := func(how string, c policytest.Case, mention bool) {
		if c.String() != t.call.String() {
			list = append(list, job{target: t, how: how, call: c, mention: mention})
		}
	}
	if line, ok := lineOf(t.call); ok {
		for _, d := range disguised(line) {
			add(d.how, t.call.Calling("Bash", command(d.line, t.call)), false)
		}
		for _, template := range Mentions() {
			if filled := Fill(template, line); parses(filled) {
				add(template, t.call.Calling("Bash", command(filled, t.call)), true)
			}
		}
	}
	more, err := r.otherTools(ctx, t)
	for _, o := range more {
		add(o.how, o.call, false)
	}
	return list, err
}

// decide judges a call, alone or together with gate's own policies.
func (r *runner) decide(ctx context.Context, c policytest.Case, library bool) (hook.Decision, error) {
	c.World.Library = &library
	list, err := r.suite.Decide(ctx, &c)
	if err != nil {
		return hook.Decision{}, err
	}
	return list[len(list)-1], ctx.Err()
}

// acts reports that a policy holds a call back, or rewrites it.
func acts(d *hook.Decision, id string) bool {
	return slices.ContainsFunc(d.Changes, func(c hook.Change) bool { return c.Hook == id }) || holds(d, id)
}

// holds reports that a policy holds a call back.
func holds(d *hook.Decision, id string) bool {
	return slices.ContainsFunc(d.Steps, func(s hook.Step) bool { return s.Hook != nil && s.Hook.ID == id && s.Effect >= hook.Ask })
}

// judge judges all attempts.
func (r *runner) judge(ctx context.Context, jobs []job) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range jobs {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var mu sync.Mutex
	var workers sync.WaitGroup
	done := 0
	for range cmp.Or(r.options.Parallel, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				if err := r.try(ctx, &jobs[i]); err != nil {
					stop(err)
					return
				}
				mu.Lock()
				done++
				if r.options.Progress != nil {
					r.options.Progress(done, len(jobs))
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// try judges one attempt: by the policies of the suite, and if its own does not
// act, together with gate's own.
func (r *runner) try(ctx context.Context, j *job) error {
	d, err := r.decide(ctx, j.call, false)
	if err != nil {
		return err
	}
	if j.mention {
		j.end, err = r.mentioned(ctx, j, &d)
		return err
	}
	if acts(&d, j.target.id) {
		j.end = held
		return nil
	}
	if d, err = r.decide(ctx, j.call, true); err != nil {
		return err
	}
	if d.Effect >= hook.Ask {
		j.end = others
		for _, reason := range d.Reasons {
			j.by = append(j.by, reason.ID)
		}
		slices.Sort(j.by)
		j.by = slices.Compact(j.by)
	}
	return nil
}

// mentioned says what became of a mention. A policy that holds the place itself
// back, whatever stands in it, is about the place.
func (r *runner) mentioned(ctx context.Context, j *job, d *hook.Decision) (end, error) {
	if !holds(d, j.target.id) {
		return passed, nil
	}
	bare, err := r.decide(ctx, j.call.Calling("Bash", command(Fill(j.how, "ls"), j.call)), false)
	if holds(&bare, j.target.id) {
		return others, err
	}
	return held, err
}

// report brings what happened into the order of policies and calls.
func (r *runner) report(targets []*target, jobs []job) Report {
	var report Report
	for _, id := range r.options.IDs {
		result := Result{ID: id, File: r.suite.FileOf(id)}
		for _, t := range targets {
			if t.id == id {
				result.Calls++
			}
		}
		for i := range jobs {
			if jobs[i].target.id == id {
				result.count(&jobs[i])
			}
		}
		report.Results = append(report.Results, result)
	}
	return report
}

func (r *Result) count(j *job) {
	a := Attempt{How: j.how, Of: j.target.call.String(), At: j.target.call.Name, Call: j.call.String(), By: j.by}
	switch {
	case j.mention:
		if r.Mentions++; j.end == held {
			r.Alarms = append(r.Alarms, a)
		}
		return
	case j.end == passed:
		r.Passed = append(r.Passed, a)
	case j.end == others:
		r.Others = append(r.Others, a)
	}
	r.Tried++
}

// Sound reports that no attempt passed and no mention was held back.
func (r Report) Sound() bool {
	return !slices.ContainsFunc(r.Results, func(one Result) bool { return len(one.Passed)+len(one.Alarms) > 0 })
}
