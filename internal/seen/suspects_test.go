package seen

import (
	"strings"
	"testing"
)

// TestSuspectsOnce holds that a text of many keys that do not end is gone through about
// once, and that each of them is.
func TestSuspectsOnce(t *testing.T) {
	text := strings.Repeat("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA", 1000)
	blocks, size := 0, 0
	for part := range suspects(text) {
		if size += len(part); strings.HasPrefix(part, "-----BEGIN ") {
			blocks++
		}
	}
	if blocks != 1000 || size > 3*len(text) {
		t.Errorf("%d keys, %d bytes of %d", blocks, size, len(text))
	}
}

// TestSuspectsNames holds that a name with a number in a path is not looked at closely, and
// that a value with a number is, wherever it stands.
func TestSuspectsNames(t *testing.T) {
	for text, want := range map[string]bool{
		"shop.example/orders/internal/part1024": false,
		"/var/lib/shards/segment0012/index":     false,
		"postgres://app:hd/winterhill2024@db":   true,
		"password=/winterHill2024":              true,
		"token: winterhill20241107":             true,
		"https://h.example/k/a8f3b1c9d2e4":      true,
	} {
		got := false
		for range suspects(text) {
			got = true
		}
		if got != want {
			t.Errorf("%s: looked at closely: %v", text, got)
		}
	}
}
