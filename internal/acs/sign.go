package acs

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"gate/internal/strictjson"
)

// Algorithm is the one way in which gate signs and verifies.
const Algorithm = "HMAC-SHA256"

// Canonical is the canonical form of a JSON tree after RFC 8785. Numbers that no double is
// near do not come this far: package strictjson refuses them.
func Canonical(v any) ([]byte, error) {
	value := jsontext.Value(strictjson.Append(nil, v))
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// SessionKey derives the key of a session. The standard says HKDF and leaves salt and info
// open: all implementations take no salt and the session's id.
func SessionKey(secret []byte, session string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, session, sha256.Size)
}

// Part names the member of an envelope that its signature stands in.
type Part string

const (
	Params Part = "params"
	Result Part = "result"
	Error  Part = "error"
)

// SigningInput is what a signature of an envelope covers: all of it but the signature.
func SigningInput(envelope map[string]any, part Part) ([]byte, error) {
	inner, ok := envelope[string(part)].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: an object is wanted", part)
	}
	whole, bare := maps.Clone(envelope), maps.Clone(inner)
	delete(bare, "signature")
	whole[string(part)] = bare
	return Canonical(whole)
}

// MAC is the signature of an envelope under a session's key, as it is written.
func MAC(key []byte, envelope map[string]any, part Part) (string, error) {
	input, err := SigningInput(envelope, part)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(mac(key, input)), nil
}

func mac(key, input []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(input)
	return h.Sum(nil)
}

// Sign puts a signature into an envelope's part.
func Sign(key []byte, keyID string, envelope map[string]any, part Part) error {
	inner, ok := envelope[string(part)].(map[string]any)
	if !ok {
		return fmt.Errorf("%s: an object is wanted", part)
	}
	value, err := MAC(key, envelope, part)
	if err != nil {
		return err
	}
	inner["signature"] = map[string]any{"algorithm": Algorithm, "value": value, "key_id": keyID}
	return nil
}

// Verify reports why the signature in an envelope's part does not hold under the key that a
// key id stands for, nil if it does.
func Verify(key []byte, envelope map[string]any, part Part) error {
	inner, _ := envelope[string(part)].(map[string]any)
	signature, ok := inner["signature"].(map[string]any)
	if !ok {
		return errors.New("there is no signature")
	}
	if signature["algorithm"] != Algorithm {
		return errors.New("the signature's algorithm is not that of its key")
	}
	text, _ := signature["value"].(string)
	given, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(given) != sha256.Size {
		return errors.New("the signature is not base64 of 32 bytes")
	}
	input, err := SigningInput(envelope, part)
	if err != nil {
		return err
	}
	if !hmac.Equal(given, mac(key, input)) {
		return errors.New("the signature is not one of this envelope")
	}
	return nil
}

// RequestHash is the hash of a request's params, signature included.
func RequestHash(params map[string]any) (string, error) {
	data, err := Canonical(params)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// EntryHash is the hash of a chain's entry on top of the hash before it, "" for the first.
func EntryHash(entry map[string]any, previous string) (string, error) {
	bare := maps.Clone(entry)
	delete(bare, "entry_hash")
	delete(bare, "previous_hash")
	data, err := Canonical(bare)
	if err != nil {
		return "", err
	}
	before, err := hex.DecodeString(previous)
	if err != nil || len(before) != 0 && len(before) != sha256.Size {
		return "", errors.New("the hash before it is not 32 bytes in hexadecimal digits")
	}
	sum := sha256.Sum256(append(data, before...))
	return hex.EncodeToString(sum[:]), nil
}
