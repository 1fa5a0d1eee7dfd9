// Package artifact keeps the compiled form of one place, such as the user's directory
// or a signed bundle, in one file. A program answers calls from the file, and need not
// read, parse and compile the place again.
//
// A file holds the content of a place and not its rights: scope, authority and name of
// its sources follow from the kind of place that the reader asked for. The package
// decides nothing. It checks each part of a file at its use; a part that does not fit
// is an error, and the reader goes back to the place itself. internal/artifact/build
// makes files. Start with [Open], then [Artifact.Fresh].
package artifact

import (
	"errors"
	"fmt"
	"time"

	"gate/hook"
	"gate/scopes"
)

// A Kind is the kind of place that an artifact was made of.
type Kind uint8

const (
	Library Kind = iota + 1 // the embedded library
	Managed                 // the managed directory, with the signed bundles in force
	User                    // the user's directory
	Project                 // a project's directory
)

func (k Kind) String() string {
	if k < Library || k > Project {
		return fmt.Sprintf("invalid(%d)", uint8(k))
	}
	return [...]string{"library", "managed", "user", "project"}[k-1]
}

// A Role is the part of a place that a source or a layer of settings stands in.
type Role uint8

const (
	Policies      Role = iota + 1 // policies and hook files
	Settings                      // the settings files
	LocalSettings                 // settings.local of a project
)

// A Content is what [Encode] writes and [Open] reads.
type Content struct {
	Kind  Kind
	Maker string // of the program that made it; another program does not use it
	Place string // its absolute directory, "" for the library
	Made  time.Time

	// Empty says that there is nothing in the place, as if it were not there.
	Empty bool

	// Refused says why the place has no compiled form, "" if it has: it is broken,
	// or holds what only the whole program can read. Then there are stamps and
	// nothing else, so that nobody tries again until the place has changed.
	Refused string

	// Trust is the content of the place as consent.Snapshot names it, "" where
	// that was not worked out.
	Trust string

	// RootOnly says that nobody but root may write what bundles were read from, nor
	// any directory that leads there, and that its files have no stamps of their own:
	// the directory of a release has one.
	RootOnly bool

	Stamps  []Stamp // of everything that was looked at, but see RootOnly
	Layers  []Layer
	Schemas map[string]any // of tools, by name
	Sources []Part
	Bundles []Bundle // in force in the managed directory, in their order, then those on trial
}

// A Layer is a layer of settings with the part of the place that it stands in.
// Authority, Bundle and Order of the layer are not kept.
type Layer struct {
	Role Role
	In   int // the bundle that it stands in, counted from 1; 0: a file of the machine's own
	scopes.Layer
}

// A Bundle is a signed bundle in force, with what its age is reckoned from.
type Bundle struct {
	hook.Bundle
	Dir     string    // absolute: where its files are
	Expires time.Time // the end that the bundle itself names; zero: none
	Synced  time.Time // when it was last found to be the newest; zero: never
}

// A Part is one source of a place.
type Part struct {
	Role   Role
	In     int            // the bundle that it is, counted from 1; 0: a directory
	Digest string         // of its content, as scopes.Source has it
	Data   map[string]any // as scopes.Source has it
	Hooks  []Hook

	// Always are the positions of hooks that are part of every answer, whatever
	// the event: others read their parameters.
	Always []int

	// Program holds the policies of the source in compiled form, "" if it has none.
	Program string

	// Saved holds what OPA compiled of policies that Program lacks, "" if there is
	// nothing.
	Saved string
}

// A Hook is a hook as its file says it. Scope, Authority, Library and Source are
// not kept.
type Hook struct {
	*hook.Hook

	// Why says why the program does not hold the policy. It is "" for those that
	// are in it, and for handlers.
	Why string

	// Fingerprint is the short digest of the policy's text that decisions are
	// recorded with, "" for handlers.
	Fingerprint string
}

// ErrStale is the error of an artifact that was made of something else than
// what is there now.
var ErrStale = errors.New("the compiled form is stale")

// errDamaged is the error of a file that is not as it was written.
var errDamaged = errors.New("the compiled form is damaged")

// An Artifact is an open file. It is immutable and safe for concurrent use; what
// it returns shares the memory of the data that it was opened from.
type Artifact struct {
	content  Content // all but stamps, layers, schemas and sources
	sections []section
	data     string
	parts    []part
}

// part is where a source stands.
type part struct {
	role    Role
	in      int
	digest  string
	hooks   int // how many
	always  []int
	runs    []int // the handlers
	index   int   // section: where each hook stands in the next
	records int   // section
	routes  int   // section
	program int   // section
	data    int   // section
	saved   int   // section
}

// Open opens a file that was made by maker of a place of kind k. It checks the
// head of the file; the rest is checked as it is used. Whoever opens
// it must have seen to it that nobody may write the file who may not write the
// place, and must ask [Artifact.Fresh] next, unless the place cannot change.
func Open(data, maker string, k Kind) (*Artifact, error) {
	a := &Artifact{data: data}
	if err := a.readTable(); err != nil {
		return nil, err
	}
	d, err := a.open(sectionHead)
	if err != nil {
		return nil, err
	}
	c := &a.content
	c.Kind, c.Maker = Kind(d.byte()), d.text()
	switch {
	case d.err != nil:
		return nil, d.err
	case c.Kind != k:
		return nil, fmt.Errorf("the compiled form is of a place of kind %s, not %s", c.Kind, k)
	case c.Maker != maker:
		return nil, fmt.Errorf("%w: made by %q, not by %q", ErrStale, c.Maker, maker)
	}
	c.Place, c.Made, c.Empty, c.Refused, c.Trust = d.text(), d.time(), d.bool(), d.text(), d.text()
	c.RootOnly, c.Bundles = d.bool(), readList(d, d.bundle)
	for range d.count() {
		p := part{role: Role(d.byte()), in: d.int(), digest: d.text(), hooks: d.int(), always: d.ints(), runs: d.ints()}
		p.index = d.int()
		p.records, p.routes, p.program, p.data, p.saved = p.index+1, p.index+2, p.index+3, p.index+4, p.index+5
		if _, _, err := scopeOf(k, p.role, As{}); err != nil || p.in > len(c.Bundles) || p.index < sectionFirst || p.saved >= len(a.sections) {
			d.damaged()
		}
		if d.err == nil && len(a.sections[p.index].text(data)) != 4*p.hooks {
			d.damaged()
		}
		a.parts = append(a.parts, p)
	}
	return a, d.end()
}

// Place returns the absolute directory that the artifact was made of.
func (a *Artifact) Place() string { return a.content.Place }

// Empty reports that there was nothing in the place: it counts as missing.
func (a *Artifact) Empty() bool { return a.content.Empty }

// Refused says why every event has to be decided by whoever reads the place
// itself, "" if it need not be. It holds as long as the artifact is fresh.
func (a *Artifact) Refused() string { return a.content.Refused }

// Trust returns the content of the place as consent.Snapshot names it, "" where
// that is not known. It holds as long as the artifact is fresh.
func (a *Artifact) Trust() string { return a.content.Trust }

// RootOnly reports that a change of a bundle's file in its place, which only root
// can have made, does not make the artifact stale. It must not be used where
// anybody else may write the place.
func (a *Artifact) RootOnly() bool { return a.content.RootOnly }

// Bundles returns the signed bundles in force, in their order.
func (a *Artifact) Bundles() []Bundle { return a.content.Bundles }

// Layers returns what the settings of the place say.
func (a *Artifact) Layers(as As) ([]scopes.Layer, error) {
	d, err := a.open(sectionLayers)
	if err != nil {
		return nil, err
	}
	var list []scopes.Layer
	for range d.count() {
		role := Role(d.byte())
		_, authority, err := scopeOf(a.content.Kind, role, as)
		if err != nil {
			return nil, err
		}
		in := d.int()
		l := d.layer()
		l.Authority = authority
		if in > len(a.content.Bundles) {
			return nil, errDamaged
		}
		if in > 0 {
			l.Bundle, l.Order = a.content.Bundles[in-1].Name, in
		}
		list = append(list, l)
	}
	return list, d.end()
}

// Schemas returns the schemas of tools that a bundle brings, by tool.
func (a *Artifact) Schemas() (map[string]any, error) {
	d, err := a.open(sectionSchemas)
	if err != nil {
		return nil, err
	}
	m := d.tree()
	return m, d.end()
}
