package seen

import (
	"math"
	"math/rand"
	"testing"
)

// TestWindowsBits holds that a piece of a random value cannot be found by guesses: it has 62
// bits or more by the letters that such values have, unless it is all of a short value.
func TestWindowsBits(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for name, c := range map[string]struct {
		letters, prefix string
	}{
		"hex":             {"0123456789abcdef", ""},
		"hex in a token":  {"0123456789abcdef", "sk_live_"},
		"digits":          {"0123456789", ""},
		"digits in a bot": {"0123456789", "xoxb-"},
		"letters":         {"0123456789abcdefghijklmnopqrstuvwxyz", ""},
		"a token":         {"0123456789abcdefghijklmnopqrstuvwxyz", "ghp_"},
	} {
		for n := windowLength; n < 80; n++ {
			body := make([]byte, n)
			for i := range body {
				body[i] = c.letters[r.Intn(len(c.letters))]
			}
			covered := map[string]bool{}
			for _, w := range windows(c.prefix+string(body), true) {
				bits := float64(len(w)) * math.Log2(float64(len(c.letters)))
				if bits < 62 && w != string(body) {
					t.Errorf("%s of %d: %q has %.0f bits", name, n, w, bits)
				}
				if covered[w] {
					t.Errorf("%s of %d: %q twice", name, n, w)
				}
				covered[w] = true
			}
			if len(covered) == 0 && n >= decimalWindow {
				t.Errorf("%s of %d: none", name, n)
			}
		}
	}
}

// TestPhraseBits holds that of a phrase nothing shorter than six words is kept.
func TestPhraseBits(t *testing.T) {
	x := extraction{}
	x.phrases("seed: gravity machine north sort system female filter attitude volume fold club stay")
	if len(x.values) != 4 {
		t.Fatalf("%v", x.values)
	}
	for _, v := range x.values {
		if len(v.text) < phraseWords*beginning || v.kind == kindSecret {
			t.Errorf("%v", v)
		}
	}
}
