package sealed

import (
	"crypto"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Key is a public key of a key set, and what it may sign.
type Key struct {
	Algorithm Algorithm
	Public    crypto.PublicKey // *ecdsa.PublicKey, ed25519.PublicKey or *rsa.PublicKey
	Bundles   []string         // names, or beginnings followed by "*"; none: it signs no bundle
	Audiences []string         // the audiences it may address, as Bundles; none: any, and everybody
	Scopes    []string         // values of OPA's "scope" claim; none: no scope may be claimed
	Revoked   bool             // its signatures are worth nothing, old ones too
}

// A Signer signs in the name of a key of the key set: a private key from
// [ParsePrivate], or a program in front of hardware.
type Signer interface {
	// Sign returns the signature of digest, which is the hash of the message
	// that the algorithm wants, or the message itself for Ed25519. ECDSA
	// signatures may be DER or r‖s.
	Sign(a Algorithm, digest []byte) ([]byte, error)
}

// sign has a signer sign a message, and makes sure that the key verifies it.
func (k Key) Sign(s Signer, message []byte) ([]byte, error) {
	sig, err := s.Sign(k.Algorithm, k.Algorithm.digest(message))
	if err != nil {
		return nil, err
	}
	if public, ok := k.Public.(*ecdsa.PublicKey); ok && !k.Algorithm.verify(k.Public, message, sig) {
		if raw, ok := fromDER(sig, fieldBytes(public)); ok {
			sig = raw
		}
	}
	if !k.Algorithm.verify(k.Public, message, sig) {
		return nil, errors.New("what the signer made is not a signature of this key")
	}
	return sig, nil
}

// fits reports whether a text is one of a list of texts and beginnings.
func fits(list []string, text string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return fit(p, text) })
}

func fit(pattern, text string) bool {
	if head, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(text, head)
	}
	return pattern == text
}

// maySign reports why the key may not sign a bundle.
func (k Key) MaySign(name string, audience []string, scope string) error {
	if !fits(k.Bundles, name) {
		return fmt.Errorf("it may not sign bundles named %s", name)
	}
	if len(k.Audiences) > 0 && len(audience) == 0 {
		return errors.New("it may not sign what is for everybody")
	}
	for _, a := range audience {
		if len(k.Audiences) > 0 && !fits(k.Audiences, a) {
			return fmt.Errorf("it may not sign for the label %s", Shown(a))
		}
	}
	if scope != "" && !slices.Contains(k.Scopes, scope) || scope == "" && len(k.Scopes) > 0 {
		return fmt.Errorf("it may not sign in the scope %q", Shown(scope))
	}
	return nil
}
