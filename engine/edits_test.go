package engine

import (
	"math/rand/v2"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// readsAs returns the words that a shell makes of "cmd WORD end", none if it
// is not one simple command of three literal words.
func readsAs(word string) []string {
	f, err := syntax.NewParser().Parse(strings.NewReader("cmd "+word+" end\n"), "")
	if err != nil || len(f.Stmts) != 1 {
		return nil
	}
	c, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	words, err := expand.Fields(&expand.Config{}, c.Args...)
	if err != nil {
		return nil
	}
	return words
}

func checkQuote(t *testing.T, text string) {
	t.Helper()
	word, err := quoteWord(text)
	if err != nil || text == "" {
		return
	}
	if got := readsAs(word); len(got) != 3 || got[1] != text {
		t.Errorf("%q is written %s, which a shell reads as %q", text, word, got)
	}
}

func TestQuoteWord(t *testing.T) {
	pieces := []string{"a", "-", "=", "~", "*", "?", "'", `"`, `\`, "$", "`", " ", "\n", ";", "&", "|", "(", ")", "{", "}", "!", "#", ",", "é", "/", "if", "%", "@", "<", ">", "[", "]", "\t"}
	for _, p := range pieces {
		checkQuote(t, p)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		checkQuote(t, b.String())
	}
	for text, want := range map[string]string{
		"--force-with-lease": "--force-with-lease", "--to=x": "--to=x", "A=b": "'A=b'", "it's": `'it'\''s'`, "": "", "then": "'then'",
	} {
		if got, err := quoteWord(text); err != nil || got != want {
			t.Errorf("%q is written %s, want %s (%v)", text, got, want, err)
		}
	}
	if _, err := quoteWord("a\x00b"); err == nil {
		t.Error("a NUL character is taken")
	}
}

func FuzzQuoteWord(f *testing.F) {
	for _, s := range []string{"a b", "it's", "$(x)", "-x=y", "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\r") || !strings.Contains(text, "\x00") && strings.ToValidUTF8(text, "") != text {
			return // never in an event, or not what the test's parser keeps
		}
		checkQuote(t, text)
	})
}
