// Package bundles packs, signs, verifies and opens policy bundles: archives in OPA's
// format, with the keys, thresholds, expiry and rollback protection that OPA leaves to
// its embedders.
//
// It turns bytes from anywhere into the files of one verified [Bundle], or into
// a [Refusal]. It reads no file, asks no clock and no network, and knows nothing
// of hooks or of what the policies say: package internal/sync fetches and
// activates, internal/load reads. Start with [Open] to take a bundle, with [Pack]
// to make one. docs/bundles.md describes the formats.
package bundles

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sealeds "gate/internal/sealed"
)

// Open verifies an archive and its envelope, nil if there is none, and opens it.
// Nothing but the signatures is read before they have been checked. The error
// is a [Refusal], or several joined where a bundle is wrong in several ways.
func Open(archive, envelope []byte, c Check) (*Bundle, error) {
	if c.Keys == nil {
		return nil, sealeds.Refuse(sealeds.UnknownKey, "there is no key set")
	}
	if c.Now.IsZero() {
		return nil, sealeds.Refuse(sealeds.Expired, "nobody says what time it is")
	}
	if most := c.Limits.WithDefaults().Archive; len(archive) > most {
		return nil, sealeds.Refuse(sealeds.TooLarge, "the archive has %d bytes, %d are allowed", len(archive), most)
	}
	if err := c.Keys.Check(); err != nil {
		return nil, err
	}
	if c.Keys.Expired(c.Now) {
		return nil, sealeds.Refuse(sealeds.KeysExpired, "on %s", sealeds.Day(c.Keys.Expires))
	}
	v := verification{check: c, digest: sealeds.Digest(archive)}
	if err := v.readEnvelope(envelope); err != nil {
		return nil, err
	}
	files, err := sealeds.Unpack(archive, c.Limits)
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
	if err := errors.Join(v.threshold(m), c.Holds(m, v.digest)); err != nil {
		return nil, err
	}
	delete(files, sealeds.SignaturesFile)
	return &Bundle{Manifest: m, Digest: v.digest, Signatures: v.signatures(), Files: sealeds.InMemory(files)}, nil
}

// A verification is what is known about the signatures of one archive.
type verification struct {
	check     Check
	digest    string
	envelope  []sealeds.Signature
	statement *sealeds.Statement // what the envelope says; nil without one
	jws       *sealeds.Signature // nil without .signatures.json
	scope     string             // of the JWS
}

// readEnvelope checks the signatures over the whole archive, before a byte of
// it is unpacked.
func (v *verification) readEnvelope(data []byte) error {
	if data == nil {
		return nil
	}
	doc, s, err := sealeds.ParseEnvelope(data)
	if err != nil {
		return err
	}
	if v.envelope, err = v.check.Keys.CheckSealed(&doc); err != nil {
		return err
	}
	v.statement = &s
	return s.IsFor(v.digest)
}

// readSignatures checks OPA's signature and that it covers every file.
func (v *verification) readSignatures(files map[string][]byte) error {
	data, there := files[sealeds.SignaturesFile]
	if !there {
		if v.statement == nil {
			return &Refusal{Reason: sealeds.Unsigned}
		}
		return nil
	}
	j, err := sealeds.ParseSignatures(data)
	if err != nil {
		return err
	}
	sig, err := v.check.Keys.CheckJWS(j)
	if err != nil {
		return err
	}
	v.jws = &sig
	if !v.counts() {
		return v.worthless() // before anything of a stranger's is read
	}
	l, err := j.Listing()
	if err != nil {
		return err
	}
	v.scope = l.Scope
	return l.Covers(files)
}

// counts reports whether any signature does.
func (v *verification) counts() bool {
	return slices.ContainsFunc(v.signatures(), func(s sealeds.Signature) bool { return s.Counts })
}

func (v *verification) signatures() []sealeds.Signature {
	list := slices.Clone(v.envelope)
	if v.jws != nil {
		list = append([]sealeds.Signature{*v.jws}, list...)
	}
	return list
}

// worthless says why no signature counts: revoked is more than unknown.
func (v *verification) worthless() error {
	reason := sealeds.UnknownKey
	var details []string
	for _, s := range v.signatures() {
		if s.Reason == sealeds.RevokedKey {
			reason = sealeds.RevokedKey
		}
		details = append(details, s.Detail)
	}
	return sealeds.Refuse(reason, "%s", strings.Join(slices.Compact(details), ", "))
}

// manifest reads the manifest of files that were signed.
func (v *verification) manifest(files map[string][]byte) (Manifest, error) {
	if !v.counts() {
		return Manifest{}, v.worthless()
	}
	data := files[sealeds.ManifestFile]
	m, err := sealeds.ManifestOf(data)
	if err != nil {
		return m, err
	}
	pin := v.check.Pins[v.digest]
	switch {
	case m.Gate.Name == "" && pin == "":
		return m, &Refusal{Reason: sealeds.NoMetadata, File: sealeds.ManifestFile}
	case m.Gate.Name == "":
		m.Gate.Name = pin
	case pin != "" && pin != m.Gate.Name:
		return m, sealeds.Refuse(sealeds.WrongName, "it is %s, its digest is pinned as %s", m.Gate.Name, sealeds.Shown(pin))
	}
	if v.statement != nil {
		return m, v.statement.Agrees(m, data)
	}
	return m, nil
}

// threshold reports whether enough keys that may sign this bundle did.
func (v *verification) threshold(m Manifest) error {
	var barred []error
	counting := map[string]bool{}
	weigh := func(s *sealeds.Signature, scope string) {
		if !s.Counts {
			return
		}
		if err := v.check.Keys.Keys[s.Key].MaySign(m.Gate.Name, m.Gate.Audience, scope); err != nil {
			s.Counts, s.Reason, s.Detail = false, sealeds.NotAllowed, err.Error()
			barred = append(barred, fmt.Errorf("%s: %w", s.Key, err))
			return
		}
		counting[s.Key] = true
	}
	if v.jws != nil {
		weigh(v.jws, v.scope)
	}
	for i := range v.envelope {
		weigh(&v.envelope[i], v.statement.Scope)
	}
	want := v.check.Keys.Threshold(m.Gate.Name)
	switch {
	case len(counting) >= want:
		return nil
	case len(counting) == 0:
		return sealeds.Refuse(sealeds.NotAllowed, "%w", errors.Join(barred...))
	}
	var others []string
	for _, s := range v.signatures() {
		if !s.Counts {
			others = append(others, fmt.Sprintf("; %s does not count: %s", sealeds.Shown(s.Key), s.Reason.Sentence()))
		}
	}
	return sealeds.Refuse(sealeds.TooFewKeys, "%d of the %d that %s needs (%s)%s", len(counting), want, m.Gate.Name,
		strings.Join(slices.Sorted(maps.Keys(counting)), ", "), strings.Join(others, ""))
}
