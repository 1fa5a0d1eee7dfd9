// Package build makes compiled forms of places: it reads a place as package
// internal/load does for whoever decides without one, has its policies compiled,
// and notes what it looked at.
//
// Only a place whose files show that nothing changed has a form. A place that is
// broken, links elsewhere or changed a moment ago has none. The package opens no place
// and checks no owner; the caller's file system does. Start with [Builder.Place], and
// keep what it makes with [Save].
package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/consent"
	"gate/internal/load"
	plan "gate/internal/plan/build"
	"gate/internal/rego"
	"gate/scopes"
)

// A Compiler compiles the policies of a source, with the modules of
// data.gate.lib. It returns why policies are not in the program, by their ids. An
// error means that none is.
type Compiler func(lib []scopes.Module, src scopes.Source) (program string, lacking map[string]string, err error)

// Plan is the [Compiler] for programs that package internal/plan runs.
func Plan(lib []scopes.Module, src scopes.Source) (program string, lacking map[string]string, err error) {
	r, err := plan.Policies(lib, src)
	if err != nil {
		return "", nil, err
	}
	return string(r.Section), r.Left, nil
}

// Left returns what OPA compiled of policies that a [Compiler] has left to it, ""
// if they do not compile. It is what rego.WithSaved takes.
func Left(lib []scopes.Module, src scopes.Source, ids []string) (string, error) {
	data, err := rego.Save(lib, src, ids)
	return string(data), err
}

// A Builder makes compiled forms. All fields but Old must be set.
type Builder struct {
	Maker   string          // of this program, [artifact.Maker]
	Lib     []scopes.Module // data.gate.lib
	Compile Compiler
	Left    func(lib []scopes.Module, src scopes.Source, ids []string) (string, error)
	Now     func() time.Time

	// Old is what Maker made of the place before, with the same Lib: programs of
	// sources that have not changed since are taken from it.
	Old *artifact.Artifact
}

// A Place is what a compiled form is made of.
type Place struct {
	Kind  artifact.Kind // Managed, User or Project
	Dir   string        // absolute
	Files fs.FS         // what is in it, which refuses files of the wrong owner

	// RootOnly says that nobody but root may write the place and what leads to it,
	// so that Bundles need note no more of a release than its directory.
	RootOnly bool

	// Bundles reads the signed bundles in force in the managed directory, in their
	// order. It gives the name of whatever it is about to look at to note, below
	// Dir, and returns an error where only the whole program knows what is in
	// force. Nil: there are none.
	Bundles func(note func(name string)) ([]Bundle, map[string]any, error)
}

// A Bundle is a signed bundle as it was read.
type Bundle struct {
	artifact.Bundle
	Source scopes.Source
	Layers []scopes.Layer
}

// ErrUnsettled is the error for a place that changed while it was looked at, or
// so shortly before that it might again without anybody being able to tell.
var ErrUnsettled = errors.New("it has only just changed")

// maxStamps bounds what is looked at at each call to see whether it changed.
const maxStamps = 20_000

// Place makes the form of a place. What is wrong with the place is its Refused,
// and no error. Another look at it a little later may help after
// [ErrUnsettled]; nothing helps against other errors: then no form can be told
// to be fresh.
func (b *Builder) Place(p Place) (artifact.Content, error) {
	c := artifact.Content{Kind: p.Kind, Maker: b.Maker, Place: p.Dir, Made: b.Now()}
	if err := Possible(p.Dir); err != nil {
		return c, err
	}
	r := newRecorder(p, c.Made)
	if err := r.begin(); err != nil {
		return c, err
	}
	err := b.read(&c, p, r)
	stamps, late := r.end()
	if late != nil {
		return c, late
	}
	if err == nil && len(stamps) > maxStamps {
		err = fmt.Errorf("more than %d files and directories", maxStamps)
	}
	if err != nil {
		c = artifact.Content{Kind: p.Kind, Maker: b.Maker, Place: p.Dir, Made: c.Made, Refused: err.Error()}
	}
	c.Stamps = stamps[:min(len(stamps), maxStamps)]
	return c, nil
}

// Possible reports why no form can be made of any place in a directory. It is
// cheap: whoever has an answer to give can ask before it starts more.
func Possible(dir string) error {
	if info, err := os.Lstat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s: not a directory itself", dir)
	}
	return exactTimes(dir)
}

// read fills in what stands in a place. An error says why it cannot be had in
// compiled form.
func (b *Builder) read(c *artifact.Content, p Place, r *recorder) error {
	entries, err := fs.ReadDir(r, ".")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != artifact.Dir }) {
		c.Empty = true
		return nil
	}
	files := fs.FS(r)
	if p.Kind == artifact.Project {
		snapshot, digest, err := consent.Snapshot(r)
		if err == nil { // else it cannot be trusted, but policies tighten all the same
			files, c.Trust = snapshot, digest
		}
	}
	authority := authorityOf(p.Kind)
	found := []role{{artifact.Settings, authority}}
	if p.Kind == artifact.Project {
		found = append(found, role{artifact.LocalSettings, hook.Local})
	}
	var sources []scopes.Source
	for _, f := range found {
		s := load.Settings(files, filepath.ToSlash(p.Dir), f.authority)
		for _, l := range s.Layers {
			c.Layers = append(c.Layers, artifact.Layer{Role: f.role, Layer: l})
		}
		if s.Source != nil {
			sources = append(sources, *s.Source)
			c.Sources = append(c.Sources, artifact.Part{Role: f.role})
		}
	}
	src := load.Dir(files, scopes.Source{Name: authority.String(), Scope: scopeOf(p.Kind), Authority: authority})
	if len(src.Hooks)+len(src.Modules)+len(src.Faults) > 0 {
		sources = append(sources, src)
		c.Sources = append(c.Sources, artifact.Part{Role: artifact.Policies, Data: src.Data})
	}
	if p.Bundles != nil {
		bundles, schemas, err := p.Bundles(r.note)
		if err != nil {
			return err
		}
		c.Schemas, c.RootOnly = schemas, p.RootOnly && len(bundles) > 0
		sources = append(sources, addBundles(c, bundles)...)
	}
	if err := errors.Join(r.err, r.refused); err != nil {
		return err
	}
	return b.fill(c, sources)
}

// addBundles makes room for bundles, and returns their sources.
func addBundles(c *artifact.Content, bundles []Bundle) (sources []scopes.Source) {
	for i, bundle := range bundles {
		c.Bundles = append(c.Bundles, bundle.Bundle)
		for _, l := range bundle.Layers {
			c.Layers = append(c.Layers, artifact.Layer{Role: artifact.Settings, In: i + 1, Layer: l})
		}
		c.Sources = append(c.Sources, artifact.Part{Role: artifact.Policies, In: i + 1, Data: bundle.Source.Data})
		sources = append(sources, bundle.Source)
	}
	return sources
}

type role struct {
	role      artifact.Role
	authority hook.Authority
}

func authorityOf(k artifact.Kind) hook.Authority {
	switch k {
	case artifact.Managed:
		return hook.Managed
	case artifact.Project:
		return hook.Project
	}
	return hook.User
}

func scopeOf(k artifact.Kind) hook.Scope {
	if k == artifact.Managed {
		return hook.Policy
	}
	return hook.Session
}

// fill adds the hooks of sources to the parts that stand for them, after they
// were checked as a set of hooks and settings checks them.
func (b *Builder) fill(c *artifact.Content, sources []scopes.Source) error {
	if err := check(c, sources); err != nil {
		return err
	}
	for i := range sources {
		if err := b.part(&c.Sources[i], &sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// Library makes the form of the embedded library, which cannot change and so has
// no stamps: it is as true as the program that embeds it. Its maker is fixed for
// the same reason, so that the same files make the same bytes.
func (b *Builder) Library(files fs.FS) (artifact.Content, error) {
	c := artifact.Content{Kind: artifact.Library, Maker: artifact.LibraryMaker, Sources: []artifact.Part{{Role: artifact.Policies}}}
	src := load.Rego(files, scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true})
	if err := b.fill(&c, []scopes.Source{src}); err != nil {
		return c, err
	}
	return c, nil
}

// sameDir reports whether a name still leads to the directory that was opened.
func sameDir(files fs.FS, dir string) error {
	opened, err := fs.Stat(files, ".")
	if err != nil {
		return err
	}
	now, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(opened, now) {
		return fmt.Errorf("%w: %s is another directory now", ErrUnsettled, dir)
	}
	return nil
}
