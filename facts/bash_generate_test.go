//go:build unix

package facts_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	generated = flag.Int("lines", 120, "how many lines TestBashGenerated makes up")
	seed      = flag.Uint64("seed", 1, "the first of their seeds")
)

// TestBashGenerated does what TestBash does with lines that nobody thought of.
// A longer run: go test ./facts -run TestBashGenerated -lines 5000 -seed 1000
func TestBashGenerated(t *testing.T) {
	b := newSandbox(t)
	opaque := 0
	for n := range *generated {
		stmts := generate(*seed + uint64(n))
		f, missed := b.compare(t, strings.Join(stmts, "\n"))
		if unknowns(f) != "" {
			opaque++
		}
		if len(missed) == 0 {
			continue
		}
		line, why := b.shrink(t, stmts, missed)
		t.Errorf("seed %d:\n%s\n%s", *seed+uint64(n), line, strings.Join(why, "\n"))
	}
	t.Logf("%d lines, of %d facts do not know all", *generated, opaque)
	if opaque*2 > *generated {
		t.Errorf("facts do not know all of %d in %d lines: the comparison says little", opaque, *generated)
	}
}

// shrink leaves out statements as long as something is missed.
func (b *sandbox) shrink(t testing.TB, stmts, missed []string) (string, []string) {
	for i := 0; i < len(stmts); {
		fewer := append(append([]string{}, stmts[:i]...), stmts[i+1:]...)
		if _, m := b.compare(t, strings.Join(fewer, "\n")); len(m) > 0 {
			stmts, missed = fewer, m
			continue
		}
		i++
	}
	return strings.Join(stmts, "\n"), missed
}

// A generator makes lines that end, touch nothing outside their directory, and
// depend on nothing but what stands in them.
type generator struct {
	*rand.Rand
	depth int
	calls bool // functions may be called: not inside one, so that every line ends
}

func generate(seed uint64) []string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
	stmts := []string{"v=" + g.value(), "w=" + g.value(), "A=(" + g.words(3) + ")", "set -- " + g.words(2)}
	if g.IntN(2) == 0 {
		stmts = append(stmts, "f() { "+g.stmt()+"; "+g.simple()+"; }")
	}
	g.calls = true
	for range 2 + g.IntN(4) {
		stmts = append(stmts, g.stmt())
	}
	return append(stmts, `p "$v" $w "${A[@]}" "$@"`)
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) value() string {
	return g.pick("a", "b", "rm", "q", "'a b'", `"x  y"`, "''", "a.b.c", "aXbX", "d/e/f.g", "1", "2", "a,b", "a:b", `\$v`, "'$v'", "$'a\\tb'", `'"'`, "-x", "rm\\ a")
}

func (g *generator) words(n int) string {
	var out []string
	for range g.IntN(n + 1) {
		out = append(out, g.word())
	}
	return strings.Join(out, " ")
}

// name is a variable that every line sets.
func (g *generator) name() string { return g.pick("v", "w") }

func (g *generator) word() string {
	if g.depth > 3 {
		return g.value()
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.IntN(16) {
	case 0:
		return `"` + g.quoted() + `"`
	case 1:
		return "$" + g.name()
	case 2, 3:
		return g.parameter()
	case 4:
		return `"` + g.parameter() + `"`
	case 5:
		return g.pick(`"${A[@]}"`, "${A[@]}", `"${A[*]}"`, "${#A[@]}", "${A[0]}", "${A[1]}", `"${A[@]:1}"`, `"${A[@]:0:1}"`, `"${!A[@]}"`, `"${A[@]#a}"`, `"${A[@]/a/z}"`)
	case 6:
		return g.pick(`"$@"`, "$@", "$*", `"$*"`, "$1", "$2", "$#", `"${@:2}"`, `"${1}"`, "${2-d}", `"${@:1:1}"`)
	case 7:
		return "$(echo " + g.words(2) + ")"
	case 8:
		return `"$(printf '%s' ` + g.word() + `)"`
	case 9:
		return "$((" + g.expression() + "))"
	case 10:
		return g.pick("{a,b}", "{1..3}", "x{a,b}y", "{a,"+g.value()+"}", "{c..a}", "{a,b}{1,2}", "{}", "{a}")
	case 11:
		return g.pick("~", "~/x", "a=~", "x~", "a:~")
	case 12:
		return g.value() + g.word()
	case 13:
		return g.pick("*.txt", "x.*", "'*'", "?.go", "no*ne", "[xy].txt")
	}
	return g.value()
}

func (g *generator) quoted() string {
	out := ""
	for range 1 + g.IntN(3) {
		out += g.pick("a", " ", "  b", "$"+g.name(), g.parameter(), "$(echo "+g.value()+")", `\"`, `\$x`, `\\`, "'", "$((1+1))", `\a`, "~", "*", "{a,b}")
	}
	return out
}

func (g *generator) parameter() string {
	n := g.name()
	operators := []string{
		":-%s", "-%s", ":+%s", "+%s", ":=%s", "=%s", "#%s", "##%s", "%%%s", "%%%%%s", "#*%s", "##*%s", "%%%s*", "%%%%%s*", "/a/%s", "//a/%s", "/#a/%s", "/%%b/%s", "/%s", "//%s", "//?/%s",
	}
	if g.IntN(3) == 0 {
		return "${" + n + g.pick("^", "^^", ",", ",,", ":1", ":0:1", ": -1", ":1:1", "//[ab]/z", "/?", "^^[ab]", "%.*", "%%.*", "#*.", "##*/", "%/*", "@U", "@L", "@u", "//X", "/X/-", ":0:-1", "::2") + "}"
	}
	if g.IntN(6) == 0 {
		return "${#" + n + "}"
	}
	return "${" + n + fmt.Sprintf(operators[g.IntN(len(operators))], g.pick("a", "b", ".", "X", `"a b"`, "$v", "'c d'", "e f", "", `"$w"`)) + "}"
}

func (g *generator) expression() string {
	n := func() string { return g.pick("1", "2", "3", "10", "0x1f", "010", "${#v}", "${#A[@]}", "$#", "2#11") }
	return n() + g.pick("+", "-", "*", "<", "==", "&&", "||", "<<", "&", "**", ",") + n() + g.pick("", "+1", "?2:3", "*2")
}

// simple is a simple command.
func (g *generator) simple() string {
	prefix := ""
	if g.IntN(8) == 0 {
		prefix = g.pick("v", "w", "X") + "=" + g.word() + " "
	}
	program := g.pick("p", "q", "rm", "p", "q", `"p"`, "r\\m", "$(echo p)", "command p", "eval p", "env q", "p", "sink")
	if program == "sink" {
		return g.pick("sink <<< "+g.word(), "echo "+g.words(3)+" | sink", "printf '%s,' "+g.words(3)+" | sink", "cat <<< "+g.word()+" | sink", "{ echo "+g.word()+"; echo b; } | sink")
	}
	return prefix + program + " " + g.words(4) + g.pick("", "", "", " > out", " 2>&1", " < x.txt", " >&2", " 2>/dev/null", " <<< "+g.word())
}

func (g *generator) stmt() string {
	if g.depth > 2 {
		return g.simple()
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.IntN(34) {
	case 0, 1:
		return g.name() + "=" + g.word()
	case 2:
		return g.name() + "+=" + g.word()
	case 3:
		return "A=(" + g.words(4) + ")"
	case 4:
		return "A+=(" + g.words(2) + ")"
	case 5:
		return "A[" + g.pick("0", "1", "2", "1+1", "4") + "]=" + g.word()
	case 6:
		return g.pick("declare ", "export ", "readonly u=1; declare ", "declare -l ", "declare -u ", "typeset ", "local ") + g.name() + "=" + g.word()
	case 7:
		return "if " + g.condition() + "; then " + g.stmt() + "; else " + g.stmt() + "; fi"
	case 8:
		return "for " + g.pick("v", "w", "i") + " in " + g.words(3) + "; do " + g.stmt() + "; p $i; done"
	case 9:
		return "for ((k=0; k<" + g.pick("2", "3") + "; k++)); do p $k ${A[k]}; " + g.stmt() + "; done"
	case 10:
		return "while read " + g.pick("v", "v w", "-r w", "-a A", "-r v w") + "; do " + g.stmt() + "; p $v; done <<< " + g.pick(g.word(), `$'a b\nc d'`, `"$v"`)
	case 11:
		return "case " + g.word() + " in a*) " + g.stmt() + ";; *) " + g.stmt() + ";; esac"
	case 12:
		if g.calls {
			return "f " + g.words(3)
		}
	case 13:
		if g.calls {
			g.calls = false
			defer func() { g.calls = true }()
			return "g() { " + g.stmt() + "; p $1; }; g " + g.words(2)
		}
	case 14:
		return "( " + g.stmt() + "; " + g.simple() + " )"
	case 15:
		return "{ " + g.stmt() + "; " + g.simple() + "; }"
	case 16:
		return g.stmt() + " && " + g.stmt()
	case 17:
		return g.stmt() + " || " + g.stmt()
	case 18:
		return g.condition() + g.pick(" && ", " || ") + g.stmt()
	case 19:
		return "set -- " + g.words(3)
	case 20:
		return g.pick("shift", "shift 2", "shift; p $1")
	case 21:
		return "IFS=" + g.pick(",", ":", "X", "''", `" ,"`) + "; " + g.simple() + "; unset IFS"
	case 22:
		return "printf -v " + g.pick("v", "w", "'A[1]'") + " " + g.pick("%s", "'%s-%s'", "%b", "%d", "'%3s'", "x%%") + " " + g.words(2)
	case 23:
		return "read " + g.pick("v", "-r v", "v w", "-a A", "-n 2 v", "-d , v", "-r v w") + " <<< " + g.word()
	case 24:
		return "mapfile -t A <<< " + g.word()
	case 25:
		return "eval " + g.pick(`'p $v'`, `"p \"\$v\""`, `p '$w' $w`, `'v=z; p $v'`, `"w=b"`)
	case 26:
		return g.pick("cd ~/dir", "cd ~/dir && "+g.simple(), "pushd ~/dir; "+g.simple()+"; popd", "cd -", "(cd ~/dir; "+g.simple()+")")
	case 27:
		return "unset " + g.pick("v", "w", "'A[0]'", "A", "-f f")
	case 28:
		return "bash -c " + g.pick(`'p $0 "$@"' a `, `"p $v" `, `'p $v' `, `'v=a; p $v$1' x `) + g.words(2)
	case 29:
		return "echo " + g.value() + ` "$v" "$w" | xargs ` + g.pick("p", "-n 1 q", "-n 2 p x", "-I{} p x{}", "-0 p")
	case 30:
		return "trap " + g.pick(`'p $v'`, `"p $v"`) + " EXIT"
	case 31:
		return "sink <<" + g.pick("E", "'E'") + "\n" + g.quoted() + "\n$v ${w}\nE"
	case 32:
		return "((" + g.pick("v=1", "i=2,i++", "i+=1") + ")); p $i"
	}
	return g.simple()
}

func (g *generator) condition() string {
	return g.pick("true", "false", "[ -n "+g.word()+" ]", "[[ $v == a ]]", "[[ -n $w ]]", "test -d a", "((1))", "p", "! true", "[[ $v == *b* && $w ]]")
}
