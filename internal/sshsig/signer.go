package sshsig

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// A Signer is a line of a file of allowed signers, as ssh-keygen(1) has it: names, options
// and a public key.
type Signer struct {
	Names      []string // at least one
	Key        ssh.PublicKey
	Namespaces []string  // what its signatures may be for; none: anything
	After      time.Time // zero: since ever
	Before     time.Time // from then on no signature counts; zero: for ever
}

// ReadSigner reads a line such as
//
//	ana@acme.example valid-before="20270101Z" sk-ssh-ed25519@openssh.com AAAA…
//
// Times without a Z are those of this machine. Authorities of certificates are refused.
func ReadSigner(line string) (Signer, error) {
	names, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
	key, _, options, more, err := ssh.ParseAuthorizedKey([]byte(rest))
	switch {
	case !ok || err != nil || strings.HasPrefix(names, "#") || len(more) > 0:
		return Signer{}, errors.New("no line of allowed signers: give a name and a public key of SSH")
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return Signer{}, errors.New("a certificate, not a key")
	}
	s := Signer{Names: strings.Split(strings.Trim(names, `"`), ","), Key: key}
	if slices.Contains(s.Names, "") {
		return Signer{}, errors.New("a name is empty")
	}
	for _, option := range options {
		if err := s.take(option); err != nil {
			return Signer{}, err
		}
	}
	return s, nil
}

// take takes an option in.
func (s *Signer) take(option string) error {
	name, value, _ := strings.Cut(option, "=")
	value = strings.Trim(value, `"`)
	var err error
	switch strings.ToLower(name) {
	case "namespaces":
		s.Namespaces = strings.Split(value, ",")
	case "valid-after":
		s.After, err = moment(value)
	case "valid-before":
		s.Before, err = moment(value)
	default:
		err = errors.New("it is not supported")
	}
	if err != nil {
		return fmt.Errorf("the option %q: %w", name, err)
	}
	return nil
}

// moment reads YYYYMMDD[HHMM[SS]][Z].
func moment(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.ParseInLocation(layout, digits, zone); err == nil && len(digits) == len(layout) {
			return t, nil
		}
	}
	return time.Time{}, errors.New("no time such as 20270101 or 202701011200Z")
}

// Name is the first of its names.
func (s Signer) Name() string { return s.Names[0] }

// Fingerprint tells the key from others: SHA256 and base64, as ssh-keygen -l prints it.
func (s Signer) Fingerprint() string { return ssh.FingerprintSHA256(s.Key) }

// Allows reports why no signature of the signer counts for a namespace at a time.
func (s Signer) Allows(namespace string, at time.Time) error {
	switch {
	case len(s.Namespaces) > 0 && !slices.Contains(s.Namespaces, namespace):
		return fmt.Errorf("the key of %s may not sign for %q", s.Name(), namespace)
	case !s.After.IsZero() && at.Before(s.After):
		return fmt.Errorf("the key of %s does not count yet", s.Name())
	case !s.Before.IsZero() && !at.Before(s.Before):
		return fmt.Errorf("the key of %s has expired", s.Name())
	}
	return nil
}

// Check returns which of the signers signed the text for the namespace, if its signature
// counts at a time. A key that stands in several lines counts by any of them.
func Check(text, armoured []byte, namespace string, at time.Time, signers ...Signer) (Signer, error) {
	why := ErrStranger
	for _, s := range signers {
		switch found := Verify(text, armoured, namespace, s.Key); {
		case errors.Is(found, ErrStranger):
			continue
		case found != nil:
			return Signer{}, found
		}
		if why = s.Allows(namespace, at); why == nil {
			return s, nil
		}
	}
	return Signer{}, why
}
