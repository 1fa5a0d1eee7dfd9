package bundles

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha512"
	"sync"
	"testing"
)

// rsaKeys are made once for all tests: they take a while.
var rsaKeys = map[Algorithm]func() ([]byte, error){
	RS256: sync.OnceValues(func() ([]byte, error) { return GenerateKey(RS256) }),
	PS256: sync.OnceValues(func() ([]byte, error) { return GenerateKey(PS256) }),
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
	case a == Ed25519:
		return &PrivateKey{ed25519.NewKeyFromSeed(seed[:ed25519.SeedSize])}
	}
	raw := make([]byte, (a.curve().Params().BitSize+7)/8)
	copy(raw[1:], seed[:]) // a leading zero keeps it below the order
	key, err := ecdsa.ParseRawPrivateKey(a.curve(), raw)
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
		Version: 1, Root: Role{Keys: []string{"alice", "bob"}, Threshold: 1},
		Keys: map[string]Key{}, Thresholds: map[string]int{},
	}}
	company := []string{"company"}
	for id, k := range map[string]Key{
		"alice": {Algorithm: Ed25519, Bundles: company}, "bob": {Algorithm: Ed25519, Bundles: []string{"comp*"}},
		"release": {Algorithm: ES256, Bundles: company}, "rsa": {Algorithm: RS256, Bundles: company},
		"pss": {Algorithm: PS256, Bundles: company}, "team": {Algorithm: ES384, Bundles: []string{"team-*"}},
		"ring":    {Algorithm: ES256, Bundles: company, Audiences: []string{"ring=canary"}},
		"scoped":  {Algorithm: ES512, Bundles: company, Scopes: []string{"write"}},
		"gone":    {Algorithm: ES256, Bundles: company, Revoked: true},
		"mallory": {Algorithm: Ed25519, Bundles: company}, "thief": {Algorithm: ES256, Bundles: company},
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
