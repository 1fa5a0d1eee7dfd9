package secret_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"gate/internal/secret"
)

// BenchmarkFind goes through what programs print: names, paths, times and numbers.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	words := strings.Fields(`the quick brown fox internal/session/store.go:123: error failed (status 200) build ok func return
		if err != nil { PASS token request user_id=42 https://example.com/a/b?x=1 --- 2026-11-27T07:00:01Z INFO src/app/main.ts`)
	var text strings.Builder
	for text.Len() < 1<<20 {
		for range 12 {
			fmt.Fprintf(&text, "%s ", words[r.Intn(len(words))])
		}
		fmt.Fprintf(&text, "%x\n", r.Int63())
	}
	s := text.String()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		secret.Find(s)
	}
}
