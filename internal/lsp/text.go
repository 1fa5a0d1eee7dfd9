package lsp

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A document is the text of a file that is open in the editor. It is never changed: an
// edit makes another.
type document struct {
	uri     string
	path    string // absolute
	version int
	text    string
	lines   []int // where each line begins, in bytes
}

func newDocument(uri, path string, version int, text string) *document {
	d := &document{uri: uri, path: path, version: version, text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			d.lines = append(d.lines, i+1)
		}
	}
	return d
}

// line returns the text of a line, from 0, without its end.
func (d *document) line(n int) string {
	if n < 0 || n >= len(d.lines) {
		return ""
	}
	end := len(d.text)
	if n+1 < len(d.lines) {
		end = d.lines[n+1]
	}
	return strings.TrimRight(d.text[d.lines[n]:end], "\r\n")
}

// offset returns where a position is, in bytes. What lies behind the end of a line is its
// end, as the protocol has it; a line that is not there is none.
func (d *document) offset(p position) (int, error) {
	if p.Line < 0 || p.Character < 0 || p.Line >= len(d.lines) {
		return 0, fmt.Errorf("line %d, character %d is no place in a text of %d lines", p.Line, p.Character, len(d.lines))
	}
	line, units := d.line(p.Line), 0
	for i, r := range line {
		if units >= p.Character {
			return d.lines[p.Line] + i, nil
		}
		units += unitsOf(r)
	}
	return d.lines[p.Line] + len(line), nil
}

// position is the place of an offset.
func (d *document) position(offset int) position {
	offset = min(max(offset, 0), len(d.text))
	at := 0
	for lo, hi := 0, len(d.lines); lo < hi; {
		if mid := (lo + hi) / 2; d.lines[mid] <= offset {
			at, lo = mid, mid+1
		} else {
			hi = mid
		}
	}
	units := 0
	for _, r := range d.text[d.lines[at]:offset] {
		units += unitsOf(r)
	}
	return position{at, units}
}

// unitsOf is how many units of UTF-16 a character takes. What is no UTF-8 is one.
func unitsOf(r rune) int {
	if n := utf16.RuneLen(r); n > 0 {
		return n
	}
	return 1
}

// span is the range between two offsets.
func (d *document) span(from, to int) span { return span{d.position(from), d.position(to)} }

// whole is the range of all of the text.
func (d *document) whole() span { return d.span(0, len(d.text)) }

// maxText bounds the text of a document, in bytes. gate reads no larger file.
const maxText = 4 << 20

var errLarge = errors.New("the text is larger than gate reads")

// edited returns the document after changes, in their order. Those that cannot be made
// leave it as it is.
func (d *document) edited(version int, changes []change) (*document, error) {
	out := d
	for _, c := range changes {
		text := c.Text
		if c.Range != nil {
			from, err := out.offset(c.Range.Start)
			if err != nil {
				return d, err
			}
			to, err := out.offset(c.Range.End)
			if err != nil {
				return d, err
			}
			if to < from {
				return d, errors.New("a range that ends before it begins")
			}
			text = out.text[:from] + c.Text + out.text[to:]
		}
		if len(text) > maxText {
			return d, errLarge
		}
		out = newDocument(d.uri, d.path, version, text)
	}
	if out == d { // no change at all, and yet another version
		out = newDocument(d.uri, d.path, version, d.text)
	}
	return out, nil
}

// column is where a character of a line begins, in bytes; both count as findings do, from
// 1. Columns of the parser count bytes or characters; see policycheck.Finding.
func (d *document) column(line, column int) int {
	text := d.line(line - 1)
	at := 0
	for n := 1; n < column && at < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	if line < 1 || line > len(d.lines) {
		return 0
	}
	return d.lines[line-1] + at
}
