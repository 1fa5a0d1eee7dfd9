package policytest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/engine/rego"
	"gate/hook"
	"gate/scopes"
)

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
