package facts_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
)

// hostile are lines made to cost: size, nesting, and little texts that ask for
// much work.
var hostile = map[string]string{
	"parentheses":        strings.Repeat("(", 1e6) + "rm -rf ~" + strings.Repeat(")", 1e6),
	"brackets":           strings.Repeat("[", 1e6),
	"long word":          strings.Repeat("a", 1e6),
	"long line":          "p " + strings.Repeat("a ", 120e3),
	"blanks":             strings.Repeat(" ", 250e3) + "rm -rf ~",
	"commands":           strings.Repeat("true;", 5000) + "rm -rf ~",
	"pipeline":           strings.Repeat("p|", 5000) + "p",
	"and":                strings.Repeat("p&&", 5000) + "p",
	"or":                 strings.Repeat("p||", 5000) + "p",
	"assignments":        strings.Repeat("x=$x$x;", 5000) + "$x",
	"doubling":           "x=aaaaaaaaaa;" + strings.Repeat("x=$x$x$x$x;", 100) + "p $x",
	"doubling array":     "A=(a b c);" + strings.Repeat(`A=("${A[@]}" "${A[@]}");`, 60) + `"${A[@]}"`,
	"doubling arguments": "set -- a b;" + strings.Repeat(`set -- "$@" "$@";`, 60) + `p "$@"`,
	"doubling function":  `f() { "$@" "$@"; }; f f f f f f f f`,
	"quoting":            strings.Repeat(`"$(p `, 150) + strings.Repeat(`)"`, 150),
	"shells":             strings.Repeat("sh -c \"", 1) + strings.Repeat("sh -c ", 3000) + "\"",
	"eval":               strings.Repeat("eval ", 20e3) + "p",
	"eval doubling":      `x='eval "$x"; eval "$x"'; eval "$x"`,
	"eval growing":       `x='x="$x$x"; eval "$x"'; eval "$x"`,
	"braces":             "p {1..999999999}",
	"braces nested":      "p " + strings.Repeat("{1..200}", 6),
	"braces lists":       "p " + strings.Repeat("{a,b}", 60),
	"braces in braces":   "p " + strings.Repeat("{a,", 90) + "b" + strings.Repeat("}", 90),
	"replacement":        "x=" + strings.Repeat("a", 50e3) + ";p ${x//a/aaaaaaaaaaaaaaaa}",
	"replacement twice":  "x=" + strings.Repeat("a", 1000) + ";" + strings.Repeat("x=${x//a/$x};", 6) + "p $x",
	"pattern":            "x=" + strings.Repeat("a", 50e3) + ";p ${x//*a*a*a*b/c}",
	"suffix":             "x=" + strings.Repeat("a", 50e3) + ";p ${x%%*a*a*a*b}",
	"many suffixes":      "x=" + strings.Repeat("a", 2000) + ";" + strings.Repeat("p ${x%%*a*b};", 500),
	"recursion":          "f(){ f x$1; f y$1; f z$1; }; f",
	"mutual":             "f(){ g; g; g; }; g(){ h; h; h; }; h(){ f; f; f; }; f",
	"recursion and vars": "f(){ x=a$x; f; f; f; }; f",
	"loops":              strings.Repeat("for a in 1 2 3 4 5 6 7 8 9; do ", 12) + "true" + strings.Repeat("; done", 12),
	"while loops":        strings.Repeat("while p; do x=a$x; ", 12) + "true" + strings.Repeat("; done", 12),
	"counting":           "for ((i=0; i<1000000000; i++)); do for ((j=0; j<1000000000; j++)); do p $i $j; done; done",
	"reading":            "while read a; do while read b; do p $a $b; done <<< $'1\n2\n3\n4\n5\n6\n7\n8\n9'; done <<E\n" + strings.Repeat("a\n", 5000) + "E",
	"globs":              "p " + strings.Repeat("*", 200e3),
	"glob paths":         "rm -rf " + strings.Repeat("*/", 5000) + " " + strings.Repeat("[a", 5000),
	"ways":               strings.Repeat("if p; then x=a$x; else x=b$x; fi;", 500) + "$x",
	"ways of words":      strings.Repeat("if p; then x=a; else y=b; fi;", 100) + strings.Repeat("$x$y", 500),
	"aliases":            strings.Repeat("alias a='a a';\n", 1000) + "a a a a a",
	"alias of aliases":   "alias a='b b' b='c c' c='d d' d='a a'\na",
	"find names":         "find ~ " + strings.Repeat("-name a -o ", 20e3) + "-delete",
	"find patterns":      "find ~ " + strings.Join(numbered("-name f%d -o", 5000), " ") + " -delete",
	"find brackets":      "find ~ " + strings.Repeat("\\( -name a -o -name b ", 5000) + strings.Repeat(" \\)", 5000) + " -delete",
	"find groups":        "find ~ " + strings.Repeat("\\( -name a -o -name b \\) ", 5000) + " -delete",
	"find not":           "find ~ " + strings.Repeat("! ", 50e3) + "-delete",
	"find starts":        "find " + strings.Join(numbered("d%d", 2000), " ") + " " + strings.Join(numbered("-name f%d -o", 63), " ") + " -delete",
	"sed files":          "sed '" + strings.Repeat("w a\n", 50e3) + "' f",
	"sed runs":           "sed '" + strings.Repeat("s/a/p $(p)/e\n", 18e3) + "' f",
	"sed holes":          "sed \"" + strings.Repeat("w $a\n", 40e3) + "\" f",
	"traps":              strings.Repeat("trap 'trap p EXIT; p' EXIT;", 2000),
	"arithmetic":         "p $((" + strings.Repeat("1+", 50e3) + "1))",
	"arithmetic names":   "x=y+y; y=x+x; p $((x)); ((x+y))",
	"arithmetic doubles": "a=b+b; b=c+c; c=d+d; d=e+e; e=f+f; f=g+g; g=h+h; h=i+i; i=j+j; j=k+k; k=l+l; l=m+m; p $((a))",
	"substitutions":      "p " + strings.Repeat("$(p)", 5000),
	"heredocs":           strings.Repeat("cat <<E\n$(p)\nE\n", 2000),
	"xargs":              "echo " + strings.Repeat("a ", 50e3) + "| xargs -n 1 p",
	"xargs of xargs":     "echo " + strings.Repeat("xargs ", 5000) + "| xargs xargs xargs xargs",
	"find":               "find . " + strings.Repeat("-exec p {} ; ", 5000),
	"escapes":            "p $'" + strings.Repeat(`\x41`, 50e3) + "'",
	"printf":             "printf -v x %9999999999d 1; printf -v y '%s%s' " + strings.Repeat("a ", 50e3) + "; $x $y",
	"unknown":            strings.Repeat("$a ", 5000),
	"paths":              "rm " + strings.Repeat("a/../", 40e3) + "b",
	"redirects":          "p " + strings.Repeat(">a ", 5000),
	"secrets":            "cat " + strings.Repeat(".env ", 3000),
	"cd":                 strings.Repeat("cd a || cd b; ", 2000) + "p",
	"brackets in quotes": `p "` + strings.Repeat("(", 1e5) + `"`,
	"comments":           strings.Repeat("#\n", 100e3) + "p",
}

// maxWork is how many allocations facts may make for a line of any kind, and
// maxListed how many things they may list: work is bounded, not measured by a
// clock.
const (
	maxWork   = 1_500_000
	maxBytes  = 512 << 20
	maxListed = 100_000
)

// TestHostile holds the work that a line can cause to a bound. What is not
// looked at is said.
func TestHostile(t *testing.T) {
	reader := facts.New(world())
	reader.Of(event("p"))
	for name, line := range hostile {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := reader.Of(event(line))
			runtime.ReadMemStats(&after)
			if n, size := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc; n > maxWork || size > maxBytes {
				t.Errorf("%d allocations, %d MB", n, size>>20)
			}
			listed := len(f.Effects) + len(f.Paths) + len(f.Unknown) + len(f.Hosts)
			for _, c := range f.Shell.Commands {
				listed += 1 + len(c.Words)
			}
			if listed > maxListed {
				t.Errorf("%d things in the facts", listed)
			}
			consistent(t, line, f)
		})
	}
}

// TestLimitsAreSaid checks that a payload behind what is too much is found, or
// that facts say that they did not look.
func TestLimitsAreSaid(t *testing.T) {
	reader := facts.New(world())
	for name, line := range hostile {
		f := reader.Of(event(line + "\nrm -rf /etc"))
		found := slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return e.Kind() == "fs.delete" && hook.Tree(&e)["path"] == "/etc" })
		if !found && unknowns(f) == "" {
			t.Errorf("%s: neither found nor said: %s", name, fmt.Sprint(f.Unknown))
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	reader := facts.New(world())
	for name, line := range hostile {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reader.Of(event(line))
			}
		})
	}
}

// numbered is a format for each number below n.
func numbered(format string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}
