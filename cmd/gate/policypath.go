package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gate/cmd/internal/places"
	"gate/hostfs"
	"gate/policytest"
	"gate/scopes/load"
)

// A policyTarget is something that gate check and gate fmt are pointed at.
type policyTarget struct {
	dir     string // absolute; what is loaded
	shown   string // dir as the person would write it
	only    string // what of dir is meant, slash-separated; "" for all of it
	place   bool   // dir is laid out as a directory of gate's
	library bool   // dir holds the policies of the product itself
}

// holds reports whether a file of the directory is meant.
func (t policyTarget) holds(file string) bool {
	return t.only == "" || file == t.only || strings.HasPrefix(file, t.only+"/")
}

// policyTargets returns what paths mean. Without any it is this directory if it
// holds policies, else the project's .gate, else the user's policies.
func policyTargets(p process, f dirFlags, paths []string) ([]policyTarget, error) {
	if len(paths) == 0 {
		path, err := defaultPolicies(p, f)
		if err != nil {
			return nil, err
		}
		paths = []string{path}
	}
	var targets []policyTarget
	for _, path := range paths {
		t, err := policyTargetOf(path)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func policyTargetOf(path string) (policyTarget, error) {
	t := policyTarget{shown: filepath.Clean(path)}
	info, err := os.Stat(path)
	if err != nil {
		return t, hostfs.At(path, err)
	}
	if t.dir, err = filepath.Abs(path); err != nil {
		return t, err
	}
	switch {
	case info.Mode().IsRegular() && strings.HasSuffix(path, ".rego"):
		t.only = filepath.Base(t.dir)
		t.dir, t.shown = filepath.Dir(t.dir), filepath.Dir(t.shown)
	case !info.IsDir():
		return t, fmt.Errorf("%s: neither a directory nor a Rego file", path)
	}
	if t.place = t.only == "" && isPlace(t.dir); !t.place {
		t.widen()
	}
	return t, nil
}

// widen makes a part of the nearest directory that is called policies a target
// in all of it: they share helpers. It finds out whether these are the product's
// own.
func (t *policyTarget) widen() {
	up := ""
	for dir := t.dir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == policyDir {
			below, err := filepath.Rel(dir, filepath.Join(t.dir, t.only))
			if err != nil {
				return
			}
			if t.only = ""; below != "." {
				t.only = filepath.ToSlash(below)
			}
			t.dir, t.shown = dir, filepath.Join(t.shown, up)
			break
		}
		up = filepath.Join(up, "..")
	}
	info, err := os.Stat(filepath.Join(t.dir, "gate", "lib", "lib.rego"))
	t.library = err == nil && info.Mode().IsRegular()
}

// isPlace reports whether a directory is laid out as one of gate's.
func isPlace(dir string) bool { return filepath.Base(dir) == projectDir || holdsPlace(dir) }

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

// defaultPolicies finds the policies that a person in this directory means, and
// says which, and which others there are that were not meant.
func defaultPolicies(p process, f dirFlags) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	var found []string
	if holdsPolicies(".") {
		found = append(found, ".")
	}
	d, err := f.ForPeople(p.lookupEnv)
	if err != nil && len(found) == 0 {
		return "", err
	}
	for _, dir := range []string{filepath.Join(places.ProjectRoot("", here), projectDir), d.User} {
		around := here == dir || strings.HasPrefix(here, dir+string(filepath.Separator))
		if dir != "" && !(around && len(found) > 0) && (holdsPolicies(dir) || holdsPlace(dir)) {
			found = append(found, dir)
		}
	}
	if len(found) == 0 {
		return "", errors.New("no policies here, in the project's .gate, or of your own; name a directory or file")
	}
	if found[0] != "." || len(found) > 1 {
		shown := make([]string, len(found))
		for i, dir := range found {
			shown[i] = visible(p.tilde(dir))
		}
		others := ""
		if len(found) > 1 {
			others = "; name the others to look at them: " + strings.Join(shown[1:], " ")
		}
		fmt.Fprintf(p.stderr, "gate: policies in %s%s\n", shown[0], others)
	}
	return found[0], nil
}

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
