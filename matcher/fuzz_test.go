package matcher

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"

	"gate/hook"
)

// sameAsECMAScript reports a difference between the translation to Go's syntax
// and what the ECMAScript engine says. Values are ASCII: beyond it regexp2 is
// not quite ECMAScript (a dot takes U+2028, é is part of a word for \b), and the
// translation is.
func sameAsECMAScript(t *testing.T, pattern, value string) {
	t.Helper()
	if strings.ContainsFunc(value, func(r rune) bool { return r >= 0x80 }) {
		return
	}
	it, err := newRegex(pattern, nil)
	fast, ok := it.(linear)
	if err != nil || !ok {
		return
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return // Go takes more than ECMAScript does, such as (a)(?:b; seen by nobody
	}
	re.MatchTimeout = 20 * time.Millisecond
	want, err := re.MatchString(value)
	if err != nil {
		return
	}
	m, err := Compile(pattern, nil)
	if err != nil {
		return
	}
	if list := m.Literals(); list != nil && m.Match(value) != No && !slices.ContainsFunc(list, func(text string) bool { return Holds(value, text) }) {
		t.Errorf("%q matches %q without any of %q", pattern, value, list)
	}
	if got := fast.re.MatchString(value); got != want {
		t.Errorf("%q on %q: translated to %q it says %v, ECMAScript says %v", pattern, value, fast.re, got, want)
	}
}

// TestTranslation compares random patterns and values.
func TestTranslation(t *testing.T) {
	pieces := []string{
		"a", "b", "_", "-", ".", "*", "+", "?", "|", "(", ")", "(?:", "[ab]", "[^a-c]", "[a-]", "[-a]", "^", "$",
		`\d`, `\w`, `\W`, `\b`, `\B`, `\.`, `\-`, `\|`, `\D`, " ", "1", ",", `[\d_]`, `[.]`, `\/`,
	}
	values := []string{"a", "b", "_", "-", ".", "1", " ", "\n", "\r", "/", "|"}
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(from []string, n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	for range 20_000 {
		sameAsECMAScript(t, pick(pieces, 7), pick(values, 6))
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"", "*", "Bash", "A|B, C", "^mcp__.*", "glob:a*[!b]", "contains:x|y", "a$b", "Bash(x:*)", "[\\]"} {
		f.Add(s, "Bash")
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		m, err := Compile(pattern, nil)
		if err != nil {
			return
		}
		if got := m.Match(value); m.All() && got != Yes {
			t.Errorf("%q matches everything but %q", pattern, value)
		}
		if isName(strings.TrimSpace(pattern)) && strings.TrimSpace(pattern) == value && m.Match(value) != Yes && len(value) <= MaxValue {
			t.Errorf("the name %q does not match itself", value)
		}
		sameAsECMAScript(t, pattern, value)
	})
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{"Bash", "Bash(git push:*)", "Read(~/.ssh/**)", "WebFetch(domain:*.x)", "mcp__a__*", "Agent(x)", "Read([", "Edit(//a/../b)"} {
		f.Add(s, "git push", "/repo/a")
	}
	f.Fuzz(func(t *testing.T, text, word, path string) {
		c, err := ParseCondition(text)
		if err != nil {
			return
		}
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash", "cwd": "/repo"}, Facts: &hook.Facts{
			Shell: &hook.Shell{Commands: []hook.ShellCommand{{Program: &word, Words: []hook.Word{{Value: &word}, {}}}}},
			Paths: []hook.Path{{Path: &path, Access: "read"}, {Path: &path, Access: "write"}},
			Hosts: []hook.Host{{Host: &word, URL: &path}},
		}}
		known := c.Match(ev)
		ev.Facts.Opaque = true
		if opaque := c.Match(ev); known != No && opaque != known || known == No && (c.other == nil || c.other.judge != nil) && opaque == Yes {
			t.Errorf("%q: %v on what is known, %v when more is unknown", text, known, opaque)
		}
		c.Match(&hook.Event{})
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{"Bash", "Edit|Write|Bash", "^mcp__.*__write"} {
		m, err := Compile(pattern, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				m.Match("mcp__files__write_file")
			}
		})
	}
}
