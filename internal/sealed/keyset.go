// Package sealed says what holds of a signed bundle: keys, signatures, manifests,
// archives and their limits, channels, recovery files, and why one is refused. Package
// bundles shows what programs use.
//
// It knows nothing of hooks, and fetches nothing. Start with [ParseKeySet] of package
// bundles, then [Check].
package sealed

import (
	"crypto"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/internal/format"
)

// A KeySet says which keys may sign what. It is the only place that keys and
// their algorithms come from. The zero KeySet trusts nobody.
type KeySet struct {
	Version    int64     // 1 for the first; each successor has the next
	Expires    time.Time // after that no bundle is taken; zero: never
	Root       Role      // who may change the key set
	Keys       map[string]Key
	Thresholds map[string]int // keys that a bundle needs, by name or beginning with "*"; the longest counts, else 1

	Signatures []signature
}

// A Role is a number of keys that act together.
type Role struct {
	Keys      []string
	Threshold int // how many of them, at least 1
}

func (s *KeySet) ParseKey(id string, v any) error {
	at := "signed.keys." + Shown(id)
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: an object is wanted", at)
	}
	f := NewFields(at, object)
	k := Key{
		Algorithm: Algorithm(f.Text("algorithm")), Bundles: f.Texts("bundles"), Audiences: f.Texts("audiences"),
		Scopes: f.Texts("scopes"), Revoked: f.flag("revoked"),
	}
	var err error
	if k.Public, err = ParsePublic([]byte(f.Text("public"))); err != nil {
		f.fail("public", "%w", err)
	}
	s.Keys[id] = k
	return f.Done()
}

// Check reports every contradiction in a key set, as a [Refusal].
func (s *KeySet) Check() error {
	var errs []error
	if s.Version < 1 {
		errs = append(errs, errors.New("version: 1 or more is wanted"))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Keys)) {
		errs = append(errs, s.checkKey(id))
	}
	for _, id := range s.Root.Keys {
		if k, ok := s.Keys[id]; !ok || k.Revoked {
			errs = append(errs, fmt.Errorf("root: there is no key %s in force", Shown(id)))
		}
	}
	if n := s.Root.Threshold; n < 1 || n > len(s.Root.Keys) {
		errs = append(errs, fmt.Errorf("root: a threshold of %d with %d keys", n, len(s.Root.Keys)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Thresholds)) {
		if s.Thresholds[name] < 1 {
			errs = append(errs, fmt.Errorf("thresholds.%s: 1 or more is wanted", Shown(name)))
		}
	}
	if err := FirstAndCount(errs); err != nil {
		return Refuse(BadKeySet, "%w", err)
	}
	return nil
}

func (s *KeySet) checkKey(id string) error {
	k := s.Keys[id]
	if !IsName(id) {
		return fmt.Errorf("keys: %q is no name; lower-case letters, digits, - and _ are taken", Shown(id))
	}
	if err := k.Algorithm.Suits(k.Public); err != nil {
		return fmt.Errorf("keys.%s: %w", id, err)
	}
	for other, o := range s.Keys {
		// Two names of one key would count twice.
		if other < id && SamePublic(o.Public, k.Public) {
			return fmt.Errorf("keys.%s: the same key as %s", id, other)
		}
	}
	return nil
}

func SamePublic(a, b crypto.PublicKey) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
}

// IsName reports whether a text can name a bundle or a key: 1 to 64 lower-case
// letters, digits, "-" and "_", a letter or digit first.
func IsName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters+"-_") == "" && strings.Contains(letters, s[:1])
}

// Threshold is how many keys must sign a bundle of that name.
func (s *KeySet) Threshold(name string) int {
	if n, exact := s.Thresholds[name]; exact {
		return n
	}
	most, longest := 1, 0
	for pattern, n := range s.Thresholds {
		if fit(pattern, name) && len(pattern) > longest {
			most, longest = n, len(pattern)
		}
	}
	return most
}

// Encode is the key set as a file, with the signatures that it has.
func (s *KeySet) Encode() ([]byte, error) {
	doc, err := s.Sealed()
	if err != nil {
		return nil, err
	}
	return doc.Encode(), nil
}

func (s *KeySet) Sealed() (*Sealed, error) {
	body := said(map[string]any{
		"type": format.Keys.Mark(), "version": s.Version,
		"root": map[string]any{"keys": append([]string{}, s.Root.Keys...), "threshold": s.Root.Threshold},
	}, map[string]any{"expires": moment(s.Expires)})
	keys := map[string]any{}
	for id, k := range s.Keys {
		entry, err := k.entry()
		if err != nil {
			return nil, fmt.Errorf("keys.%s: %w", id, err)
		}
		keys[id] = entry
	}
	body["keys"] = keys
	if len(s.Thresholds) > 0 {
		thresholds := map[string]any{}
		for name, n := range s.Thresholds {
			thresholds[name] = n
		}
		body["thresholds"] = thresholds
	}
	return &Sealed{Kind: format.Keys, Body: body, Signatures: s.Signatures}, nil
}

// entry is a key within a key set.
func (k Key) entry() (map[string]any, error) {
	public, err := PublicPEM(k.Public)
	if err != nil {
		return nil, err
	}
	return said(map[string]any{"algorithm": string(k.Algorithm), "public": public},
		map[string]any{"bundles": k.Bundles, "audiences": k.Audiences, "scopes": k.Scopes, "revoked": k.Revoked}), nil
}
