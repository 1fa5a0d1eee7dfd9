package gate_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// threatProof is what holds a case: a test in a file, a script, or a file of lines.
var threatProof = regexp.MustCompile(`^([\w/.-]+_test\.go) (Test\w+)$|^([\w/.-]+\.txtar)$|^(policies/testdata/(?:lines|threats)/\w+\.txt)$`)

// TestThreatsPage holds that each row of docs/threats.md names tests that there are, and
// that no case is left out.
func TestThreatsPage(t *testing.T) {
	page, err := os.ReadFile("docs/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if !strings.HasPrefix(line, "| T") {
			continue
		}
		rows++
		if len(cells) != 6 || strings.TrimSpace(cells[1]) != fmt.Sprintf("T%d", rows) || strings.TrimSpace(cells[2]) == "" {
			t.Errorf("not the row of case T%d, with a title, tests and a limit: %s", rows, line)
			continue
		}
		proofs := quoted.FindAllStringSubmatch(cells[3], -1)
		if len(proofs) == 0 {
			t.Errorf("T%d has no test", rows)
		}
		for _, p := range proofs {
			if why := noThreatProof(p[1]); why != "" {
				t.Errorf("T%d: %s: %s", rows, p[1], why)
			}
		}
	}
	if rows < 27 {
		t.Errorf("%d cases", rows)
	}
}

// noThreatProof says why nothing is proved by what a row names, "" if something is.
func noThreatProof(ref string) string {
	m := threatProof.FindStringSubmatch(ref)
	if m == nil {
		return "neither FILE_test.go TestName, nor a script, nor a file of lines"
	}
	text, err := os.ReadFile(m[1] + m[3] + m[4])
	switch {
	case err != nil:
		return "there is no such file"
	case m[2] != "" && !strings.Contains(string(text), "\nfunc "+m[2]+"("):
		return "there is no such test"
	}
	return ""
}
