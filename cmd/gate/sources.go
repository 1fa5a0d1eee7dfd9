package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gate/hook"
	"gate/policies"
	"gate/scopes"
	"gate/scopes/load"
)

// policyDir is where policies lie below the managed and the user directory,
// and below .gate of a project.
const policyDir = "policies"

// loaded is everything that hooks come from, as found on this machine.
type loaded struct {
	lib     []scopes.Module // data.gate.lib
	sources []scopes.Source
	dirs    map[string]string // where a source's files are, by its name
	notices []string          // what shaped every decision and a person should know
}

// loadSources reads the policies that concern a project. It never fails: what
// cannot be read becomes a fault of its source, and the source's authority
// decides what that means (DESIGN 9).
func loadSources(d dirs, library fs.FS, project string) loaded {
	out := loaded{dirs: map[string]string{
		"managed": filepath.Join(d.managed, policyDir),
		"user":    filepath.Join(d.user, policyDir),
		"project": filepath.Join(project, ".gate", policyDir),
	}}
	managed := loadDir(d.managed, policyDir, managedCheck(d), scopes.Source{
		Name: "managed", Scope: hook.Policy, Authority: hook.Managed,
	})
	if d.managedNamed && managed != nil {
		out.notices = append(out.notices, "managed policies come from "+d.managed+", as the command line says")
	}
	out.add(loadLibrary(library, scopes.LibraryAuthority(managed != nil), &out.lib))
	out.add(managed)
	out.add(loadDir(d.user, policyDir, ownedBy("your policies", os.Getuid(), 0), scopes.Source{
		Name: "user", Scope: hook.Session, Authority: hook.User,
	}))
	if project != "" {
		out.add(loadDir(project, filepath.Join(".gate", policyDir), nil, scopes.Source{
			Name: "project", Scope: hook.Session, Authority: hook.Project,
		}))
	}
	return out
}

func (l *loaded) add(s *scopes.Source) {
	if s != nil {
		l.sources = append(l.sources, *s)
	}
}

// loadLibrary loads the policies that gate brings.
func loadLibrary(files fs.FS, a hook.Authority, lib *[]scopes.Module) *scopes.Source {
	as := scopes.Source{Name: "library", Scope: hook.Policy, Authority: a, Library: true}
	if index, err := fs.ReadFile(files, policies.IndexFile); err == nil {
		s, modules := load.Indexed(files, index, as)
		*lib = modules
		return &s
	}
	modules, faults := load.Lib(files)
	*lib = modules
	s := load.Rego(files, as)
	s.Faults = append(s.Faults, faults...)
	return &s
}

// managedCheck is what managed files must be: root's, or with --managed-dir
// also those of whoever runs gate.
func managedCheck(d dirs) func(fs.FileInfo) error {
	if d.managedNamed {
		return ownedBy("managed policies", 0, os.Geteuid())
	}
	return ownedBy("managed policies", 0)
}

// loadDir loads the policies below base, nil if there is no such directory.
func loadDir(base, below string, check func(fs.FileInfo) error, as scopes.Source) *scopes.Source {
	root, err := openBelow(base, below)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer root.Close()
		err = checkAbove(base, check)
	}
	if err != nil {
		as.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "%s: %w", filepath.Join(base, below), plain(err))}
		return &as
	}
	s := load.Rego(ownedFS{root, check}, as)
	for i, f := range s.Faults {
		s.Faults[i] = *hook.Faultf(f.Kind, "%s: %w", filepath.Join(base, below), f.Err)
	}
	return &s
}

// openBelow opens a directory below base without following a link out of base.
// A base that is missing counts as missing; one that cannot be looked at does
// not, and neither does a link that leads nowhere.
func openBelow(base, below string) (*os.Root, error) {
	outer, err := os.OpenRoot(base)
	if err != nil {
		return nil, missing(err, base)
	}
	defer outer.Close()
	inner, err := outer.OpenRoot(below)
	if err == nil {
		return inner, nil
	}
	for at := below; at != "."; at = filepath.Dir(at) {
		if info, lerr := outer.Lstat(at); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link that leads nowhere or out of %s", at, base)
		}
	}
	return nil, err
}

func missing(err error, dir string) error {
	if info, lerr := os.Lstat(dir); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("it is a symbolic link that leads nowhere")
	}
	return err
}

// checkAbove checks the directory that holds the policies' directory: whoever
// can write it can put another one in its place.
func checkAbove(dir string, check func(fs.FileInfo) error) error {
	if check == nil {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return check(info)
}

// plain removes the path from an error that already stands behind one.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
