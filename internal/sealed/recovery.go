package sealed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/format"
)

// A Recovery lets one machine do without a bundle for a short time: the way out
// for a laptop on which a bad policy refuses everything. It names what it
// relaxes, and nothing else is.
type Recovery struct {
	Machine string    // the one that it is for, as [MachineName] makes it
	From    time.Time // both required, at most [MaxRecovery] apart
	Until   time.Time
	Off     []string // bundles that are not in force meanwhile
	Aged    []string // bundles whose age has no consequence meanwhile but a warning
	Owner   string   // the person responsible
	Reason  string
}

// MaxRecovery is the longest life of a Recovery.
const MaxRecovery = 72 * time.Hour

// MachineName is how a Recovery and a [Channel] name a machine: a digest of what
// the system calls itself, such as the content of /etc/machine-id. The text must
// not be empty.
func MachineName(id string) string {
	return strings.TrimPrefix(Digest([]byte("gate machine\n"+strings.TrimSpace(id))), digestPrefix)[:32]
}

func (r Recovery) Check() error {
	var errs []error
	bad := func(wrong bool, text string) {
		if wrong {
			errs = append(errs, errors.New(text))
		}
	}
	bad(len(r.Machine) != 32, "machine: the name of one machine is wanted")
	bad(r.From.IsZero() || r.Until.IsZero() || !r.Until.After(r.From) || r.Until.Sub(r.From) > MaxRecovery,
		fmt.Sprintf("until: a time after from is wanted, at most %s later", MaxRecovery))
	bad(len(r.Off)+len(r.Aged) == 0, "off, aged: it relaxes nothing")
	bad(slices.ContainsFunc(r.names(), func(n string) bool { return !IsName(n) }), "off, aged: names of bundles are wanted")
	bad(r.Owner == "" || r.Reason == "", "owner, reason: both are wanted")
	return errors.Join(errs...)
}

func (r Recovery) names() []string { return slices.Concat(r.Off, r.Aged) }

func (r Recovery) body() map[string]any {
	return said(map[string]any{
		"type": format.Recovery.Mark(), "machine": r.Machine, "owner": r.Owner, "reason": r.Reason,
		"from": moment(r.From), "until": moment(r.Until),
	}, map[string]any{"off": r.Off, "aged": r.Aged})
}

// ParseRecovery reads a recovery file without checking any signature: see
// [KeySet.OpenRecovery].
func ParseRecovery(data []byte) (Recovery, error) {
	_, r, err := ParseRecoveryOf(data)
	return r, err
}

// parseRecovery reads a recovery file without checking any signature.
func ParseRecoveryOf(data []byte) (Sealed, Recovery, error) {
	doc, err := ParseSealed(data, format.Recovery)
	if err != nil {
		return doc, Recovery{}, Refuse(BadGrant, "%w", err)
	}
	f := NewFields("signed", doc.Body)
	f.Text("type")
	r := Recovery{
		Machine: f.Text("machine"), From: f.Moment("from"), Until: f.Moment("until"), Off: f.Texts("off"), Aged: f.Texts("aged"),
		Owner: f.Text("owner"), Reason: f.Text("reason"),
	}
	if err := errors.Join(f.Done(), r.Check()); err != nil {
		return doc, r, Refuse(BadGrant, "%w", err)
	}
	return doc, r, nil
}

// Sign returns the recovery file with one more signature. The old file is nil for
// the first one.
func (r Recovery) Sign(old []byte, s Signing) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, Refuse(BadGrant, "%w", err)
	}
	doc := Sealed{Kind: format.Recovery, Body: r.body()}
	if err := doc.grow(old, s); err != nil {
		return nil, err
	}
	return doc.Encode(), nil
}

// OpenRecovery verifies a recovery file for a machine: for each bundle that it
// names as many keys signed it as that bundle needs, and they may sign it.
func (s *KeySet) OpenRecovery(data []byte, machine string, now time.Time) (Recovery, error) {
	doc, r, err := ParseRecoveryOf(data)
	if err != nil {
		return r, err
	}
	audiences := map[string][]string{}
	for _, name := range r.names() {
		audiences[name] = nil
	}
	if err := s.entitled(&doc, audiences, now); err != nil {
		return r, err
	}
	switch {
	case r.Machine != machine:
		return r, Refuse(WrongAudience, "for the machine %s, this is %s", Shown(r.Machine), machine)
	case now.Before(r.From):
		return r, Refuse(Expired, "it begins on %s", Day(r.From))
	case !now.Before(r.Until):
		return r, Refuse(Expired, "it was good until %s", Day(r.Until))
	}
	return r, nil
}
