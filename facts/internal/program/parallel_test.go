package program

import (
	"os/exec"
	"testing"

	"gate/facts/internal/flow"
)

// TestAsWord holds that bash makes the argument again of what parallel puts into a
// line, and asks parallel itself where it is installed.
func TestAsWord(t *testing.T) {
	for _, text := range []string{"a", "a b", "; echo x", "$(echo y)", "`echo z`", "~", `"'\`, "a\nb", "ä ö", "*", "-n=1,2@%+", "{a,b}", "#", "!x", "&>|<()[]?^"} {
		word := asWord(flow.Literal(text)).Text()
		if got, err := exec.Command("bash", "-c", "printf %s "+word).Output(); err != nil || string(got) != text {
			t.Errorf("%q: bash makes %q of %s: %v", text, got, word, err)
		}
		if _, err := exec.LookPath("parallel"); err != nil {
			continue
		}
		cmd := exec.Command("parallel", "-0", "--will-cite", "printf %s", ":::", text)
		if got, err := cmd.Output(); err != nil || string(got) != text {
			t.Errorf("%q: parallel hands on %q: %v", text, got, err)
		}
	}
}
