package sealed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/internal/strictjson"
)

// jws is OPA's signature: one JWT over the digests of all files.
type jws struct {
	key       string // "kid"; "" if it names none, as opa sign does
	algorithm string
	Message   []byte
	signature []byte
	claims    []byte
}

var Base64url = base64.RawURLEncoding.Strict

// parseSignatures reads .signatures.json. Nothing in it is believed yet.
func ParseSignatures(data []byte) (*jws, error) {
	bad := func(err error) error { return RefuseFile(BadEnvelope, SignaturesFile, err) }
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: 8 << 20})
	if err != nil {
		return nil, bad(err)
	}
	f := NewFields("", doc)
	list := f.Texts("signatures")
	if plugin := f.Text("plugin"); plugin != "" && plugin != "_default" {
		f.fail("plugin", "gate has none but OPA's default")
	}
	if err := f.Done(); err != nil {
		return nil, bad(err)
	}
	switch len(list) {
	case 0:
		return nil, RefuseFile(Unsigned, SignaturesFile, nil)
	case 1:
	default:
		return nil, bad(errors.New("more than one signature; further ones belong into the envelope"))
	}
	token := list[0]
	head, rest, _ := strings.Cut(token, ".")
	claims, sig, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(sig, ".") || strings.ContainsAny(token, "\r\n") {
		return nil, bad(errors.New("not a JWT of three parts"))
	}
	s := &jws{Message: []byte(head + "." + claims)}
	var header []byte
	for part, into := range map[string]*[]byte{head: &header, claims: &s.claims, sig: &s.signature} {
		if *into, err = Base64url().DecodeString(part); err != nil {
			return nil, bad(err)
		}
	}
	if err := s.parseHeader(header); err != nil {
		return nil, err
	}
	if len(s.signature) == 0 {
		return nil, RefuseFile(Unsigned, SignaturesFile, errors.New("the signature was taken off"))
	}
	return s, nil
}

// parseHeader takes the three keys that say nothing about where a key is:
// "jwk", "jku", "x5c" and their like would let a bundle name its own.
func (s *jws) parseHeader(data []byte) error {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: 16 << 10})
	if err != nil {
		return RefuseFile(BadEnvelope, SignaturesFile, err)
	}
	f := NewFields("header", doc)
	s.algorithm, s.key = f.Text("alg"), f.Text("kid")
	f.Text("typ")
	if err := f.Done(); err != nil {
		return RefuseFile(BadEnvelope, SignaturesFile, err)
	}
	a := Algorithm(s.algorithm)
	if _, known := a.Hash(); !known || !a.Jws() {
		return RefuseFile(BadAlgorithm, SignaturesFile, fmt.Errorf("%q is none that gate takes", Shown(s.algorithm)))
	}
	return nil
}

// opaKey is what opa build calls a key for which nobody gives a name.
const opaKey = "default"

// checkJWS finds the key that signed. A signature without a key's name is held
// against every key that has its algorithm.
func (s *KeySet) CheckJWS(j *jws) (Signature, error) {
	k, known := s.Keys[j.key]
	if known || j.key != "" && j.key != opaKey {
		if !known {
			return Signature{Key: j.key, Reason: UnknownKey, Detail: Shown(j.key)}, nil
		}
		if string(k.Algorithm) != j.algorithm {
			return Signature{}, RefuseFile(BadAlgorithm, SignaturesFile,
				fmt.Errorf("signed with %s, the key %s is one for %s", Shown(j.algorithm), j.key, k.Algorithm))
		}
		if !k.Algorithm.verify(k.Public, j.Message, j.signature) {
			return Signature{}, RefuseFile(BadSignature, SignaturesFile, fmt.Errorf("not a signature of the key %s", j.key))
		}
		return k.signed(j.key), nil
	}
	for _, id := range slices.Sorted(maps.Keys(s.Keys)) {
		k := s.Keys[id]
		if string(k.Algorithm) == j.algorithm && k.Algorithm.verify(k.Public, j.Message, j.signature) {
			return k.signed(id), nil
		}
	}
	return Signature{Reason: UnknownKey, Detail: "the signature names no key and is of none in the key set"}, nil
}

// signed is a right signature of the key.
func (k Key) signed(id string) Signature {
	if k.Revoked {
		return Signature{Key: id, Algorithm: k.Algorithm, Reason: RevokedKey, Detail: id}
	}
	return Signature{Key: id, Algorithm: k.Algorithm, Counts: true}
}

// A listing is what OPA's signature covers.
type listing struct {
	Scope string
	files map[string]bundle.FileInfo
}

func (j *jws) Listing() (listing, error) {
	l := listing{files: map[string]bundle.FileInfo{}}
	bad := func(err error) error { return RefuseFile(BadEnvelope, SignaturesFile, err) }
	doc, err := strictjson.Object(j.claims, strictjson.Limits{Bytes: 8 << 20})
	if err != nil {
		return l, bad(err)
	}
	// Other claims, such as iss, are the publisher's own.
	f := NewFields("claims", map[string]any{"files": doc["files"], "scope": doc["scope"]})
	if doc["scope"] == nil {
		delete(f.left, "scope")
	}
	l.Scope = f.Text("scope")
	list, _ := read[[]any](f, "files", "a list")
	for i, v := range list {
		object, _ := v.(map[string]any)
		g := NewFields(fmt.Sprintf("files[%d]", i), object)
		info := bundle.FileInfo{Name: g.Text("name"), Hash: g.Text("hash"), Algorithm: g.Text("algorithm")}
		if err := g.Done(); err != nil {
			return l, bad(err)
		}
		if _, twice := l.files[info.Name]; twice {
			return l, bad(fmt.Errorf("%s is listed twice", Shown(info.Name)))
		}
		l.files[info.Name] = info
	}
	if err := f.Done(); err != nil {
		return l, bad(err)
	}
	return l, nil
}

// covers reports which files are not those that were listed.
func (l listing) Covers(files map[string][]byte) error {
	var errs []error
	var listed []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, there := l.files[name]; there {
			listed = append(listed, name)
		} else if name != SignaturesFile {
			errs = append(errs, RefuseFile(NotCovered, Shown(name), nil))
		}
	}
	errs = append(errs, side(listed, func(name string) error { return matches(name, files[name], l.files[name]) })...)
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if _, there := files[name]; !there {
			errs = append(errs, RefuseFile(MissingFile, Shown(name), nil))
		}
	}
	return FirstAndCount(errs)
}

// firstAndCount keeps a message short when a thousand files are wrong.
func FirstAndCount(errs []error) error {
	const most = 5
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if n := len(errs); n > most {
		errs = append(errs[:most:most], fmt.Errorf("and %d more", n-most))
	}
	return errors.Join(errs...)
}
