package policytest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"gate/internal/rego"
)

// Run runs the selected tests. Results are in the order of files and names; with
// FirstFailure they end soon after the first test that did not pass. An error
// means that nothing was run: what is selected does not compile, or nothing is
// selected ([ErrNoTests]).
func (s *Suite) Run(ctx context.Context, sel Selection) ([]Result, error) {
	results, err := s.run(ctx, sel, false)
	if err != nil {
		return nil, err
	}
	failed := slices.ContainsFunc(results, func(r Result) bool { return !r.Passed() && !r.Skipped })
	if sel.FirstFailure && failed {
		return results, nil
	}
	if failed {
		if results, err = s.explain(ctx, sel, results); err != nil {
			return nil, err
		}
		if err := s.sayErrors(ctx, sel, results); err != nil {
			return nil, err
		}
	}
	if !s.changed {
		s.judgeIdle(results)
		results = append(results, s.unsettledEvents(ctx, results)...)
		results = append(results, s.Mistakes(sel)...)
	}
	results = append(results, s.runCases(ctx, s.selected(sel), sel.FirstFailure)...)
	if len(results) == 0 {
		return nil, noTests(sel)
	}
	slices.SortStableFunc(results, inOrder)
	return results, ctx.Err()
}

func inOrder(a, b Result) int {
	if a.Kind == EventCase && b.Kind == EventCase {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	}
	return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
}

// selected returns the cases of a selection.
func (s *Suite) selected(sel Selection) []Case {
	var list []Case
	for _, c := range s.cases {
		named := sel.Name == nil || sel.Name.MatchString(c.Name) || sel.Name.MatchString(s.fullName(&c))
		if named && (sel.Files == nil || slices.Contains(sel.Files, c.File)) {
			list = append(list, c)
		}
	}
	return list
}

func noTests(sel Selection) error {
	if sel.Name == nil {
		return ErrNoTests
	}
	return fmt.Errorf("%w match %s", ErrNoTests, sel.Name)
}

// data is what tests find below data: what the source brings along, and the
// values of parameters.
func (s *Suite) data() map[string]any {
	all, gate := maps.Clone(s.source.Data), map[string]any{}
	if all == nil {
		all = map[string]any{}
	}
	if own, ok := all["gate"].(map[string]any); ok {
		gate = maps.Clone(own)
	}
	gate["params"] = s.params
	all["gate"] = gate
	return all
}

// run runs the selected Rego tests. With trace, only failures are of interest.
func (s *Suite) run(ctx context.Context, sel Selection, trace bool) ([]Result, error) {
	if sel.Files != nil {
		sel.Files = s.testsOf(sel)
	}
	if len(s.testsOf(sel)) == 0 {
		return nil, ctx.Err()
	}
	store := inmem.NewFromObjectWithOpts(s.data(), inmem.OptRoundTripOnWrite(false))
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, err
	}
	defer store.Abort(ctx, txn)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ch, err := s.runner(store, sel, trace).RunTests(ctx, txn)
	if err != nil {
		results, rest, err := s.notCompiled(sel, err)
		if err != nil {
			return nil, err
		}
		more, err := s.run(ctx, rest, trace)
		return append(results, more...), err
	}
	var results []Result
	enough := false
	for r := range ch { // to the end: the runner waits for its reader
		if enough {
			continue
		}
		result := s.result(r)
		results = append(results, result)
		if enough = sel.FirstFailure && !result.Passed() && !result.Skipped; enough {
			stop()
		}
	}
	slices.SortFunc(results, inOrder)
	if enough {
		return results, nil
	}
	return results, ctx.Err()
}

// testsOf returns the files with Rego tests of a selection.
func (s *Suite) testsOf(sel Selection) []string {
	if sel.Files == nil {
		return s.tests
	}
	return slices.DeleteFunc(slices.Clone(sel.Files), func(name string) bool { return !slices.Contains(s.tests, name) })
}

// runner prepares OPA's runner for the selected files and what they need.
func (s *Suite) runner(store storage.Store, sel Selection, trace bool) *tester.Runner {
	event := eventBuiltin{s.events}
	compiler, guards := rego.TestCompiler(s.source.Authority, s.source.Library, event.declaration())
	runner := tester.NewRunner().
		SetCompiler(compiler.WithStrict(!s.changed)).
		SetStore(store).
		SetModules(s.modules(sel.Files)).
		AddCustomBuiltins(append(wrap(guards), event.builtin())).
		RaiseBuiltinErrors(true).
		CapturePrintOutput(true).
		EnableTracing(trace).
		SetTimeout(cmp.Or(s.options.Timeout, 5*time.Second))
	if sel.Name != nil {
		runner.Filter(sel.Name.String())
	}
	if sel.cover != nil && !trace {
		runner.SetCoverageQueryTracer(sel.cover).SetCoverageRuns(nil)
	}
	return runner
}

// modules returns what tests in the named files need, without other tests; nil
// names all.
func (s *Suite) modules(tests []string) map[string]*ast.Module {
	if tests == nil {
		tests = s.tests
	}
	modules := map[string]*ast.Module{}
	for _, name := range s.closure(tests) {
		f := s.files[name]
		if !f.test || slices.Contains(tests, name) || len(testRules(f.module)) == 0 {
			modules[name] = f.module
		}
	}
	return modules
}

// testRules returns the rules that the runner takes for tests.
func testRules(m *ast.Module) []*ast.Rule {
	var list []*ast.Rule
	for _, r := range m.Rules {
		if isTest(r) {
			list = append(list, r)
		}
	}
	return list
}

func isTest(r *ast.Rule) bool {
	name := ruleName(r)
	return strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix)
}

// explain runs what failed once more with a trace, to find what was not true.
func (s *Suite) explain(ctx context.Context, sel Selection, results []Result) ([]Result, error) {
	var names []string
	for _, r := range results {
		if r.Failed {
			names = append(names, regexp.QuoteMeta("data."+r.Name))
		}
	}
	if len(names) == 0 {
		return results, nil
	}
	sel.Name = regexp.MustCompile("^(" + strings.Join(names, "|") + ")$")
	traced, err := s.run(ctx, sel, true)
	if err != nil {
		return nil, err
	}
	why := map[string]string{}
	for _, r := range traced {
		why[r.Name] = r.Message
	}
	for i := range results {
		if results[i].Failed {
			results[i].Message = cmp.Or(why[results[i].Name], results[i].Message)
		}
	}
	return results, nil
}
