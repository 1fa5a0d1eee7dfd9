package sealed

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gate/internal/format"
)

// A Channel says which release of each bundle goes to which machines, so that a
// rollout needs no new bundle. It is signed by those who may sign the bundles.
type Channel struct {
	Version int64                // 1 or more; a machine takes none that is older than the last
	Expires time.Time            // after that it is not taken; zero: never
	Bundles map[string][]Rollout // by name: the first that fits a machine is its
}

// A Rollout is one release and the machines that it is for.
type Rollout struct {
	Digest string   // of the archive
	Labels []string // "key=value" of a machine's labels, one of which must fit; none: any
	Share  int      // percent of the machines, 1 to 100; 0 is all of them
	Record bool     // there the bundle only says what it would have done
}

// ParseChannel reads a channel file without checking any signature, and says
// whether it has some: see [KeySet.OpenChannel].
func ParseChannel(data []byte) (c Channel, signed bool, err error) {
	doc, c, err := parseChannel(data)
	return c, len(doc.Signatures) > 0, err
}

func parseChannel(data []byte) (Sealed, Channel, error) {
	doc, err := ParseSealed(data, format.Channel)
	if err != nil {
		return doc, Channel{}, Refuse(BadGrant, "%w", err)
	}
	f := NewFields("signed", doc.Body)
	f.Text("type")
	c := Channel{Version: f.Number("version", MaxInteger), Expires: f.Moment("expires"), Bundles: map[string][]Rollout{}}
	for name, v := range f.Object("bundles") {
		list, ok := v.([]any)
		if !ok {
			f.fail("bundles", "%s: a list is wanted", Shown(name))
		}
		if len(list) > maxTexts {
			f.fail("bundles", "%s: more than %d releases", Shown(name), maxTexts)
			list = nil
		}
		for i, v := range list {
			r, err := parseRollout(fmt.Sprintf("signed.bundles.%s[%d]", Shown(name), i), v)
			f.Errs = append(f.Errs, err)
			c.Bundles[name] = append(c.Bundles[name], r)
		}
	}
	if err := errors.Join(f.Done(), c.check()); err != nil {
		return doc, c, Refuse(BadGrant, "%w", err)
	}
	return doc, c, nil
}

func parseRollout(at string, v any) (Rollout, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return Rollout{}, fmt.Errorf("%s: an object is wanted", at)
	}
	f := NewFields(at, object)
	r := Rollout{Digest: f.digest("digest"), Labels: f.Texts("labels"), Share: int(f.Number("share", 100)), Record: f.flag("record")}
	return r, f.Done()
}

func (c Channel) check() error {
	var errs []error
	if c.Version < 1 {
		errs = append(errs, errors.New("version: 1 or more is wanted"))
	}
	if len(c.Bundles) == 0 {
		errs = append(errs, errors.New("bundles: it names none"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Bundles)) {
		if !IsName(name) || len(c.Bundles[name]) == 0 {
			errs = append(errs, fmt.Errorf("bundles: %s: a bundle's name and its releases are wanted", Shown(name)))
		}
		for i, r := range c.Bundles[name] {
			if !IsDigest(r.Digest) || r.Share < 0 || r.Share > 100 {
				errs = append(errs, fmt.Errorf("bundles.%s[%d]: a digest and a share of at most 100 are wanted", Shown(name), i))
			}
			for _, l := range r.Labels {
				if !isLabel(l) {
					errs = append(errs, fmt.Errorf("bundles.%s[%d]: %q is not key=value", Shown(name), i, Shown(l)))
				}
			}
		}
	}
	return FirstAndCount(errs)
}

func (c Channel) body() map[string]any {
	list := map[string]any{}
	for name, rollouts := range c.Bundles {
		var entries []any
		for _, r := range rollouts {
			entries = append(entries, said(map[string]any{"digest": r.Digest},
				map[string]any{"labels": r.Labels, "share": r.Share, "record": r.Record}))
		}
		list[name] = entries
	}
	return said(map[string]any{"type": format.Channel.Mark(), "version": c.Version, "bundles": list},
		map[string]any{"expires": moment(c.Expires)})
}

// Sign returns the channel file with one more signature. The old file is nil for
// the first one.
func (c Channel) Sign(old []byte, s Signing) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, Refuse(BadGrant, "%w", err)
	}
	doc := Sealed{Kind: format.Channel, Body: c.body()}
	if err := doc.grow(old, s); err != nil {
		return nil, err
	}
	return doc.Encode(), nil
}

// OpenChannel verifies a channel file: for each bundle that it speaks of as many
// keys signed it as that bundle needs, and they may address those it is for.
// last is the version of the channel that was taken before, 0 if none was.
func (s *KeySet) OpenChannel(data []byte, last int64, now time.Time) (Channel, error) {
	doc, c, err := parseChannel(data)
	if err != nil {
		return c, err
	}
	audiences := map[string][]string{}
	for name, rollouts := range c.Bundles {
		audiences[name] = addressed(rollouts)
	}
	if err := s.entitled(&doc, audiences, now); err != nil {
		return c, err
	}
	switch {
	case c.Version < last:
		return c, Refuse(Rollback, "version %d of the channel is offered, version %d was seen", c.Version, last)
	case c.Version > last+maxStep:
		return c, Refuse(FastForward, "version %d of the channel is offered, version %d was seen", c.Version, last)
	case !c.Expires.IsZero() && !now.Before(c.Expires):
		return c, Refuse(Expired, "the channel was good until %s", Day(c.Expires))
	}
	return c, nil
}

// addressed returns the labels that rollouts are for; none if one of them is for
// everybody.
func addressed(rollouts []Rollout) []string {
	var labels []string
	for _, r := range rollouts {
		if len(r.Labels) == 0 {
			return nil
		}
		labels = append(labels, r.Labels...)
	}
	return labels
}

// For returns the release of a bundle that a machine is to have; ok is false
// where the channel has none for it, which leaves the machine with what it has.
// A machine's place in a share is always the same: whoever is among the first 5
// percent is among the first 50, too.
func (c Channel) For(name, machine string, labels map[string]string) (r Rollout, ok bool) {
	has := Check{Labels: labels}.has
	sum := sha256.Sum256([]byte("gate share\n" + name + "\n" + machine))
	place := int(binary.BigEndian.Uint64(sum[:8]) % 100)
	for _, r := range c.Bundles[name] {
		switch {
		case len(r.Labels) > 0 && !slices.ContainsFunc(r.Labels, has):
		case r.Share > 0 && place >= r.Share:
		default:
			return r, true
		}
	}
	return Rollout{}, false
}
