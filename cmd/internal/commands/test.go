package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/targets"
	"gate/cmd/internal/testreport"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/policytest/mutate"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/policies"
)

// testFlags say what gate test runs and how it tells.
type testFlags struct {
	dirs            dirFlags
	verbose         bool
	run             string
	coverage        bool
	threshold       float64
	bench           bool
	count           int
	mutate          bool
	mutateThreshold float64
	watch           bool
	format          string
	writes          []string
	timeout         time.Duration
	as              string
	from, to        string
}

// testForms are the forms of what gate test says.
func testForms() []string { return []string{"pretty", "json", "junit", "markdown"} }

func newTest(p process) *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "run the tests of policies",
		Long: "Runs the Rego tests (*_test.rego) and event cases (*_cases.yaml) of policies. PATH is\n" +
			"a directory, or a file in one. Without PATH, gate runs the tests of this directory if\n" +
			"it holds policies, otherwise those of the project or yours.",
		Example: "  gate test\n  gate test -v --run push policies\n  gate test --coverage --threshold 95 --write junit=report.xml",
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := f.start(cmd.Context(), p, args)
			if err != nil {
				return err
			}
			return exitWith(status)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show every test with its time and output")
	flags.StringVarP(&f.run, "run", "r", "", "only tests and cases whose name this regular expression matches")
	flags.BoolVarP(&f.coverage, "coverage", "c", false, "show which lines of the policies no test evaluates")
	flags.Float64Var(&f.threshold, "threshold", 0, "with fewer `PERCENT` of the lines covered the tests fail")
	flags.BoolVar(&f.bench, "bench", false, "measure the tests instead")
	flags.IntVar(&f.count, "count", 1, "how often each test is measured")
	flags.BoolVar(&f.mutate, "mutate", false, "change one condition of the policies at a time and show which changes no test notices")
	flags.Float64Var(&f.mutateThreshold, "mutate-threshold", 0, "with fewer `PERCENT` of the changes noticed the tests fail")
	flags.BoolVarP(&f.watch, "watch", "w", false, "run again whenever a file changes")
	flags.StringVar(&f.format, "format", "pretty", "pretty, json, junit or markdown")
	oneOf(cmd, "format", testForms()...)
	addWrite(cmd, &f.writes, testForms())
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "how long one test may take")
	flags.StringVar(&f.as, "as", "", "the owner of the policies, which limits their builtins: managed, user or project (default user; project below .gate)")
	oneOf(cmd, "as", standings()...)
	flags.StringVar(&f.from, "from", "", "write an event case of the decision with this `ID`, of the last one, or of a whole session by its\nname, and run it")
	offer(cmd, "from", func() []string { return append(decisions(p, &f.dirs)(), sessions(p, &f.dirs, nil)()...) })
	flags.StringVar(&f.to, "to", "", "the `FILE` (*_cases.yaml) that --from adds the case to (default: standard output)")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// check reports flags that make no sense.
func (f *testFlags) check() error {
	_, err := regexp.Compile(f.run)
	switch {
	case err != nil:
		return usageError("--run: " + err.Error())
	case checkWrites(f.writes, testForms()) != nil:
		return checkWrites(f.writes, testForms())
	case f.threshold < 0 || f.threshold > 100 || f.mutateThreshold < 0 || f.mutateThreshold > 100:
		return usageError("a threshold is a percentage from 0 to 100")
	case f.count < 1:
		return usageError("--count must be at least 1")
	case f.timeout <= 0:
		return usageError("--timeout must be more than 0")
	case f.to != "" && f.from == "":
		return usageError("--to says where --from writes a case; give both")
	case f.bench && (f.coverage || f.mutate || f.threshold > 0 || f.mutateThreshold > 0):
		return usageError("--bench measures the tests; run it without --coverage and --mutate")
	case f.bench && (f.format == "junit" || f.format == "markdown" || len(f.writes) > 0):
		return usageError("--bench has no junit or markdown form and no --write; use --format json")
	case f.from != "" && len(f.writes) > 0:
		return usageError("--write has reports of tests; --from writes a case")
	case f.watch && f.format != "pretty":
		return usageError("--watch is for people; use it with --format pretty")
	}
	return nil
}

// start runs the tests, once or whenever a file changes.
func (f *testFlags) start(ctx context.Context, p process, args []string) (int, error) {
	if err := f.check(); err != nil {
		return exitFailed, err
	}
	if f.from != "" {
		return f.fromLog(ctx, p, args)
	}
	args, err := f.paths(p, args)
	if err != nil {
		return exitFailed, err
	}
	if f.watch {
		return f.keepRunning(ctx, p, args)
	}
	return f.once(ctx, p, args)
}

// paths returns the arguments, or where policies are when nobody says.
func (f *testFlags) paths(p process, args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	dir, err := defaultPolicyPath(p, f.dirs)
	if err == nil && dir != "." {
		dir = filepath.Join(dir, load.PoliciesDir)
	}
	return []string{dir}, err
}

// once runs the tests and tells how they ended.
func (f *testFlags) once(ctx context.Context, p process, args []string) (int, error) {
	list, err := targets.OpenTests(args)
	if err != nil {
		return exitFailed, errors.Join(f.write(nil, err), err)
	}
	defer targets.CloseTests(list)
	report, err := f.runTargets(ctx, p, list)
	if report != nil {
		err = errors.Join(f.print(p, report), err)
	}
	if err := errors.Join(f.write(report, err), err); err != nil {
		return exitFailed, err
	}
	if !report.Passed() { // as opa test
		return exitReject, nil
	}
	return exitOK, nil
}

// write writes the forms of --write, also of a run that came to no end.
func (f *testFlags) write(report *testreport.Report, stopped error) error {
	if report == nil {
		report = &testreport.Report{}
	}
	report.Stopped = stopped
	return writeForms(f.writes, func(form string) (string, error) { return f.text(screen.Page{}, report, form) })
}

func (f *testFlags) print(p process, report *testreport.Report) error {
	text, err := f.text(p.page(), report, f.format)
	if err != nil {
		return err
	}
	return printAll(p, text)
}

// text is a report in one of its forms.
func (f *testFlags) text(page screen.Page, report *testreport.Report, form string) (string, error) {
	switch form {
	case "json":
		return strictjson.Indent(report.Document()) + "\n", nil
	case "junit":
		return report.JUnit()
	case "markdown":
		return report.Markdown(), nil
	}
	return report.Text(page, f.verbose), nil
}

// keepRunning runs the tests, and again whenever a file changes, until the
// context ends. What cannot be run is told and waits for the next change.
func (f *testFlags) keepRunning(ctx context.Context, p process, args []string) (int, error) {
	for {
		watch := targets.WatchOf(args)
		if _, err := f.once(ctx, p, args); err != nil {
			fmt.Fprintf(p.stderr, "gate: %s\n", visible(err.Error()))
		}
		if ctx.Err() != nil {
			return exitOK, nil
		}
		fmt.Fprintln(p.stderr, "gate: waiting for a change; end with Ctrl-C")
		changes := watch.Changed(ctx)
		if len(changes) == 0 {
			return exitOK, nil
		}
		fmt.Fprintf(p.stderr, "gate: %s\n", visible(changesText(changes)))
	}
}

// changesText names the files that changed, the first of many.
func changesText(list []string) string {
	const most = 5
	text := strings.Join(list[:min(most, len(list))], ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// runTargets runs the tests of each directory. A selection may select nothing
// in some of them. With an error comes the report of those that could be run, if any.
func (f *testFlags) runTargets(ctx context.Context, p process, list []*targets.Tests) (*testreport.Report, error) {
	report := &testreport.Report{Least: f.threshold, LeastMutation: f.mutateThreshold}
	var errs []error
	for _, t := range list {
		err := f.runTarget(ctx, p, t, report)
		if !errors.Is(err, policytest.ErrNoTests) || f.run == "" {
			errs = append(errs, t.Placed(err))
		}
	}
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	if err := errors.Join(errs...); err != nil && report.Empty() {
		return nil, err
	} else if err != nil {
		return report, err
	}
	if report.Empty() {
		return nil, fmt.Errorf("no test and no case is called anything that matches %s; gate test -v lists them", quoted(f.run))
	}
	return report, nil
}

func (f *testFlags) runTarget(ctx context.Context, p process, t *targets.Tests, report *testreport.Report) error {
	suite, err := policytest.Prepare(f.options(t))
	if err != nil {
		if errors.Is(err, policytest.ErrNoTests) {
			return fmt.Errorf("%s: there are no tests; write files named *_test.rego or *%s", t.At(t.Dir), policytest.CasesSuffix)
		}
		return err
	}
	sel, tested, err := t.Selection(suite)
	if err != nil {
		return err
	}
	if f.run != "" {
		sel.Name = regexp.MustCompile(f.run)
	}
	switch {
	case f.bench:
		list, err := suite.Bench(ctx, sel, f.count)
		report.AddBenchmarks(t, list)
		report.AddResults(t, suite, suite.Mistakes(sel))
		return err
	case f.coverage || f.threshold > 0:
		results, c, err := suite.Cover(ctx, sel)
		if err != nil {
			return err
		}
		report.AddResults(t, suite, results)
		report.AddCoverage(t, c, tested)
	default:
		results, err := suite.Run(ctx, sel)
		if err != nil {
			return err
		}
		report.AddResults(t, suite, results)
	}
	if (f.mutate || f.mutateThreshold > 0) && !report.Failed() {
		return f.mutateTarget(ctx, p, t, suite, tested, report)
	}
	return nil
}

// mutateTarget finds out what the tests of a directory are worth.
func (f *testFlags) mutateTarget(ctx context.Context, p process, t *targets.Tests, suite *policytest.Suite, files []string, report *testreport.Report) error {
	o := mutate.Options{Files: files}
	tried := newCounter(p, "changes tried")
	o.Progress = tried.at
	m, err := mutate.Run(ctx, suite, o)
	tried.done()
	if err != nil {
		return err
	}
	report.AddMutation(t, m)
	return nil
}

// options are those of the suite of one directory.
func (f *testFlags) options(t *targets.Tests) policytest.Options {
	library, lib := sources.Library(hook.User)
	o := policytest.Options{
		Files: t.Files, Dir: t.Dir, Library: library, Lib: lib, Timeout: cmp.Or(f.timeout, 5*time.Second),
		Snapshot: policies.Snapshot(), Partly: true,
	}
	if t.Library {
		o.Source = library
		o.Source.Hooks, o.Source.Modules = nil, nil
		return o
	}
	o.Source.Name = f.as
	if f.as == "" {
		o.Source.Name = t.Whose()
	}
	if t.Bundle != nil {
		o.Source.Bundle, o.Roots = &hook.Bundle{Name: t.Bundle.Gate.Name}, t.Bundle.Roots
	}
	switch o.Source.Name {
	case "managed":
		o.Source.Scope, o.Source.Authority = hook.Policy, hook.Managed
	case "project":
		o.Source.Scope, o.Source.Authority = hook.Session, hook.Project
	default:
		o.Source.Scope, o.Source.Authority = hook.Session, hook.User
	}
	return o
}
