package policytest

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/rego"
	"gate/scopes"
)

// leaveOut takes what has mistakes out of the suite, and what needs it, so that the
// rest can be run. The mistakes become results of their files. It returns all of them
// as an error if nothing is left to run, or if one is about no file in particular.
// Policies that only lack tests stay.
func (s *Suite) leaveOut(errs, untested []error) error {
	if err := s.blame(errs); err != nil {
		return err
	}
	s.dropBroken()
	for range 3 { // what is left may have mistakes of its own
		errs := unjoin(rego.Check(s.lib, s.source))
		if len(errs) == 0 {
			break
		}
		if err := s.blame(errs); err != nil {
			return err
		}
		s.dropBroken()
	}
	maps.DeleteFunc(s.files, func(name string, _ *file) bool { return s.Broken(name) })
	s.mistakes = slices.DeleteFunc(s.mistakes, func(r Result) bool { return !s.within(r.File) && !s.reasons[r.File] })
	if err := s.blame(untested); err != nil {
		return err
	}
	if len(s.tests)+len(s.cases) == 0 {
		return allOf(s.mistakes)
	}
	return nil
}

// blame notes the mistakes of files with policies or tests. It returns everything that
// is wrong if a mistake concerns more.
func (s *Suite) blame(errs []error) error {
	before := slices.Clone(s.mistakes)
	for _, err := range errs {
		at := position().FindStringSubmatch(err.Error())
		if at == nil {
			return errors.Join(allOf(before), errors.Join(errs...))
		}
		s.mistake(at[1], at[2], err)
	}
	return nil
}

// position is where a mistake stands.
var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\s:]+(?:\.rego|_cases\.ya?ml))(?::(\d+))?:`) })

func (s *Suite) mistake(file, line string, err error) {
	s.mistakes = withMistake(s.mistakes, file, line, err)
}

// withMistake adds a mistake to the result of its file.
func withMistake(list []Result, file, line string, err error) []Result {
	for i := range list {
		if r := &list[i]; r.File == file {
			r.Err = errors.Join(append(unjoin(r.Err), err)...)
			return list
		}
	}
	row, _ := strconv.Atoi(line)
	return append(list, Result{Kind: Mistake, Name: file, File: file, Line: max(row, 1), Err: err})
}

// notRun notes a file of tests that needs one with mistakes.
func (s *Suite) notRun(name, why string) {
	s.reasons[why] = true
	line := 1
	for i := range s.mistakes {
		if s.mistakes[i].File == why {
			line = s.mistakes[i].Line
		}
	}
	s.mistake(name, "", fmt.Errorf("%s:1: %w at %s:%d", name, errNotRun, why, line))
}

// Mistakes are the results of the files of a selection that cannot be run.
func (s *Suite) Mistakes(sel Selection) []Result {
	var list []Result
	for _, r := range s.mistakes {
		if sel.Files == nil || slices.Contains(sel.Files, r.File) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, inOrder)
	return list
}

// allOf is everything that is wrong, in the order of files.
func allOf(mistakes []Result) error {
	var errs []error
	slices.SortFunc(mistakes, inOrder)
	for _, r := range mistakes {
		if !errors.Is(r.Err, errNotRun) {
			errs = append(errs, r.Err)
		}
	}
	return errors.Join(errs...)
}

// errNotRun is about tests without a mistake of their own.
var errNotRun = errors.New("not run, because of the mistake")

// Broken reports a file with a mistake, for which a run has a result.
func (s *Suite) Broken(name string) bool {
	return slices.ContainsFunc(s.mistakes, func(r Result) bool { return r.File == name })
}

// dropBroken leaves out the files with mistakes, and the policies, tests and cases that
// need one of them.
func (s *Suite) dropBroken() {
	if len(s.mistakes) == 0 {
		return
	}
	for i := range s.mistakes {
		if name := s.mistakes[i].File; s.files[name] == nil && strings.HasSuffix(name, ".rego") {
			s.files[name] = s.outline(name)
		}
	}
	needs := func(name string) string {
		for _, file := range s.closure([]string{name}) {
			if s.Broken(file) {
				return file
			}
		}
		return ""
	}
	gone := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		why := needs(name)
		if gone[name] = why != ""; why != "" && slices.Contains(s.tests, name) && !s.Broken(name) {
			s.notRun(name, why)
		}
	}
	s.cases = slices.DeleteFunc(s.cases, func(c Case) bool {
		why := s.brokenBeside(&c)
		if why != "" && !s.Broken(c.File) {
			s.notRun(c.File, why)
		}
		return s.Broken(c.File)
	})
	s.tests = slices.DeleteFunc(s.tests, func(name string) bool { return gone[name] })
	s.source.Hooks = slices.DeleteFunc(s.source.Hooks, func(h *hook.Hook) bool { return gone[h.File] })
	s.source.Modules = slices.DeleteFunc(s.source.Modules, func(m scopes.Module) bool { return gone[m.File] })
	s.source.Faults = nil
	maps.DeleteFunc(s.files, func(name string, _ *file) bool { return gone[name] && !s.Broken(name) })
}

// brokenBeside returns a file with mistakes among those that a file of cases judges:
// beside or below it, but for one that is named after a policy which is whole.
func (s *Suite) brokenBeside(c *Case) string {
	if stem := strings.TrimSuffix(c.File, CasesSuffix) + ".rego"; s.files[stem] != nil && !s.Broken(stem) {
		return ""
	}
	for i := range s.mistakes {
		if name := s.mistakes[i].File; s.Broken(name) && strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego") && beside(name, c) {
			return name
		}
	}
	return ""
}

// outline is as much of a file that does not load as others may name: its package, which
// is found in the text.
func (s *Suite) outline(name string) *file {
	text, err := load.ReadFile(s.options.Files, name, maxTests)
	found := packageLine().FindSubmatch(text)
	if err != nil || found == nil {
		found = [][]byte{nil, []byte("broken")}
	}
	m, err := ast.ParseModuleWithOpts(name, "package "+string(found[1]), ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil || m == nil {
		m = ast.MustParseModule("package broken")
	}
	return fileOf(m)
}

var packageLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^package[ \t]+(\S+)`) })

// unjoin undoes errors.Join.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, unjoin(e)...)
	}
	return list
}
