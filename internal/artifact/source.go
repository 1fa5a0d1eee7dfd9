package artifact

import (
	"fmt"
	"slices"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// An As is what the reader of an artifact knows about its place, beside the
// kind. The zero value gives the least authority.
type As struct {
	Managed bool // of the library: it stands beside managed sources
	Trusted bool // a person trusts the content of the place, see [Artifact.Trust]

	// Handlers has all handlers taken with whatever else concerns an event:
	// policies may consult any of them.
	Handlers bool

	// Off reports policies that need not be taken: settings switch them off.
	// Nil: they switch off none. It is asked about a hook without most of what it
	// says: there are its id and kind, and what the place says of it.
	Off func(*hook.Hook) bool

	// AllOff says that Off reports every policy of the place, which then need not be
	// looked at one by one.
	AllOff bool
}

// A Source is one source of a place, with the hooks that may concern an event.
type Source struct {
	scopes.Source

	file    *Artifact
	part    *part
	unready map[string]string
	prints  []string // of Hooks
}

// scopeOf says what a part of a place may say.
func scopeOf(k Kind, r Role, as As) (hook.Scope, hook.Authority, error) {
	switch {
	case k == Library && r == Policies:
		return hook.Policy, setting.LibraryAuthority(as.Managed), nil
	case k == Managed && (r == Policies || r == Settings):
		return hook.Policy, hook.Managed, nil
	case k == User && (r == Policies || r == Settings):
		return hook.Session, hook.User, nil
	case k == Project && (r == Policies || r == Settings):
		return hook.Session, hook.Project, nil
	case k == Project && r == LocalSettings:
		return hook.Session, hook.Local, nil
	}
	return 0, 0, fmt.Errorf("%w: a place of kind %s has no part %d", errDamaged, k, r)
}

// describe returns a source without its hooks.
func (a *Artifact) describe(p *part, as As) (scopes.Source, error) {
	scope, authority, err := scopeOf(a.content.Kind, p.role, as)
	s := scopes.Source{Scope: scope, Authority: authority, Trusted: as.Trusted, Digest: p.digest}
	switch {
	case a.content.Kind == Library:
		s.Name, s.Library, s.Trusted = "library", true, false
	case p.in > 0:
		bundle := a.content.Bundles[p.in-1].Bundle
		s.Name, s.Order, s.Bundle = bundle.Source(), p.in, &bundle
	case p.role == Policies:
		s.Name = authority.String()
	default:
		s.Name = authority.String() + " settings"
	}
	return s, err
}

// Sources returns the sources of the place, in their order, with those of their
// hooks that may concern an event: by its name, by the exact names in their
// matchers, because they need the memory of the session, or because others read
// their parameters, and of the policies only those that are not off. A hook that
// is left out could not have been due. A source
// is there even if none of its hooks is.
func (a *Artifact) Sources(ev *hook.Event, as As) ([]Source, error) {
	return a.sources(as, func(s *Source) ([]int, error) { return s.positions(ev, as) })
}

// All is [Artifact.Sources] with every hook.
func (a *Artifact) All(as As) ([]Source, error) {
	return a.sources(as, func(s *Source) ([]int, error) {
		positions := make([]int, s.part.hooks)
		for n := range positions {
			positions[n] = n
		}
		return positions, nil
	})
}

// sources returns the sources of the place with the hooks that chosen names.
func (a *Artifact) sources(as As, chosen func(*Source) (positions []int, err error)) ([]Source, error) {
	list := make([]Source, len(a.parts))
	for i := range a.parts {
		p, s := &a.parts[i], &list[i]
		base, err := a.describe(p, as)
		if err != nil {
			return nil, err
		}
		*s = Source{Source: base, file: a, part: p}
		positions, err := chosen(s)
		if err != nil {
			return nil, err
		}
		if err := s.take(positions); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// positions are those of the hooks that may concern an event.
func (s *Source) positions(ev *hook.Event, as As) ([]int, error) {
	if as.AllOff && len(s.part.runs) == 0 {
		return s.part.always, nil
	}
	positions, err := s.file.route(s.part, ev, as.Handlers)
	if err != nil || as.Off == nil {
		return positions, err
	}
	return s.without(as.Off, positions)
}

// without leaves out the policies that are off. Those whose parameters others read
// stay.
func (s *Source) without(off func(*hook.Hook) bool, positions []int) ([]int, error) {
	all, err := s.records()
	if err != nil {
		return nil, err
	}
	var h hook.Hook
	s.sign(&h)
	kept := positions[:0]
	for _, n := range positions {
		d, err := all.at(n)
		if err != nil {
			return nil, err
		}
		d.hookHead(&h)
		if d.err != nil {
			return nil, d.err
		}
		if h.Kind != hook.Rego || slices.Contains(s.part.always, n) || !off(&h) {
			kept = append(kept, n)
		}
	}
	return kept, nil
}

// take reads the hooks at some positions.
func (s *Source) take(positions []int) error {
	if len(positions) == 0 {
		return nil
	}
	data, err := s.file.open(s.part.data)
	if err != nil {
		return err
	}
	s.Data = data.tree()
	if err := data.end(); err != nil {
		return err
	}
	all, err := s.records()
	if err != nil {
		return err
	}
	hooks := make([]hook.Hook, len(positions))
	s.Hooks, s.prints = make([]*hook.Hook, len(positions)), make([]string, len(positions))
	for i, n := range positions {
		d, err := all.at(n)
		if err != nil {
			return err
		}
		h := &hooks[i]
		s.sign(h)
		var why string
		why, s.prints[i] = d.hook(h, &all.lists)
		if err := d.end(); err != nil {
			return err
		}
		if why != "" {
			if s.unready == nil {
				s.unready = map[string]string{}
			}
			s.unready[h.ID] = why
		}
		s.Hooks[i] = h
	}
	return nil
}

// sign says of a hook whose it is.
func (s *Source) sign(h *hook.Hook) {
	h.Scope, h.Authority, h.Library, h.Source = s.Scope, s.Authority, s.Library, s.Name
}

// records are the hooks of a source, as they were written.
type records struct {
	file  *Artifact
	hooks int
	index *decoder
	texts string
	one   decoder
	lists lists
}

func (s *Source) records() (*records, error) {
	index, err := s.file.open(s.part.index)
	if err != nil {
		return nil, err
	}
	return &records{file: s.file, hooks: s.part.hooks, index: index, texts: s.file.sections[s.part.records].text(s.file.data)}, nil
}

// at returns a reader of the record at a position, until it is called again. The
// record begins with its checksum and its size.
func (r *records) at(n int) (*decoder, error) {
	if n >= r.hooks {
		return nil, errDamaged
	}
	r.index.at = 4 * n
	at := int(r.index.fixed())
	if at > len(r.texts) {
		return nil, errDamaged
	}
	r.one = decoder{data: r.texts[at:]}
	sum, size := r.one.fixed(), r.one.int()
	text := r.one.raw(size)
	if r.one.err != nil || !r.file.sound(text, sum) {
		return nil, errDamaged
	}
	r.one = decoder{data: text}
	return &r.one, nil
}

// Program returns the policies of the source in compiled form, "" if it has
// none. It is read in place: a large one costs what is used of it.
func (s *Source) Program() (string, error) {
	d, err := s.file.open(s.part.program)
	if err != nil {
		return "", err
	}
	return d.data, nil
}

// Saved returns what OPA compiled of policies that the program does not hold, ""
// if there is nothing.
func (s *Source) Saved() (string, error) {
	d, err := s.file.open(s.part.saved)
	if err != nil {
		return "", err
	}
	return d.data, nil
}

// Unready says why the program does not hold a policy of Hooks: OPA has to be
// asked about it. It is "" for policies that it holds, and for handlers.
func (s *Source) Unready(id string) string { return s.unready[id] }

// Fingerprint is the short digest of the text of a policy of Hooks that
// decisions are recorded with.
func (s *Source) Fingerprint(id string) string {
	for i, h := range s.Hooks {
		if h.ID == id {
			return s.prints[i]
		}
	}
	return ""
}
