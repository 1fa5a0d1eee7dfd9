package bundles

import (
	"bytes"
	"testing"
	"testing/fstest"
)

// TestAttacks builds, signs and attacks one bundle a case.
func TestAttacks(t *testing.T) {
	ring := newKeyRing(t)
	for _, c := range readCases(t, "testdata/attacks.txt") {
		t.Run(c.name, func(t *testing.T) {
			a := newAttack(t, ring)
			for _, step := range c.steps {
				a.step(step)
			}
			b, err := a.open()
			c.check(t, err)
			if err == nil && b.Name() != "company" {
				t.Errorf("opened %q", b.Name())
			}
			if err == nil {
				if err := fstest.TestFS(b.FS(), "data.json"); err != nil {
					t.Error(err)
				}
			}
			if r := reasonOf(err); r != "" && (r.Hint() == "" || r.Sentence() == "it is refused") {
				t.Errorf("%s has no words", r)
			}
		})
	}
}

// TestReproducible packs and signs twice.
func TestReproducible(t *testing.T) {
	ring := newKeyRing(t)
	make := func() ([]byte, []byte) {
		a := newAttack(t, ring)
		a.step("sign inside release")
		a.step("sign beside alice")
		return a.archive, a.envelope
	}
	one, oneEnvelope := make()
	two, twoEnvelope := make()
	if !bytes.Equal(one, two) || !bytes.Equal(oneEnvelope, twoEnvelope) {
		t.Error("the same files, signed by the same keys, make other bytes")
	}
}
