// Package testreport collects the results of the tests of several directories. It shows
// them to people, to programs, and to CI systems that read JUnit's form.
//
// It runs nothing and writes nothing: package policytest runs tests, and the
// caller prints. Start with a Report that says what is wanted at least.
package testreport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/targets"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/policytest/mutate"
	"gate/internal/strictjson"
)

// A Report is what came of a run: of all its directories, with paths as
// people gave them. The zero Report has no results and asks for no coverage.
type Report struct {
	Least         float64 // percent of the lines that tests are to evaluate
	LeastMutation float64 // percent of the changes that tests are to notice
	Stopped       error   // why not all tests could be run; nil: they were

	results    []policytest.Result
	benchmarks []policytest.Benchmark
	coverage   *policytest.Coverage
	mutation   *mutate.Report
}

// AddResults takes the results of a directory in.
func (r *Report) AddResults(t *targets.Tests, suite *policytest.Suite, results []policytest.Result) {
	place := placer(t, suite, results)
	for _, one := range results {
		one.File = t.At(one.File)
		if one.Kind == policytest.Mistake {
			one.Name = one.File
		}
		one.Message = place(one.Message)
		if one.Err != nil {
			one.Err = fmt.Errorf("%s", place(one.Err.Error()))
		}
		r.results = append(r.results, one)
	}
}

// placer returns what turns the positions in a message into ones that people
// can open.
func placer(t *targets.Tests, suite *policytest.Suite, results []policytest.Result) func(string) string {
	var names []string
	for _, name := range suite.Policies() {
		names = append(names, regexp.QuoteMeta(name))
	}
	for i := range results {
		names = append(names, regexp.QuoteMeta(results[i].File))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	files := regexp.MustCompile(`(?:^|[\s(])(?:` + strings.Join(names, "|") + `):\d`)
	return func(s string) string {
		return files.ReplaceAllStringFunc(s, func(found string) string {
			start := strings.IndexAny(found[:1], " \n\t(") + 1
			end := strings.LastIndexByte(found, ':')
			return found[:start] + t.At(found[start:end]) + found[end:]
		})
	}
}

func (r *Report) AddBenchmarks(t *targets.Tests, list []policytest.Benchmark) {
	for _, b := range list {
		b.File = t.At(b.File)
		r.benchmarks = append(r.benchmarks, b)
	}
}

// AddCoverage takes the coverage of the given files in, of all without any.
func (r *Report) AddCoverage(t *targets.Tests, c policytest.Coverage, files []string) {
	if r.coverage == nil {
		r.coverage = &policytest.Coverage{}
	}
	for _, f := range c.Files {
		if files == nil || slices.Contains(files, f.File) {
			f.File = t.At(f.File)
			r.coverage.Files = append(r.coverage.Files, f)
		}
	}
}

func (r *Report) AddMutation(t *targets.Tests, m mutate.Report) {
	if r.mutation == nil {
		r.mutation = &mutate.Report{}
	}
	for _, s := range m.Policies {
		s.File = t.At(s.File)
		r.mutation.Policies = append(r.mutation.Policies, s)
	}
	for _, s := range m.Survivors {
		s.File = t.At(s.File)
		r.mutation.Survivors = append(r.mutation.Survivors, s)
	}
}

// counts are how many tests ended how.
type counts struct{ passed, failed, broken, skipped int }

func (r *Report) counts() counts {
	var c counts
	for i := range r.results {
		switch one := &r.results[i]; {
		case one.Skipped:
			c.skipped++
		case one.Err != nil:
			c.broken++
		case one.Failed:
			c.failed++
		default:
			c.passed++
		}
	}
	for _, b := range r.benchmarks {
		if b.Err != nil {
			c.broken++
		}
	}
	return c
}

// Empty reports that nothing was run.
func (r *Report) Empty() bool { return len(r.results)+len(r.benchmarks) == 0 }

// Failed reports that a test did not pass, or could not be run.
func (r *Report) Failed() bool {
	c := r.counts()
	return c.failed+c.broken > 0
}

// missed says which thresholds were not reached.
func (r *Report) missed() []string {
	var list []string
	if r.coverage != nil && r.coverage.Percent() < r.Least {
		list = append(list, fmt.Sprintf("coverage is %.1f %%, below the threshold of %g %%", r.coverage.Percent(), r.Least))
	}
	if r.mutation != nil && r.mutation.Total().Percent() < r.LeastMutation {
		list = append(list, fmt.Sprintf("tests notice %.1f %% of the changes, below the threshold of %g %%",
			r.mutation.Total().Percent(), r.LeastMutation))
	}
	return list
}

// Passed reports that every test was run and passed, and that no threshold was missed.
func (r *Report) Passed() bool { return r.Stopped == nil && !r.Failed() && len(r.missed()) == 0 }

// Text tells people, of tests that passed only if all is wanted: what is wrong first, the sum last.
func (r *Report) Text(s screen.Page, all bool) string {
	var b strings.Builder
	for i := range r.results {
		if one := shownResult(r.results[i]); all || !one.Passed() && !one.Skipped {
			printResult(&b, s, &one, all)
		}
	}
	for _, m := range r.benchmarks {
		printBenchmark(&b, m)
	}
	if r.coverage != nil {
		printCoverage(&b, r.coverage, all)
	}
	if r.mutation != nil {
		printMutation(&b, r.mutation, all)
	}
	if r.Stopped != nil {
		fmt.Fprintf(&b, "%s  %s\n", s.Effect(hook.Deny, "ERROR"), strictjson.OneLine(r.Stopped.Error()))
	}
	for _, why := range r.missed() {
		fmt.Fprintf(&b, "%s   %s\n", s.Effect(hook.Deny, "FAIL"), why)
	}
	r.printSum(&b, s)
	return b.String()
}

// shownResult makes what tests and policies say visible.
func shownResult(r policytest.Result) policytest.Result {
	r.Name, r.Message, r.Output = strictjson.OneLine(r.Name), strictjson.Visible(r.Message), strictjson.Visible(r.Output)
	return r
}

func printResult(b *strings.Builder, s screen.Page, r *policytest.Result, verbose bool) {
	word := "ok"
	switch {
	case r.Err != nil:
		word = "ERROR"
	case r.Failed:
		word = "FAIL"
	case r.Skipped:
		word = "skip"
	}
	took := ""
	if verbose && !r.Skipped {
		took = fmt.Sprintf("  (%s)", r.Took.Round(10*time.Microsecond))
	}
	blanks := strings.Repeat(" ", len("ERROR")-len(word))
	fmt.Fprintf(b, "%s%s  %s%s\n", s.Effect(severity(r), word), blanks, title(r), s.Faint(took))
	switch {
	case r.Err != nil:
		fmt.Fprintf(b, "  %s\n", screen.Hang(strictjson.Visible(r.Err.Error())))
	case r.Failed:
		fmt.Fprintf(b, "  %s\n", screen.Hang(r.Message))
	}
	if r.Output != "" && (verbose || !r.Passed()) {
		fmt.Fprintf(b, "  printed: %s\n", screen.Hang(r.Output))
	}
}

// severity is the effect whose colour a result has.
func severity(r *policytest.Result) hook.Effect {
	switch {
	case r.Passed():
		return hook.Pass
	case r.Skipped:
		return hook.Ask
	}
	return hook.Deny
}

// title names a test: Rego tests by their rule, cases by their policy and text.
func title(r *policytest.Result) string {
	if r.Kind == policytest.EventCase && r.Policy != "" {
		return "case " + r.Policy + ": " + r.Name
	}
	if r.Kind == policytest.EventCase {
		return "case " + r.Name
	}
	return r.Name
}

func printBenchmark(b *strings.Builder, m policytest.Benchmark) {
	if m.Err != nil {
		fmt.Fprintf(b, "ERROR  %s\n  %s:%d: %s\n", strictjson.OneLine(m.Name), m.File, m.Line, screen.Hang(strictjson.Visible(m.Err.Error())))
		return
	}
	fmt.Fprintf(b, "%s\t%8d\t%10d ns/op\t%8d B/op\t%6d allocs/op\n", strictjson.OneLine(m.Name), m.Runs, m.NsPerOp, m.BytesPerOp, m.AllocsPerOp)
}

func printCoverage(b *strings.Builder, c *policytest.Coverage, verbose bool) {
	for _, f := range c.Files {
		if f.Missed == 0 && !verbose {
			continue
		}
		fmt.Fprintf(b, "%5.1f %%  %s\n", f.Percent(), f.File)
		for _, l := range f.Missing {
			fmt.Fprintf(b, "         not covered: %s\n", lineRange(f.File, l))
		}
	}
	fmt.Fprintf(b, "coverage: %.1f %%\n", c.Percent())
}

func lineRange(file string, l policytest.Lines) string {
	if l.First == l.Last {
		return fmt.Sprintf("%s:%d", file, l.First)
	}
	return fmt.Sprintf("%s:%d-%d", file, l.First, l.Last)
}

func printMutation(b *strings.Builder, m *mutate.Report, verbose bool) {
	for _, s := range m.Grouped() {
		fmt.Fprintf(b, "%s\n  %s\n", strictjson.OneLine(s.String()), s.Advice())
	}
	for _, s := range m.Policies {
		if verbose {
			fmt.Fprintf(b, "%5.1f %%  %s\n", s.Percent(), s.File)
		}
	}
	sum := m.Total()
	fmt.Fprintf(b, "mutation: %.1f %%: tests notice %d of %d changes\n", sum.Percent(), sum.Killed, sum.Killed+sum.Survived)
}

func (r *Report) printSum(b *strings.Builder, s screen.Page) {
	if len(r.benchmarks) > 0 {
		return
	}
	word := s.Effect(hook.Pass, "PASS")
	if !r.Passed() {
		word = s.Effect(hook.Deny, "FAIL")
	}
	fmt.Fprintf(b, "%s   %s\n", word, r.verdict())
}

// sum says how many tests ended how.
func (r *Report) sum() string {
	c := r.counts()
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{c.failed, "failed"}, {c.broken, "could not be run"}, {c.passed, "passed"}, {c.skipped, "skipped"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

// verdict is the sum of a report, or that there is none.
func (r *Report) verdict() string {
	switch {
	case r.Stopped != nil && r.Empty():
		return "no test was run"
	case r.Stopped != nil:
		return r.sum() + ", and not all were run"
	}
	return r.sum()
}
