package thin

import (
	"errors"
	"fmt"

	"gate/adapters"
	"gate/artifact"
	"gate/cmd/internal/hookpath"
	"gate/cmd/internal/places"
	"gate/consent"
	"gate/engine"
	"gate/engine/plan"
	"gate/hook"
	"gate/policies"
	"gate/scopes"
)

// load sets gate up for one call, from compiled forms of the places that gate
// hook reads. Its errors, which nobody sees, say what there is no form of.
func load(c *hookpath.Call) (*hookpath.Guard, error) {
	if c.Batch {
		return nil, errors.New("hooks that ask a model are faults there")
	}
	l := loader{call: c, maker: artifact.Maker(), policies: map[string]*artifact.Source{}}
	l.found = hookpath.Found{Where: map[string]string{}, Fingerprint: l.fingerprint}
	if err := l.places(); err != nil {
		return nil, err
	}
	for _, layer := range l.found.Layers {
		if len(layer.Plugins) > 0 {
			return nil, errors.New("settings switch plugins")
		}
	}
	g, err := hookpath.New(&l.found, c.Machine)
	if err != nil {
		return nil, err
	}
	compiled, err := l.compiled(g.Set.Sources())
	if err != nil {
		return nil, err
	}
	return g, g.Start(engine.WithInline(), engine.WithEvaluator(hook.Rego, plan.NewEvaluator(compiled)), engine.WithValidator(adapters.CheckInput))
}

// A loader collects what decides about a call.
type loader struct {
	call     *hookpath.Call
	maker    string
	found    hookpath.Found
	policies map[string]*artifact.Source // by the name of the source
}

// places looks at the same places as gate hook, in the same order.
func (l *loader) places() error {
	d := l.call.Dirs
	managed := places.Open(d.Managed, ".", places.ManagedFiles(d))
	defer managed.Close()
	if managed != nil && d.ManagedNamed {
		l.found.Notices = append(l.found.Notices, places.NamedManaged(d))
	}
	library, err := artifact.Open(policies.Plan(), artifact.LibraryMaker, artifact.Library)
	if err == nil {
		err = l.add(library, "", artifact.As{Managed: managed != nil})
	}
	if err != nil {
		return err
	}
	if managed != nil {
		if err := l.place(artifact.Managed, managed); err != nil {
			return err
		}
	}
	user := places.Open(d.User, ".", places.UserFiles())
	defer user.Close()
	if err := l.place(artifact.User, user); err != nil {
		return err
	}
	if l.call.Project == "" {
		return nil
	}
	project := places.Open(l.call.Project, places.ProjectDir, nil)
	defer project.Close()
	return l.place(artifact.Project, project)
}

// place adds what stands in an open place, nil if there is none.
func (l *loader) place(k artifact.Kind, p *places.Place) error {
	if p == nil {
		return nil
	}
	if p.Err != nil {
		return p.Err
	}
	a, err := l.call.Compiled(k, p.Dir, l.maker)
	if err != nil {
		return err
	}
	if a.Empty() {
		return artifact.ErrStale // it was not, a moment ago
	}
	var as artifact.As
	if k == artifact.Project {
		if as.Trusted, err = trusted(l.call.Grants(), p.Dir, a.Trust()); err != nil {
			return err
		}
	}
	return l.add(a, p.Dir, as)
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

// add takes in the settings of a compiled form, and the hooks that may concern
// the event.
func (l *loader) add(a *artifact.Artifact, dir string, as artifact.As) error {
	layers, err := a.Layers(as)
	if err != nil {
		return err
	}
	l.found.Layers = append(l.found.Layers, layers...)
	sources, err := a.Sources(l.call.Event, as)
	if err != nil {
		return err
	}
	if err := l.bundles(a); err != nil {
		return err
	}
	for i := range sources {
		src := &sources[i]
		if dir != "" && src.Bundle == nil {
			l.found.Where[src.Name] = dir
		}
		l.policies[src.Name] = src
		l.found.Sources = append(l.found.Sources, src.Source)
	}
	return nil
}

// bundles takes in which signed bundles are in force. Schemas of tools, which
// rewrites are held against, are for gate hook.
func (l *loader) bundles(a *artifact.Artifact) error {
	schemas, err := a.Schemas()
	if err != nil {
		return err
	}
	if len(schemas) > 0 {
		return errors.New("a bundle brings schemas of tools")
	}
	for _, b := range a.Bundles() {
		l.found.TakesBundles = true
		l.found.Where["managed:"+b.Name] = b.Dir
		l.found.Bundles = append(l.found.Bundles, hookpath.Bundle{Bundle: b.Bundle, Expires: b.Expires, Synced: b.Synced})
	}
	return nil
}

// compiled are the policies of sources as settings leave them.
func (l *loader) compiled(sources []*scopes.Source) ([]plan.Source, error) {
	var list []plan.Source
	for _, src := range sources {
		from := l.policies[src.Name]
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

func (l *loader) fingerprint(source, id string) string {
	if src := l.policies[source]; src != nil {
		return src.Fingerprint(id)
	}
	return ""
}
