package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/cmd/internal/places"
	"gate/hostfs"
	"gate/policytest"
)

// A target is a directory whose tests are run, with the policies that it
// belongs to.
type target struct {
	files fs.FS  // the policies
	here  string // what people read paths relative to; "" for absolute ones
	place *places.Place
	dir   string   // within files: what is tested; "." is all
	only  []string // the files within files that were named; nil: the whole directory

	library bool // files are the product's own
}

func closeTargets(list []*target) {
	for _, t := range list {
		t.place.Close()
	}
}

// paths returns the arguments, or where policies are when nobody says.
func (f *testFlags) paths(p process, args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	dir, err := defaultPolicies(p, f.dirs)
	if err == nil && dir != "." {
		dir = filepath.Join(dir, policyDir)
	}
	return []string{dir}, err
}

// openTargets opens what the arguments name.
func openTargets(args []string) (list []*target, err error) {
	var errs []error
	for _, arg := range args {
		dir, file := arg, ""
		info, err := os.Stat(arg)
		if err == nil && !info.IsDir() {
			dir, file = filepath.Split(arg)
		}
		if err != nil {
			errs = append(errs, hostfs.At(arg, err))
			continue
		}
		dir = filepath.Clean(dir)
		t, err := openTarget(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if file == "" {
			list = append(list, t)
			continue
		}
		t.only = []string{path.Join(t.dir, file)}
		at := slices.IndexFunc(list, func(o *target) bool { return o.only != nil && o.place.Dir == t.place.Dir && o.dir == t.dir })
		if at < 0 {
			list = append(list, t)
			continue
		}
		list[at].only = append(list[at].only, t.only...)
		t.place.Close()
	}
	if err := errors.Join(errs...); err != nil {
		closeTargets(list)
		return nil, err
	}
	return list, nil
}

// openTarget opens the policies that a directory belongs to.
func openTarget(dir string) (*target, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	all := policyTarget{dir: abs}
	all.widen()
	return newTarget(dir, all.dir, cmp.Or(all.only, "."), all.library)
}

func newTarget(given, abs, below string, library bool) (*target, error) {
	p := places.Open(abs, ".", nil)
	if p == nil {
		return nil, fmt.Errorf("%s: there is nothing in it", given)
	}
	if p.Err != nil {
		return nil, fmt.Errorf("%s: %w", given, p.Err)
	}
	t := &target{files: p.Files, place: p, dir: below, library: library}
	if filepath.IsAbs(given) {
		return t, nil
	}
	var err error
	t.here, err = os.Getwd()
	return t, err
}

// selection says which tests of a suite were named, and which policies are to be
// looked at; nil: all.
func (t *target) selection(s *policytest.Suite) (sel policytest.Selection, policies []string, err error) {
	if t.only == nil {
		return sel, nil, nil
	}
	sel.Files = []string{}
	for _, name := range t.only {
		switch {
		case strings.HasSuffix(name, "_test.rego"), strings.HasSuffix(name, policytest.CasesSuffix):
			sel.Files = append(sel.Files, name)
		case slices.Contains(s.Policies(), name):
			policies = append(policies, name)
			sel.Files = append(sel.Files, s.Concerning(name)...)
		default:
			return sel, nil, fmt.Errorf("%s is neither a policy nor a file of tests (*_test.rego, *%s)", name, policytest.CasesSuffix)
		}
	}
	if policies == nil { // those that the named tests are about
		for _, name := range s.Policies() {
			if slices.ContainsFunc(s.Concerning(name), func(test string) bool { return slices.Contains(sel.Files, test) }) {
				policies = append(policies, name)
			}
		}
	}
	return sel, policies, nil
}

// whose the policies of a directory are when nobody says.
func (t *target) whose() string {
	if slices.Contains(strings.Split(filepath.ToSlash(t.place.Dir), "/"), projectDir) {
		return "project"
	}
	return "user"
}

// placed turns the positions of an error into ones that people can open.
func (t *target) placed(err error) error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var list []error
		for _, e := range joined.Unwrap() {
			list = append(list, t.placed(e))
		}
		return errors.Join(list...)
	}
	if file := position().FindString(err.Error()); file != "" {
		return errors.New(t.at(file) + err.Error()[len(file):])
	}
	return err
}

// position begins an error about a file of a directory.
var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\s:/][^\s:]*\.(?:rego|ya?ml)\b`) })

// at names a file of the policies as people can open it.
func (t *target) at(file string) string {
	name := filepath.Join(t.place.Dir, filepath.FromSlash(file))
	if t.here == "" {
		return name
	}
	if rel, err := filepath.Rel(t.here, name); err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}
