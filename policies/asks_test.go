package policies_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gate/hook"
)

// A screen holds 24 lines of 80 letters. A question shares it with the agent's own
// text, so that it may take half of it.
const halfScreen = 12 * 80

// TestAsksFitHalfAScreen holds what a person reads who is asked about a call, or told
// why it was rejected: short, on lines of its own, and without control characters.
func TestAsksFitHalfAScreen(t *testing.T) {
	files, err := filepath.Glob("testdata/lines/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	decide, asked := decider(t), 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(strings.NewReader(string(data)))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			want, line, _ := strings.Cut(lines.Text(), " ")
			if want != "ask" && want != "deny" {
				continue
			}
			d := decide(strings.ReplaceAll(line, "⏎", "\n"))
			for _, r := range d.Reasons {
				asked++
				if text := r.Reason + r.Help; utf8.RuneCountInString(text) > halfScreen || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' }) {
					t.Errorf("%s: %d letters: %s %s", line, utf8.RuneCountInString(text), r.Reason, r.Help)
				}
				if d.Effect == hook.Ask && r.Help == "" {
					t.Errorf("%s: %s tells the person nothing", line, r.ID)
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("only %d reasons were read", asked)
	}
}
