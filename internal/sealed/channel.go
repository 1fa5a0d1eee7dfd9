package sealed

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gate/internal/format"
)

// A Channel says which release of each bundle goes to which machines, and which of
// them try another one beside it, so that a rollout needs no new bundle. It is
// signed by those who may sign the bundles.
type Channel struct {
	// Format is the number of the form that it has: 0 is the newest. Format 1 has one
	// list. There the older gates let a release with "record" take the place of the one
	// in force; this gate reads it as a trial, and signs none.
	Format   int
	Version  int64                // 1 or more; a machine takes none that is older than the last
	Expires  time.Time            // after that it is not taken; zero: never
	Releases map[string][]Rollout // by the bundle's name: the first that fits a machine is in force there
	Trials   map[string][]Rollout // the same of those that stand beside, and only say what they would have done
}

// A Rollout is one release and the machines that it is for.
type Rollout struct {
	Digest string   // of the archive
	Labels []string // "key=value" of a machine's labels, one of which must fit; none: any
	Share  int      // percent of the machines, 1 to 100; 0 is all of them
}

// ChannelBeside is the name or address of the channel of format 2 beside that of
// format 1: channel.2.json beside channel.json.
func ChannelBeside(of string) string {
	query := ""
	if i := strings.IndexAny(of, "?#"); i >= 0 && strings.Contains(of, "://") {
		of, query = of[:i], of[i:]
	}
	ext := path.Ext(of)
	if strings.HasPrefix(of, "oci://") {
		ext = ""
	}
	return strings.TrimSuffix(of, ext) + ".2" + ext + query
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
	c := Channel{
		Version: f.Number("version", MaxInteger), Expires: f.Moment("expires"),
		Releases: map[string][]Rollout{}, Trials: map[string][]Rollout{},
	}
	if f.Text("type") == format.Channel.MarkOf(1) {
		c.Format = 1
		f.rollouts("bundles", c.Releases, c.Trials)
	} else {
		f.rollouts("releases", c.Releases, nil)
		f.rollouts("trials", c.Trials, nil)
	}
	if err := errors.Join(f.Done(), c.check()); err != nil {
		return doc, c, Refuse(BadGrant, "%w", err)
	}
	return doc, c, nil
}

// rollouts reads lists of releases by the bundles' names. Those with "record" go
// into recorded, where that is a word of the list: recorded is not nil.
func (f *fields) rollouts(key string, into, recorded map[string][]Rollout) {
	for name, v := range f.Object(key) {
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			f.fail(key, "%s: a list of releases is wanted", Shown(name))
			continue
		}
		if len(list) > maxTexts {
			f.fail(key, "%s: more than %d releases", Shown(name), maxTexts)
			list = nil
		}
		for i, v := range list {
			r, record, err := parseRollout(fmt.Sprintf("signed.%s.%s[%d]", key, Shown(name), i), v, recorded != nil)
			f.Errs = append(f.Errs, err)
			if record {
				recorded[name] = append(recorded[name], r)
				continue
			}
			into[name] = append(into[name], r)
		}
	}
}

func parseRollout(at string, v any, mayRecord bool) (r Rollout, record bool, err error) {
	object, ok := v.(map[string]any)
	if !ok {
		return r, false, fmt.Errorf("%s: an object is wanted", at)
	}
	f := NewFields(at, object)
	r = Rollout{Digest: f.digest("digest"), Labels: f.Texts("labels"), Share: int(f.Number("share", 100))}
	if mayRecord {
		record = f.flag("record")
	}
	return r, record, f.Done()
}

// Names are the bundles that the channel speaks of, in order.
func (c Channel) Names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(c.Releases)), maps.Keys(c.Trials))
	slices.Sort(names)
	return slices.Compact(names)
}

func (c Channel) check() error {
	var errs []error
	if c.Version < 1 {
		errs = append(errs, errors.New("version: 1 or more is wanted"))
	}
	if len(c.Names()) == 0 {
		errs = append(errs, errors.New("it names no bundle"))
	}
	releases, trials := "releases", "trials"
	if c.Format == 1 {
		releases, trials = "bundles", "bundles"
	}
	errs = append(errs, checkRollouts(releases, c.Releases)...)
	errs = append(errs, checkRollouts(trials, c.Trials)...)
	return FirstAndCount(errs)
}

func checkRollouts(key string, lists map[string][]Rollout) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if !IsName(name) || len(lists[name]) == 0 {
			errs = append(errs, fmt.Errorf("%s: %s: a bundle's name and its releases are wanted", key, Shown(name)))
		}
		for i, r := range lists[name] {
			if !IsDigest(r.Digest) || r.Share < 0 || r.Share > 100 {
				errs = append(errs, fmt.Errorf("%s.%s[%d]: a digest and a share of at most 100 are wanted", key, Shown(name), i))
			}
			for _, l := range r.Labels {
				if !isLabel(l) {
					errs = append(errs, fmt.Errorf("%s.%s[%d]: %q is not key=value", key, Shown(name), i, Shown(l)))
				}
			}
		}
	}
	return errs
}

func (c Channel) body() map[string]any {
	body := said(map[string]any{"version": c.Version}, map[string]any{"expires": moment(c.Expires)})
	if c.Format == 1 {
		body["type"], body["bundles"] = format.Channel.MarkOf(1), rolloutDocument(c.Releases)
		return body
	}
	body["type"], body["releases"], body["trials"] = format.Channel.Mark(), rolloutDocument(c.Releases), rolloutDocument(c.Trials)
	return body
}

func rolloutDocument(lists map[string][]Rollout) map[string]any {
	doc := map[string]any{}
	for name, rollouts := range lists {
		var entries []any
		for _, r := range rollouts {
			entries = append(entries, said(map[string]any{"digest": r.Digest}, map[string]any{"labels": r.Labels, "share": r.Share}))
		}
		doc[name] = entries
	}
	return doc
}

// Older returns the channel for gates that read no other format than 1: without the
// trials, which those would put in the place of a release. ok is false where no
// release is left.
func (c Channel) Older() (older Channel, ok bool) {
	c.Format, c.Trials = 1, nil
	return c, len(c.Releases) > 0
}

// Sign returns the channel file with one more signature. The old file is nil for
// the first one.
func (c Channel) Sign(old []byte, s Signing) ([]byte, error) {
	err := c.check()
	if err == nil && c.Format == 1 && len(c.Trials) > 0 {
		err = fmt.Errorf("record: a gate that reads format 1 only gives up the release in force for it; write the type %s, with trials", format.Channel.Mark())
	}
	if err != nil {
		return nil, Refuse(BadGrant, "%w", err)
	}
	doc := Sealed{Kind: format.Channel, Body: c.body()}
	if err := doc.grow(old, s); err != nil {
		return nil, err
	}
	return doc.Encode(), nil
}

// Unsigned returns the channel file without signatures, as it is written before it is
// signed.
func (c Channel) Unsigned() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, Refuse(BadGrant, "%w", err)
	}
	doc := Sealed{Kind: format.Channel, Body: c.body()}
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
	for _, name := range c.Names() {
		audiences[name] = addressed(slices.Concat(c.Releases[name], c.Trials[name]))
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

// For returns the digests of the release of a bundle that a machine is to have, and
// of the one that it tries beside it. Each is "" where the channel has none for it:
// without a release the machine keeps what it has. A release is no trial of itself. A
// machine's place in a share is always the same: whoever is among the first 5
// percent is among the first 50, too.
func (c Channel) For(name, machine string, labels map[string]string) (release, trial string) {
	has := Check{Labels: labels}.has
	sum := sha256.Sum256([]byte("gate share\n" + name + "\n" + machine))
	place := int(binary.BigEndian.Uint64(sum[:8]) % 100)
	first := func(list []Rollout) string {
		for _, r := range list {
			switch {
			case len(r.Labels) > 0 && !slices.ContainsFunc(r.Labels, has):
			case r.Share > 0 && place >= r.Share:
			default:
				return r.Digest
			}
		}
		return ""
	}
	if release, trial = first(c.Releases[name]), first(c.Trials[name]); trial == release {
		trial = ""
	}
	return release, trial
}
