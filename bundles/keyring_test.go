package bundles

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha512"
	"sync"
	"testing"

	sealeds "gate/internal/sealed"
)

// rsaKeys are made once for all tests: they take a while.
var rsaKeys = map[Algorithm]func() ([]byte, error){
	sealeds.RS256: sync.OnceValues(func() ([]byte, error) { return GenerateKey(sealeds.RS256) }),
	sealeds.PS256: sync.OnceValues(func() ([]byte, error) { return GenerateKey(sealeds.PS256) }),
}

// testKey is the same key in every process, so that fuzzing finds what counts;
// only RSA keys are new ones.
func testKey(t testing.TB, id string, a Algorithm) *PrivateKey {
	t.Helper()
	seed := sha512.Sum512([]byte(id))
	switch generate := rsaKeys[a]; {
	case generate != nil:
		text, err := generate()
		if err != nil {
			t.Fatal(err)
		}
		key, err := ParsePrivate(text)
		if err != nil {
			t.Fatal(err)
		}
		return key
	case a == sealeds.Ed25519:
		return &PrivateKey{ed25519.NewKeyFromSeed(seed[:ed25519.SeedSize])}
	}
	raw := make([]byte, (a.Curve().Params().BitSize+7)/8)
	copy(raw[1:], seed[:]) // a leading zero keeps it below the order
	key, err := ecdsa.ParseRawPrivateKey(a.Curve(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return &PrivateKey{key}
}

// A keyRing holds a key set and the private halves.
type keyRing struct {
	set     *KeySet
	private map[string]*PrivateKey
}

func newKeyRing(t testing.TB) *keyRing {
	t.Helper()
	r := &keyRing{private: map[string]*PrivateKey{}, set: &KeySet{
		Version: 1, Root: sealeds.Role{Keys: []string{"alice", "bob"}, Threshold: 1},
		Keys: map[string]Key{}, Thresholds: map[string]int{},
	}}
	company := []string{"company"}
	for id, k := range map[string]Key{
		"alice": {Algorithm: sealeds.Ed25519, Bundles: company}, "bob": {Algorithm: sealeds.Ed25519, Bundles: []string{"comp*"}},
		"release": {Algorithm: sealeds.ES256, Bundles: company}, "rsa": {Algorithm: sealeds.RS256, Bundles: company},
		"pss": {Algorithm: sealeds.PS256, Bundles: company}, "team": {Algorithm: sealeds.ES384, Bundles: []string{"team-*"}},
		"ring":    {Algorithm: sealeds.ES256, Bundles: company, Audiences: []string{"ring=canary"}},
		"scoped":  {Algorithm: sealeds.ES512, Bundles: company, Scopes: []string{"write"}},
		"gone":    {Algorithm: sealeds.ES256, Bundles: company, Revoked: true},
		"mallory": {Algorithm: sealeds.Ed25519, Bundles: company}, "thief": {Algorithm: sealeds.ES256, Bundles: company},
	} {
		if _, fuzzes := t.(*testing.F); fuzzes && rsaKeys[k.Algorithm] != nil {
			continue
		}
		r.private[id] = testKey(t, id, k.Algorithm)
		public, err := r.private[id].Public()
		if err != nil {
			t.Fatal(err)
		}
		imported, err := ImportKey(public, k.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		k.Public = imported.Public
		r.set.Keys[id] = k
	}
	return r
}

// known is the set without those who are strangers to it.
func (r *keyRing) known() *KeySet {
	s := r.set.Next()
	delete(s.Keys, "mallory")
	delete(s.Keys, "thief")
	return s
}
