package bundles

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	sealeds "gate/internal/sealed"
)

// BenchmarkOpen verifies bundles. "10MB" holds that much text in 200 policies,
// which compresses as text does; "1000 policies" is the size of a large company.
// "x-sha256" is the ratio to hashing as many bytes as the files have.
func BenchmarkOpen(b *testing.B) {
	ring := newKeyRing(b)
	words := noise(64 << 10)
	policy := func(i, size int) []byte {
		text := []byte(fmt.Sprintf("package company.p%d\n\n# METADATA\n# scope: rule\n", i))
		for n := i; len(text) < size; n = (n*7919 + 13) % (len(words) - 80) {
			text = fmt.Appendf(text, "deny contains reason if {\n\tsome c in input.facts.shell.commands\n\tc.program == %q\n\treason := %q\n}\n",
				words[n:n+8], words[n+8:n+60])
		}
		return text
	}
	for _, c := range []struct {
		name     string
		policies int
		size     int
		steps    []string
	}{
		{"10MB/inside", 200, 50 << 10, []string{"sign inside release"}},
		{"10MB/beside", 200, 50 << 10, []string{"sign beside alice"}},
		{"10MB/both", 200, 50 << 10, []string{"sign inside release", "sign beside alice"}},
		{"1000policies/both", 1000, 2 << 10, []string{"sign inside release", "sign beside alice"}},
	} {
		a := newAttack(new(testing.T), ring)
		for i := range c.policies {
			a.files[fmt.Sprintf("company/p%d.rego", i)] = policy(i, c.size)
		}
		for _, s := range c.steps {
			a.step(s)
		}
		benchOpen(b, c.name, a, c.policies*c.size)
	}
	a := newAttack(new(testing.T), ring)
	a.files[sealeds.DataFile] = []byte(`{"company":{"hosts":[`)
	for i := range 100_000 {
		a.files[sealeds.DataFile] = fmt.Appendf(a.files[sealeds.DataFile], `{"name":"host-%d","team":%q,"note":%q},`, i, words[i%1000:][:8], words[i%2000:][:50])
	}
	a.files[sealeds.DataFile] = append(a.files[sealeds.DataFile], `{}]}}`...)
	a.step("sign inside release")
	benchOpen(b, "10MB of data/inside", a, len(a.files[sealeds.DataFile]))
}

func benchOpen(b *testing.B, name string, a *attack, size int) {
	archive := a.packed()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(size))
		for b.Loop() {
			if _, err := a.open(); err != nil {
				b.Fatal(err)
			}
		}
		perOpen := b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(float64(len(archive)), "archive-bytes")
		b.ReportMetric(float64(perOpen)/float64(hashing(size)), "x-sha256")
	})
}

// hashing is how long this machine takes, now, for the SHA-256 of so many bytes:
// what a verification is held against.
func hashing(size int) time.Duration {
	const times = 5
	data := make([]byte, size)
	start := time.Now()
	for range times {
		sha256.Sum256(data)
	}
	return time.Since(start) / times
}

// BenchmarkPack packs 1000 policies.
func BenchmarkPack(b *testing.B) {
	a := newAttack(new(testing.T), newKeyRing(b))
	for i := range 1000 {
		a.files[fmt.Sprintf("company/p%d.rego", i)] = fmt.Appendf(nil, "package company.p%d\n\ndeny contains %q\n", i, noise(1000))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sealeds.PackOf(a.files); err != nil {
			b.Fatal(err)
		}
	}
}
