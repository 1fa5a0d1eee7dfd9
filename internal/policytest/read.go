package policytest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/internal/load"
	"gate/internal/rego"
	"gate/scopes"
)

// maxTests bounds one file of tests or cases.
const maxTests = 4 << 20

// read reads all *_test.rego and *_cases.yaml files but hidden ones.
func (s *Suite) read(fsys fs.FS) (tests []scopes.Module, cases []Case, err error) {
	var errs []error
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden, d.IsDir(), !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0:
			return nil // load.Rego reports policies that are no files
		}
		switch inside := s.within(name); {
		case strings.HasSuffix(name, "_test.rego"):
			text, err := load.ReadFile(fsys, name, maxTests)
			errs = append(errs, err)
			tests = append(tests, scopes.Module{File: name, Text: load.Unrecorded(string(text))})
		case inside && strings.HasSuffix(name, CasesSuffix):
			s.hasCases[path.Dir(name)] = true
			text, err := load.ReadFile(fsys, name, maxTests)
			if err == nil {
				var some []Case
				some, err = ParseCases(name, text)
				cases = append(cases, some...)
			}
			errs = append(errs, err)
		case inside && strings.HasSuffix(name, "_cases.yml"):
			errs = append(errs, fmt.Errorf("%s: event cases stand in files named *%s", name, CasesSuffix))
		}
		return nil
	})
	return tests, cases, errors.Join(append(errs, err)...)
}

// checkTest keeps tests from changing what they test: they define no rule that
// gate asks, and no package of the product unless they are its own.
func (s *Suite) checkTest(m scopes.Module) error {
	f := s.files[m.File]
	if f == nil {
		return nil // reported already
	}
	var errs []error
	if !s.source.Library && (f.pkg == "gate" || strings.HasPrefix(f.pkg, "gate.")) {
		errs = append(errs, fmt.Errorf("%s: package %s: packages below gate are the product's own", m.File, f.pkg))
	}
	for _, r := range f.module.Rules {
		name := strings.SplitN(r.Head.Ref().String(), ".", 2)[0]
		if rego.IsRule(name) {
			errs = append(errs, fmt.Errorf("%s:%d: a test file must not define %s", m.File, r.Location.Row, name))
		}
	}
	return errors.Join(errs...)
}

// untested reports policies that have no tests beside them: neither a file of
// their name with _test.rego or _cases.yaml at its end, nor cases in their
// directory.
func (s *Suite) untested() error {
	var errs []error
	for _, h := range s.source.Hooks {
		if !s.within(h.File) {
			continue
		}
		stem := strings.TrimSuffix(h.File, ".rego")
		if slices.Contains(s.tests, stem+"_test.rego") || s.hasCases[path.Dir(h.File)] {
			continue
		}
		errs = append(errs, fmt.Errorf("%s: policy %s has no test; write %s or %s",
			h.Pos(), h.ID, path.Base(stem)+"_test.rego", path.Base(stem)+CasesSuffix))
	}
	return errors.Join(errs...)
}
