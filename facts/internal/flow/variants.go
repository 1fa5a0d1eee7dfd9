package flow

import (
	"slices"
	"strings"

	"gate/facts/internal/glob"
)

const MaxVariants = 16

// Variants returns every text that the word can be. It reports false when that is
// not known, or too many.
func (f Word) Variants() ([]string, bool) {
	return f.combine(func(_ Part, text string) string { return text })
}

// Patterns returns every text that the word can be as a shell pattern.
func (f Word) Patterns() ([]string, bool) {
	return f.combine(func(p Part, text string) string {
		if p.Quoted && !p.Spread {
			return glob.Escape(text)
		}
		return text
	})
}

// combine joins the parts in every way their holes allow.
func (f Word) combine(form func(p Part, text string) string) ([]string, bool) {
	if len(f.Parts) == 1 && f.Parts[0].Hole == nil {
		return []string{form(f.Parts[0], f.Parts[0].Text)}, true
	}
	out := []string{""}
	var sure strings.Builder // what follows in every way
	settle := func() {
		for i := range out {
			out[i] += sure.String()
		}
		sure.Reset()
	}
	for _, p := range f.Parts {
		if p.Hole == nil {
			sure.WriteString(form(p, p.Text))
			continue
		}
		switch alts := p.Hole.Alts; {
		case len(alts) == 0, len(out)*len(alts) > MaxVariants:
			return nil, false
		case len(alts) == 1:
			sure.WriteString(form(p, alts[0]))
		default:
			settle()
			next := make([]string, 0, len(out)*len(alts))
			for _, o := range out {
				for _, a := range alts {
					next = append(next, o+form(p, a))
				}
			}
			out = next
		}
	}
	settle()
	return out, true
}

// Pattern returns the text as a pattern, with quoted wildcards escaped, and
// whether it has any wildcard.
func (f Word) Pattern() (pattern string, wild bool) {
	var b strings.Builder
	for _, p := range f.Parts {
		if !p.Quoted || p.Spread {
			wild = wild || strings.ContainsAny(p.Text, `*?[(\`)
			b.WriteString(p.Text)
			continue
		}
		for i := range len(p.Text) {
			if strings.IndexByte(`*?[(|)\`, p.Text[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(p.Text[i])
		}
	}
	return b.String(), wild
}

// Matches reports an unquoted wildcard.
func (f Word) Matches() bool {
	return slices.ContainsFunc(f.Parts, func(p Part) bool { return (!p.Quoted || p.Spread) && strings.ContainsAny(p.Text, "*?[") })
}
