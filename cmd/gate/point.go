package main

import (
	"strings"
	"unicode"

	"gate/hook"
	"gate/strictjson"
)

// pointWidth is how much of a long line is shown around the part that matters.
const pointWidth = 96

// pointAt shows the line of a text that a span begins on, with carets under the
// span. A part of the line that is far away is left out.
func pointAt(text string, span hook.Span) string {
	runes := []rune(text)
	from, to := clamp(span[0], len(runes)), clamp(span[1], len(runes))
	if from >= to {
		return ""
	}
	first, last := from, from
	for first > 0 && runes[first-1] != '\n' {
		first--
	}
	for last < len(runes) && runes[last] != '\n' {
		last++
	}
	to = min(to, last)
	begin, end := window(first, last, from, to)
	var line, carets strings.Builder
	line.WriteString("  ")
	carets.WriteString("  ")
	if begin > first {
		line.WriteString("… ")
		carets.WriteString("  ")
	}
	for i := begin; i < end; i++ {
		shown := show(runes[i])
		line.WriteString(shown)
		mark := " "
		if i >= from && i < to {
			mark = "^"
		}
		carets.WriteString(strings.Repeat(mark, columns(shown)))
	}
	if end < last {
		line.WriteString(" …")
	}
	return line.String() + "\n" + strings.TrimRight(carets.String(), " ") + "\n"
}

// show is how a character of a line looks on a terminal, in one line.
func show(r rune) string {
	switch r {
	case '\t':
		return " "
	case '\r':
		return `\r`
	}
	return strictjson.Visible(string(r))
}

// columns is how many columns of a terminal a text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
			r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd):
			n += 2
		default:
			n++
		}
	}
	return n
}

// window chooses what of the line from first to last is shown, so that the
// beginning of the span is in it.
func window(first, last, from, to int) (begin, end int) {
	if last-first <= pointWidth {
		return first, last
	}
	room := pointWidth - min(to-from, pointWidth)
	begin = max(first, from-room/2)
	end = min(last, begin+pointWidth)
	return max(first, end-pointWidth), end
}

func clamp(n, most int) int { return min(max(n, 0), most) }
