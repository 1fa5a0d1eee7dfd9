package install

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// How a text is edited so that the edit can be undone to the byte, with no
// record but the text itself:
//
// An insertion puts white space and an item directly behind the last token or
// comment of its container, and a comma behind the item before. The white space
// in front of an inserted item is therefore all gate's own, and a removal takes
// the item, that white space and one comma.
//
// What remains is whether an empty container was there before. Its first item
// says so by the number of extra blank lines in front of it (blanks, where an older
// version wrote into a text of one line):
//
//	0  the container came with the item, and goes with it
//	1  it was there without anything inside: [] or {}
//	2  it was there with white space inside, which stands behind the item now
//
// A container with a comment inside was there, and stays.

// A splice replaces text[from:to].
type splice struct {
	from, to int
	with     string
}

func apply(text []byte, splices ...splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	out := []byte{}
	at := 0
	for _, s := range splices {
		out = append(append(out, text[at:s.from]...), s.with...)
		at = s.to
	}
	return append(out, text[at:]...)
}

// A style is how a text is laid out.
type style struct {
	newline string
	indent  string // one level
	blank   string // between a colon or comma and what follows
}

func (d *document) style() style {
	s := style{newline: "\n", indent: "  ", blank: " "}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if d.root == nil || len(d.root.items) == 0 {
		return s
	}
	if d.oneLine() {
		return s // what is there stays on its line; what is added is for people to read
	}
	own, first := d.lineIndent(d.root.start), d.root.items[0]
	if gap := string(d.text[first.lead:first.start()]); strings.Contains(gap, "\n") {
		gap = gap[strings.LastIndexByte(gap, '\n')+1:]
		if unit, ok := strings.CutPrefix(gap, own); ok && unit != "" {
			s.indent = unit
		}
	}
	return s
}

// oneLine reports a text whose items all stand on one line.
func (d *document) oneLine() bool {
	return bytes.IndexByte(d.text[d.root.start:d.root.end], '\n') < 0
}

// lineIndent returns the white space at the beginning of an offset's line.
func (d *document) lineIndent(at int) string {
	begin := bytes.LastIndexByte(d.text[:at], '\n') + 1
	rest := bytes.TrimPrefix(d.text[begin:], []byte("\ufeff"))
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
}

// insert adds an item at the end of a container. render is given the
// indentation that the item stands at.
func (d *document) insert(c *node, s style, render func(indent string) string) []byte {
	if len(c.items) == 0 {
		return d.insertFirst(c, s, render)
	}
	last := c.items[len(c.items)-1]
	gap, indent := s.blank, d.lineIndent(last.start())
	between := string(d.text[last.lead:last.start()])
	i := strings.LastIndexByte(between, '\n')
	if i >= 0 {
		indent = between[i+1:]
	}
	if i < 0 && d.oneLine() {
		indent += s.indent
	}
	if i >= 0 || c.tailLine || d.oneLine() {
		gap = s.newline + indent
	}
	if last.comma >= 0 {
		return apply(d.text, splice{c.tail, c.tail, gap + render(indent) + ","})
	}
	return apply(d.text, splice{last.value.end, last.value.end, ","}, splice{c.tail, c.tail, gap + render(indent)})
}

func (d *document) insertFirst(c *node, s style, render func(indent string) string) []byte {
	outer := d.lineIndent(c.start)
	indent := outer + s.indent
	mark, after := 0, ""
	switch {
	case c.comments > 0:
	case c.tail < c.end-1:
		mark = 2
	default:
		mark, after = 1, s.newline+outer
	}
	gap := strings.Repeat(s.newline, mark+1) + indent
	return apply(d.text, splice{c.tail, c.tail, gap + render(indent) + after})
}

// remove takes item i out of the last container of path, and every container
// that came with it; path begins with the root. It reports whether the root
// itself is gone.
func (d *document) remove(path []*node, i int) (text []byte, gone bool) {
	c := path[len(path)-1]
	it := c.items[i]
	cut := []splice{{it.lead, it.value.end, ""}}
	switch {
	case it.comma >= 0:
		cut = append(cut, splice{it.comma, it.comma + 1, ""})
	case i > 0:
		comma := c.items[i-1].comma
		cut = append(cut, splice{comma, comma + 1, ""})
	}
	if len(c.items) == 1 && c.comments == 0 {
		switch gap := string(d.text[it.lead:it.start()]); extra(gap) {
		case 0:
			if len(path) == 1 {
				return apply(d.text, splice{c.start, c.end, ""}), true
			}
			return d.removeNode(path[:len(path)-1], c)
		case 1:
			return apply(d.text, splice{c.start + 1, c.end - 1, ""}), false
		}
	}
	if it.leadLine && !d.endsLine(it, cut) {
		cut[0].with = "\n" // what follows must not become part of the comment
	}
	return apply(d.text, cut...), false
}

// removeNode removes the item that holds value.
func (d *document) removeNode(path []*node, value *node) ([]byte, bool) {
	c := path[len(path)-1]
	return d.remove(path, slices.IndexFunc(c.items, func(it item) bool { return it.value == value }))
}

// endsLine reports whether the line behind a removed item holds nothing more.
func (d *document) endsLine(it item, cut []splice) bool {
	at := it.value.end
	for ; at < len(d.text); at++ {
		switch c := d.text[at]; {
		case c == '\n' || c == '\r': // either ends a comment
			return true
		case c == ' ' || c == '\t':
		case slices.ContainsFunc(cut, func(s splice) bool { return s.from == at && s.to == at+1 }):
		default:
			return false
		}
	}
	return false
}

// extra counts the extra blank lines, or blanks, in front of an item.
func extra(gap string) int {
	if n := strings.Count(gap, "\n"); n > 0 {
		return n - 1
	}
	return len(gap)
}
