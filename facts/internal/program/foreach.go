package program

import (
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
)

// maxBatches bounds how often xargs runs its command.
const maxBatches = 32

// xargs adds its input to the words of the command it runs.
func (u *use) xargs() {
	if most, ok := u.opt("max-procs"); ok && most.Text() == "0" && u.Stdin.Endless {
		u.effect(&hook.Process{Verb: "fork bomb", All: true})
	}
	items, known := u.items()
	hole := &flow.Hole{Why: "a word from standard input", Many: true, Taint: u.Stdin.Taint, File: u.Stdin.File}
	if f, ok := u.opt("arg-file"); ok {
		hole.File = u.content(f).File
	}
	unknown := flow.Unknown(hole)
	u.Stdin = flow.Stream{}
	for _, name := range []string{"replace", "I", "J"} {
		r, ok := u.opt(name)
		if !ok {
			continue
		}
		if !known || len(items) > maxBatches {
			items = orUnknown(items, known, unknown)
			u.inner = substitute(u.inner, orDefaultText(r, "{}"), items)
			return
		}
		for _, item := range items {
			u.batches = append(u.batches, substitute(u.inner, orDefaultText(r, "{}"), []flow.Word{item}))
		}
		u.inner = nil
		return
	}
	if len(u.inner) == 0 {
		u.inner = []flow.Word{flow.Literal("echo")}
	}
	words := u.inner[:len(u.inner):len(u.inner)]
	if n := u.batch(); known && n > 0 && len(items) <= maxBatches*n {
		for len(items) > n {
			u.batches = append(u.batches, append(words, items[:n]...))
			items = items[n:]
		}
	}
	u.inner = append(words, orUnknown(items, known, unknown)...)
}

func orUnknown(items []flow.Word, known bool, unknown flow.Word) []flow.Word {
	if known || len(items) > 0 {
		return items
	}
	return []flow.Word{unknown}
}

// batch is how many words xargs hands on at once, 0 for all.
func (u *use) batch() int {
	for _, name := range []string{"max-args", "L", "max-lines"} {
		if f, ok := u.opt(name); ok {
			if n, known := f.Number(); known {
				return n
			}
			return 1
		}
	}
	return 0
}

// items are the words or lines of the input. Where they are names that a
// pattern stands for, they are not known one by one.
func (u *use) items() (items []flow.Word, known bool) {
	in := u.Stdin
	if f, ok := u.opt("arg-file"); ok {
		in = u.content(f)
	}
	text, ok := in.Left()
	if !ok && in.File != "" {
		return nil, false
	}
	if !ok {
		return in.Handed(), false
	}
	whole := true
	add := func(list []string, ok bool) {
		whole = whole && ok
		for _, l := range list {
			items = append(items, flow.Literal(l))
		}
	}
	d, delimited := u.opt("delimiter")
	switch {
	case u.has("null"), delimited:
		sep := "\x00"
		if delimited {
			sep = bash.Unescape(d.Text())
		}
		if sep == "" {
			return nil, false
		}
		add(strings.Split(strings.TrimSuffix(text, sep[:1]), sep[:1]), true)
	case u.has("replace"), u.has("I"), u.has("L"), u.has("max-lines"):
		for _, l := range strings.Split(text, "\n") {
			if strings.TrimSpace(l) == "" {
				continue
			}
			if u.has("L") || u.has("max-lines") {
				add(unquoteWords(l, " \t"))
				continue
			}
			add(unquoteWords(strings.TrimLeft(l, " \t"), ""))
		}
	default:
		add(unquoteWords(text, " \t\n"))
	}
	if !whole { // xargs stops at the quote that is open
		return nil, false
	}
	return items, true
}

// unquoteWords cuts text as xargs does: at blanks that no quote or backslash
// protects. It reports false when a quote stays open.
func unquoteWords(text, blanks string) (words []string, whole bool) {
	var b strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'', c == '"':
			quote, open = c, true
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			open = true
		case strings.IndexByte(blanks, c) >= 0:
			if open {
				words = append(words, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words, quote == 0 && !strings.HasSuffix(text, `\`)
}

func orDefaultText(f flow.Word, d string) string {
	if t := f.Text(); t != "" {
		return t
	}
	return d
}

// substitute puts the extra words where the mark stands in the words.
func substitute(words []flow.Word, mark string, extra []flow.Word) []flow.Word {
	var out []flow.Word
	for _, w := range words {
		text := w.Value()
		if text == nil || !strings.Contains(*text, mark) {
			out = append(out, w)
			continue
		}
		for _, e := range extra {
			if v := e.Value(); v != nil {
				out = append(out, flow.Literal(strings.ReplaceAll(*text, mark, *v)))
				continue
			}
			before, after, _ := strings.Cut(*text, mark)
			f := flow.Word{Parts: []flow.Part{{Text: before, Quoted: true}}}
			f.Parts = append(f.Parts, e.Parts...)
			f.Parts = append(f.Parts, flow.Part{Text: after, Quoted: true})
			out = append(out, f)
		}
	}
	return out
}
