// Package targets resolves the paths that people give to commands about policies: the
// directory to load, and the part of it that the path names.
//
// It loads no policy and changes nothing. Start with Named for policies, and with
// OpenTests for tests.
package targets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/policycheck"
	"gate/internal/policytest"
)

// A Policies is something that gate check and gate fmt are pointed at.
type Policies struct {
	Dir     string // absolute; what is loaded
	Shown   string // dir as the person would write it
	only    string // what of dir is meant, slash-separated; "" for all of it
	part    string // what of dir is looked at, with the data above it; "" for all of it
	Place   bool   // dir is laid out as a directory of gate's
	Library bool   // dir holds the policies of the product itself
}

// Holds reports whether a file of the directory is meant.
func (t Policies) Holds(file string) bool {
	return t.only == "" || file == t.only || strings.HasPrefix(file, t.only+"/")
}

// View returns what the policies of a target are loaded from, of the files of its
// directory.
func (t Policies) View(files fs.FS) fs.FS {
	if t.part == "" {
		return files
	}
	return view{files, t.part}
}

// Named returns what paths mean.
func Named(paths ...string) ([]Policies, error) {
	var list []Policies
	for _, path := range paths {
		t, err := policyTargetOf(path)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

func policyTargetOf(path string) (Policies, error) {
	t := Policies{Shown: filepath.Clean(path)}
	info, err := os.Stat(path)
	if err != nil {
		return t, hostfs.At(path, err)
	}
	if t.Dir, err = filepath.Abs(path); err != nil {
		return t, err
	}
	switch {
	case info.Mode().IsRegular() && strings.HasSuffix(path, ".rego"):
		t.only = filepath.Base(t.Dir)
		t.Dir, t.Shown = filepath.Dir(t.Dir), filepath.Dir(t.Shown)
	case !info.IsDir():
		return t, fmt.Errorf("%s: neither a directory nor a Rego file", path)
	}
	if t.Place = t.only == "" && IsPlace(t.Dir); !t.Place {
		t.widen()
	}
	return t, nil
}

// widen makes a part of the nearest directory that is called policies a target
// in all of it: they share helpers. Elsewhere a part that has data is one of the
// directory that its packages begin in, from where data has its name. It finds out
// whether these are the product's own.
func (t *Policies) widen() {
	root := policiesAbove(t.Dir)
	if root == "" {
		if root = packagesAbove(t.Dir); root != "" {
			t.part = filepath.ToSlash(strings.TrimPrefix(t.Dir, root+string(filepath.Separator)))
		}
	}
	if root != "" {
		below, err := filepath.Rel(root, filepath.Join(t.Dir, t.only))
		up, uerr := filepath.Rel(t.Dir, root)
		if err != nil || uerr != nil {
			return
		}
		if t.only = ""; below != "." {
			t.only = filepath.ToSlash(below)
		}
		t.Dir, t.Shown = root, filepath.Join(t.Shown, up)
	}
	info, err := os.Stat(filepath.Join(t.Dir, "gate", "lib", "lib.rego"))
	t.Library = err == nil && info.Mode().IsRegular()
}

// policiesAbove returns the nearest directory that is called policies, "" if there
// is none.
func policiesAbove(dir string) string {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == load.PoliciesDir {
			return dir
		}
	}
	return ""
}

// packagesAbove returns the directory above dir that the packages in it begin in,
// where directories are named as packages are and there is data; "" if there is none.
// A bundle has a root of its own.
func packagesAbove(dir string) string {
	if bundleAbove(dir) != "" {
		return ""
	}
	root, data := "", false
	looked := 0
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		looked++
		switch {
		case err != nil, looked > mostEntries, root != "" && data:
			return fs.SkipAll
		case d.IsDir() && name != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case load.IsDataFile(name):
			data = true
		case root == "" && d.Type().IsRegular() && strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego"):
			root = packageRoot(name)
		}
		return nil
	})
	if below, err := filepath.Rel(root, dir); root == "" || err != nil || !filepath.IsLocal(below) || below == "." {
		return ""
	}
	for up := dir; up != root; {
		up = filepath.Dir(up)
		found, err := filepath.Glob(filepath.Join(up, "data.*"))
		data = data || err == nil && slices.ContainsFunc(found, load.IsDataFile)
	}
	if !data {
		return ""
	}
	return root
}

// packageRoot returns the directory that the package of a file begins in, "" if its
// directories are not named as the package.
func packageRoot(file string) string {
	text, err := load.ReadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file), policycheck.MaxFile)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "package "); ok {
			root, ok := strings.CutSuffix(filepath.Dir(file), filepath.FromSlash("/"+strings.ReplaceAll(strings.TrimSpace(name), ".", "/")))
			if ok {
				return root
			}
			break
		}
	}
	return ""
}

// IsPlace reports whether a directory is laid out as one of gate's.
func IsPlace(dir string) bool { return filepath.Base(dir) == places.ProjectDir || holdsPlace(dir) }

// holdsPlace reports that settings or hook files lie in a directory.
func holdsPlace(dir string) bool {
	for _, stem := range []string{load.HooksStem, load.SettingsStem, load.LocalSettingsStem} {
		if found, err := filepath.Glob(filepath.Join(dir, stem+".*")); err == nil && len(found) > 0 {
			return true
		}
	}
	info, err := os.Stat(filepath.Join(dir, load.HooksDir))
	return err == nil && info.IsDir()
}

// Default finds the policies that a person in this directory means who names none,
// and behind them the others there are that were not meant: "." if it holds any,
// the project's .gate, the user's. dirs says where the user's are.
func Default(dirs func() (places.Dirs, error)) ([]string, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var found []string
	if holdsPolicies(".") {
		found = append(found, ".")
	}
	d, err := dirs()
	if err != nil && len(found) == 0 {
		return nil, err
	}
	for _, dir := range []string{filepath.Join(places.ProjectRoot("", here), places.ProjectDir), d.User} {
		around := here == dir || strings.HasPrefix(here, dir+string(filepath.Separator))
		if !(around && len(found) > 0) && Holds(dir) {
			found = append(found, dir)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no policies here, in the project's .gate, or of your own; name a directory or file")
	}
	return found, nil
}

// Holds reports that a directory holds policies, settings or hook files.
func Holds(dir string) bool { return dir != "" && (holdsPolicies(dir) || holdsPlace(dir)) }

// mostEntries is how much of a directory is looked at in search of policies.
const mostEntries = 20_000

// holdsPolicies reports that Rego or event cases lie in a directory or below.
func holdsPolicies(dir string) bool {
	found, looked := false, 0
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		looked++
		hidden := name != dir && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil, looked > mostEntries:
			return fs.SkipAll
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		found = strings.HasSuffix(name, ".rego") || strings.HasSuffix(name, policytest.CasesSuffix)
		if found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}
