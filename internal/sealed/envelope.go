package sealed

import (
	"errors"
	"fmt"

	"gate/internal/format"
)

// statement is what an envelope's signatures say about a bundle.
type Statement struct {
	Name     string
	Version  int64 // 0 for a bundle without metadata
	Archive  string
	Manifest string
	Scope    string
}

// parseEnvelope reads an envelope without checking any signature.
func ParseEnvelope(data []byte) (Sealed, Statement, error) {
	doc, err := ParseSealed(data, format.Envelope)
	if err != nil {
		return doc, Statement{}, Refuse(BadEnvelope, "%w", err)
	}
	f := NewFields("signed", doc.Body)
	f.Text("type")
	s := Statement{
		Name: f.Text("name"), Version: f.Number("version", MaxInteger),
		Archive: f.digest("archive"), Manifest: f.digest("manifest"), Scope: f.Text("scope"),
	}
	if s.Archive == "" {
		f.fail("archive", "a digest is wanted")
	}
	if !IsName(s.Name) {
		f.fail("name", "the bundle's name is wanted")
	}
	if err := f.Done(); err != nil {
		return doc, s, Refuse(BadEnvelope, "%w", err)
	}
	if len(doc.Signatures) == 0 {
		return doc, s, Refuse(Unsigned, "the envelope holds no signature")
	}
	return doc, s, nil
}

func (s Statement) Body() map[string]any {
	return said(map[string]any{"type": format.Envelope.Mark(), "name": s.Name, "archive": s.Archive},
		map[string]any{"version": s.Version, "manifest": s.Manifest, "scope": s.Scope})
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
func (s *KeySet) CheckSealed(doc *Sealed) ([]Signature, error) {
	message := doc.Message()
	var list []Signature
	for _, g := range doc.Signatures {
		k, known := s.Keys[g.key]
		sig := Signature{Key: g.key, Algorithm: k.Algorithm, Detached: true, Counts: true}
		switch {
		case !known:
			sig.Counts, sig.Reason, sig.Detail = false, UnknownKey, Shown(g.key)
		case k.Revoked:
			sig.Counts, sig.Reason, sig.Detail = false, RevokedKey, g.key
		case !k.Algorithm.verify(k.Public, message, g.bytes):
			return nil, Refuse(BadSignature, "of the key %s in the envelope", g.key)
		}
		list = append(list, sig)
	}
	return list, nil
}

// agrees reports in what an envelope differs from the bundle that it lies beside.
func (s Statement) Agrees(m Manifest, manifest []byte) error {
	switch {
	case m.Gate.Name != "" && s.Name != m.Gate.Name:
		return Refuse(WrongDigest, "the envelope is for the bundle %s, the manifest says %s", s.Name, m.Gate.Name)
	case s.Version != m.Gate.Version:
		return Refuse(WrongDigest, "the envelope is for version %d, the manifest says %d", s.Version, m.Gate.Version)
	case manifest == nil && s.Manifest != "", manifest != nil && s.Manifest != Digest(manifest):
		return RefuseFile(WrongDigest, ManifestFile, errors.New("not the manifest that the envelope names"))
	}
	return nil
}

// isFor reports why an envelope is not about an archive.
func (s Statement) IsFor(digest string) error {
	if s.Archive != digest {
		return Refuse(WrongDigest, "%w", fmt.Errorf("the envelope is for %s, this is %s", s.Archive, digest))
	}
	return nil
}
