// Package policytest runs the Rego tests of policies: files named *_test.rego,
// as opa test would, and as strictly as gate evaluates policies.
//
// One builtin exists there and only there: gate.event gives the whole input
// document of an event with real facts, so that a test says
//
//	denied contains … with input as gate.event("git push -f")
//
// instead of writing facts by hand. It is not for whole tool calls through the
// pipeline, nor for printing results. Start with [Run].
package policytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"gate/engine/rego"
	"gate/hook"
	"gate/scopes"
	"gate/scopes/load"
)

// Options say what to test. Files and Facts are required.
type Options struct {
	// Files holds the policies and, beside them, their tests.
	Files fs.FS

	// Source says whose the policies are. Its authority decides which builtins
	// they may call; Params override the declared defaults. The zero Source
	// means a project's.
	Source scopes.Source

	// Lib is data.gate.lib. When Source.Library is set it is taken from Files.
	Lib []scopes.Module

	// Facts works out the facts of an event in a world, as the engine does.
	Facts func(World, *hook.Event) *hook.Facts

	// Run selects tests whose full name, such as data.acme.push_test.test_main,
	// it matches; nil selects all.
	Run *regexp.Regexp

	// Timeout is for one test; zero means 5 s.
	Timeout time.Duration
}

// A Result is how one test ended. It passed if neither Failed nor Skipped is
// set and Err is nil.
type Result struct {
	Name    string // package and rule, without "data."
	File    string
	Line    int
	Failed  bool
	Skipped bool          // its name begins with todo_
	Err     error         // the test could not be run to its end
	Message string        // why it failed: file:line and text of what was not true
	Output  string        // what print wrote
	Took    time.Duration // wall clock
}

// Passed reports whether the test passed.
func (r *Result) Passed() bool { return !r.Failed && !r.Skipped && r.Err == nil }

// ErrNoTests reports a run that selected nothing.
var ErrNoTests = errors.New("no tests")

// Run compiles policies and tests and runs them. Results are in the order of
// files and names. An error means that nothing was run: files that do not load
// or compile (all mistakes, each with file and line), a policy file without a
// test, or no test selected ([ErrNoTests]).
func Run(ctx context.Context, o Options) ([]Result, error) {
	if o.Source.Scope == 0 {
		o.Source.Scope, o.Source.Authority = hook.Session, hook.Project
	}
	set, err := read(o)
	if err != nil {
		return nil, err
	}
	if set.tests == 0 {
		return nil, ErrNoTests
	}
	results, err := set.run(ctx, o, false)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%w match %s", ErrNoTests, o.Run)
	}
	return set.explain(ctx, o, results)
}

// A suite is everything that one run compiles.
type suite struct {
	source  scopes.Source
	modules map[string]*ast.Module
	data    map[string]any
	tests   int
}

// read loads policies as gate does, then the tests.
func read(o Options) (*suite, error) {
	lib := o.Lib
	var errs []error
	if o.Source.Library {
		modules, faults := load.Lib(o.Files)
		lib = modules
		errs = append(errs, joined(faults))
	}
	s := &suite{source: load.Rego(o.Files, o.Source), modules: map[string]*ast.Module{}}
	errs = append(errs, joined(s.source.Faults))
	tests, err := testFiles(o.Files)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return nil, errors.Join(errs...)
	}
	if err := rego.Check(lib, s.source); err != nil {
		return nil, err
	}
	for _, m := range slices.Concat(lib, s.source.Modules) {
		errs = append(errs, s.add(m))
	}
	for _, m := range tests {
		errs = append(errs, s.add(m), s.checkTest(m))
	}
	s.tests = len(tests)
	errs = append(errs, untested(s.source.Hooks, tests))
	s.data, err = rego.Params(s.source)
	return s, errors.Join(append(errs, err)...)
}

func joined(faults []hook.Fault) error {
	errs := make([]error, len(faults))
	for i := range faults {
		errs[i] = &faults[i]
	}
	return errors.Join(errs...)
}

// testFiles reads all *_test.rego files but hidden ones.
func testFiles(fsys fs.FS) ([]scopes.Module, error) {
	var tests []scopes.Module
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden, d.IsDir(), !strings.HasSuffix(name, "_test.rego"):
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		tests = append(tests, scopes.Module{File: name, Text: string(text)})
		return err
	})
	return tests, err
}

func (s *suite) add(m scopes.Module) error {
	parsed, err := ast.ParseModuleWithOpts(m.File, m.Text, ast.ParserOptions{
		RegoVersion: ast.RegoV1, ProcessAnnotation: true,
	})
	if err != nil {
		return err
	}
	s.modules[m.File] = parsed
	return nil
}

// checkTest keeps tests from changing what they test: they define no rule that
// gate asks, and no package of the product unless they are its own.
func (s *suite) checkTest(m scopes.Module) error {
	parsed := s.modules[m.File]
	if parsed == nil {
		return nil // reported already
	}
	var errs []error
	pkg := strings.TrimPrefix(parsed.Package.Path.String(), "data.")
	if !s.source.Library && (pkg == "gate" || strings.HasPrefix(pkg, "gate.")) {
		errs = append(errs, fmt.Errorf("%s: package %s: packages below gate are the product's own", m.File, pkg))
	}
	for _, r := range parsed.Rules {
		name := strings.SplitN(r.Head.Ref().String(), ".", 2)[0]
		if rego.IsRule(name) {
			errs = append(errs, fmt.Errorf("%s:%d: a test file must not define %s", m.File, r.Location.Row, name))
		}
	}
	return errors.Join(errs...)
}

// untested reports policies that have no test file of their name beside them.
func untested(policies []*hook.Hook, tests []scopes.Module) error {
	var errs []error
	for _, h := range policies {
		want := strings.TrimSuffix(h.File, ".rego") + "_test.rego"
		if !slices.ContainsFunc(tests, func(t scopes.Module) bool { return t.File == want }) {
			errs = append(errs, fmt.Errorf("%s: policy %s has no test; write %s", h.File, h.ID, want))
		}
	}
	return errors.Join(errs...)
}

// run runs the selected tests. With trace, only failures are of interest.
func (s *suite) run(ctx context.Context, o Options, trace bool) ([]Result, error) {
	store := inmem.NewFromObjectWithOpts(map[string]any{"gate": map[string]any{"params": s.data}},
		inmem.OptRoundTripOnWrite(false))
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, err
	}
	defer store.Abort(ctx, txn)
	event := eventBuiltin{facts: o.Facts}
	compiler, guards := rego.TestCompiler(s.source.Authority, s.source.Library, event.declaration())
	runner := tester.NewRunner().
		SetCompiler(compiler).
		SetStore(store).
		SetModules(s.modules).
		AddCustomBuiltins(append(wrap(guards), event.builtin())).
		RaiseBuiltinErrors(true).
		CapturePrintOutput(true).
		EnableTracing(trace).
		SetTimeout(cmp.Or(o.Timeout, 5*time.Second))
	if o.Run != nil {
		runner.Filter(o.Run.String())
	}
	ch, err := runner.RunTests(ctx, txn)
	if err != nil {
		return nil, err
	}
	var results []Result
	for r := range ch {
		results = append(results, s.result(r))
	}
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
	})
	return results, ctx.Err()
}

// explain runs what failed once more with a trace, to find what was not true.
func (s *suite) explain(ctx context.Context, o Options, results []Result) ([]Result, error) {
	var names []string
	for _, r := range results {
		if r.Failed {
			names = append(names, regexp.QuoteMeta("data."+r.Name))
		}
	}
	if len(names) == 0 {
		return results, nil
	}
	o.Run = regexp.MustCompile("^(" + strings.Join(names, "|") + ")$")
	traced, err := s.run(ctx, o, true)
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
