package bash_test

import (
	"fmt"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
)

// A comment ends with its line, whatever the line ends with.
func ExampleParse() {
	f, text, err := bash.Parse("true # a comment \\\nrm x")
	fmt.Println(len(f.Stmts), err)
	fmt.Printf("%q\n", text)
	// Output:
	// 2 <nil>
	// "true # a comment  \nrm x"
}

func ExampleUnescape() {
	fmt.Println(bash.Unescape(`\x72\155 \u2713`), bash.UnescapeEcho(`\0162m\c x`), bash.UnescapeArgument(`\162m`))
	// Output: rm ✓ rm rm
}

func ExampleInt() {
	for _, text := range []string{"010", "0x10", "2#101", " 7 ", "1_0", "x"} {
		fmt.Println(bash.Int(text))
	}
	// Output:
	// 8 true
	// 16 true
	// 5 true
	// 7 true
	// 0 false
	// 0 false
}

func ExampleBraces() {
	f, _, _ := bash.Parse("{08..10}{a,b}")
	for _, parts := range bash.Braces(f.Stmts[0].Cmd.(*syntax.CallExpr).Args[0]) {
		fmt.Print((&syntax.Word{Parts: parts}).Lit(), " ")
	}
	// Output: 08a 08b 09a 09b 10a 10b
}

func TestTooDeep(t *testing.T) {
	for text, want := range map[string]bool{
		"echo $(date)":                        false,
		strings.Repeat("(", 201):              true,
		strings.Repeat("(x)", 1000):           false,
		strings.Repeat("`", 201):              true,
		strings.Repeat("if true; then ", 999): false,
		strings.Repeat("! ", 2001):            true,
	} {
		if got := bash.TooDeep(text); got != want {
			t.Errorf("TooDeep(%.20q…) = %t", text, got)
		}
	}
}

// FuzzParse holds that the text which was parsed has each byte in its place but
// for backslashes, and that the other readers take any text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"true # a \\\nrm x", "a\\\nb", "echo {1..3} $'\\x41' # \\\n", "# \\\n# \\\nx (", "`a # b`", "{a,{b,c}}", "$((2#1))", "\\c\\u\\U\\x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if bash.Quote(text) == text {
			t.Fatal("not quoted")
		}
		bash.Unescape(text)
		bash.UnescapeEcho(text)
		bash.UnescapeArgument(text)
		bash.Int(text)
		if len(text) > 1<<16 || bash.TooDeep(text) {
			return
		}
		file, parsed, err := bash.Parse(text)
		if err != nil && strings.Contains(bash.Message(err), "\n") {
			t.Fatal("a message of several lines")
		}
		if len(parsed) != len(text) {
			t.Fatalf("%d bytes of %d", len(parsed), len(text))
		}
		for i := range len(text) {
			if text[i] != parsed[i] && (text[i] != '\\' || parsed[i] != ' ') {
				t.Fatalf("%q instead of %q at %d", parsed[i], text[i], i)
			}
		}
		if file == nil {
			return
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			if word, ok := n.(*syntax.Word); ok {
				bash.Braces(word)
			}
			return true
		})
	})
}
