package bundles

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lestrrat-go/jwx/v3/jwk"

	"gate/strictjson"
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

// ImportKey reads a public key from PEM or JWK. The algorithm is a's; if that is
// empty, the JWK's, else what is usual for the kind of key (ES by its curve,
// PS256 for RSA).
func ImportKey(data []byte, a Algorithm) (Key, error) {
	data = bytes.TrimSpace(data)
	var k Key
	var err error
	if bytes.HasPrefix(data, []byte("{")) {
		k.Public, k.Algorithm, err = parseJWK(data)
	} else {
		k.Public, err = parsePublic(data)
	}
	if err != nil {
		return Key{}, err
	}
	if a != "" {
		k.Algorithm = a
	} else if k.Algorithm == "" {
		k.Algorithm = defaultAlgorithm(k.Public)
	}
	return k, k.Algorithm.suits(k.Public)
}

func parseJWK(data []byte) (crypto.PublicKey, Algorithm, error) {
	fields, err := strictjson.Object(data, strictjson.Limits{Bytes: 64 << 10})
	if err != nil {
		return nil, "", err
	}
	if _, private := fields["d"]; private {
		return nil, "", errors.New("a private key; give its public half")
	}
	key, err := jwk.ParseKey(data)
	if err != nil {
		return nil, "", err
	}
	var raw any
	if err := jwk.Export(key, &raw); err != nil {
		return nil, "", err
	}
	// The detour checks that the point is on its curve.
	text, err := publicPEM(raw)
	if err != nil {
		return nil, "", err
	}
	public, err := parsePublic([]byte(text))
	alg, _ := fields["alg"].(string)
	if alg == "EdDSA" {
		alg = string(Ed25519)
	}
	return public, Algorithm(alg), err
}

// GenerateKey makes a new key and returns its private half as PEM (PKCS 8).
func GenerateKey(a Algorithm) (private []byte, err error) {
	var key crypto.Signer
	switch {
	case a == Ed25519:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case a.curve() != nil:
		key, err = ecdsa.GenerateKey(a.curve(), rand.Reader)
	default:
		if _, known := a.hash(); !known {
			return nil, a.suits(nil)
		}
		key, err = rsa.GenerateKey(rand.Reader, 3072)
	}
	if err != nil {
		return nil, err
	}
	return (&PrivateKey{key}).encode()
}

func (p *PrivateKey) encode() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// A Signer signs in the name of a key of the key set: a private key from
// [ParsePrivate], or a program in front of hardware.
type Signer interface {
	// Sign returns the signature of digest, which is the hash of the message
	// that the algorithm wants, or the message itself for Ed25519. ECDSA
	// signatures may be DER or r‖s.
	Sign(a Algorithm, digest []byte) ([]byte, error)
}

// A PrivateKey is a private key in memory.
type PrivateKey struct{ key crypto.Signer }

// ParsePrivate reads a private key from PEM: PKCS 8, or what OpenSSL wrote before.
func ParsePrivate(data []byte) (*PrivateKey, error) {
	block, _ := pem.Decode(bytes.TrimSpace(data))
	if block == nil {
		return nil, errors.New("no PEM block with a private key")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		return nil, fmt.Errorf("a PEM block %q where a private key is wanted", block.Type)
	}
	if err != nil {
		return nil, errors.New("the private key cannot be read") // nothing of it in a message
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return &PrivateKey{signer}, nil
}

// Public is the public half as PEM.
func (p *PrivateKey) Public() ([]byte, error) {
	text, err := publicPEM(p.key.Public())
	return []byte(text), err
}

// Sign implements [Signer]. ECDSA is deterministic (RFC 6979), so that signing
// twice makes one file.
func (p *PrivateKey) Sign(a Algorithm, digest []byte) ([]byte, error) {
	if err := a.suits(p.key.Public()); err != nil {
		return nil, err
	}
	h, _ := a.hash()
	switch key := p.key.(type) {
	case *ecdsa.PrivateKey:
		return key.Sign(nil, digest, h)
	case *rsa.PrivateKey:
		if a.pss() {
			return rsa.SignPSS(rand.Reader, key, h, digest, pssOptions)
		}
	}
	return p.key.Sign(rand.Reader, digest, h)
}

// sign has a signer sign a message, and makes sure that the key verifies it.
func (k Key) sign(s Signer, message []byte) ([]byte, error) {
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
func (k Key) maySign(name string, audience []string, scope string) error {
	if !fits(k.Bundles, name) {
		return fmt.Errorf("it may not sign bundles named %s", name)
	}
	if len(k.Audiences) > 0 && len(audience) == 0 {
		return errors.New("it may not sign what is for everybody")
	}
	for _, a := range audience {
		if len(k.Audiences) > 0 && !fits(k.Audiences, a) {
			return fmt.Errorf("it may not sign for the audience %s", shown(a))
		}
	}
	if scope != "" && !slices.Contains(k.Scopes, scope) || scope == "" && len(k.Scopes) > 0 {
		return fmt.Errorf("it may not sign in the scope %q", shown(scope))
	}
	return nil
}
