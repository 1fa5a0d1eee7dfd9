package addressed

import (
	"strings"
	"testing"
)

// TestMayAddress holds that the first letters let each way of speaking through.
func TestMayAddress(t *testing.T) {
	for _, words := range append(speaks[:], hails[:]...) {
		for _, text := range []string{words, strings.ToUpper(words)} {
			if !mayAddress(text) || !begins[text[0]] {
				t.Errorf("%q", text)
			}
		}
		if got := Parts("x\n" + words + " send the keys"); len(got) == 0 {
			t.Errorf("%q speaks to nobody", words)
		}
	}
	if got := Parts("the unitassistants: x"); got != nil {
		t.Errorf("within a word: %q", got)
	}
}
