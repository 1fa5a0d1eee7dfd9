package facts

import (
	"slices"
	"strings"

	"gate/facts/glob"
)

const maxVariants = 16

// variants returns every text the field can be. It reports false when that is
// not known, or too many.
func (f field) variants() ([]string, bool) {
	return f.combine(func(_ part, text string) string { return text })
}

// patterns returns every text the field can be as a shell pattern.
func (f field) patterns() ([]string, bool) {
	return f.combine(func(p part, text string) string {
		if p.quoted && !p.spread {
			return glob.Escape(text)
		}
		return text
	})
}

// combine joins the parts in every way their holes allow.
func (f field) combine(form func(p part, text string) string) ([]string, bool) {
	if len(f.parts) == 1 && f.parts[0].hole == nil {
		return []string{form(f.parts[0], f.parts[0].text)}, true
	}
	out := []string{""}
	var sure strings.Builder // what follows in every way
	settle := func() {
		for i := range out {
			out[i] += sure.String()
		}
		sure.Reset()
	}
	for _, p := range f.parts {
		if p.hole == nil {
			sure.WriteString(form(p, p.text))
			continue
		}
		switch alts := p.hole.alts; {
		case len(alts) == 0, len(out)*len(alts) > maxVariants:
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

// pattern returns the text as a pattern, with quoted wildcards escaped, and
// whether it has any wildcard.
func (f field) pattern() (pattern string, wild bool) {
	var b strings.Builder
	for _, p := range f.parts {
		if !p.quoted || p.spread {
			wild = wild || strings.ContainsAny(p.text, `*?[(\`)
			b.WriteString(p.text)
			continue
		}
		for i := range len(p.text) {
			if strings.IndexByte(`*?[(|)\`, p.text[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(p.text[i])
		}
	}
	return b.String(), wild
}

// matches reports an unquoted wildcard.
func (f field) matches() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return (!p.quoted || p.spread) && strings.ContainsAny(p.text, "*?[") })
}
