package policytest

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"

	"gate/engine"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/rego"
	"gate/scopes"
)

// A Suite is policies and their tests, read and checked once, to be run any
// number of times. It is immutable and safe for concurrent use.
type Suite struct {
	options   Options
	source    scopes.Source
	lib       []scopes.Module
	files     map[string]*file // Rego files by name
	tests     []string         // names of the test files, sorted
	params    map[string]any
	cases     []Case
	hasCases  map[string]bool // directories with files of cases, also broken ones
	events    *events         // shared by all suites of one Prepare
	pipelines *pipelines
	proofless map[string]string        // tests that prove nothing, by file:line
	mistakes  []Result                 // of files that cannot be run, see leaveOut
	reasons   map[string]bool          // files of mistakes for which others are not run
	changed   bool                     // made by With: need not compile strictly
	texts     map[string]func() string // of changed policies
}

// A file is a parsed Rego file. It is never changed: compilers copy.
type file struct {
	module *ast.Module
	pkg    string
	refs   []ast.Ref // what it reads below data, ground
	policy bool      // of the tested source, not a test and not the shared library
	test   bool      // named *_test.rego
}

// Prepare reads and checks policies and tests. Errors are those of [Run] but
// for the selection. The policies can then be changed one by one, as mutation does:
//
//	suite, err := policytest.Prepare(options)
//	for _, file := range suite.Policies() {
//		changed, err := suite.With(file, text)
//		results, err := changed.Run(ctx, policytest.Selection{
//			Files: changed.Concerning(file), FirstFailure: true,
//		})
//	}
//
// Suites that come from one Prepare share what they parsed, the events and
// facts of gate.event, and the compiled library.
func Prepare(o Options) (*Suite, error) {
	if o.Source.Scope == 0 {
		o.Source.Scope, o.Source.Authority = hook.Session, hook.Project
	}
	s := &Suite{options: o, lib: o.Lib, files: map[string]*file{}, hasCases: map[string]bool{}, reasons: map[string]bool{}, events: newEvents(o.Facts)}
	s.pipelines = newPipelines(&libraries{known: map[string]engine.Evaluator{}})
	if err := s.load(); err != nil {
		return nil, err
	}
	if len(s.tests)+len(s.cases) == 0 && !o.Bare {
		return nil, ErrNoTests
	}
	s.proofless = s.idle()
	return s, nil
}

// load reads and checks all files. The error holds every mistake.
func (s *Suite) load() error {
	var errs []error
	libTested := false
	if s.options.Source.Library {
		modules, faults := load.Lib(s.options.Files)
		if len(modules) > 0 {
			s.lib, libTested = modules, true
		}
		errs = append(errs, joined(faults))
	}
	s.source = s.loadSource()
	errs = append(errs, joined(s.source.Faults))
	if errors.Join(errs...) == nil && !s.options.Partly { // else more would be said than is wrong
		errs = append(errs, rego.Check(s.lib, s.source))
	}
	tests, cases, err := s.read(s.options.Files)
	s.cases = cases
	errs = append(errs, err)
	for _, m := range s.lib {
		errs = append(errs, s.add(m, libTested))
	}
	for _, m := range s.source.Modules {
		errs = append(errs, s.add(m, true))
	}
	for _, m := range tests {
		errs = append(errs, s.add(m, false))
		if f := s.files[m.File]; f != nil {
			plain := WithoutRecord(f.module)
			if plain == nil {
				delete(s.files, m.File)
				continue
			}
			s.files[m.File] = fileOf(plain)
			s.files[m.File].test = true
		}
		errs = append(errs, s.checkTest(m))
		if s.within(m.File) {
			s.tests = append(s.tests, m.File)
		}
	}
	slices.Sort(s.tests)
	var untested error
	if !s.options.Untested {
		untested = s.untested()
	}
	errs = append(errs, s.checkTests())
	if s.options.Partly {
		errs = []error{s.leaveOut(unjoin(errors.Join(errs...)), unjoin(untested))}
	} else {
		errs = append(errs, untested)
	}
	if errors.Join(errs...) == nil {
		s.params, err = rego.Params(s.source)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// loadSource loads what is tested. Of a bundle, its hooks that are no policies stay out.
func (s *Suite) loadSource() scopes.Source {
	if s.options.Roots == nil {
		return load.Rego(s.options.Files, s.options.Source)
	}
	src := *load.Bundle(s.options.Files, s.options.Roots, "", s.options.Source).Source
	src.Hooks = slices.DeleteFunc(src.Hooks, func(h *hook.Hook) bool { return h.Kind != hook.Rego })
	src.Bundle = nil // cases say whose policies are
	return src
}

// within reports that a file lies where tests are run.
func (s *Suite) within(name string) bool {
	dir := s.options.Dir
	return dir == "" || dir == "." || strings.HasPrefix(name, dir+"/")
}

func joined(faults []hook.Fault) error {
	errs := make([]error, len(faults))
	for i := range faults {
		errs[i] = &faults[i]
	}
	return errors.Join(errs...)
}

func (s *Suite) add(m scopes.Module, policy bool) error {
	f, err := parse(m.File, m.Text)
	if err != nil {
		return err
	}
	f.policy = policy
	s.files[m.File] = f
	return nil
}

func parse(name, text string) (*file, error) {
	parsed, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{
		RegoVersion: ast.RegoV1, ProcessAnnotation: true,
	})
	if err != nil {
		return nil, plainErrors(err)
	}
	return fileOf(parsed), nil
}

// plainErrors writes what OPA says about a file as file:line and what is wrong.
func plainErrors(err error) error {
	var list ast.Errors
	if !errors.As(err, &list) {
		return err
	}
	var all []error
	for _, e := range list {
		if e.Location == nil {
			all = append(all, errors.New(e.Message))
			continue
		}
		all = append(all, fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Row, e.Message))
	}
	return errors.Join(all...)
}

func fileOf(m *ast.Module) *file {
	return &file{module: m, pkg: strings.TrimPrefix(m.Package.Path.String(), "data."), refs: dataRefs(m)}
}

// Policies returns the names of the files that are tested, sorted: policies
// and what they share, with data.gate.lib only if that is tested itself.
func (s *Suite) Policies() []string {
	var names []string
	for name, f := range s.files {
		if f.policy && s.within(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Module returns the parsed file of one of [Suite.Policies], nil if there is
// none of that name. It must not be changed.
func (s *Suite) Module(file string) *ast.Module {
	if f := s.files[file]; f != nil && f.policy {
		return f.module
	}
	return nil
}

// With returns a suite in which one of [Suite.Policies] has another text. It
// must have the same package. The text is parsed here and compiled by
// [Suite.Run], less strictly than a policy must be: a variable that is not used
// any more is no error.
func (s *Suite) With(file, text string) (*Suite, error) {
	f, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	return s.replace(file, f, func() string { return text })
}

// WithModule is [Suite.With] for a policy that is parsed already. Positions in
// failures of Rego tests are those that the module has. Nobody may change it
// any more.
func (s *Suite) WithModule(name string, m *ast.Module) (*Suite, error) {
	return s.replace(name, fileOf(m), m.String)
}

func (s *Suite) replace(name string, f *file, text func() string) (*Suite, error) {
	old := s.files[name]
	if old == nil || !old.policy {
		return nil, fmt.Errorf("%s: no policy of the suite", name)
	}
	if f.pkg != old.pkg {
		return nil, fmt.Errorf("%s: package %s where %s was", name, f.pkg, old.pkg)
	}
	f.policy = true
	c := *s
	c.changed, c.pipelines = true, newPipelines(s.pipelines.libs)
	c.files, c.texts = maps.Clone(s.files), merged(s.texts, map[string]func() string{name: text})
	c.files[name] = f
	return &c, nil
}

// current returns modules with the texts that they have in this suite.
func (s *Suite) current(list []scopes.Module) []scopes.Module {
	if len(s.texts) == 0 {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if text := s.texts[list[i].File]; text != nil {
			list[i].Text = text()
		}
	}
	return list
}

// A Selection says which tests of a suite to run.
type Selection struct {
	Name         *regexp.Regexp // full names that it matches; nil: all
	Files        []string       // only tests in these files; nil: in all
	FirstFailure bool           // enough is known when one test did not pass; no message says why

	cover *cover.Cover
}
