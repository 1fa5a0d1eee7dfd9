package bundles

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// grow adds a signature to those of an older file that says the same.
func (doc *sealed) grow(old []byte, s Signing) error {
	if old != nil {
		was, err := parseSealed(old, doc.kind)
		if err != nil {
			return refuse(BadGrant, "%w", err)
		}
		if string(was.message()) != string(doc.message()) {
			return refuse(WrongDigest, "the file that is there says something else")
		}
		doc.signatures = was.signatures
	}
	if s.Key.Revoked {
		return refuse(RevokedKey, "%s", s.ID)
	}
	return doc.sign(s.ID, s.Key, s.By)
}

// entitled reports why the signatures of a document do not reach the threshold of
// each bundle that it is about; audiences are those that it addresses, by bundle.
func (s *KeySet) entitled(doc *sealed, audiences map[string][]string, now time.Time) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.expired(now) {
		return refuse(KeysExpired, "on %s", day(s.Expires))
	}
	if len(doc.signatures) == 0 {
		return &Refusal{Reason: Unsigned}
	}
	signed, err := s.checkSealed(doc)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(audiences)) {
		var counting []string
		reason, why := UnknownKey, ""
		for _, sig := range signed {
			if !sig.Counts {
				why = sig.Detail
				continue
			}
			if err := s.Keys[sig.Key].maySign(name, audiences[name], ""); err != nil {
				reason, why = NotAllowed, sig.Key+": "+err.Error()
				continue
			}
			counting = append(counting, sig.Key)
		}
		switch want := s.Threshold(name); {
		case len(counting) >= want:
		case len(counting) == 0:
			return refuse(reason, "%s", why)
		default:
			return refuse(TooFewKeys, "%d of the %d that %s needs (%s)", len(counting), want, name, strings.Join(counting, ", "))
		}
	}
	return nil
}
