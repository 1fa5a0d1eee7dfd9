package targets

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
	"testing/fstest"

	"gate/bundles"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/internal/sealed"
)

// A Tests is a directory whose tests are run, with the policies that it
// belongs to.
type Tests struct {
	Files fs.FS  // the policies
	here  string // what people read paths relative to; "" for absolute ones
	place *places.Place
	Dir   string   // within files: what is tested; "." is all
	only  []string // the files within files that were named; nil: the whole directory

	Library bool              // files are the product's own
	Bundle  *bundles.Manifest // files are those of a bundle, which brings data along; else nil
}

// CloseTests closes what OpenTests opened.
func CloseTests(list []*Tests) {
	for _, t := range list {
		if t.place != nil {
			t.place.Close()
		}
	}
}

// OpenTests opens what the arguments name.
func OpenTests(args []string) (list []*Tests, err error) {
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
		t.only = []string{path.Join(t.Dir, file)}
		at := slices.IndexFunc(list, func(o *Tests) bool { return o.only != nil && o.place.Dir == t.place.Dir && o.Dir == t.Dir })
		if at < 0 {
			list = append(list, t)
			continue
		}
		list[at].only = append(list[at].only, t.only...)
		t.place.Close()
	}
	if err := errors.Join(errs...); err != nil {
		CloseTests(list)
		return nil, err
	}
	return list, nil
}

// LibraryTests are those of a policy of the product's own, in the files of all of them. They
// need not be closed.
func LibraryTests(files fs.FS, policy string) *Tests {
	return &Tests{Files: files, Dir: path.Dir(policy), only: []string{policy}, Library: true}
}

// openTarget opens the policies that a directory belongs to: all of a bundle, where it
// lies in one.
func openTarget(dir string) (*Tests, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	all := Policies{Dir: abs}
	all.widen()
	root := bundleAbove(all.Dir)
	if root == "" {
		t, err := newTarget(dir, all.Dir, cmp.Or(all.only, "."), all.Library)
		if err == nil {
			t.Files = all.View(t.Files)
		}
		return t, err
	}
	below, err := filepath.Rel(root, filepath.Join(all.Dir, filepath.FromSlash(all.only)))
	if err != nil {
		return nil, err
	}
	t, err := newTarget(dir, root, filepath.ToSlash(below), false)
	if err != nil {
		return nil, err
	}
	m, err := bundles.ReadManifest(t.Files)
	if err != nil {
		t.place.Close()
		return nil, fmt.Errorf("%s: %w", t.At("."), err)
	}
	if t.Bundle = &m; m.Gate.Name == "" {
		t.Bundle.Gate.Name = filepath.Base(root)
	}
	return t, nil
}

// bundleAbove returns the directory of the bundle that a directory belongs to, "" if
// there is none.
func bundleAbove(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, sealed.ManifestFile)); err == nil && info.Mode().IsRegular() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func newTarget(given, abs, below string, library bool) (*Tests, error) {
	p := places.Open(abs, ".", nil)
	if p == nil {
		return nil, fmt.Errorf("%s: there is nothing in it", given)
	}
	if p.Err != nil {
		return nil, fmt.Errorf("%s: %w", given, p.Err)
	}
	t := &Tests{Files: p.Files, place: p, Dir: below, Library: library}
	if filepath.IsAbs(given) {
		return t, nil
	}
	var err error
	t.here, err = os.Getwd()
	return t, err
}

// Selection says which tests of a suite were named, and which policies are to be
// looked at; nil: all.
func (t *Tests) Selection(s *policytest.Suite) (sel policytest.Selection, policies []string, err error) {
	if t.only == nil {
		return sel, nil, nil
	}
	sel.Files = []string{}
	for _, name := range t.only {
		switch {
		case s.Broken(name), strings.HasSuffix(name, "_test.rego"), strings.HasSuffix(name, policytest.CasesSuffix):
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

// Whose the policies of a directory are when nobody says.
func (t *Tests) Whose() string {
	if t.Bundle != nil {
		return "managed"
	}
	if slices.Contains(strings.Split(filepath.ToSlash(t.place.Dir), "/"), places.ProjectDir) {
		return "project"
	}
	return "user"
}

// Placed turns the positions of an error into ones that people can open.
func (t *Tests) Placed(err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := err.(*hook.Fault); ok && fault.Err != nil {
		err = fault.Err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range joined.Unwrap() {
			list = append(list, t.Placed(e))
		}
		return errors.Join(list...)
	}
	if file := position().FindString(err.Error()); file != "" {
		return errors.New(t.At(file) + err.Error()[len(file):])
	}
	return err
}

// position begins an error about a file of a directory.
var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\s:/][^\s:]*\.(?:rego|ya?ml|json)\b`) })

// At names a file of the policies as people can open it.
func (t *Tests) At(file string) string {
	name := filepath.Join(t.place.Dir, filepath.FromSlash(file))
	if t.here == "" {
		return name
	}
	if rel, err := filepath.Rel(t.here, name); err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}

// Policies reads the policies of the directory, with the data of a bundle, and no
// tests.
func (t *Tests) Policies() (fstest.MapFS, error) {
	files := fstest.MapFS{}
	looked := 0
	err := fs.WalkDir(t.Files, ".", func(name string, d fs.DirEntry, err error) error {
		looked++
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case looked > mostEntries:
			return fmt.Errorf("there are more than %d files in it", mostEntries)
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir(), hidden, strings.HasSuffix(name, "_test.rego"),
			!strings.HasSuffix(name, ".rego") && !(t.Bundle != nil && d.Name() == sealed.DataFile):
			return nil
		}
		text, err := load.ReadFile(t.Files, name, policycheck.MaxFile)
		files[name] = &fstest.MapFile{Data: text}
		return err
	})
	return files, err
}
