package commands

import (
	"strings"
	"testing"
)

// FuzzStyled writes any line: nothing is left that steers a terminal but
// colours.
func FuzzStyled(f *testing.F) {
	for _, seed := range []string{"\x1b[1;32mmain\x1b[0m", "\x1b]0;x\a", "\x1b[\x1b[31m2J", "\x1b[31", "\x9b2J", "a\x1b[31mm\u202e", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		out := styled(line)
		if rest := colours().ReplaceAllString(out, ""); visible(rest) != rest {
			t.Errorf("%q became %q", line, out)
		}
		if strings.Count(out, "\x1b") != len(colours().FindAllString(line, -1)) {
			t.Errorf("%q lost a colour or won one: %q", line, out)
		}
	})
}
