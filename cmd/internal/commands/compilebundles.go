package commands

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/places"
	"gate/internal/sources"
	"gate/internal/sync"
	"gate/scopes"
)

// bundlesIn reads the signed bundles in force as a call does, and notes all that
// says which these are and what they hold. A file that only has effect for a
// while, or once, is for whoever reads it at each call.
func bundlesIn(p *places.Place, rootOnly bool, note func(string)) ([]build.Bundle, map[string]any, error) {
	for _, name := range places.Administered() {
		note(name)
	}
	note(sync.CurrentFile)
	note(sync.SyncedFile)
	if p.Has(sources.RecoveryFile) {
		return nil, nil, errors.New("a recovery file relaxes this machine for a while")
	}
	if err := noteBundles(p, rootOnly, note); err != nil {
		return nil, nil, err
	}
	l := sources.Bundles(p)
	if l.Enrolling && len(l.Bundles) == 0 {
		return nil, nil, errors.New("this machine is enrolling: no signed bundle has come yet")
	}
	if len(l.Notices) > 0 {
		return nil, nil, errors.New(l.Notices[0])
	}
	var list []build.Bundle
	for _, b := range l.Bundles {
		name := b.Source()
		at := slices.IndexFunc(l.Sources, func(s scopes.Source) bool { return s.Name == name })
		if at < 0 {
			return nil, nil, errors.New(name + " was not read")
		}
		one := build.Bundle{Source: l.Sources[at], Bundle: artifact.Bundle{Bundle: b.Bundle, Dir: l.Where[name], Expires: b.Expires, Synced: b.Synced}}
		for _, y := range l.Layers {
			if !b.Trial && y.Bundle == b.Name {
				one.Layers = append(one.Layers, y)
			}
		}
		list = append(list, one)
	}
	for _, src := range l.Sources { // of the bundles as a whole
		for i := range src.Faults {
			return nil, nil, &src.Faults[i]
		}
	}
	return list, l.Schemas, nil
}

// noteBundles notes every file of the bundles in force, or, where only root may
// write them, their directories: gate itself writes each release into a new one.
func noteBundles(p *places.Place, rootOnly bool, note func(string)) error {
	current, err := sources.Current(p)
	if err != nil {
		return err
	}
	for _, a := range current.All() {
		files := path.Join(sync.Dir, a.Dir, sync.FilesDir)
		if rootOnly {
			note(files)
			continue
		}
		err := fs.WalkDir(p.Files, files, func(name string, _ fs.DirEntry, err error) error {
			note(name)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rootOnly reports whether nobody but root may write the bundles in force.
func rootOnly(p *places.Place) bool {
	current, err := sources.Current(p)
	return err == nil && !slices.ContainsFunc(current.All(), func(a sync.Active) bool { return !p.RootOnly(path.Join(sync.Dir, a.Dir)) })
}

// compileManaged has what is in force in the managed directory compiled, where
// there is a gate-hook to answer from it. What bundles were compared already known
// has. What goes wrong is for gate doctor to
// tell: calls are answered all the same.
func compileManaged(d dirs, known comparison) {
	exe, err := os.Executable()
	if err != nil {
		return
	}
	if _, err := os.Stat(hookProgram(exe)); err != nil {
		return
	}
	if at := (compilable{d, artifact.Managed, d.Managed}); at.outdated() {
		at.buildKnowing(known, false)
	}
}
