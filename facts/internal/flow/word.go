// Package flow holds the vocabulary that the parts of facts share: a [Word] of a
// line, as far as it is known, and a [Stream] between commands, with what flows in
// both ([Taint]). Its values know no shell, no program and no file; package facts
// does. [Literal] and [Unknown] make words, and [Word.Value] asks for the text.
package flow

import (
	"slices"
	"strings"

	"gate/hook"
)

// A Word is one word of a line after expansion: known text, with holes where
// something is not known. The zero Word is no word at all; it is not the empty text.
type Word struct {
	Parts []Part
	Span  *hook.Span // of the word in the line; nil where it is not literal there
}

// A Part is a run of known text, or a hole.
type Part struct {
	Text   string
	Quoted bool // wildcards in it mean themselves
	Spread bool // wildcards in it were expanded to the files that match
	Kept   bool // it is quoted inside an expansion, as in ${v:-"a b"}: not split
	Hole   *Hole
}

// A Hole stands for text that is not known, or that is one of a few known texts.
type Hole struct {
	Why   string
	Alts  []string // all it can be, when that is known
	Guess []string // some of what it can be, when that is not all
	Empty bool     // it may be nothing at all
	Unset bool     // a variable that the line does not set, and most likely nothing does
	Many  bool     // it may be several words
	Taint Taint    // what flows through it
	File  string   // the file that it is a line of, or all of; "" for none that is known
}

// Literal returns the word that says s, as if it stood in quotes.
//
//go:noinline
func Literal(s string) Word { return Word{Parts: []Part{{Text: s, Quoted: true}}} }

// Unknown returns a word that is one hole.
//
//go:noinline
func Unknown(h *Hole) Word { return Word{Parts: []Part{{Hole: h}}} }

// Small functions are marked go:noinline here and in package draft, because some hundred
// callers would get a copy of each: 280 KB of gate-hook (TestHookProgramSize), all of it
// mapped at each call. BenchmarkOf in package facts shows no difference in speed.

// Literal reports whether the whole word is known text.
//
//go:noinline
func (f Word) Literal() bool {
	return !slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Hole != nil })
}

// Text returns the known text; holes are left out.
//
//go:noinline
func (f Word) Text() string {
	if len(f.Parts) == 1 {
		return f.Parts[0].Text
	}
	var b strings.Builder
	for _, p := range f.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Written returns the text for people, with … where there is a hole.
func (f Word) Written() string {
	var b strings.Builder
	for _, p := range f.Parts {
		if b.WriteString(p.Text); p.Hole != nil {
			b.WriteString("…")
		}
	}
	return b.String()
}

// Value returns the text where all of it is known, and nil otherwise.
//
//go:noinline
func (f Word) Value() *string {
	if v, ok := f.Variants(); ok && len(v) == 1 {
		return &v[0]
	}
	return nil
}

// Prefix returns the known text before the first hole.
//
//go:noinline
func (f Word) Prefix() string {
	if len(f.Parts) == 1 {
		return f.Parts[0].Text
	}
	var b strings.Builder
	for _, p := range f.Parts {
		if p.Hole != nil {
			break
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// Same reports whether f and o are one word of the line, or say the same text.
func (f Word) Same(o Word) bool {
	if len(f.Parts) == 0 || len(o.Parts) == 0 {
		return len(f.Parts) == len(o.Parts)
	}
	return &f.Parts[0] == &o.Parts[0] || f.Literal() && o.Literal() && f.Text() == o.Text()
}

// Empty reports whether the word is known to be the empty text.
func (f Word) Empty() bool { return f.Literal() && f.Text() == "" }

// Holed returns the text with mark in the place of each hole. It reports false where the text
// begins with one, or carries what must not be followed so: secrets, and what was
// fetched or decoded.
func (f Word) Holed(mark rune) (string, bool) {
	if len(f.Parts) == 0 || f.Parts[0].Hole != nil || f.Taint() != (Taint{Process: f.Taint().Process}) || strings.ContainsRune(f.Text(), mark) {
		return "", false
	}
	var b strings.Builder
	for _, p := range f.Parts {
		b.WriteString(p.Text)
		if p.Hole != nil {
			b.WriteRune(mark)
		}
	}
	return b.String(), true
}

// MayVanish reports whether every hole could be nothing.
func (f Word) MayVanish() bool {
	holes := false
	for _, p := range f.Parts {
		if p.Hole != nil {
			holes = true
			if !p.Hole.Empty {
				return false
			}
		}
	}
	return holes
}

// Many reports whether the word may be several words.
//
//go:noinline
func (f Word) Many() bool {
	return slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Hole != nil && p.Hole.Many })
}

// Why returns the reason of the first hole.
func (f Word) Why() string {
	for _, p := range f.Parts {
		if p.Hole != nil {
			return p.Hole.Why
		}
	}
	return ""
}

// From drops the first n bytes, which must be literal.
func (f Word) From(n int) Word {
	out := Word{}
	for i, p := range f.Parts {
		if p.Hole != nil {
			out.Parts = append(out.Parts, f.Parts[i:]...)
			return out
		}
		if n < len(p.Text) {
			p.Text = p.Text[n:]
			out.Parts = append(out.Parts, p)
			out.Parts = append(out.Parts, f.Parts[i+1:]...)
			return out
		}
		n -= len(p.Text)
	}
	return out
}

// TrimPrefix drops s where the known text begins with it.
func (f Word) TrimPrefix(s string) Word {
	if strings.HasPrefix(f.Prefix(), s) {
		return f.From(len(s))
	}
	return f
}

// Cut splits at the first sep in the literal prefix.
func (f Word) Cut(sep string) (before string, after Word, found bool) {
	text := f.Prefix()
	i := strings.Index(text, sep)
	if i < 0 {
		return text, Word{}, false
	}
	return text[:i], f.From(i + len(sep)), true
}

// Join returns the words with blanks between them, as a command that joins
// its arguments sees them.
//
//go:noinline
func Join(fields []Word) Word {
	var out Word
	for i, f := range fields {
		if i > 0 {
			out.Parts = append(out.Parts, Part{Text: " ", Quoted: true})
		}
		out.Parts = append(out.Parts, f.Parts...)
	}
	return out
}

// Either returns a word that is a or b.
func Either(a, b Word) Word {
	if slices.Equal(a.Parts, b.Parts) {
		return a
	}
	va, okA := a.Variants()
	vb, okB := b.Variants()
	if okA && okB {
		alts := va
		for _, v := range vb {
			if !slices.Contains(alts, v) {
				alts = append(alts, v)
			}
		}
		switch {
		case len(alts) == 1:
			return Literal(alts[0])
		case len(alts) <= MaxVariants:
			return Unknown(&Hole{Why: "set on one way only", Alts: alts, Taint: a.Taint().Merge(b.Taint())})
		}
	}
	return Unknown(&Hole{Why: "set on one way only", Empty: true, Many: a.Many() || b.Many(), Guess: append(va, vb...), Taint: a.Taint().Merge(b.Taint())})
}

// Unset reports a variable that is most likely not set at all.
func (f Word) Unset() bool {
	return len(f.Parts) == 1 && f.Parts[0].Hole != nil && f.Parts[0].Hole.Unset
}

// Guessed returns the word with one guess in the place of each hole that has any.
func (f Word) Guessed(n int) (Word, bool) {
	out, found := Word{Span: f.Span}, false
	for _, p := range f.Parts {
		if p.Hole != nil && n < len(p.Hole.Guess) {
			p, found = Part{Text: p.Hole.Guess[n], Quoted: p.Quoted}, true
		}
		out.Parts = append(out.Parts, p)
	}
	return out, found
}
