package facts

import (
	"slices"
	"strings"

	"gate/facts/code"
	"gate/hook"
)

// A field is one word after expansion: literal text with holes where something
// is not known.
type field struct {
	parts []part
	span  *hook.Span // of the word in the line; nil where it is not literal there
}

// A part is a run of literal text, or a hole.
type part struct {
	text   string
	quoted bool // wildcards in it mean themselves
	spread bool // wildcards in it were expanded to the files that match
	kept   bool // it is quoted inside an expansion, as in ${v:-"a b"}: not split
	hole   *hole
}

// A hole is text that is not known, or known to be one of a few.
type hole struct {
	why   string
	alts  []string // all it can be, when that is known
	guess []string // some of what it can be, when that is not all
	empty bool     // it may be nothing at all
	unset bool     // a variable that the line does not set, and most likely nothing does
	many  bool     // it may be several words
	taint taint    // what flows through it
}

//go:noinline
func literalField(s string) field { return field{parts: []part{{text: s, quoted: true}}} }

//go:noinline
func holeField(h *hole) field { return field{parts: []part{{hole: h}}} }

// literal reports whether the whole field is known text.
//
//go:noinline
func (f field) literal() bool {
	return !slices.ContainsFunc(f.parts, func(p part) bool { return p.hole != nil })
}

// text returns the known text, without its holes.
//
//go:noinline
func (f field) text() string {
	if len(f.parts) == 1 {
		return f.parts[0].text
	}
	var b strings.Builder
	for _, p := range f.parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// written is the text for people, with … where there is a hole.
func (f field) written() string {
	var b strings.Builder
	for _, p := range f.parts {
		if b.WriteString(p.text); p.hole != nil {
			b.WriteString("…")
		}
	}
	return b.String()
}

// value returns the text when all of it is known, else nil.
//
//go:noinline
func (f field) value() *string {
	if v, ok := f.variants(); ok && len(v) == 1 {
		return &v[0]
	}
	return nil
}

// prefix returns the known text before the first hole.
//
//go:noinline
func (f field) prefix() string {
	if len(f.parts) == 1 {
		return f.parts[0].text
	}
	var b strings.Builder
	for _, p := range f.parts {
		if p.hole != nil {
			break
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// same reports whether both are one word of the line, or known to say the same.
func (f field) same(o field) bool {
	if len(f.parts) == 0 || len(o.parts) == 0 {
		return len(f.parts) == len(o.parts)
	}
	return &f.parts[0] == &o.parts[0] || f.literal() && o.literal() && f.text() == o.text()
}

// empty reports whether the field is known to be nothing.
func (f field) empty() bool { return f.literal() && f.text() == "" }

// holed is the text with code.Hole for each hole. It reports false where the text
// begins with one, or carries what must not be followed so: secrets, and what was
// fetched or decoded.
func (f field) holed() (string, bool) {
	if len(f.parts) == 0 || f.parts[0].hole != nil || f.taint() != (taint{}) || strings.ContainsRune(f.text(), code.Hole) {
		return "", false
	}
	var b strings.Builder
	for _, p := range f.parts {
		b.WriteString(p.text)
		if p.hole != nil {
			b.WriteByte(code.Hole)
		}
	}
	return b.String(), true
}

// mayVanish reports whether every hole could be nothing.
func (f field) mayVanish() bool {
	holes := false
	for _, p := range f.parts {
		if p.hole != nil {
			holes = true
			if !p.hole.empty {
				return false
			}
		}
	}
	return holes
}

func (f field) many() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.hole != nil && p.hole.many })
}

// why returns the reason of the first hole.
func (f field) why() string {
	for _, p := range f.parts {
		if p.hole != nil {
			return p.hole.why
		}
	}
	return ""
}

// from drops the first n bytes, which must be literal.
//
//go:noinline
func (f field) from(n int) field {
	out := field{}
	for i, p := range f.parts {
		if p.hole != nil {
			out.parts = append(out.parts, f.parts[i:]...)
			return out
		}
		if n < len(p.text) {
			p.text = p.text[n:]
			out.parts = append(out.parts, p)
			out.parts = append(out.parts, f.parts[i+1:]...)
			return out
		}
		n -= len(p.text)
	}
	return out
}

func (f field) trimPrefix(s string) field {
	if strings.HasPrefix(f.prefix(), s) {
		return f.from(len(s))
	}
	return f
}

// cut splits at the first sep in the literal prefix.
func (f field) cut(sep string) (before string, after field, found bool) {
	text := f.prefix()
	i := strings.Index(text, sep)
	if i < 0 {
		return text, field{}, false
	}
	return text[:i], f.from(i + len(sep)), true
}

// join returns the fields with blanks between them, as a command that joins
// its arguments sees them.
//
//go:noinline
func join(fields []field) field {
	var out field
	for i, f := range fields {
		if i > 0 {
			out.parts = append(out.parts, part{text: " ", quoted: true})
		}
		out.parts = append(out.parts, f.parts...)
	}
	return out
}

// bounded is f in as few pieces as can be, or a hole when it is longer than
// gate follows: x=$x$x doubles.
func (w *walker) bounded(f field) field {
	size := 0
	for _, p := range f.parts {
		size += len(p.text)
	}
	if len(f.parts) <= maxParts && size <= maxText {
		return f
	}
	if size <= maxText && f.literal() {
		var parts []part
		for _, p := range f.parts {
			if n := len(parts); n > 0 && parts[n-1].quoted == p.quoted && parts[n-1].spread == p.spread && parts[n-1].kept == p.kept {
				parts[n-1].text += p.text
				continue
			}
			parts = append(parts, p)
		}
		if len(parts) <= maxParts {
			f.parts = parts
			return f
		}
	}
	w.limit("a text longer than gate follows")
	return field{parts: []part{{hole: &hole{why: "a text longer than gate follows", empty: true, many: true, taint: f.taint()}}}, span: f.span}
}

// either returns a field that is a or b.
func either(a, b field) field {
	if slices.Equal(a.parts, b.parts) {
		return a
	}
	va, okA := a.variants()
	vb, okB := b.variants()
	if okA && okB {
		alts := va
		for _, v := range vb {
			if !slices.Contains(alts, v) {
				alts = append(alts, v)
			}
		}
		switch {
		case len(alts) == 1:
			return literalField(alts[0])
		case len(alts) <= maxVariants:
			return holeField(&hole{why: "set on one way only", alts: alts, taint: a.taint().merge(b.taint())})
		}
	}
	return holeField(&hole{why: "set on one way only", empty: true, many: a.many() || b.many(), guess: append(va, vb...), taint: a.taint().merge(b.taint())})
}

// unset reports a variable that is most likely not set at all.
func (f field) unset() bool {
	return len(f.parts) == 1 && f.parts[0].hole != nil && f.parts[0].hole.unset
}

// guessed is the field with one guess in the place of each hole that has any.
func (f field) guessed(n int) (field, bool) {
	out, found := field{span: f.span}, false
	for _, p := range f.parts {
		if p.hole != nil && n < len(p.hole.guess) {
			p, found = part{text: p.hole.guess[n], quoted: p.quoted}, true
		}
		out.parts = append(out.parts, p)
	}
	return out, found
}
