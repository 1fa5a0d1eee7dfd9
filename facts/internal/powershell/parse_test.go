package powershell

import (
	"os"
	"strings"
	"testing"
)

// TestParse reads testdata/read.txt, which parses, and testdata/unread.txt, which
// does not. ⏎ is a line break.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		file  string
		reads bool
	}{{"testdata/read.txt", true}, {"testdata/unread.txt", false}} {
		for _, line := range lines(t, c.file) {
			_, err := parse(line)
			if (err == nil) != c.reads {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

func lines(t testing.TB, file string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "##") {
			out = append(out, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	if len(out) == 0 {
		t.Fatal("no lines")
	}
	return out
}

// FuzzParse holds that no text makes the reader panic or leave the text.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/read.txt", "testdata/unread.txt"} {
		for _, line := range lines(f, file) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := parse(s)
		if e, ok := err.(*syntaxError); ok && (e.at < 0 || e.at > len(s)) {
			t.Errorf("%v lies outside the text", err)
		}
		for _, n := range b.body {
			if c, ok := n.(*chain); ok && (c.from < 0 || c.to > len(s) || c.from > c.to) {
				t.Errorf("a chain from %d to %d of %d bytes", c.from, c.to, len(s))
			}
		}
	})
}
