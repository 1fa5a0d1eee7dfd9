package shell

import (
	"strings"

	"gate/facts/internal/flow"
)

// values adds expanded values. Unquoted ones are split and may hold wildcards.
func (x *expander) values(values []flow.Word, quoted, list bool) {
	for i, v := range values {
		if i > 0 && list {
			x.flush()
		}
		if quoted || !x.split {
			for _, p := range v.Parts {
				p.Quoted = quoted || p.Kept
				x.add(p)
			}
			x.open = x.open || quoted
			continue
		}
		x.splitField(v)
	}
}

// splitField adds an unquoted expansion, cut at blanks (or IFS).
func (x *expander) splitField(v flow.Word) {
	sep, known := x.separators()
	for _, p := range v.Parts {
		if p.Hole != nil && len(p.Hole.Alts) == 1 {
			p = flow.Part{Text: p.Hole.Alts[0]}
		}
		switch {
		case p.Kept:
			p.Kept = false
			x.add(p)
		case p.Hole != nil:
			x.add(flow.Part{Hole: p.Hole.Unsplit(sep)})
		case !known:
			x.add(flow.Part{Hole: &flow.Hole{Why: "split by an unknown IFS", Empty: true, Many: true}})
		default:
			x.splitText(p.Text, sep)
		}
	}
}

// splitText cuts text at separators: blanks among them count once, and each
// other one ends a word, if an empty one.
func (x *expander) splitText(text, sep string) {
	blank := false // one has just ended a word
	for len(text) > 0 {
		i := strings.IndexAny(text, sep)
		if i < 0 {
			x.add(flow.Part{Text: text})
			return
		}
		if i > 0 {
			x.add(flow.Part{Text: text[:i]})
			blank = false
		}
		isBlank := strings.IndexByte(" \t\n", text[i]) >= 0
		switch {
		case x.open:
			x.flush()
			blank = isBlank
		case !isBlank && !blank:
			x.out = append(x.out, flow.Literal(""))
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
	text := v.first().Value()
	if text == nil {
		return "", false
	}
	return *text, true
}
