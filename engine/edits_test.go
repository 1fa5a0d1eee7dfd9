package engine

import (
	"math/rand/v2"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"gate/facts"
	"gate/hook"
)

// TestEdits edits real lines: "[" and "]" mark the span. No want means that
// the edit is refused.
func TestEdits(t *testing.T) {
	reader := facts.New(facts.World{})
	for _, row := range []struct{ marked, text, want string }{
		{"git push [-f] origin", "--force-with-lease", "git push --force-with-lease origin"},
		{"git push [-f] origin", "", "git push origin"},
		{"git push [-f]", "", "git push"},
		{"git push [-f]; ls", "", "git push; ls"},
		{"(git push [-f])", "", "(git push)"},
		{"echo 1 [-f]>out", "", "echo 1 >out"},
		{"ls | [-f] x", "", "ls | x"},
		{"git push[] origin", "--dry-run", "git push --dry-run origin"},
		{"git push []origin", "--dry-run", "git push --dry-run origin"},
		{"git push origin[]", "a b", "git push origin 'a b'"},
		{"sudo git push [-f]", "it's", `sudo git push 'it'\''s'`},
		{"x=$(git push [-f])", "a b", "x=$(git push 'a b')"},
		{"x=`git push [-f]`", "$a", ""},
		{"[git push -f]; ls", "true", "true; ls"},
		{"git push [-f origin]", "x", "git push x"},
		{`git commit -m ["a b"]`, "c", "git commit -m c"},
		{`git commit -m "a [b]"`, "c", ""},
		{`git commit -m "a [b"]`, "c", ""},
		{"sh -c 'git push [-f]'", "x", ""},
		{"git pu[]sh", "x", ""},
		{"echo äöü [-f]", "x", "echo äöü x"},
		{"git push > [out]", "x", ""},
		{"[]npm ci", "A=b c", "A='b c' npm ci"},
		{"ls && []npm ci", "A=", "ls && A= npm ci"},
		{"[]A=1 npm ci", "B=2", "B=2 A=1 npm ci"},
		{"npm[] ci", "A=b", "npm 'A=b' ci"},
		{"[npm] ci", "A=b", "'A=b' ci"},
		{"[]npm ci", "A+=b", "'A+=b' npm ci"},
		{"git push [> out]", "", "git push"},
	} {
		before, rest, _ := strings.Cut(row.marked, "[")
		inside, after, _ := strings.Cut(rest, "]")
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"tool_name": "Bash", "cwd": "/work", "tool_input": map[string]any{"command": before + inside + after},
		}}
		ev.Facts = reader.Of(&ev)
		from := len([]rune(before))
		p := newPlan(&ev)
		edit := hook.Edit{Span: hook.Span{from, from + len([]rune(inside))}, Text: row.text}
		if err := p.add("x", hook.Rewrite{Edits: []hook.Edit{edit}}); err != nil {
			t.Fatal(err)
		}
		got, err := p.edited()
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s with %q: %q, %v, want %q", row.marked, row.text, got, err, row.want)
		}
	}
}

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
