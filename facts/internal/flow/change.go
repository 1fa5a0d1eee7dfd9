package flow

import (
	"slices"
	"strings"

	"gate/facts/internal/bash"
)

// Each returns what f makes of each value.
func Each(values []Word, f func(Word) Word) []Word {
	out := make([]Word, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// Unfollowed returns a hole in the place of f, with what flows through f.
func Unfollowed(f Word) Word {
	return Unknown(&Hole{Why: "an expansion gate does not follow", Empty: true, Many: f.Many(), Taint: f.Taint()})
}

// Size returns the length of the text that is known.
func (f Word) Size() int {
	n := 0
	for _, p := range f.Parts {
		n += len(p.Text)
		if p.Hole != nil {
			for _, a := range p.Hole.Alts {
				n += len(a)
			}
		}
	}
	return n
}

// NotEmpty returns f as a word that is known not to be empty: ${v:?}.
func NotEmpty(f Word) Word {
	out := Word{Span: f.Span}
	for _, p := range f.Parts {
		if p.Hole != nil {
			h := *p.Hole
			h.Empty = false
			p.Hole = &h
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

// Map changes each of the texts that f can be, and follows f no further where these
// are not known.
func Map(f Word, change func(string) string) Word {
	alts, ok := f.Variants()
	if !ok {
		return Unfollowed(f)
	}
	for i := range alts {
		alts[i] = change(alts[i])
	}
	if len(alts) == 1 {
		return Word{Parts: []Part{{Text: alts[0]}}}
	}
	return Unknown(&Hole{Why: f.Why(), Alts: alts, Taint: f.Taint()})
}

// Number returns the number that the word is known to be.
func (f Word) Number() (int, bool) {
	v := f.Value()
	if v == nil {
		return 0, false
	}
	return bash.Int(*v)
}

// Append returns old with f behind it: NAME+=f.
func Append(old, f Word) Word {
	return Word{Parts: append(append([]Part(nil), old.Parts...), f.Parts...)}
}

// Countable reports whether the list is known to be as many words as it looks.
func Countable(list []Word) bool {
	return !slices.ContainsFunc(list, func(f Word) bool {
		return f.Many() || slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Spread })
	})
}

// Unsplit returns the hole as it stands unquoted, cut at the characters of sep: it
// may be several words, or none.
func (h *Hole) Unsplit(sep string) *Hole {
	out := *h
	switch {
	case len(h.Alts) == 0:
		out.Many = true
	case strings.ContainsAny(strings.Join(h.Alts, ""), sep):
		out.Many, out.Alts = true, nil
	case slices.Contains(h.Alts, ""):
		out.Many, out.Empty = true, true
	}
	return &out
}

// SameWords reports whether both lists are known to say the same.
func SameWords(a, b []Word) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i].Value(), b[i].Value()
		if x != y && (x == nil || y == nil || *x != *y) {
			return false
		}
	}
	return true
}
