package bundles

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gate/internal/format"
	"gate/strictjson"
)

// A Signing is one key's act on a bundle.
type Signing struct {
	ID    string // the key's name in the key set
	Key   Key    // as the key set has it
	By    Signer
	Scope string // OPA's "scope" claim; "" for none
}

// SignInside returns the archive with OPA's signature in it, in the place of an
// older one. It is a new archive with a new digest: envelopes of the old one do
// not fit it. The key must be an ES, PS or RS key.
func SignInside(archive []byte, s Signing) ([]byte, error) {
	if !s.Key.Algorithm.jws() {
		return nil, errors.New("OPA's signature file knows no Ed25519; the envelope does")
	}
	files, m, err := toSign(archive, s)
	if err != nil {
		return nil, err
	}
	if err := s.Key.maySign(m.Gate.Name, m.Gate.Audience, s.Scope); m.Gate.Name != "" && err != nil {
		return nil, refuse(NotAllowed, "%s: %w", s.ID, err)
	}
	delete(files, signaturesFile)
	token, err := s.token(files)
	if err != nil {
		return nil, err
	}
	files[signaturesFile] = append(strictjson.Append(nil, map[string]any{"signatures": []string{token}}), '\n')
	return pack(files)
}

// toSign reads an archive that is about to be signed: nobody should sign what
// nobody would take.
func toSign(archive []byte, s Signing) (map[string][]byte, Manifest, error) {
	if s.Key.Revoked {
		return nil, Manifest{}, refuse(RevokedKey, "%s", s.ID)
	}
	files, err := unpack(archive, Limits{})
	if err != nil {
		return nil, Manifest{}, err
	}
	data, there := files[manifestFile]
	if !there {
		return files, Manifest{}, nil
	}
	m, err := parseManifest(data)
	return files, m, err
}

// token is the JWT over all files.
func (s Signing) token(files map[string][]byte) (string, error) {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := opaBytes(name, files[name])
		if err != nil {
			return "", refuseFile(BadFile, shown(name), err)
		}
		list = append(list, map[string]any{"name": name, "hash": hex.EncodeToString(sumBy("SHA-256")(data)), "algorithm": "SHA-256"})
	}
	claims := said(map[string]any{"files": list}, map[string]any{"scope": s.Scope})
	header := map[string]any{"alg": string(s.Key.Algorithm), "kid": s.ID, "typ": "JWT"}
	text := base64url().EncodeToString(strictjson.Append(nil, header)) + "." + base64url().EncodeToString(strictjson.Append(nil, claims))
	sig, err := s.Key.sign(s.By, []byte(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.ID, err)
	}
	return text + "." + base64url().EncodeToString(sig), nil
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
	if !IsName(name) {
		return nil, refuse(NoMetadata, "give the name under which it is pinned")
	}
	if err := s.Key.maySign(name, m.Gate.Audience, s.Scope); err != nil {
		return nil, refuse(NotAllowed, "%s: %w", s.ID, err)
	}
	says := statement{name: name, version: m.Gate.Version, archive: Digest(archive), scope: s.Scope}
	if data, there := files[manifestFile]; there {
		says.manifest = Digest(data)
	}
	doc := sealed{kind: format.Envelope, body: says.body()}
	if envelope != nil {
		old, was, err := parseEnvelope(envelope)
		if err != nil {
			return nil, err
		}
		if was != says {
			return nil, refuse(WrongDigest, "the envelope is for %s version %d, %s; begin a new one", was.name, was.version, was.archive)
		}
		doc.signatures = old.signatures
	}
	if err := doc.sign(s.ID, s.Key, s.By); err != nil {
		return nil, err
	}
	return doc.encode(), nil
}
