package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
)

// An edit puts words in the place of a span, with its author.
type edit struct {
	span   hook.Span
	words  []string // several only where the span is empty
	spelt  bool     // by the facts, whose spans are not only those of words
	nested bool     // in a command inside another one
	by     string
}

// addEdit takes an edit in. Edits of the same span with the same text agree, and
// texts for one point keep their order; others must not touch the same characters.
func (p *plan) addEdit(e hook.Edit, by string) error {
	spelt, err := p.spelt(e)
	if err != nil {
		return fmt.Errorf("the rewrite by %s: %w", by, err)
	}
	for _, e := range spelt {
		e.by = by
		agrees := false
		for _, o := range p.edits {
			if agrees = o.span == e.span && slices.Equal(o.words, e.words); agrees {
				break
			}
			if o.span == e.span && o.span[0] < o.span[1] || o.span[0] < e.span[1] && e.span[0] < o.span[1] {
				return fmt.Errorf("%s and %s edit the same part of the command line", o.by, by)
			}
		}
		if !agrees {
			p.edits = append(p.edits, e)
		}
	}
	return nil
}

// spelt returns the edits of spans that an edit comes to.
func (p *plan) spelt(e hook.Edit) ([]*edit, error) {
	if e.Command == nil {
		p.bySpan = true
		return []*edit{{span: e.Span, words: []string{e.Text}}}, nil
	}
	if p.spell == nil {
		return nil, errors.New("nobody can tell how a command is spelt")
	}
	if err := p.editable(); err != nil {
		return nil, err
	}
	list, err := p.spell(p.ev, e.Command)
	if err != nil {
		return nil, err
	}
	p.asked = append(p.asked, e.Command)
	c := commandOf(p.ev.Facts.Shell, e.Command.Command)
	var edits []*edit
	for _, e := range list {
		if n := len(edits); n > 0 && e.Span[0] == e.Span[1] && edits[n-1].span == e.Span && e.Text != "" {
			edits[n-1].words = append(edits[n-1].words, e.Text) // an option and its value stay together
			continue
		}
		edits = append(edits, &edit{span: e.Span, words: []string{e.Text}, spelt: true, nested: c != nil && c.Depth > 0})
	}
	return edits, nil
}

func commandOf(shell *hook.Shell, id int) *hook.ShellCommand {
	if i := slices.IndexFunc(shell.Commands, func(c hook.ShellCommand) bool { return c.ID == id }); i >= 0 {
		return &shell.Commands[i]
	}
	return nil
}

// editable reports why the event has no command line to edit.
func (p *plan) editable() error {
	if p.field != "tool_input" {
		return fmt.Errorf("edits are for command lines, not for %s; give the whole %s", p.field, p.field)
	}
	if _, ok := p.ev.ToolInput()["command"].(string); !ok {
		return errors.New("there is no command line to edit")
	}
	if p.ev.Facts == nil || p.ev.Facts.Shell == nil {
		return errors.New("the command line was not understood, so it cannot be edited")
	}
	return nil
}

// edited returns the command line with all edits made.
func (p *plan) edited() (string, error) {
	if err := p.editable(); err != nil {
		return "", err
	}
	command, _ := p.ev.ToolInput()["command"].(string)
	text := []rune(command)
	edits := slices.Clone(p.edits) // others come after them, in the order of their hooks
	slices.SortStableFunc(edits, func(a, b *edit) int {
		return cmp.Or(cmp.Compare(a.span[0], b.span[0]), cmp.Compare(a.span[1], b.span[1]))
	})
	var out string
	at := 0
	for _, e := range edits {
		from, to := e.span[0], e.span[1]
		if from < at || to < from || to > len(text) {
			return "", fmt.Errorf("the edit of characters %d to %d does not fit the command line", from, to)
		}
		word, err := replacement(p.ev.Facts.Shell, e)
		if err != nil {
			return "", err
		}
		out += string(text[at:from])
		at = to
		if word != "" || from == to {
			out += word
			continue
		}
		if endsWord(text[to:]) {
			out = strings.TrimSuffix(out, " ") // one blank between words is enough
		}
		for out == "" && at < len(text) && text[at] == ' ' {
			at++
		}
	}
	return out + string(text[at:]), nil
}

// endsWord reports that text begins with what ends a word and cannot be taken
// for part of the word before: "1 x>f" without x must not become "1>f".
func endsWord(text []rune) bool {
	return len(text) == 0 || strings.ContainsRune(" \t\n;)", text[0])
}

// replacement returns what stands in the place of the edit's span: its text as
// one literal word. The span must be whole words, as the facts give them, or
// an empty one at the edge of a word; an empty text removes the words.
func replacement(shell *hook.Shell, e *edit) (string, error) {
	starts, ends, program, nested := false, false, false, e.nested
	for i := range shell.Commands {
		c := &shell.Commands[i]
		for _, s := range wordSpans(c) {
			first, last := s[0] == e.span[0], s[1] == e.span[1]
			if e.span[0] == e.span[1] {
				first, last = s[0] == e.span[0], s[1] == e.span[0]
			}
			starts, ends = starts || first, ends || last
			nested = nested || (first || last) && c.Depth > 0
		}
		program = program || len(c.Words) > 0 && c.Words[0].Span != nil && c.Words[0].Span[0] == e.span[0] || c.Span != nil && c.Span[0] == e.span[0]
	}
	insertion := e.span[0] == e.span[1]
	if insertion && !starts && !ends || !insertion && !e.spelt && (!starts || !ends) {
		return "", fmt.Errorf("the edit of characters %d to %d is not at the edge of a word", e.span[0], e.span[1])
	}
	q := quoting{shell.Dialect, nested, program && insertion || e.spelt}
	words := make([]string, len(e.words))
	for i, text := range e.words {
		word, err := q.word(text)
		if err != nil {
			return "", err
		}
		words[i] = word
	}
	word := strings.Join(words, " ")
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
