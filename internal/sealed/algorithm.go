package sealed

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes of the table
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// An Algorithm is how a key signs, by its name in JWS; Ed25519 stands for EdDSA
// with that curve.
type Algorithm string

// The algorithms. There is no HMAC: who can check it can forge it.
const (
	Ed25519 Algorithm = "Ed25519"
	ES256   Algorithm = "ES256"
	ES384   Algorithm = "ES384"
	ES512   Algorithm = "ES512"
	PS256   Algorithm = "PS256"
	PS384   Algorithm = "PS384"
	PS512   Algorithm = "PS512"
	RS256   Algorithm = "RS256"
	RS384   Algorithm = "RS384"
	RS512   Algorithm = "RS512"
)

// algorithms are what is to be known of each.
var algorithms = map[Algorithm]struct {
	hash  crypto.Hash    // of the message that is signed; 0: the message itself
	curve elliptic.Curve // that an ECDSA key must lie on
}{
	Ed25519: {},
	ES256:   {crypto.SHA256, elliptic.P256()},
	ES384:   {crypto.SHA384, elliptic.P384()},
	ES512:   {crypto.SHA512, elliptic.P521()},
	PS256:   {crypto.SHA256, nil},
	PS384:   {crypto.SHA384, nil},
	PS512:   {crypto.SHA512, nil},
	RS256:   {crypto.SHA256, nil},
	RS384:   {crypto.SHA384, nil},
	RS512:   {crypto.SHA512, nil},
}

// Algorithms are those that there are.
func Algorithms() []Algorithm { return slices.Sorted(maps.Keys(algorithms)) }

func (a Algorithm) Hash() (h crypto.Hash, known bool) {
	row, known := algorithms[a]
	return row.hash, known
}

// jws reports whether OPA's signature file can hold a signature of this kind.
func (a Algorithm) Jws() bool { return a != Ed25519 }

func (a Algorithm) Curve() elliptic.Curve { return algorithms[a].curve }

// pss reports an RSA key whose signatures have PSS padding.
func (a Algorithm) Pss() bool { return strings.HasPrefix(string(a), "PS") }

// digest is what is given to a signer: the hash, or for Ed25519 the message.
func (a Algorithm) digest(message []byte) []byte {
	h, _ := a.Hash()
	if h == 0 {
		return message
	}
	w := h.New()
	w.Write(message)
	return w.Sum(nil)
}

const (
	minRSA = 2048
	maxRSA = 8192 // checking costs with the square of it
)

// suits reports why a public key cannot be used with the algorithm.
func (a Algorithm) Suits(public crypto.PublicKey) error {
	if _, known := a.Hash(); !known {
		return fmt.Errorf("unknown algorithm %q; gate knows Ed25519, ES256, ES384, ES512, PS256, PS384, PS512, RS256, RS384 and RS512", string(a))
	}
	switch key := public.(type) {
	case ed25519.PublicKey:
		if a == Ed25519 {
			return nil
		}
	case *ecdsa.PublicKey:
		if a.Curve() == key.Curve {
			return nil
		}
	case *rsa.PublicKey:
		if n := key.N.BitLen(); n < minRSA || n > maxRSA {
			return fmt.Errorf("an RSA key of %d bits; %d to %d are taken", n, minRSA, maxRSA)
		}
		if a != Ed25519 && a.Curve() == nil {
			return nil
		}
	}
	return fmt.Errorf("the key is not one for %s", a)
}

// verify reports whether a signature of a message is the key's.
func (a Algorithm) verify(public crypto.PublicKey, message, signature []byte) bool {
	h, known := a.Hash()
	if !known {
		return false
	}
	digest := a.digest(message)
	switch key := public.(type) {
	case ed25519.PublicKey:
		return a == Ed25519 && ed25519.Verify(key, message, signature)
	case *ecdsa.PublicKey:
		if a.Curve() != key.Curve || len(signature) != 2*fieldBytes(key) {
			return false
		}
		half := len(signature) / 2
		return ecdsa.Verify(key, digest, new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
	case *rsa.PublicKey:
		switch {
		case a.Pss():
			return rsa.VerifyPSS(key, h, digest, signature, PssOptions) == nil
		case h != 0 && a.Curve() == nil:
			return rsa.VerifyPKCS1v15(key, h, digest, signature) == nil
		}
	}
	return false
}

var PssOptions = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}

// fieldBytes is the length of each of the two numbers of a signature.
func fieldBytes(key *ecdsa.PublicKey) int { return (key.Curve.Params().BitSize + 7) / 8 }

// parsePublic reads one PEM block with a public key, as x509 and OpenSSL write it.
func ParsePublic(text []byte) (crypto.PublicKey, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("no PEM block")
	case len(rest) > 0 || len(block.Headers) > 0:
		return nil, errors.New("more than one PEM block")
	case block.Type == "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	}
	return nil, fmt.Errorf("a PEM block %q where a public key is wanted", block.Type)
}

// publicPEM is the one form in which key sets hold public keys.
func PublicPEM(public crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}
