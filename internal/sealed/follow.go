package sealed

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Next returns a copy to be changed: one version on, and signed by nobody.
func (s *KeySet) Next() *KeySet {
	next := *s
	next.Version++
	next.Root.Keys = slices.Clone(s.Root.Keys)
	next.Keys, next.Thresholds = maps.Clone(s.Keys), maps.Clone(s.Thresholds)
	if next.Keys == nil {
		next.Keys = map[string]Key{}
	}
	if next.Thresholds == nil {
		next.Thresholds = map[string]int{}
	}
	next.Signatures = nil
	return &next
}

// Sign adds the signature of a key that this set or the one before it holds.
// Any change of the set afterwards makes it worthless.
func (s *KeySet) Sign(id string, k Key, by Signer) error {
	doc, err := s.Sealed()
	if err != nil {
		return err
	}
	if err := doc.Sign(id, k, by); err != nil {
		return err
	}
	s.Signatures = doc.Signatures
	return nil
}

// Waiting returns the root keys that have not signed the set yet and whose
// signatures would bring it nearer to its threshold; none when it has enough.
// The error is about a signature that is wrong.
func (s *KeySet) Waiting(root *KeySet) ([]string, error) {
	doc, err := s.Sealed()
	if err != nil {
		return nil, err
	}
	message := doc.Message()
	var signed, waiting []string
	for _, id := range root.Root.Keys {
		k := root.Keys[id]
		i := slices.IndexFunc(s.Signatures, func(g signature) bool { return g.key == id })
		switch {
		case k.Revoked:
		case i < 0:
			waiting = append(waiting, id)
		case !k.Algorithm.verify(k.Public, message, s.Signatures[i].bytes):
			return nil, Refuse(BadSignature, "of the key %s on the key set", id)
		default:
			signed = append(signed, id)
		}
	}
	if root.Root.Threshold > 0 && len(signed) >= root.Root.Threshold {
		return nil, nil
	}
	if len(waiting) == 0 {
		return nil, Refuse(BadKeySet, "its root keys cannot reach their threshold")
	}
	return waiting, nil
}

// Follow reports why next may not take the place of s: it must be the next
// version and signed by enough root keys of both.
func (s *KeySet) Follow(next *KeySet) error {
	if err := next.Check(); err != nil {
		return err
	}
	if next.Version != s.Version+1 {
		return Refuse(BadSuccessor, "version %d after version %d", next.Version, s.Version)
	}
	for id, k := range next.Keys {
		if old, ok := s.Keys[id]; ok && (old.Algorithm != k.Algorithm || !SamePublic(old.Public, k.Public)) {
			return Refuse(BadSuccessor, "the name %s is another key's; give the new key a new name", id)
		}
	}
	return errors.Join(next.Enough(s, "of the version before"), next.Enough(next, "of its own"))
}

func (s *KeySet) Enough(root *KeySet, whose string) error {
	waiting, err := s.Waiting(root)
	switch {
	case err != nil:
		return err
	case len(waiting) > 0:
		return Refuse(BadSuccessor, "too few root keys %s signed it, %d are wanted; waiting for %s",
			whose, root.Root.Threshold, strings.Join(waiting, ", "))
	}
	return nil
}
