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

	"github.com/lestrrat-go/jwx/v3/jwk"

	sealeds "gate/internal/sealed"
	"gate/internal/strictjson"
)

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
		k.Public, err = sealeds.ParsePublic(data)
	}
	if err != nil {
		return Key{}, err
	}
	if a != "" {
		k.Algorithm = a
	} else if k.Algorithm == "" {
		k.Algorithm = defaultAlgorithm(k.Public)
	}
	return k, k.Algorithm.Suits(k.Public)
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
	text, err := sealeds.PublicPEM(raw)
	if err != nil {
		return nil, "", err
	}
	public, err := sealeds.ParsePublic([]byte(text))
	alg, _ := fields["alg"].(string)
	if alg == "EdDSA" {
		alg = string(sealeds.Ed25519)
	}
	return public, Algorithm(alg), err
}

// GenerateKey makes a new key and returns its private half as PEM (PKCS 8).
func GenerateKey(a Algorithm) (private []byte, err error) {
	var key crypto.Signer
	switch {
	case a == sealeds.Ed25519:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case a.Curve() != nil:
		key, err = ecdsa.GenerateKey(a.Curve(), rand.Reader)
	default:
		if _, known := a.Hash(); !known {
			return nil, a.Suits(nil)
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
	text, err := sealeds.PublicPEM(p.key.Public())
	return []byte(text), err
}

// Sign implements [Signer]. ECDSA is deterministic (RFC 6979), so that signing
// twice makes one file.
func (p *PrivateKey) Sign(a Algorithm, digest []byte) ([]byte, error) {
	if err := a.Suits(p.key.Public()); err != nil {
		return nil, err
	}
	h, _ := a.Hash()
	switch key := p.key.(type) {
	case *ecdsa.PrivateKey:
		return key.Sign(nil, digest, h)
	case *rsa.PrivateKey:
		if a.Pss() {
			return rsa.SignPSS(rand.Reader, key, h, digest, sealeds.PssOptions)
		}
	}
	return p.key.Sign(rand.Reader, digest, h)
}
