//go:build unix

package glob_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"gate/facts/internal/glob"
)

// oracle is what bash does with a pattern and a value, for each pair that it
// reads: first without groups, then with them.
const oracle = `
cd "$1" || exit
while IFS=' ' read -r a b; do
	printf -v p %b "${a#x}"
	printf -v v %b "${b#x}"
	for groups in -u -s; do
		shopt $groups extglob
		case $v in $p) printf 'yes\0' ;; *) printf 'no\0' ;; esac
		printf '%s\0' "${v#$p}" "${v##$p}" "${v%$p}" "${v%%$p}"
		printf '%s\0' "${v/$p/<>}" "${v//$p/<>}" "${v/#$p/<>}" "${v/%$p/<>}"
		printf '%s\0' "${v^$p}" "${v^^$p}" "${v,$p}" "${v,,$p}"
		IFS=
		printf '%s/' $p
		unset IFS
		printf '\0'
	done
	if [[ $v == $p ]]; then printf 'yes\0'; else printf 'no\0'; fi
done
`

// operations are those of the oracle, in its order.
var operations = []string{"case", "#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,", "names"}

// answers is how many a pair of pattern and value has.
var answers = 2*len(operations) + 1

// files are the names that the oracle expands patterns to.
var files = []string{".git", ".x", "a", "ab", "abc", "B", "b.c", "a-b", "x]", "[x", "1", "é", "aé", ".é", "(a)", "a|b", "!a"}

// A shell is a bash that answers.
type shell struct {
	syntax glob.Syntax
	in     io.WriteCloser
	out    *bufio.Reader
}

func start(t testing.TB, locale string) *shell {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	version, err := exec.Command(bash, "--norc", "--noprofile", "-c", "echo ${BASH_VERSINFO[0]} ${BASH_VERSINFO[1]}").Output()
	var major, minor int
	if _, scanErr := fmt.Sscan(string(version), &major, &minor); err != nil || scanErr != nil || major < 5 || major == 5 && minor < 2 {
		t.Skipf("bash 5.2 or newer is needed to compare with, this is %q", version)
	}
	dir := t.TempDir()
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(bash, "--norc", "--noprofile", "-c", oracle, "oracle", dir)
	cmd.Env = []string{"LC_ALL=" + locale}
	s := &shell{syntax: glob.Syntax{Locale: map[string]glob.Locale{"C": glob.Bytes, "C.UTF-8": glob.Points}[locale]}}
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.in.Close()
		cmd.Wait()
	})
	return s
}

// ask returns the answers for all pairs.
func (s *shell) ask(t testing.TB, pairs [][2]string) [][]string {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(s.in)
		for _, p := range pairs {
			fmt.Fprintf(w, "x%s x%s\n", escaped(p[0]), escaped(p[1]))
		}
		failed <- w.Flush()
	}()
	out := make([][]string, len(pairs))
	for i := range pairs {
		for range answers {
			a, err := s.out.ReadString(0)
			if err != nil {
				t.Fatalf("bash does not answer to %q: %v", pairs[i], err)
			}
			out[i] = append(out[i], strings.TrimSuffix(a, "\x00"))
		}
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return out
}

// escaped is a text as printf %b reads it.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return b.String()
}

// ours is what package glob says to one operation; known is false for "unknown".
func ours(operation string, syntax glob.Syntax, pattern, value string) (got string, known bool) {
	if strings.Contains("^^,,", operation) {
		syntax.Extended = true // as bash has it there
	}
	p := glob.Compile(pattern, syntax)
	upper := strings.HasPrefix(operation, "^")
	switch operation {
	case "case":
		a := p.Match(value)
		return map[glob.Answer]string{glob.Yes: "yes", glob.No: "no"}[a], a != glob.Unknown
	case "#", "##", "%", "%%":
		return p.Trim(value, operation[0] == '%', len(operation) == 2)
	case "/", "//":
		return p.Replace(value, "<>", 0, operation == "//")
	case "/#", "/%":
		return p.Replace(value, "<>", operation[1], false)
	case "^", ",", "^^", ",,":
		return p.Recase(value, upper, len(operation) == 1)
	}
	syntax.Names = true
	return names(glob.Compile(pattern, syntax), pattern)
}

// names are the files that a pattern is expanded to, or itself.
func names(p *glob.Pattern, pattern string) (string, bool) {
	var out strings.Builder
	for _, name := range slices.Sorted(slices.Values(files)) {
		switch p.Match(name) {
		case glob.Yes:
			out.WriteString(name + "/")
		case glob.Unknown:
			return "", false
		}
	}
	if out.Len() == 0 {
		return pattern + "/", true
	}
	return out.String(), true
}

// differences are the answers to a pair that are bash's no more, and how many
// are unknown.
func (s *shell) differences(pair [2]string, want []string) (wrong []string, unknown int) {
	for i, w := range want {
		syntax, operation := s.syntax, "case"
		if i < 2*len(operations) {
			operation = operations[i%len(operations)]
		}
		syntax.Extended = i >= len(operations)
		if operation == "names" && (unfit(pair[0]) || syntax.Extended && strings.Contains(pair[0], "(")) {
			continue
		}
		if operation == "/" && strings.IndexAny(pair[0], "#%") == 0 {
			continue // that is another operation
		}
		got, known := ours(operation, syntax, pair[0], pair[1])
		switch {
		case !known:
			unknown++
		case operation == "names" && sorted(got) != sorted(w), operation != "names" && got != w:
			wrong = append(wrong, fmt.Sprintf("locale=%d groups=%t pattern %q value %q %s: %q, bash has %q", syntax.Locale, syntax.Extended, pair[0], pair[1], operation, got, w))
		}
	}
	return wrong, unknown
}

func sorted(list string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(list, "/")), "/")
}

// unfit reports a pattern that says little of names: one of several components,
// or of none. In groups bash takes names that are not ASCII for what they are not;
// facts take a group among names for any text.
func unfit(pattern string) bool {
	return pattern == "" || strings.ContainsAny(pattern, "/\\")
}

func pattern(g *rand.Rand, depth int) string {
	var b strings.Builder
	if g.IntN(1000) == 0 {
		b.WriteString(pick(g, "\xff", `\`))
	}
	for range 1 + g.IntN(4) {
		switch n := g.IntN(20); {
		case n < 6:
			b.WriteString(pick(g, "a", "b", "c", ".", "-", "x", "1", "é", "A", " ", "]", "/", "git", "\n", "!", "^", ",", "&", "|", ")"))
		case n < 8:
			b.WriteString("*")
		case n < 10:
			b.WriteString("?")
		case n < 11:
			b.WriteString(`\` + pick(g, "*", "?", "[", `\`, "a", "é", "(", ")", "]", "-"))
		case n < 16:
			b.WriteString(bracket(g))
		case depth < 2 && (depth > 0 || g.IntN(3) == 0):
			if strings.HasSuffix(strings.TrimRight(b.String(), "?"), "*") && g.IntN(20) > 0 {
				b.WriteString("b") // bash breaks its own rules about groups behind stars
			}
			b.WriteString(pick(g, "?", "*", "+", "@", "!", "!") + "(")
			for i := range 1 + g.IntN(3) {
				if i > 0 {
					b.WriteString("|")
				}
				if g.IntN(5) > 0 {
					b.WriteString(pattern(g, depth+1))
				}
			}
			if g.IntN(30) > 0 {
				b.WriteString(")")
			}
		}
	}
	return b.String()
}

func bracket(g *rand.Rand) string {
	out := "[" + pick(g, "", "", "", "!", "^")
	if g.IntN(200) == 0 {
		out += "]"
	}
	for range 1 + g.IntN(3) {
		out += pick(g, "a", "b", "é", ".", "-", "x", "1", "a-c", "A-Z", "0-9", "z-a", "[", `\]`, `\-`, `\\`, "/", "|", "(", ")",
			"[:alpha:]", "[:digit:]", "[:lower:]", "[:upper:]", "[:punct:]", "[:space:]", "[:alnum:]", "[:xdigit:]", "[:word:]", "[:none:]", "*", "?")
		if g.IntN(500) == 0 {
			out += pick(g, "[:", ":]", "a-é", "[=a=]", "[.-.]", "!", "^")
		}
	}
	if g.IntN(20) > 0 {
		out += "]"
	}
	return out
}

func value(g *rand.Rand) string {
	var b strings.Builder
	for range max(1, g.IntN(7)) {
		b.WriteString(pick(g, "a", "b", "c", ".", "-", "x", "1", "é", "É", "A", "Z", " ", "]", "[", "/", ".git", "\n", "!", "^", `\`, "*", "(", ")", "|", "ё", "_"))
	}
	switch g.IntN(800) {
	case 0:
		b.WriteString("\xff")
	case 1, 2, 3, 4, 5, 6, 7, 8:
		return ""
	}
	return b.String()
}

func pick(g *rand.Rand, list ...string) string { return list[g.IntN(len(list))] }

// TestBash holds the law: an answer is bash's, or unknown, which is rare.
func TestBash(t *testing.T) {
	for _, locale := range []string{"C", "C.UTF-8"} {
		t.Run(locale, func(t *testing.T) {
			s := start(t, locale)
			g := rand.New(rand.NewPCG(19, 7))
			var pairs [][2]string
			for range *generated {
				pairs = append(pairs, [2]string{pattern(g, 0), value(g)})
			}
			vague, found := 0, 0
			for i, want := range s.ask(t, pairs) {
				wrong, unknown := s.differences(pairs[i], want)
				if vague += min(unknown, 1); len(wrong) > 0 && found < 60 {
					found++
					t.Errorf("%s", strings.Join(wrong, "\n"))
				}
			}
			t.Logf("%d patterns, unknown in %d", len(pairs), vague)
			if vague*100 > len(pairs) {
				t.Errorf("%d of %d patterns are unknown", vague, len(pairs))
			}
		})
	}
}

// FuzzBash is TestBash with patterns and values that nobody thought of.
func FuzzBash(f *testing.F) {
	g := rand.New(rand.NewPCG(1, 7))
	for range 200 {
		f.Add(pattern(g, 0), value(g))
	}
	shells := []*shell{start(f, "C"), start(f, "C.UTF-8")}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		if len(pattern) > 40 || len(value) > 40 || strings.ContainsFunc(pattern+value, func(r rune) bool { return r == 0 || r > 0xffff || !unicode.IsGraphic(r) && r > 0x7f }) {
			return
		}
		if strings.Count(pattern, "*(")+strings.Count(pattern, "+(")+strings.Count(pattern, "!(") > 1 && len(value) > 8 {
			return // bash takes seconds
		}
		for _, s := range shells {
			pair := [2]string{pattern, value}
			if wrong, _ := s.differences(pair, s.ask(t, [][2]string{pair})[0]); len(wrong) > 0 {
				t.Error(strings.Join(wrong, "\n"))
			}
		}
	})
}

var generated = flag.Int("patterns", 1500, "how many patterns TestBash makes up")
