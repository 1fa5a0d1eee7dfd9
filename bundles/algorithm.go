package bundles

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes of the table
	_ "crypto/sha512"

	sealeds "gate/internal/sealed"
)

// defaultAlgorithm is what a public key is used with where nobody says.
func defaultAlgorithm(public crypto.PublicKey) Algorithm {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		for _, a := range []Algorithm{sealeds.ES256, sealeds.ES384, sealeds.ES512} {
			if a.Curve() == key.Curve {
				return a
			}
		}
	case *rsa.PublicKey:
		return sealeds.PS256
	}
	return sealeds.Ed25519
}
