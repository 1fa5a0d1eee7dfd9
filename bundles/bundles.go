// Package bundles packs, signs, verifies and opens policy bundles: archives in
// OPA's format, with keys, thresholds, expiry and rollback protection that OPA
// leaves to whoever embeds it.
//
// It turns bytes from anywhere into the files of one verified [Bundle], or into
// a [Refusal]. It reads no file, asks no clock and no network, and knows nothing
// of hooks or of what the policies say: package bundles/sync fetches and
// activates, scopes/load reads. Start with [Open] to take a bundle, with [Pack]
// to make one. docs/bundles.md describes the formats.
package bundles

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/hostfs"
)

// A Check is everything that decides whether a bundle is taken. The zero Check
// takes none.
type Check struct {
	Keys   *KeySet
	Now    time.Time         // required
	Name   string            // the bundle that is wanted; "": any that its keys may sign
	Labels map[string]string // of this machine, for the audience
	Gate   string            // this gate's version, such as v1.4.0; "": older than any
	Seen   Seen              // what was taken before
	Pins   map[string]string // digest to name: bundles without metadata.gate that are taken all the same
	Limits Limits
}

// A Bundle is one that was verified. It is immutable and safe for concurrent use.
type Bundle struct {
	Manifest   Manifest
	Digest     string      // of the archive
	Signatures []Signature // all of them, also those that do not count
	files      fs.FS
}

// Name is the bundle's name: the manifest's, or that of the pin.
func (b *Bundle) Name() string { return b.Manifest.Gate.Name }

// FS gives the files of the bundle: the bytes that were verified, and none else.
// The signature file is not among them.
func (b *Bundle) FS() fs.FS { return b.files }

// Open verifies an archive and its envelope, nil if there is none, and opens it.
// Nothing but the signatures is read before they have been checked. The error
// is a [Refusal], or several joined where a bundle is wrong in several ways.
func Open(archive, envelope []byte, c Check) (*Bundle, error) {
	if c.Keys == nil {
		return nil, refuse(UnknownKey, "there is no key set")
	}
	if c.Now.IsZero() {
		return nil, refuse(Expired, "nobody says what time it is")
	}
	if most := c.Limits.withDefaults().Archive; len(archive) > most {
		return nil, refuse(TooLarge, "the archive has %d bytes, %d are allowed", len(archive), most)
	}
	if err := c.Keys.Check(); err != nil {
		return nil, err
	}
	if c.Keys.expired(c.Now) {
		return nil, refuse(KeysExpired, "on %s", day(c.Keys.Expires))
	}
	v := verification{check: c, digest: Digest(archive)}
	if err := v.readEnvelope(envelope); err != nil {
		return nil, err
	}
	files, err := unpack(archive, c.Limits)
	if err != nil {
		return nil, err
	}
	if err := v.readSignatures(files); err != nil {
		return nil, err
	}
	m, err := v.manifest(files)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(v.threshold(m), c.holds(m, v.digest)); err != nil {
		return nil, err
	}
	delete(files, signaturesFile)
	return &Bundle{Manifest: m, Digest: v.digest, Signatures: v.signatures(), files: inMemory(files)}, nil
}

func inMemory(files map[string][]byte) fs.FS {
	m := hostfs.Memory{}
	for name, data := range files {
		m.Add(name, 0, data)
	}
	return m
}

// A verification is what is known about the signatures of one archive.
type verification struct {
	check     Check
	digest    string
	envelope  []Signature
	statement *statement // what the envelope says; nil without one
	jws       *Signature // nil without .signatures.json
	scope     string     // of the JWS
}

// readEnvelope checks the signatures over the whole archive, before a byte of
// it is unpacked.
func (v *verification) readEnvelope(data []byte) error {
	if data == nil {
		return nil
	}
	doc, s, err := parseEnvelope(data)
	if err != nil {
		return err
	}
	if v.envelope, err = v.check.Keys.checkSealed(&doc); err != nil {
		return err
	}
	v.statement = &s
	return s.isFor(v.digest)
}

// readSignatures checks OPA's signature and that it covers every file.
func (v *verification) readSignatures(files map[string][]byte) error {
	data, there := files[signaturesFile]
	if !there {
		if v.statement == nil {
			return &Refusal{Reason: Unsigned}
		}
		return nil
	}
	j, err := parseSignatures(data)
	if err != nil {
		return err
	}
	sig, err := v.check.Keys.checkJWS(j)
	if err != nil {
		return err
	}
	v.jws = &sig
	if !v.counts() {
		return v.worthless() // before anything of a stranger's is read
	}
	l, err := j.listing()
	if err != nil {
		return err
	}
	v.scope = l.scope
	return l.covers(files)
}

// counts reports whether any signature does.
func (v *verification) counts() bool {
	return slices.ContainsFunc(v.signatures(), func(s Signature) bool { return s.Counts })
}

func (v *verification) signatures() []Signature {
	list := slices.Clone(v.envelope)
	if v.jws != nil {
		list = append([]Signature{*v.jws}, list...)
	}
	return list
}

// worthless says why no signature counts: revoked is more than unknown.
func (v *verification) worthless() error {
	reason := UnknownKey
	var details []string
	for _, s := range v.signatures() {
		if s.Reason == RevokedKey {
			reason = RevokedKey
		}
		details = append(details, s.Detail)
	}
	return refuse(reason, "%s", strings.Join(slices.Compact(details), ", "))
}

// manifest reads the manifest of files that were signed.
func (v *verification) manifest(files map[string][]byte) (Manifest, error) {
	if !v.counts() {
		return Manifest{}, v.worthless()
	}
	data := files[manifestFile]
	m, err := manifestOf(data)
	if err != nil {
		return m, err
	}
	pin := v.check.Pins[v.digest]
	switch {
	case m.Gate.Name == "" && pin == "":
		return m, &Refusal{Reason: NoMetadata, File: manifestFile}
	case m.Gate.Name == "":
		m.Gate.Name = pin
	case pin != "" && pin != m.Gate.Name:
		return m, refuse(WrongName, "it is %s, its digest is pinned as %s", m.Gate.Name, shown(pin))
	}
	if v.statement != nil {
		return m, v.statement.agrees(m, data)
	}
	return m, nil
}

// threshold reports whether enough keys that may sign this bundle did.
func (v *verification) threshold(m Manifest) error {
	var barred []error
	counting := map[string]bool{}
	weigh := func(s *Signature, scope string) {
		if !s.Counts {
			return
		}
		if err := v.check.Keys.Keys[s.Key].maySign(m.Gate.Name, m.Gate.Audience, scope); err != nil {
			s.Counts, s.Reason, s.Detail = false, NotAllowed, err.Error()
			barred = append(barred, fmt.Errorf("%s: %w", s.Key, err))
			return
		}
		counting[s.Key] = true
	}
	if v.jws != nil {
		weigh(v.jws, v.scope)
	}
	for i := range v.envelope {
		weigh(&v.envelope[i], v.statement.scope)
	}
	want := v.check.Keys.Threshold(m.Gate.Name)
	switch {
	case len(counting) >= want:
		return nil
	case len(counting) == 0:
		return refuse(NotAllowed, "%w", errors.Join(barred...))
	}
	var others []string
	for _, s := range v.signatures() {
		if !s.Counts {
			others = append(others, fmt.Sprintf("; %s does not count: %s", shown(s.Key), s.Reason.Sentence()))
		}
	}
	return refuse(TooFewKeys, "%d of the %d that %s needs (%s)%s", len(counting), want, m.Gate.Name,
		strings.Join(slices.Sorted(maps.Keys(counting)), ", "), strings.Join(others, ""))
}

func (s *KeySet) expired(now time.Time) bool { return !s.Expires.IsZero() && !now.Before(s.Expires) }

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
