package pattern_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gobwas/glob"

	"gate/internal/plan/pattern"
)

// expressions are of the kinds that policies have, and some that none has.
var expressions = strings.Split(`^rm -rf
git push .*--force
(^|[/@.])internal-7\.example\.com([:/]|$)
^rm +-rf +/( |$)
(?i)sql|postgres|mongo|(^|_)db(_|$)
^[a-z+]+://(?:[^/@]*@)?([^/?]+)
[;&|$<>]|ProxyCommand
(?i)[?&;](access_?token|api_?key)=[^&#]{6,}
\.(pem|key|p12)$
^$
$^

a?
.*
(?s).*
(?s)^.*x.*$
^.*x
^(a|b|)$
^ab|^ac|d$
(a|b)(c|d)(e|f)(g|h)(i|j)
x*
x+y+?z{2,3}
(?m)^a$
\bab\b|\Bx\B
\Aab\z
(?i)kK|ſß
[^a]
[^\n]b
[a-c]x[^a-c]
[aé日]é
\x{FFFD}a
\x{D800}
[\x{FFFD}b]c
(?:a|ab)(?:c|bcd)(?:d*)
((((a)*)*)*)*b
(|a)+b
a{0}b
[[:^ascii:]]x
\pL+\d
^(?i)GET\s
a|[^\x00-\x{10FFFF}]
(?:^|\s)(?:--?p(?:assword)?)(?:=|\s)
x{1000}
a.b
(?s)a.b
^a.*b$
^(?s:.*)b$
\Q.*\E`, "\n")

var globs = strings.Split(`/srv/secret-1/**
*
**

a
git push *
*.go
**/x/*.{js,ts}
{a,b*}c
{*a,*b}{*c,*d}
a?c
\*x
{,a}b
a**b*c
é*é
?
{a,{b,c*}}d
***
*?*`, "\n")

// words are what texts are made of, so that some match.
var words = []string{
	"rm", " ", "-rf", "/", "git push", "--force", "internal-7.example.com", "x", "y", "z", "a", "b", "ab", "abc", "A", "K", "k", "ſ", "\u212a", "ß", "db", "_",
	"SQL", "postgres", "http://", "u@", ".", "pem", "?api_key=", "123456", "\n", "é", "日", "\uFFFD", "\xff", "\xe2\x82", "\xc3", "GET", "\t", "=", "--password", ";", "c", "d", "g", "i", "e",
	"/srv/secret-1/", ".go", "js", "ts", ".*", "aé", "\U0010FFFE", "\x00",
}

func text(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(7) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// regex holds a program against package regexp.
func regex(t *testing.T, expression, text string) {
	t.Helper()
	re, err := regexp.Compile(expression)
	p := pattern.Regex(expression)
	if p == "" {
		return
	}
	if err != nil {
		t.Fatalf("a program for %q: %v", expression, err)
	}
	want := re.MatchString(text)
	var s pattern.Scratch
	if got := p.Match(text, nil, &s); got != want {
		t.Fatalf("%q matches %q: %t", expression, text, got)
	}
	if want && !p.MayMatch(text) || p.Decided() && p.MayMatch(text) != want {
		t.Fatalf("%q may match %q: %t", expression, text, !want)
	}
}

// globbed holds a program against the library that OPA takes.
func globbed(t *testing.T, expression, text string, delimiters []rune) {
	t.Helper()
	p := pattern.Glob(expression)
	if p == "" || !utf8.ValidString(text) {
		return
	}
	g, err := glob.Compile(expression, delimiters...)
	if err != nil {
		t.Fatalf("a program for %q: %v", expression, err)
	}
	var s pattern.Scratch
	if got, want := p.Match(text, delimiters, &s), g.Match(text); got != want {
		t.Fatalf("%q matches %q with delimiters %q: %t, want %t", expression, text, delimiters, got, want)
	}
}

var delimiters = [][]rune{nil, {'/'}, {'.'}, {'/', ' '}, {'é'}, {'a'}}

func TestRegex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, e := range expressions {
		if p := pattern.Regex(e); p == "" && e != "x{1000}" {
			t.Errorf("no program for %q", e)
		}
		regex(t, e, e)
		for range 2000 {
			regex(t, e, text(r))
		}
	}
}

func TestGlob(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, e := range globs {
		if pattern.Glob(e) == "" {
			t.Errorf("no program for %q", e)
		}
		for range 2000 {
			globbed(t, e, text(r), delimiters[r.IntN(len(delimiters))])
		}
	}
}

// TestRandom makes expressions of parts of expressions.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	parts := strings.Split(`^ $ ( ) (?: | * + ? *? {2} {0,2} . [ab] [^a] \b \B a b ab abc rm \s \d é k (?i) (?s) (?m) \n [a-z] x / \. \A \z`, " ")
	stars := strings.Split(`* ** ? { } , a b ab / . é \* x [ab]`, " ")
	for range 30_000 {
		var e, g strings.Builder
		for range 1 + r.IntN(8) {
			e.WriteString(parts[r.IntN(len(parts))])
			g.WriteString(stars[r.IntN(len(stars))])
		}
		for range 4 {
			regex(t, e.String(), text(r))
			globbed(t, g.String(), text(r), delimiters[r.IntN(len(delimiters))])
		}
	}
}

// TestDecided has patterns that are answered by a look for words.
func TestDecided(t *testing.T) {
	for _, e := range []string{"abc", "^git push", `\.(pem|key)$`, "^(a|b)$", "a|b", ".*abc.*", "(?s)^.*x"} {
		if !pattern.Regex(e).Decided() {
			t.Error(e)
		}
	}
	for _, g := range []string{"/srv/x/**", "**.go", "a", "{a,b}c", "**x**"} {
		if !pattern.Glob(g).Decided() {
			t.Error(g)
		}
	}
	for e, misses := range map[string]string{
		`(^|[/@.])internal-7\.example\.com([:/]|$)`: "curl internal-8.example.com",
		`^rm +-rf +/( |$)`:                          "rm -r /",
		`git push .*--force`:                        "git push origin main",
		`(?i)x|foo(a|b)?bar{3}`:                     "",
	} {
		if pattern.Regex(e).MayMatch(misses) != (misses == "") {
			t.Error(e)
		}
	}
}

// run runs what may be damaged: it must end.
func run(p pattern.Program, text string) {
	defer func() { recover() }()
	var s pattern.Scratch
	p.Match(text, []rune{'/'}, &s)
}

// TestDamaged changes bytes of programs.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, e := range expressions {
		p := pattern.Regex(e)
		for i := range p {
			for _, change := range []byte{1, 0x80, 0xff} {
				b := []byte(p)
				b[i] ^= change
				run(pattern.Program(b), text(r))
				run(pattern.Program(b[:i]), text(r))
			}
		}
	}
}

func FuzzRegex(f *testing.F) {
	for _, e := range expressions {
		f.Add(e, "rm -rf /")
	}
	f.Fuzz(func(t *testing.T, e, text string) {
		regex(t, e, text)
		regex(t, e, e)
		globbed(t, e, text, []rune{'/'})
		globbed(t, e, e, nil)
		run(pattern.Program(e), text)
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, text := range []string{"go test ./... | tail -n 20", "rm -rf / internal-7.example.com"} {
		for _, e := range []string{`(^|[/@.])internal-7\.example\.com([:/]|$)`, `^rm +-rf +/( |$)`, `[;&|$<>]|ProxyCommand`} {
			p, re := pattern.Regex(e), regexp.MustCompile(e)
			var s pattern.Scratch
			b.Run(e+"/program", func(b *testing.B) {
				for b.Loop() {
					p.Match(text, nil, &s)
				}
			})
			b.Run(e+"/regexp", func(b *testing.B) {
				for b.Loop() {
					re.MatchString(text)
				}
			})
		}
	}
}
