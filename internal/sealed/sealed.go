package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/internal/format"
	"gate/internal/strictjson"
)

// A signature is one of those beside a signed document.
type signature struct {
	key   string
	bytes []byte
}

// A sealed document is an object and signatures of it. The mark of its format is
// part of what is signed, so that no signature of one kind is one of another.
type Sealed struct {
	Kind       format.ID
	Body       map[string]any
	Signatures []signature
}

const MaxSignatures = 64

// parseSealed reads a document without checking any signature.
func ParseSealed(data []byte, kind format.ID) (Sealed, error) {
	s := Sealed{Kind: kind}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: 1 << 20})
	if err != nil {
		return s, err
	}
	f := NewFields("", doc)
	s.Body = f.Object("signed")
	list, _ := read[[]any](f, "signatures", "a list")
	if len(list) > MaxSignatures {
		f.fail("signatures", "more than %d", MaxSignatures)
		list = nil
	}
	for i, v := range list {
		if err := s.addSignature(v); err != nil {
			f.fail(fmt.Sprintf("signatures[%d]", i), "%w", err)
		}
	}
	mark, _ := s.Body["type"].(string)
	if err := kind.CheckMark(mark); err != nil {
		f.fail("signed.type", "%w", err)
	}
	return s, f.Done()
}

func (s *Sealed) addSignature(v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return errors.New("an object is wanted")
	}
	f := NewFields("", object)
	id, text := f.Text("key"), f.Text("signature")
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	switch {
	case f.Done() != nil:
		return f.Done()
	case id == "":
		return errors.New("the name of its key is missing")
	case err != nil || len(raw) == 0 || strings.ContainsAny(text, "\r\n"):
		return errors.New("signature: base64 is wanted")
	case slices.ContainsFunc(s.Signatures, func(g signature) bool { return g.key == id }):
		return fmt.Errorf("the key %s signs twice", Shown(id))
	}
	s.Signatures = append(s.Signatures, signature{id, raw})
	return nil
}

// message is what is signed: DSSE's pre-authentication encoding.
func (s *Sealed) Message() []byte {
	kind, _ := s.Body["type"].(string)
	body := strictjson.Append(nil, s.Body)
	var b bytes.Buffer
	for _, part := range []string{"DSSEv1", strconv.Itoa(len(kind)), kind, strconv.Itoa(len(body))} {
		b.WriteString(part + " ")
	}
	b.Write(body)
	return b.Bytes()
}

// put adds a signature, in the place of an older one of the same key.
func (s *Sealed) put(g signature) {
	s.Signatures = slices.DeleteFunc(slices.Clone(s.Signatures), func(o signature) bool { return o.key == g.key })
	s.Signatures = append(s.Signatures, g)
	slices.SortFunc(s.Signatures, func(a, b signature) int { return strings.Compare(a.key, b.key) })
}

// sign has a key sign the document.
func (s *Sealed) Sign(id string, k Key, by Signer) error {
	raw, err := k.Sign(by, s.Message())
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	s.put(signature{id, raw})
	return nil
}

// said adds to an object what is not empty: a field that says nothing is not
// written.
func said(object, optional map[string]any) map[string]any {
	for key, v := range optional {
		if list := reflect.ValueOf(v); !list.IsZero() && (list.Kind() != reflect.Slice || list.Len() > 0) {
			object[key] = v
		}
	}
	return object
}

// moment is a time as documents have it, "" for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// encode is the document as a file.
func (s *Sealed) Encode() []byte {
	list := []any{}
	for _, g := range s.Signatures {
		list = append(list, map[string]any{"key": g.key, "signature": base64.StdEncoding.EncodeToString(g.bytes)})
	}
	return []byte(strings.TrimRight(strictjson.Indent(map[string]any{"signed": s.Body, "signatures": list}), "\n") + "\n")
}

const digestPrefix = "sha256:"

// Digest is how archives are named: "sha256:" and the SHA-256 of the bytes in
// hexadecimal, as OCI registries write it.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// IsDigest reports whether a text is a digest as [Digest] writes it.
func IsDigest(s string) bool {
	rest, ok := strings.CutPrefix(s, digestPrefix)
	raw, err := hex.DecodeString(rest)
	return ok && err == nil && len(raw) == sha256.Size && rest == strings.ToLower(rest)
}
