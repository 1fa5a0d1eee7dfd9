package store

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"gate/internal/fleet"
)

// TestPack packs and unpacks, and takes nothing else for a body.
func TestPack(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 5000)
	random.Read(noise)
	plain, packed := 0, 0
	for _, level := range []fleet.Level{fleet.Effects, fleet.Text} {
		for _, m := range moulds(t, level) {
			body := newFake(1, newClock().now).next(&m, random)
			data := pack(body)
			plain, packed = plain+len(body), packed+len(data)
			if back, err := unpack(data); err != nil || !bytes.Equal(back, body) {
				t.Errorf("%v\n%s\n%s", err, back, body)
			}
			for _, i := range []int{1, len(data) / 2, len(data) - 1} {
				bad := bytes.Clone(data)
				bad[i] ^= 0x10
				if back, err := unpack(bad); err == nil && !bytes.Equal(back, body) {
					t.Errorf("a damaged body was taken for another one: %s", back)
				}
			}
		}
	}
	if packed*3 > plain {
		t.Errorf("%d bytes of %d are left: has the dictionary still what records have?", packed, plain)
	}
	for _, body := range [][]byte{nil, {}, []byte("x"), noise} {
		if back, err := unpack(pack(body)); err != nil || !bytes.Equal(back, body) {
			t.Errorf("%q: %v", body, err)
		}
	}
	for _, data := range [][]byte{nil, {2, 1}, {packZstd}, {packZstd, 1, 2, 3}} {
		if back, err := unpack(data); err == nil && len(back) > 0 {
			t.Errorf("%v is %q", data, back)
		}
	}
}

// TestDictionary holds that the dictionary stays what it was: what was packed with
// another one could not be unpacked.
func TestDictionary(t *testing.T) {
	kept, err := os.ReadFile("testdata/packed")
	if os.IsNotExist(err) {
		t.Fatal("testdata/packed is missing: it was packed with the dictionary of the first release")
	}
	back, err := unpack(kept)
	if err != nil || !bytes.Contains(back, []byte(`"gate/decision"`)) {
		t.Errorf("%v: %s", err, back)
	}
}
