package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
)

// addEdit takes an edit in. Edits of the same span with the same text agree;
// others must not touch the same characters or the same point.
func (p *plan) addEdit(e *edit) error {
	for _, o := range p.edits {
		if o.Edit == e.Edit {
			return nil
		}
		if o.Span == e.Span || o.Span[0] < e.Span[1] && e.Span[0] < o.Span[1] {
			return fmt.Errorf("%s and %s edit the same part of the command line", o.by, e.by)
		}
	}
	p.edits = append(p.edits, e)
	return nil
}

// edited returns the command line with all edits made.
func (p *plan) edited() (string, error) {
	if p.field != "tool_input" {
		return "", fmt.Errorf("edits are for command lines, not for %s; give the whole %s", p.field, p.field)
	}
	command, ok := p.ev.ToolInput()["command"].(string)
	if !ok {
		return "", errors.New("there is no command line to edit")
	}
	if p.ev.Facts == nil || p.ev.Facts.Shell == nil {
		return "", errors.New("the command line was not understood, so it cannot be edited")
	}
	text := []rune(command)
	slices.SortFunc(p.edits, func(a, b *edit) int {
		return cmp.Or(cmp.Compare(a.Span[0], b.Span[0]), cmp.Compare(a.Span[1], b.Span[1]))
	})
	var b strings.Builder
	at := 0
	for _, e := range p.edits {
		from, to := e.Span[0], e.Span[1]
		if from < at || to < from || to > len(text) {
			return "", fmt.Errorf("the edit of characters %d to %d does not fit the command line", from, to)
		}
		word, err := replacement(p.ev.Facts.Shell, e.Edit)
		if err != nil {
			return "", err
		}
		kept := string(text[at:from])
		if word == "" && from < to && endsWord(text[to:]) {
			kept = strings.TrimSuffix(kept, " ") // one blank between words is enough
		}
		b.WriteString(kept)
		b.WriteString(word)
		at = to
	}
	b.WriteString(string(text[at:]))
	return b.String(), nil
}

// endsWord reports that text begins with what ends a word and cannot be taken
// for part of the word before: "1 x>f" without x must not become "1>f".
func endsWord(text []rune) bool {
	return len(text) == 0 || strings.ContainsRune(" \t\n;)", text[0])
}

// replacement returns what stands in the place of the edit's span: its text as
// one literal word. The span must be whole words, as the facts give them, or
// an empty one at the edge of a word; an empty text removes the words.
func replacement(shell *hook.Shell, e hook.Edit) (string, error) {
	starts, ends, nested := false, false, false
	for i := range shell.Commands {
		c := &shell.Commands[i]
		for _, s := range wordSpans(c) {
			first, last := s[0] == e.Span[0], s[1] == e.Span[1]
			if e.Span[0] == e.Span[1] {
				first, last = s[0] == e.Span[0], s[1] == e.Span[0]
			}
			starts, ends = starts || first, ends || last
			nested = nested || (first || last) && c.Depth > 0
		}
	}
	insertion := e.Span[0] == e.Span[1]
	if insertion && !starts && !ends || !insertion && (!starts || !ends) {
		return "", fmt.Errorf("the edit of characters %d to %d is not at the edge of a word", e.Span[0], e.Span[1])
	}
	word, err := quoteWord(e.Text)
	if err != nil {
		return "", err
	}
	if nested && word != e.Text && strings.ContainsAny(e.Text, "`$\\\"") {
		// Backquotes read these once more before the quotes count.
		return "", fmt.Errorf("%q cannot be quoted inside a nested command", e.Text)
	}
	switch {
	case !insertion || word == "":
		return word, nil
	case ends:
		return " " + word, nil
	}
	return word + " ", nil
}

// wordSpans returns the literal parts of a command that can be replaced.
func wordSpans(c *hook.ShellCommand) []hook.Span {
	var spans []hook.Span
	for _, w := range c.Words {
		if w.Span != nil {
			spans = append(spans, *w.Span)
		}
	}
	for _, r := range c.Redirects {
		if r.Span != nil {
			spans = append(spans, *r.Span)
		}
	}
	if c.Span != nil {
		spans = append(spans, *c.Span)
	}
	return spans
}

// quoteWord writes text as one word of a POSIX shell that stands for itself.
func quoteWord(text string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", errors.New("the text of an edit has a NUL character")
	}
	if plainWord(text) {
		return text, nil
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'", nil
}

func plainWord(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("_-+./:,@%", c) >= 0:
		case c == '=' && text[0] == '-': // not an assignment
		default:
			return false
		}
	}
	switch text {
	case "if", "then", "else", "elif", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
		"select", "function", "time", "coproc":
		return false
	}
	return true
}
