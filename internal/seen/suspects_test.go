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
