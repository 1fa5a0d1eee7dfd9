package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "*nothing*",
		"acme.push":                  "`acme.push`",
		"a`b":                        "``a`b``",
		"`x`":                        "`` `x` ``",
		"``":                         "``` `` ```",
		"a\nb\r\n\n# head":           "`a b # head`",
		"<img src=x> @all #1":        "`<img src=x> @all #1`",
		"\x1b[31m\u202e":             "`\\x1b[31m\\u202e`",
		"a|b":                        "`a|b`",
		strings.Repeat("ä", 301):     "`" + strings.Repeat("ä", 300) + " …`",
		strings.Repeat("ä", 300):     "`" + strings.Repeat("ä", 300) + "`",
		"](https://evil.example) [x": "`](https://evil.example) [x`",
	} {
		if got := Code(in); got != want {
			t.Errorf("%q: %s, not %s", in, got, want)
		}
	}
}

func TestBlock(t *testing.T) {
	got := Block("\na\n```\n</details>\n````text\n@all\r\n")
	want := "\n  `````text\n  a\n  ```\n  </details>\n  ````text\n  @all\\x0d\n  `````"
	if got != want {
		t.Errorf("got %q", got)
	}
}

// TestPage holds that a page keeps its limit, closes what it opens, and says what it
// leaves out.
func TestPage(t *testing.T) {
	var many []string
	for i := range 1000 {
		many = append(many, Code(fmt.Sprint("policy ", i))+": "+Block(strings.Repeat("x\n", 50)))
	}
	got := Page("gate: 3", "text", Section{Title: "first", Entries: many}, Section{Title: "empty"},
		Section{Title: "second", Folded: true, Entries: many}, Section{Title: "third", Folded: true, Entries: []string{"one"}})
	if len(got) > Limit {
		t.Errorf("%d bytes", len(got))
	}
	if strings.Contains(got, "empty") {
		t.Error("a section without entries is shown")
	}
	if strings.Count(got, "<details>") != 2 || strings.Count(got, "</details>") != 2 || strings.Count(got, "```")%2 != 0 {
		t.Error("it does not close what it opens")
	}
	if !regexp.MustCompile(`(?s)- … and \d+ more\n.*second.*- … and 9\d\d more\n.*third`).MatchString(got) {
		t.Errorf("it does not say what it leaves out: %s", got[len(got)-300:])
	}
	if got, want := Page("a", "", Section{Title: "b", Entries: []string{"c"}}), "### a\n\n**b**\n\n- c\n"; got != want {
		t.Errorf("got %q", got)
	}
}

// FuzzCode holds that no text ends the code that it stands in.
func FuzzCode(f *testing.F) {
	f.Add("a`b``c")
	f.Add("\n```\n# x\n")
	f.Fuzz(func(t *testing.T, s string) {
		span := Code(s)
		if strings.ContainsAny(span, "\n\r") {
			t.Fatalf("%q has several lines", span)
		}
		if fence := span[:len(span)-len(strings.TrimLeft(span, "`"))]; fence != "" {
			inner := span[len(fence) : len(span)-len(fence)]
			if longestRun(inner) >= len(fence) || strings.HasPrefix(inner, "`") || strings.HasSuffix(inner, "`") {
				t.Fatalf("%q ends early", span)
			}
		}
		lines := strings.Split(strings.Trim(Block(s), "\n"), "\n")
		fence := strings.TrimSpace(lines[len(lines)-1])
		for _, line := range lines[1 : len(lines)-1] {
			if !strings.HasPrefix(line, "  ") || strings.Contains(line, fence) {
				t.Fatalf("%q ends the block early", line)
			}
		}
	})
}
