package facts

import (
	"slices"
	"strings"
)

// values adds expanded values. Unquoted ones are split and may hold wildcards.
func (x *expander) values(values []field, quoted, list bool) {
	for i, v := range values {
		if i > 0 && list {
			x.flush()
		}
		if quoted || !x.split {
			for _, p := range v.parts {
				p.quoted = quoted || p.kept
				x.add(p)
			}
			x.open = x.open || quoted
			continue
		}
		x.splitField(v)
	}
}

// splitField adds an unquoted expansion, cut at blanks (or IFS).
func (x *expander) splitField(v field) {
	sep, known := x.separators()
	for _, p := range v.parts {
		if p.hole != nil && len(p.hole.alts) == 1 {
			p = part{text: p.hole.alts[0]}
		}
		switch {
		case p.kept:
			p.kept = false
			x.add(p)
		case p.hole != nil:
			x.add(part{hole: p.hole.unsplit(sep)})
		case !known:
			x.add(part{hole: &hole{why: "split by an unknown IFS", empty: true, many: true}})
		default:
			x.splitText(p.text, sep)
		}
	}
}

// unsplit is a hole that stands unquoted: it may be several words, or none.
func (h *hole) unsplit(sep string) *hole {
	out := *h
	switch {
	case len(h.alts) == 0:
		out.many = true
	case strings.ContainsAny(strings.Join(h.alts, ""), sep):
		out.many, out.alts = true, nil
	case slices.Contains(h.alts, ""):
		out.many, out.empty = true, true
	}
	return &out
}

// splitText cuts text at separators: blanks among them count once, and each
// other one ends a word, if an empty one.
func (x *expander) splitText(text, sep string) {
	blank := false // one has just ended a word
	for len(text) > 0 {
		i := strings.IndexAny(text, sep)
		if i < 0 {
			x.add(part{text: text})
			return
		}
		if i > 0 {
			x.add(part{text: text[:i]})
			blank = false
		}
		isBlank := strings.IndexByte(" \t\n", text[i]) >= 0
		switch {
		case x.open:
			x.flush()
			blank = isBlank
		case !isBlank && !blank:
			x.out = append(x.out, literalField(""))
		case !isBlank:
			blank = false
		}
		text = text[i+1:]
	}
}

func (x *expander) separators() (string, bool) {
	v, ok := x.state.vars["IFS"]
	if !ok || v.unset {
		return " \t\n", true
	}
	text := v.first().value()
	if text == nil {
		return "", false
	}
	return *text, true
}
