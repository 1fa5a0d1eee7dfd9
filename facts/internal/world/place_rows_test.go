package world

import (
	"strings"
	"testing"

	"gate/internal/secret"
)

// TestRootIsNoPlace holds what World.find takes for granted.
func TestRootIsNoPlace(t *testing.T) {
	for _, home := range []string{"", "/", "/home/dev"} {
		root := World{Home: home}.named("/")
		for line := range strings.Lines(placeRows + secret.Files) {
			class, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
			_, patterns, _ := strings.Cut(rest, " | ")
			if ok && !strings.HasPrefix(class, "#") && root.among(patterns, false) {
				t.Errorf("home %q: the root is %s", home, rest)
			}
		}
	}
}
