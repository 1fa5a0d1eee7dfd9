package fleet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Headers of a signed request.
const (
	machineHeader   = "Gate-Machine"
	timeHeader      = "Gate-Time"
	signatureHeader = "Gate-Signature"
)

// stampForm is how a signed request writes its time: UTC, to the second.
const stampForm = "2006-01-02T15:04:05Z"

// signedText is what the signature is over. path is the part below the collector's address;
// body is as it is sent, compressed.
func signedText(method, path, machine, stamp string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "gate-fleet/%d\n%s\n%s\n%s\n%s\n%s\n", Version, method, path, machine, stamp, hex.EncodeToString(sum[:]))
}

// Sign puts the three headers of a signature by a machine's key into h. path is the part
// below the collector's address, such as [LogsPath]; body is what is sent, after
// compression.
func Sign(h http.Header, key ed25519.PrivateKey, machine, method, path string, body []byte, now time.Time) {
	stamp := now.UTC().Format(stampForm)
	signature := ed25519.Sign(key, signedText(method, path, machine, stamp, body))
	h.Set(machineHeader, machine)
	h.Set(timeHeader, stamp)
	h.Set(signatureHeader, base64.StdEncoding.EncodeToString(signature))
}

// A Signed is what the headers of a request claim. Nothing of it is true before
// [Signed.Check] has said so.
type Signed struct {
	Machine string    // whose key it needs
	Time    time.Time // by the machine's clock, which may be wrong: no reason to refuse

	stamp     string
	signature []byte
}

// ErrSignature reports a request that the machine's key did not sign.
var ErrSignature = errors.New("the signature is not of this machine's key over this request")

// SignedBy reads the headers of a request. An error says in one sentence which is missing
// or wrong.
func SignedBy(h http.Header) (Signed, error) {
	for _, name := range []string{machineHeader, timeHeader, signatureHeader} {
		if n := len(h.Values(name)); n != 1 {
			return Signed{}, fmt.Errorf("the request must have the header %s once, and has it %d times", name, n)
		}
	}
	s := Signed{Machine: h.Get(machineHeader), stamp: h.Get(timeHeader)}
	if !IsMachine(s.Machine) {
		return Signed{}, fmt.Errorf("%s: %w", machineHeader, errNoMachine)
	}
	var err error
	if s.Time, err = time.Parse(stampForm, s.stamp); err != nil {
		return Signed{}, fmt.Errorf("%s: a time such as %s is wanted", timeHeader, stampForm)
	}
	// Strict: one signature has one spelling.
	s.signature, err = base64.StdEncoding.Strict().DecodeString(h.Get(signatureHeader))
	if err != nil || len(s.signature) != ed25519.SignatureSize || strings.ContainsAny(h.Get(signatureHeader), "\r\n") {
		return Signed{}, fmt.Errorf("%s: %d bytes in base64 are wanted", signatureHeader, ed25519.SignatureSize)
	}
	return s, nil
}

// Check returns nil if the key signed a request of this method and path with this body, as
// it came. Anything else is [ErrSignature].
func (s Signed) Check(key ed25519.PublicKey, method, path string, body []byte) error {
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, signedText(method, path, s.Machine, s.stamp, body), s.signature) {
		return ErrSignature
	}
	return nil
}

// ParseKey reads a machine's public key as an enrolment brings it: base64 of 32 bytes.
func ParseKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("key: %d bytes in base64 are wanted", ed25519.PublicKeySize)
	}
	return key, nil
}
