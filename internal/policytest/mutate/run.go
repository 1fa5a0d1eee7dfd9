// Package mutate finds out what the tests of policies are worth: it changes one
// condition of a policy at a time and sees whether a test notices. A change
// that nobody notices stands for a mistake that nobody would notice.
//
// It changes policies only, never tests. It does not know the right result of a test,
// and it prints nothing. [Run] does everything; [Of] gives the mutants of one module.
package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/internal/policytest"
)

// Options say how to mutate. The zero value mutates every policy of a suite.
type Options struct {
	// Files are the policies to mutate, of those that the suite has; nil: all.
	Files []string

	// Timeout is for all tests of one mutant; zero means 20 times what they take
	// without the change, and at least 10 s. A mutant that takes longer counts
	// as noticed: its test would not end either.
	Timeout time.Duration

	// Parallel is how many mutants are tested at a time; zero means GOMAXPROCS.
	Parallel int

	// Progress, if set, is called after each mutant, by one goroutine at a time.
	Progress func(done, total int)
}

// A Report is what became of all mutants.
type Report struct {
	Policies  []Score // in the order of their files
	Survivors []Mutant
}

// A Score counts the mutants of one file. Invalid ones do not compile and do
// not count.
type Score struct {
	File                      string
	Killed, Survived, Invalid int
}

// Percent is the share of mutants that a test noticed, from 0 to 100; 100 where
// nothing could be changed.
func (s Score) Percent() float64 {
	if s.Killed+s.Survived == 0 {
		return 100
	}
	return 100 * float64(s.Killed) / float64(s.Killed+s.Survived)
}

// Total adds the scores of all files up. Its File is empty.
func (r Report) Total() Score {
	var sum Score
	for _, p := range r.Policies {
		sum.Killed += p.Killed
		sum.Survived += p.Survived
		sum.Invalid += p.Invalid
	}
	return sum
}

// Grouped returns the survivors, those of one line that were changed alike as
// one, with their texts joined by commas: members of one list, for instance.
func (r Report) Grouped() []Mutant {
	var list []Mutant
	for _, m := range r.Survivors {
		i := slices.IndexFunc(list, func(g Mutant) bool {
			return g.File == m.File && g.Line == m.Line && g.Change == m.Change
		})
		if i < 0 {
			list = append(list, m)
			continue
		}
		list[i].Text += ", " + m.Text
	}
	return list
}

// Run makes the mutants of a suite's policies and runs, for each, the tests that
// concern it, until one fails. It is an error if a test fails as it is, if a file
// is not among the suite's policies, or if ctx ends.
func Run(ctx context.Context, suite *policytest.Suite, o Options) (Report, error) {
	files := o.Files
	if files == nil {
		files = suite.Policies()
	}
	r := runner{suite: suite, options: o, limits: map[string]time.Duration{}}
	for _, file := range files {
		if err := r.prepare(ctx, file); err != nil {
			return Report{}, err
		}
	}
	fates, err := r.run(ctx, files)
	if err != nil {
		return Report{}, err
	}
	return report(files, fates), nil
}

// report brings what happened into the order of files and lines.
func report(files []string, fates []fate) Report {
	var r Report
	for _, file := range files {
		s := Score{File: file}
		for _, f := range fates {
			switch {
			case f.mutant.File != file:
			case f.end == killed:
				s.Killed++
			case f.end == invalid:
				s.Invalid++
			default:
				s.Survived++
				r.Survivors = append(r.Survivors, f.mutant)
			}
		}
		r.Policies = append(r.Policies, s)
	}
	slices.SortStableFunc(r.Survivors, func(a, b Mutant) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r
}

// A runner tests the mutants of one suite.
type runner struct {
	suite   *policytest.Suite
	options Options
	total   int
	limits  map[string]time.Duration // how long all tests of a file may take
}

// prepare counts the mutants of a file, holds that its tests pass without them
// and sees how long that takes.
func (r *runner) prepare(ctx context.Context, file string) error {
	m := r.suite.Module(file)
	if m == nil {
		return fmt.Errorf("%s is no policy of these; give one of %s", file, strings.Join(r.suite.Policies(), ", "))
	}
	r.total += count(m)
	start := time.Now()
	for _, test := range r.suite.Concerning(file) {
		results, err := r.suite.Run(ctx, policytest.Selection{Files: []string{test}, FirstFailure: true})
		if err != nil {
			return err
		}
		for _, t := range results {
			if !t.Passed() && !t.Skipped {
				return fmt.Errorf("%s:%d: %s fails as it is; mutants say nothing until it passes", t.File, t.Line, t.Name)
			}
		}
	}
	r.limits[file] = cmp.Or(r.options.Timeout, max(10*time.Second, 20*time.Since(start)))
	return nil
}

// An end is what became of a mutant.
type end uint8

const (
	survived end = iota
	killed
	invalid
)

type fate struct {
	mutant Mutant
	end    end
}

// run tests all mutants and returns their fates in the order in which they were
// made.
func (r *runner) run(ctx context.Context, files []string) ([]fate, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type job struct {
		index  int
		mutant Mutant
	}
	jobs := make(chan job)
	go func() {
		defer close(jobs)
		index := 0
		for _, file := range files {
			for m := range Of(r.suite.Module(file)) {
				select {
				case jobs <- job{index, m}:
					index++
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	fates := make([]fate, r.total)
	var mu sync.Mutex
	done := 0
	var workers sync.WaitGroup
	for range cmp.Or(r.options.Parallel, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for j := range jobs {
				end, err := r.test(ctx, j.mutant)
				if err != nil {
					stop(err)
					return
				}
				j.mutant.Module = nil // only survivors are looked at, by their text
				fates[j.index] = fate{j.mutant, end}
				mu.Lock()
				done++
				if r.options.Progress != nil {
					r.options.Progress(done, r.total)
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return fates, context.Cause(ctx)
}

// test runs the tests that concern a mutant, one file at a time: the policy's
// own are the likeliest to fail and the quickest to compile.
func (r *runner) test(ctx context.Context, m Mutant) (end, error) {
	limited, cancel := context.WithTimeout(ctx, r.limits[m.File])
	defer cancel()
	changed, err := r.suite.WithModule(m.File, m.Module)
	if err != nil {
		return invalid, err
	}
	for _, file := range r.suite.Concerning(m.File) {
		results, err := changed.Run(limited, policytest.Selection{Files: []string{file}, FirstFailure: true})
		switch {
		case ctx.Err() != nil:
			return survived, context.Cause(ctx)
		case limited.Err() != nil:
			return killed, nil
		case errors.Is(err, policytest.ErrNoTests):
			continue
		case err != nil:
			return invalid, nil
		}
		if slices.ContainsFunc(results, func(t policytest.Result) bool { return !t.Passed() && !t.Skipped }) {
			return killed, nil
		}
	}
	return survived, nil
}
