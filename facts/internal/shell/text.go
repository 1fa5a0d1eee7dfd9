package shell

import (
	"strconv"
	"strings"

	"gate/facts/internal/flow"
)

// Text runs text that a shell reads from an argument or a pipe.
func (c *Call) Text(f flow.Word, stdin flow.Stream) flow.Stream {
	texts, known := f.Variants()
	if !known {
		t := f.Taint()
		if t.Remote || t.Hidden || f.Parts[0].Hole != nil {
			return c.UnknownCode(c.ID, "bash", t, "inline", f.Why())
		}
		return c.template(f, stdin)
	}
	var out flow.Stream
	for _, text := range texts {
		s := c.s
		if len(texts) > 1 {
			s = c.s.clone()
		}
		c.nested++
		out = flow.Concat(out, c.script(s, text, stdin))
		c.nested--
	}
	return out
}

// template runs a shell text with holes: each hole becomes a variable that is
// not known, so that what is around it is judged as it stands. Where quotes make
// text of the variable, the expander puts the hole back.
func (c *Call) template(f flow.Word, stdin flow.Stream) flow.Stream {
	s := c.s.clone()
	var b strings.Builder
	for _, p := range f.Parts {
		if p.Hole == nil {
			b.WriteString(p.Text)
			continue
		}
		name := holeName + strconv.Itoa(len(c.holes)) + "_"
		c.holes = append(c.holes, p.Hole)
		s.set(name, flow.Word{Parts: []flow.Part{p}})
		b.WriteString("${" + name + "}")
	}
	c.nested++
	defer func() { c.nested-- }()
	return c.script(s, b.String(), stdin)
}

// nestedScript runs a text that is not literally the line.
func (c *Call) nestedScript(text string, stdin flow.Stream) flow.Stream {
	c.nested++
	defer func() { c.nested-- }()
	return c.script(c.s, text, stdin)
}

// Handed runs a text with words behind it that no shell reads again.
func (c *Call) Handed(body string, rest []flow.Word) flow.Stream {
	const words = "gate_words"
	s := c.s.clone()
	s.own()
	s.vars[words] = variable{array: true, list: rest}
	if len(rest) > 0 {
		body += ` "${` + words + `[@]}"`
	}
	was := c.s
	c.s = s
	out := c.nestedScript(body, c.Stdin)
	c.s.own()
	delete(c.s.vars, words)
	*was = *c.s
	c.s = was
	return out
}

// Line runs a text in a shell that knows nothing of this one, below via.
func (w *Shell) Line(via, text string) {
	if w.Depth >= maxDepth {
		return
	}
	w.nested++
	w.Depth++
	w.Via = append(w.Via, via)
	w.script(newState(w.World.Dir), text, flow.Stream{})
	w.Via = w.Via[:len(w.Via)-1]
	w.Depth--
	w.nested--
}
