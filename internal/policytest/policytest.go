// Package policytest runs the tests of policies: Rego tests in files named
// *_test.rego, as opa test would and as strictly as gate evaluates policies,
// and event cases in files named *_cases.yaml, which are whole tool calls
// through the whole pipeline.
//
// One builtin exists in Rego tests and only there: gate.event gives the whole
// input document of an event with real facts, so that a test says
//
//	denied contains … with input as gate.event("git push -f")
//
// instead of writing facts by hand.
//
// The package prints nothing and reads nothing but the fs.FS that it is given.
// Start with [Run], which does everything once, or with [Prepare] to run the same
// tests again and again over changed policies.
package policytest

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"time"

	"gate/hook"
	"gate/scopes"
)

// Options say what to test. Files is required.
type Options struct {
	// Files holds the policies and, beside them, their tests.
	Files fs.FS

	// Dir is a directory of Files. Only what lies there or below is tested; the
	// rest is there for what policies share. Empty is all.
	Dir string

	// Untested policies are no mistake: the tests are somebody else's matter.
	Untested bool

	// Bare says that there need be no tests at all: the suite is there to decide.
	Bare bool

	// Partly runs what can be run although files have mistakes, or policies no tests:
	// each of these files has a result of kind Mistake. Without, they are an error.
	Partly bool

	// Source says whose the policies are. Its authority decides which builtins
	// they may call; Params override the declared defaults. The zero Source
	// means a project's.
	Source scopes.Source

	// Roots are those of a bundle, whose data is read from Files, too. Source.Bundle
	// has its name then. Nil: Files are no bundle.
	Roots []string

	// Library holds gate's own policies, which take part in event cases. When
	// Source.Library is set they are what is tested.
	Library scopes.Source

	// Snapshot is what rego.Snapshot made of Library, to save compiling it.
	Snapshot string

	// Lib is data.gate.lib. When Source.Library is set and Files has it, that is
	// taken and tested, too.
	Lib []scopes.Module

	// Facts works out the facts of an event in a world, as the engine does. It
	// must depend on nothing else: what it says is kept. Nil means those of
	// package facts, with gate installed in its usual places.
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
	Kind    Kind
	Name    string // package and rule, without "data."; of a case its name, and its line if it has several
	Policy  string // of a case: the policy, or the package of those, that it is about
	File    string
	Line    int
	Failed  bool
	Skipped bool          // its name begins with todo_
	Err     error         // the test could not be run to its end
	Message string        // why it failed: file:line and text of what was not true
	Judged  string        // the line, or what else was judged; "" where a test judges several
	Output  string        // what print wrote
	Took    time.Duration // wall clock
}

// A Kind says which kind of test something is.
type Kind string

const (
	RegoTest  Kind = "test"
	EventCase Kind = "case"
	Mistake   Kind = "mistake" // a file that cannot be run, or has to; see [Options].Partly
)

// Passed reports whether the test passed.
func (r *Result) Passed() bool { return !r.Failed && !r.Skipped && r.Err == nil }

// ErrNoTests reports a run that selected nothing.
var ErrNoTests = errors.New("no tests")

// Run compiles policies and tests and runs them. Results are in the order of
// files and names. An error means that nothing was run: files that do not load
// or compile (all mistakes, each with file and line), a policy file without a
// test, or no test selected ([ErrNoTests]).
func Run(ctx context.Context, o Options) ([]Result, error) {
	s, err := Prepare(o)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, Selection{Name: o.Run})
}
