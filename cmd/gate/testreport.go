package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/policytest"
	"gate/policytest/mutate"
)

// A testReport is what came of a run: of all its directories, with paths as
// people gave them.
type testReport struct {
	results    []policytest.Result
	benchmarks []policytest.Benchmark
	coverage   *policytest.Coverage
	mutation   *mutate.Report
}

// addResults takes the results of a directory in.
func (r *testReport) addResults(t *target, suite *policytest.Suite, results []policytest.Result) {
	place := t.placer(suite, results)
	for _, one := range results {
		one.File = t.at(one.File)
		one.Message = place(one.Message)
		if one.Err != nil {
			one.Err = fmt.Errorf("%s", place(one.Err.Error()))
		}
		r.results = append(r.results, one)
	}
}

// placer returns what turns the positions in a message into ones that people
// can open.
func (t *target) placer(suite *policytest.Suite, results []policytest.Result) func(string) string {
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
			return found[:start] + t.at(found[start:end]) + found[end:]
		})
	}
}

func (r *testReport) addBenchmarks(t *target, list []policytest.Benchmark) {
	for _, b := range list {
		b.File = t.at(b.File)
		r.benchmarks = append(r.benchmarks, b)
	}
}

// addCoverage takes the coverage of the given files in, of all without any.
func (r *testReport) addCoverage(t *target, c policytest.Coverage, files []string) {
	if r.coverage == nil {
		r.coverage = &policytest.Coverage{}
	}
	for _, f := range c.Files {
		if files == nil || slices.Contains(files, f.File) {
			f.File = t.at(f.File)
			r.coverage.Files = append(r.coverage.Files, f)
		}
	}
}

func (r *testReport) addMutation(t *target, m mutate.Report) {
	if r.mutation == nil {
		r.mutation = &mutate.Report{}
	}
	for _, s := range m.Policies {
		s.File = t.at(s.File)
		r.mutation.Policies = append(r.mutation.Policies, s)
	}
	for _, s := range m.Survivors {
		s.File = t.at(s.File)
		r.mutation.Survivors = append(r.mutation.Survivors, s)
	}
}

// counts are how many tests ended how.
type counts struct{ passed, failed, broken, skipped int }

func (r *testReport) counts() counts {
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

// failed reports that a test did not pass.
func (r *testReport) failed() bool {
	c := r.counts()
	return c.failed+c.broken > 0
}

// missed says which thresholds were not reached.
func (r *testReport) missed(f *testFlags) []string {
	var list []string
	if r.coverage != nil && r.coverage.Percent() < f.threshold {
		list = append(list, fmt.Sprintf("coverage is %.1f %%, below the threshold of %g %%", r.coverage.Percent(), f.threshold))
	}
	if r.mutation != nil && r.mutation.Total().Percent() < f.mutateThreshold {
		list = append(list, fmt.Sprintf("tests notice %.1f %% of the changes, below the threshold of %g %%",
			r.mutation.Total().Percent(), f.mutateThreshold))
	}
	return list
}

// status is the exit status: that of opa test.
func (r *testReport) status(f *testFlags) int {
	if r.failed() || len(r.missed(f)) > 0 {
		return exitReject
	}
	return exitOK
}

func (r *testReport) print(p process, f *testFlags) error {
	switch f.format {
	case "json":
		return printJSON(p, r.document(f))
	case "junit":
		text, err := r.junit()
		if err != nil {
			return err
		}
		return printAll(p, text)
	}
	return printAll(p, r.pretty(f, p.page()))
}

// pretty tells people: what is wrong first, the sum last.
func (r *testReport) pretty(f *testFlags, s screen.Page) string {
	var b strings.Builder
	for i := range r.results {
		r.results[i] = shownResult(r.results[i])
		if one := &r.results[i]; f.verbose || !one.Passed() && !one.Skipped {
			printResult(&b, s, one, f.verbose)
		}
	}
	for _, m := range r.benchmarks {
		printBenchmark(&b, m)
	}
	if r.coverage != nil {
		printCoverage(&b, r.coverage, f.verbose)
	}
	if r.mutation != nil {
		printMutation(&b, r.mutation, f.verbose)
	}
	for _, why := range r.missed(f) {
		fmt.Fprintf(&b, "%s   %s\n", s.Effect(hook.Deny, "FAIL"), why)
	}
	r.printSum(&b, s, f)
	return b.String()
}

// shownResult makes what tests and policies say visible.
func shownResult(r policytest.Result) policytest.Result {
	r.Name, r.Message, r.Output = oneLine(r.Name), visible(r.Message), visible(r.Output)
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
		fmt.Fprintf(b, "  %s\n", screen.Hang(visible(r.Err.Error())))
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

// title names a test: Rego tests by their rule, cases by their text.
func title(r *policytest.Result) string {
	if r.Kind == policytest.EventCase {
		return "case " + r.Name
	}
	return r.Name
}

func printBenchmark(b *strings.Builder, m policytest.Benchmark) {
	if m.Err != nil {
		fmt.Fprintf(b, "ERROR  %s\n  %s:%d: %s\n", oneLine(m.Name), m.File, m.Line, screen.Hang(visible(m.Err.Error())))
		return
	}
	fmt.Fprintf(b, "%s\t%8d\t%10d ns/op\t%8d B/op\t%6d allocs/op\n", oneLine(m.Name), m.Runs, m.NsPerOp, m.BytesPerOp, m.AllocsPerOp)
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
		fmt.Fprintf(b, "%s\n  %s\n", oneLine(s.String()), s.Advice())
	}
	for _, s := range m.Policies {
		if verbose {
			fmt.Fprintf(b, "%5.1f %%  %s\n", s.Percent(), s.File)
		}
	}
	sum := m.Total()
	fmt.Fprintf(b, "mutation: %.1f %%: tests notice %d of %d changes\n", sum.Percent(), sum.Killed, sum.Killed+sum.Survived)
}

func (r *testReport) printSum(b *strings.Builder, s screen.Page, f *testFlags) {
	if len(r.benchmarks) > 0 {
		return
	}
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
	word := s.Effect(hook.Pass, "PASS")
	if r.status(f) != exitOK {
		word = s.Effect(hook.Deny, "FAIL")
	}
	fmt.Fprintf(b, "%s   %s\n", word, strings.Join(parts, ", "))
}
