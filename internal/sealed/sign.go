package sealed

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"gate/internal/strictjson"
)

// A Signing is one key's act on a bundle.
type Signing struct {
	ID    string // the key's name in the key set
	Key   Key    // as the key set has it
	By    Signer
	Scope string // OPA's "scope" claim; "" for none
}

// token is the JWT over all files.
func (s Signing) Token(files map[string][]byte) (string, error) {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := OpaBytes(name, files[name])
		if err != nil {
			return "", RefuseFile(BadFile, Shown(name), err)
		}
		list = append(list, map[string]any{"name": name, "hash": hex.EncodeToString(SumBy("SHA-256")(data)), "algorithm": "SHA-256"})
	}
	claims := said(map[string]any{"files": list}, map[string]any{"scope": s.Scope})
	header := map[string]any{"alg": string(s.Key.Algorithm), "kid": s.ID, "typ": "JWT"}
	text := Base64url().EncodeToString(strictjson.Append(nil, header)) + "." + Base64url().EncodeToString(strictjson.Append(nil, claims))
	sig, err := s.Key.Sign(s.By, []byte(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.ID, err)
	}
	return text + "." + Base64url().EncodeToString(sig), nil
}
