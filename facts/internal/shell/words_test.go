package shell

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// kinds are lines that have every kind of node, and words in every place of each.
var kinds = []string{
	`p a "b" 'c' $'d' $"e" $x ${x} $(p) $((1)) <(p) >(p) {a,b}`,
	`X=a Y+=b p f`,
	`X=a; X+=b; Z=(c [i]=d); Z[j]=e`,
	`p <a >b >>c <>d >|e &>f &>>g 2>&h <&i <<<j`,
	"p <<A\n$x\nA",
	`a && b || c | d |& e`,
	`! a & { b; }; (c)`,
	`if a; then b; elif c; then d; else e; fi`,
	`while a; do b; done; until c; do d; done`,
	`for x in a b; do c; done; select y in d; do e; done`,
	`for ((i=x; i<y; i++)); do a; done`,
	`case a in b|c) d;; e) f;& *) g;; esac`,
	`f() { a; }; f b`,
	`declare -i a=b c; export d=e; local f; readonly g=h; typeset -A i=([j]=k); nameref l=m`,
	`let a=b c+d`,
	`((a = b + c, d ? e : f, -g, (h)))`,
	`[[ a == b && ! c =~ d || -e f && ( g -eq h ) && -v i ]]`,
	`time a; coproc b c`,
	`p ${x:-a} ${x:=b} ${x:?c} ${x:+d} ${x-a} ${x=b} ${x?c} ${x+d}`,
	`p ${x#a} ${x##b} ${x%c} ${x%%d} ${x^e} ${x^^f} ${x,g} ${x,,h} ${x@Q}`,
	`p ${x/a/b} ${x//c/d} ${x/#e/f} ${x/%g/h}`,
	`p ${x:a:b} ${@:c} ${x[@]:d:e} ${x[f]} ${#x[g]} ${!x} ${!x@} ${!x[@]}`,
	`p @(a|b) ?(c) *(d) +(e) !(f)`,
	`[[ x == @(a|b) ]]; case x in +(a)) b;; esac; p ${x##@(a)} ${x/+(b)/c}`,
	`y=1; Z=(a b); p "${x:-a}" "${x#b}" "${x/c/d}" "$(p e)" "$((f))" "${Z[g]}"`,
	`[ a = b ]; test c -eq d; eval e; command f g; builtin p h`,
}

// TestEveryWordIsExpanded puts a substitution in the place of each word of each of
// the lines. Whatever holds the word, the shell must run the substitution on its way
// through the line. That it looks at what nothing has run does not count.
func TestEveryWordIsExpanded(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range kinds {
		f, _, err := bash.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			if n != nil {
				seen[reflect.TypeOf(n).Elem().Name()] = true
			}
			return true
		})
		for n := 0; ; n++ {
			f, _, _ := bash.Parse(line)
			if !replaceWord(f, n) {
				break
			}
			var b strings.Builder
			if err := syntax.NewPrinter().Print(&b, f); err != nil {
				t.Fatal(err)
			}
			if f, _, err = bash.Parse(b.String()); err != nil {
				continue // no line, with a substitution there
			}
			if !runsCanary(f, b.String()) {
				t.Errorf("%s: the substitution is not run", b.String())
			}
		}
	}
	for iface, nodes := range handled {
		for _, node := range nodes {
			if node != "TestDecl" && node != "BraceExp" && node != "FlagsArithm" && !seen[node] { // bats, made later, zsh
				t.Errorf("%s: no line has a *syntax.%s", iface, node)
			}
		}
	}
}

// replaceWord puts a substitution in the place of the n-th word of a tree, or of the
// text in the n-th group of a pattern.
func replaceWord(f *syntax.File, n int) (replaced bool) {
	ends := map[*syntax.Word]bool{} // words at which here-documents end
	syntax.Walk(f, func(node syntax.Node) bool {
		if r, ok := node.(*syntax.Redirect); ok && r.Hdoc != nil {
			ends[r.Word] = true
		}
		switch node := node.(type) {
		case *syntax.Word:
			if ends[node] || slices.ContainsFunc(node.Parts, func(p syntax.WordPart) bool { _, group := p.(*syntax.ExtGlob); return group }) {
				return true
			}
			if n == 0 && !replaced {
				node.Parts, replaced = []syntax.WordPart{canary()}, true
				return false
			}
			n--
		case *syntax.ExtGlob:
			if n == 0 && !replaced {
				node.Pattern.Value, replaced = "x|$(canary)", true
			}
			n--
		}
		return true
	})
	return replaced
}

func canary() *syntax.CmdSubst {
	word := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "canary"}}}
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: []*syntax.Word{word}}}}}
}

// runsCanary follows a tree without [Shell.rest].
func runsCanary(f *syntax.File, text string) bool {
	programs := &called{}
	d := &draft.Draft{Facts: &hook.Facts{Shell: &hook.Shell{}}}
	w := New(d, programs)
	w.text = text
	w.stmts(newState("/"), f.Stmts, flow.Stream{})
	return slices.Contains(programs.names, "canary")
}

// called notes which programs a shell calls.
type called struct{ names []string }

func (c *called) Run(_ *Call, name string) flow.Stream {
	c.names = append(c.names, name)
	return flow.Stream{Some: true}
}

func (c *called) Source(*Call, flow.Word) (flow.Stream, bool) { return flow.Stream{}, false }
func (c *called) Sets(int, string, flow.Word) string          { return "" }
func (c *called) LogsIn(hook.ShellCommand, string) bool       { return false }
func (c *called) HandsOn([]hook.ShellCommand) bool            { return false }
func (c *called) MakesDirectories(hook.ShellCommand) bool     { return false }
func (c *called) Other(*Call, string, flow.Word, flow.Stream) flow.Stream {
	return flow.Stream{}
}
