// Package forms finds the hooks for a call in the compiled forms of the places that
// gate hook reads, while those forms are up to date.
//
// gate-hook answers from it, and so does gate hook where it can. The package must stay
// thin. Its callers bring the evaluator of policies. Start with [Open].
package forms

import (
	"errors"
	"fmt"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/places"
	"gate/internal/plan"
	"gate/internal/setting"
	"gate/policies"
	"gate/scopes"
)

// Forms are the compiled forms for one call, with the hooks that may concern its
// event.
type Forms struct {
	Found   core.Found
	Schemas map[string]any // of tools, from bundles

	machine    core.Machine
	event      *hook.Event
	handlers   bool
	processors func() int
	maker      string
	open       []opened
	policies   map[string]*artifact.Source // by the name of the source
	fresh      []func() error              // of each place
}

// Open opens what there is for a call. Whoever runs handlers needs all of them.
// An error, which nobody sees, says what there is no form of: then the files have
// to be read.
func Open(m core.Machine, ev *hook.Event, handlers bool) (*Forms, error) {
	f, err := Begin(m, ev, handlers, artifact.Processors)
	if err != nil {
		return nil, err
	}
	return f, f.Fresh()
}

// Begin is [Open] for whoever has something to do while places are compared with
// what was compiled, and asks [Forms.Fresh] before anything follows from it.
// processors is asked how many there are for that where it takes long.
func Begin(m core.Machine, ev *hook.Event, handlers bool, processors func() int) (*Forms, error) {
	f := &Forms{machine: m, event: ev, handlers: handlers, processors: processors, maker: artifact.Maker(), policies: map[string]*artifact.Source{}}
	f.Found = core.Found{Where: map[string]string{}, Fingerprint: f.fingerprint}
	if err := f.places(); err != nil {
		return nil, err
	}
	if err := f.sources(); err != nil {
		return nil, err
	}
	for _, layer := range f.Found.Layers {
		if len(layer.Plugins) > 0 {
			return nil, errors.New("settings switch plugins")
		}
	}
	return f, nil
}

// Fresh waits until it is known whether all is of what is there now. An error says
// what is not.
func (f *Forms) Fresh() error {
	for _, fresh := range f.fresh {
		if err := fresh(); err != nil {
			return err
		}
	}
	return nil
}

// Plans are the policies of sources as settings leave them.
func (f *Forms) Plans(sources []*scopes.Source) ([]plan.Source, error) {
	var list []plan.Source
	for _, src := range sources {
		from := f.policies[src.Name]
		if from == nil || len(src.Hooks) == 0 {
			continue
		}
		section, err := from.Program()
		if err != nil {
			return nil, err
		}
		list = append(list, plan.Source{Source: src, Section: section})
	}
	return list, nil
}

// Left reports a policy that no plan holds: OPA has to be asked.
func (f *Forms) Left(h *hook.Hook) bool {
	src := f.policies[h.Source]
	return src != nil && src.Unready(h.ID) != ""
}

// Saved returns what OPA compiled of policies that no plan holds, by the names of
// their sources.
func (f *Forms) Saved(sources []*scopes.Source) (map[string]string, error) {
	saved := map[string]string{}
	for _, src := range sources {
		from := f.policies[src.Name]
		if from == nil {
			continue
		}
		var err error
		if saved[src.Name], err = from.Saved(); err != nil {
			return nil, err
		}
	}
	return saved, nil
}

// places looks at the same places as gate hook, in the same order.
func (f *Forms) places() error {
	d := f.machine.Dirs
	managed, err := places.Look(d.Managed, ".", places.ManagedFiles(d))
	if err != nil {
		return err
	}
	if managed != nil && managed.Bare() {
		managed.Close()
		managed = nil
	}
	if managed != nil && d.ManagedNamed {
		f.Found.Notices = append(f.Found.Notices, places.NamedManaged(d))
	}
	library, err := artifact.Open(policies.Plan(), artifact.LibraryMaker, artifact.Library)
	if err == nil {
		err = f.add(library, "", artifact.As{Managed: managed != nil})
	}
	if err != nil {
		return err
	}
	if err := f.place(artifact.Managed, managed); err != nil {
		return err
	}
	user, err := places.Look(d.User, ".", places.UserFiles())
	if err == nil {
		err = f.place(artifact.User, user)
	}
	if err != nil || f.machine.Project == "" {
		return err
	}
	project, err := places.Look(f.machine.Project, places.ProjectDir, nil)
	if err != nil {
		return err
	}
	return f.place(artifact.Project, project)
}

// place adds what stands in an open place, nil if there is none.
func (f *Forms) place(k artifact.Kind, s *places.Site) error {
	if s == nil {
		return nil
	}
	a, fresh, err := f.machine.Comparing(k, s, f.maker, f.processors)
	if a == nil {
		s.Close()
		return err
	}
	f.fresh = append(f.fresh, fresh)
	if err := places.Refused(a); err != nil {
		return err
	}
	if a.Empty() {
		return artifact.ErrStale // it was not, a moment ago
	}
	var as artifact.As
	if k == artifact.Project {
		if as.Trusted, err = trusted(f.machine.Grants(), s.Dir, a.Trust()); err != nil {
			return err
		}
	}
	return f.add(a, s.Dir, as)
}

// trusted reports whether a person trusted a project's directory as it is.
func trusted(store consent.Store, dir, digest string) (bool, error) {
	origin, err := consent.OriginOf(hook.Project, dir)
	if err != nil {
		return false, err
	}
	err = store.CheckTrust(origin, digest)
	var refusal consent.Refusal
	switch {
	case err == nil && digest != "":
		return true, nil
	case errors.As(err, &refusal):
		return false, nil
	}
	return false, fmt.Errorf("%s: what it holds is not known: %w", dir, err)
}

// An opened form is that of a directory, "" for the library.
type opened struct {
	*artifact.Artifact
	dir string
	as  artifact.As
}

// add takes in the settings of a compiled form.
func (f *Forms) add(a *artifact.Artifact, dir string, as artifact.As) error {
	layers, err := a.Layers(as)
	if err != nil {
		return err
	}
	f.Found.Layers = append(f.Found.Layers, layers...)
	f.open = append(f.open, opened{a, dir, as})
	return f.bundles(a)
}

// sources takes in the hooks that may concern the event, once it is known which of
// them the settings of all places switch off.
func (f *Forms) sources() error {
	off, err := setting.Off(f.Found.Layers...)
	if err != nil {
		return err
	}
	for _, form := range f.open {
		form.as.Handlers, form.as.Off = f.handlers, off
		form.as.AllOff = form.dir == "" && setting.LibraryOff(off, form.as.Managed, f.Found.Layers...)
		sources, err := form.Sources(f.event, form.as)
		if err != nil {
			return err
		}
		for i := range sources {
			src := &sources[i]
			if form.dir != "" && src.Bundle == nil {
				f.Found.Where[src.Name] = form.dir
			}
			f.policies[src.Name] = src
			f.Found.Sources = append(f.Found.Sources, src.Source)
		}
	}
	return nil
}

// bundles takes in which signed bundles are in force.
func (f *Forms) bundles(a *artifact.Artifact) error {
	schemas, err := a.Schemas()
	if err != nil {
		return err
	}
	if schemas != nil {
		f.Schemas = schemas
	}
	for _, b := range a.Bundles() {
		f.Found.Enrolling = b.Trial && (f.Found.Enrolling || !f.Found.TakesBundles) // which stand behind all others
		f.Found.TakesBundles = true
		f.Found.Where[b.Source()] = b.Dir
		f.Found.Bundles = append(f.Found.Bundles, core.Bundle{Bundle: b.Bundle, Expires: b.Expires, Synced: b.Synced})
	}
	return nil
}

func (f *Forms) fingerprint(source, id string) string {
	if src := f.policies[source]; src != nil {
		return src.Fingerprint(id)
	}
	return ""
}
