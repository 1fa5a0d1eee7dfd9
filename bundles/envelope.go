package bundles

import (
	"errors"
	"fmt"

	"gate/internal/format"
)

// statement is what an envelope's signatures say about a bundle.
type statement struct {
	name     string
	version  int64 // 0 for a bundle without metadata
	archive  string
	manifest string
	scope    string
}

// parseEnvelope reads an envelope without checking any signature.
func parseEnvelope(data []byte) (sealed, statement, error) {
	doc, err := parseSealed(data, format.Envelope)
	if err != nil {
		return doc, statement{}, refuse(BadEnvelope, "%w", err)
	}
	f := newFields("signed", doc.body)
	f.text("type")
	s := statement{
		name: f.text("name"), version: f.number("version", maxInteger),
		archive: f.digest("archive"), manifest: f.digest("manifest"), scope: f.text("scope"),
	}
	if s.archive == "" {
		f.fail("archive", "a digest is wanted")
	}
	if !IsName(s.name) {
		f.fail("name", "the bundle's name is wanted")
	}
	if err := f.done(); err != nil {
		return doc, s, refuse(BadEnvelope, "%w", err)
	}
	if len(doc.signatures) == 0 {
		return doc, s, refuse(Unsigned, "the envelope holds no signature")
	}
	return doc, s, nil
}

func (s statement) body() map[string]any {
	return said(map[string]any{"type": format.Envelope.Mark(), "name": s.name, "archive": s.archive},
		map[string]any{"version": s.version, "manifest": s.manifest, "scope": s.scope})
}

// A Signature is one signature of a bundle and what it is worth.
type Signature struct {
	Key       string    // its name in the key set; "" if the signature names none
	Algorithm Algorithm // the key's; "" for an unknown key
	Detached  bool      // in the envelope; else in .signatures.json
	Counts    bool
	Reason    Reason // why it does not count
	Detail    string // and more about that
}

// checkSealed checks every signature of an envelope. A wrong signature of a known key
// is an error: somebody changed something. Others do not count.
func (s *KeySet) checkSealed(doc *sealed) ([]Signature, error) {
	message := doc.message()
	var list []Signature
	for _, g := range doc.signatures {
		k, known := s.Keys[g.key]
		sig := Signature{Key: g.key, Algorithm: k.Algorithm, Detached: true, Counts: true}
		switch {
		case !known:
			sig.Counts, sig.Reason, sig.Detail = false, UnknownKey, shown(g.key)
		case k.Revoked:
			sig.Counts, sig.Reason, sig.Detail = false, RevokedKey, g.key
		case !k.Algorithm.verify(k.Public, message, g.bytes):
			return nil, refuse(BadSignature, "of the key %s in the envelope", g.key)
		}
		list = append(list, sig)
	}
	return list, nil
}

// agrees reports in what an envelope differs from the bundle that it lies beside.
func (s statement) agrees(m Manifest, manifest []byte) error {
	switch {
	case m.Gate.Name != "" && s.name != m.Gate.Name:
		return refuse(WrongDigest, "the envelope is for the bundle %s, the manifest says %s", s.name, m.Gate.Name)
	case s.version != m.Gate.Version:
		return refuse(WrongDigest, "the envelope is for version %d, the manifest says %d", s.version, m.Gate.Version)
	case manifest == nil && s.manifest != "", manifest != nil && s.manifest != Digest(manifest):
		return refuseFile(WrongDigest, manifestFile, errors.New("not the manifest that the envelope names"))
	}
	return nil
}

// isFor reports why an envelope is not about an archive.
func (s statement) isFor(digest string) error {
	if s.archive != digest {
		return refuse(WrongDigest, "%w", fmt.Errorf("the envelope is for %s, this is %s", s.archive, digest))
	}
	return nil
}
