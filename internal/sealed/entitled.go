package sealed

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// grow adds a signature to those of an older file that says the same.
func (doc *Sealed) grow(old []byte, s Signing) error {
	if old != nil {
		was, err := ParseSealed(old, doc.Kind)
		if err != nil {
			return Refuse(BadGrant, "%w", err)
		}
		if string(was.Message()) != string(doc.Message()) {
			return Refuse(WrongDigest, "the file that is there says something else")
		}
		doc.Signatures = was.Signatures
	}
	if s.Key.Revoked {
		return Refuse(RevokedKey, "%s", s.ID)
	}
	return doc.Sign(s.ID, s.Key, s.By)
}

// entitled reports why the signatures of a document do not reach the threshold of
// each bundle that it is about; audiences are those that it addresses, by bundle.
func (s *KeySet) entitled(doc *Sealed, audiences map[string][]string, now time.Time) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Expired(now) {
		return Refuse(KeysExpired, "on %s", Day(s.Expires))
	}
	if len(doc.Signatures) == 0 {
		return &Refusal{Reason: Unsigned}
	}
	signed, err := s.CheckSealed(doc)
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
			if err := s.Keys[sig.Key].MaySign(name, audiences[name], ""); err != nil {
				reason, why = NotAllowed, sig.Key+": "+err.Error()
				continue
			}
			counting = append(counting, sig.Key)
		}
		switch want := s.Threshold(name); {
		case len(counting) >= want:
		case len(counting) == 0:
			return Refuse(reason, "%s", why)
		default:
			return Refuse(TooFewKeys, "%d of the %d that %s needs (%s)", len(counting), want, name, strings.Join(counting, ", "))
		}
	}
	return nil
}

// MaySignChannel reports why a signature of a key would be worth nothing below a
// channel file.
func (s *KeySet) MaySignChannel(id string, c Channel) error {
	var errs []error
	for _, name := range c.Names() {
		if err := s.Keys[id].MaySign(name, addressed(slices.Concat(c.Releases[name], c.Trials[name])), ""); err != nil {
			errs = append(errs, Refuse(NotAllowed, "%s: %s: %w", Shown(id), name, err))
		}
	}
	return errors.Join(errs...)
}
