package sealed

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/internal/format"
	"gate/internal/strictjson"
)

// Seen is what a machine remembers of the bundles that it took. It outlives
// them, so that an old one cannot come back.
type Seen struct {
	Bundles map[string]Release // by name
	Keys    int64              // the version of the key set
}

// A Release is one version of a bundle.
type Release struct {
	Version int64
	Digest  string // of the archive
}

// maxStep is how far a version may be ahead of the last one: far enough for
// versions made of dates, and too near to use up all numbers in one leap.
const maxStep = 1_000_000_000_000

// holds reports every way in which a bundle with right signatures is not one
// for this machine and this moment.
func (c Check) Holds(m Manifest, digest string) error {
	var errs []error
	g := m.Gate
	if c.Name != "" && g.Name != c.Name {
		errs = append(errs, Refuse(WrongName, "%s is wanted, this is %s", Shown(c.Name), g.Name))
	}
	if len(g.Audience) > 0 && !slices.ContainsFunc(g.Audience, c.has) {
		errs = append(errs, Refuse(WrongAudience, "for %s; this machine has %s", strings.Join(g.Audience, ", "), labelled(c.Labels)))
	}
	if !g.Expires.IsZero() && !c.Now.Before(g.Expires) {
		errs = append(errs, Refuse(Expired, "version %d was good until %s", g.Version, Day(g.Expires)))
	}
	if g.MinGate != "" && older(c.Gate, g.MinGate) {
		errs = append(errs, Refuse(TooNew, "%s or later, this is %s", g.MinGate, Shown(c.Gate)))
	}
	if g.Facts > max(c.Facts, 1) {
		errs = append(errs, Refuse(TooNew, "its policies are written for facts of schema %d, this gate has %d", g.Facts, max(c.Facts, 1)))
	}
	if g.Version > 0 { // a pinned bundle has none, and needs none
		errs = append(errs, c.Seen.admits(g, digest))
	}
	return errors.Join(errs...)
}

func (s Seen) admits(g Metadata, digest string) error {
	last := s.Bundles[g.Name]
	switch {
	case g.Version < last.Version:
		return Refuse(Rollback, "version %d is offered, version %d was seen", g.Version, last.Version)
	case g.Version == last.Version && digest != last.Digest:
		return Refuse(Rollback, "version %d was seen with the digest %s, this one has %s", g.Version, last.Digest, digest)
	case g.Version > last.Version+maxStep:
		return Refuse(FastForward, "version %d is offered, version %d was seen", g.Version, last.Version)
	}
	return nil
}

// Raise returns what is to be remembered once a bundle is taken. Nothing is ever
// lowered.
func (s Seen) Raise(b *Bundle) Seen {
	seen := Seen{Bundles: maps.Clone(s.Bundles), Keys: s.Keys}
	if seen.Bundles == nil {
		seen.Bundles = map[string]Release{}
	}
	if g := b.Manifest.Gate; g.Version > seen.Bundles[g.Name].Version {
		seen.Bundles[g.Name] = Release{Version: g.Version, Digest: b.Digest}
	}
	return seen
}

// ParseSeen reads what Encode wrote. An empty or broken file is an error: to
// forget is to let old versions in.
func ParseSeen(data []byte) (Seen, error) {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: 1 << 20})
	if err != nil {
		return Seen{}, err
	}
	f := NewFields("", doc)
	if err := format.Seen.Check(f.Number("schema", MaxInteger)); err != nil {
		f.fail("schema", "%w", err)
	}
	s := Seen{Bundles: map[string]Release{}, Keys: f.Number("keys", MaxInteger)}
	for name, v := range f.Object("bundles") {
		object, _ := v.(map[string]any)
		g := NewFields("bundles."+Shown(name), object)
		r := Release{Version: g.Number("version", MaxInteger), Digest: g.digest("digest")}
		if !IsName(name) || r.Version < 1 || r.Digest == "" {
			g.fail("version", "a name, a version and a digest are wanted")
		}
		s.Bundles[name] = r
		f.Errs = append(f.Errs, g.Done())
	}
	return s, f.Done()
}

// Encode is the file seen.json.
func (s Seen) Encode() []byte {
	list := map[string]any{}
	for name, r := range s.Bundles {
		list[name] = map[string]any{"version": r.Version, "digest": r.Digest}
	}
	doc := map[string]any{"schema": 1, "bundles": list, "keys": s.Keys}
	return []byte(strings.TrimRight(strictjson.Indent(doc), "\n") + "\n")
}

// has reports whether the machine carries a label "key=value".
func (c Check) has(label string) bool {
	key, value, _ := strings.Cut(label, "=")
	got, ok := c.Labels[key]
	return ok && got == value
}

func labelled(labels map[string]string) string {
	if len(labels) == 0 {
		return "no labels"
	}
	var list []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, fmt.Sprintf("%s=%s", key, labels[key]))
	}
	return Shown(strings.Join(list, ", "))
}

// older reports whether a version is below another. One that cannot be read,
// such as that of a build without a version, is older than any.
func older(version, than string) bool {
	v, err := parseVersion(version)
	if err != nil {
		return true
	}
	min, err := parseVersion(than)
	return err != nil || slices.Compare(v[:], min[:]) < 0
}
