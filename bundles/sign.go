package bundles

import (
	"errors"

	"gate/internal/format"
	sealeds "gate/internal/sealed"
	"gate/internal/strictjson"
)

// SignInside returns the archive with OPA's signature in it, in the place of an
// older one. It is a new archive with a new digest: envelopes of the old one do
// not fit it. The key must be an ES, PS or RS key.
func SignInside(archive []byte, s Signing) ([]byte, error) {
	if !s.Key.Algorithm.Jws() {
		return nil, errors.New("OPA's signature file knows no Ed25519; the envelope does")
	}
	files, m, err := toSign(archive, s)
	if err != nil {
		return nil, err
	}
	if err := s.Key.MaySign(m.Gate.Name, m.Gate.Audience, s.Scope); m.Gate.Name != "" && err != nil {
		return nil, sealeds.Refuse(sealeds.NotAllowed, "%s: %w", s.ID, err)
	}
	delete(files, sealeds.SignaturesFile)
	token, err := s.Token(files)
	if err != nil {
		return nil, err
	}
	files[sealeds.SignaturesFile] = append(strictjson.Append(nil, map[string]any{"signatures": []string{token}}), '\n')
	return sealeds.PackOf(files)
}

// toSign reads an archive that is about to be signed: nobody should sign what
// nobody would take.
func toSign(archive []byte, s Signing) (map[string][]byte, Manifest, error) {
	if s.Key.Revoked {
		return nil, Manifest{}, sealeds.Refuse(sealeds.RevokedKey, "%s", s.ID)
	}
	files, err := sealeds.Unpack(archive, Limits{})
	if err != nil {
		return nil, Manifest{}, err
	}
	data, there := files[sealeds.ManifestFile]
	if !there {
		return files, Manifest{}, nil
	}
	m, err := sealeds.ParseManifest(data)
	return files, m, err
}

// SignBeside returns the envelope of an archive with one more signature. The old
// envelope is nil for the first one. The name is for a bundle that has no
// metadata.gate and will be pinned; else it is the manifest's.
func SignBeside(archive, envelope []byte, name string, s Signing) ([]byte, error) {
	files, m, err := toSign(archive, s)
	if err != nil {
		return nil, err
	}
	if m.Gate.Name != "" {
		name = m.Gate.Name
	}
	if !sealeds.IsName(name) {
		return nil, sealeds.Refuse(sealeds.NoMetadata, "give the name under which it is pinned")
	}
	if err := s.Key.MaySign(name, m.Gate.Audience, s.Scope); err != nil {
		return nil, sealeds.Refuse(sealeds.NotAllowed, "%s: %w", s.ID, err)
	}
	says := sealeds.Statement{Name: name, Version: m.Gate.Version, Archive: sealeds.Digest(archive), Scope: s.Scope}
	if data, there := files[sealeds.ManifestFile]; there {
		says.Manifest = sealeds.Digest(data)
	}
	doc := sealeds.Sealed{Kind: format.Envelope, Body: says.Body()}
	if envelope != nil {
		old, was, err := sealeds.ParseEnvelope(envelope)
		if err != nil {
			return nil, err
		}
		if was != says {
			return nil, sealeds.Refuse(sealeds.WrongDigest, "the envelope is for %s version %d, %s; begin a new one", was.Name, was.Version, was.Archive)
		}
		doc.Signatures = old.Signatures
	}
	if err := doc.Sign(s.ID, s.Key, s.By); err != nil {
		return nil, err
	}
	return doc.Encode(), nil
}
