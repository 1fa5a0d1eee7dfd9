package main

import (
	"strings"

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
		carets.WriteString(strings.Repeat(mark, len([]rune(shown))))
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
