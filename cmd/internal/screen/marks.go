package screen

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"gate/hook"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// How many characters are shown of a long line, and of a label.
const (
	LineWidth  = 96
	LabelWidth = 72
)

const (
	markEdge  = 16 // characters around a mark that stands far from the others
	markWidth = 48 // characters of a mark in a line that is cut
	mostLines = 12 // of a text with marks
	mostMarks = 12 // of a line
)

// Marked shows the lines of a text that have marks, with carets under each mark
// and its label. Every line of the result is indented, and none can steer the
// terminal.
func (s Style) Marked(e hook.Effect, text string, marks []explain.Mark) string {
	runes := []rune(text)
	marks = slices.Clone(marks)
	for i := range marks {
		marks[i].Span = hook.Span{clamp(marks[i].Span[0], len(runes)), clamp(marks[i].Span[1], len(runes))}
	}
	marks = slices.DeleteFunc(marks, func(m explain.Mark) bool { return m.Span[0] >= m.Span[1] })
	slices.SortStableFunc(marks, func(a, b explain.Mark) int { return cmp.Compare(a.Span[0], b.Span[0]) })
	var b strings.Builder
	last, lines := -1, 0
	for len(marks) > 0 {
		first, end := lineAround(runes, marks[0].Span[0])
		n := 0
		for n < len(marks) && marks[n].Span[0] < max(end, marks[0].Span[0]+1) {
			marks[n].Span[1] = min(marks[n].Span[1], end)
			n++
		}
		if lines++; lines > mostLines {
			b.WriteString("  …\n")
			break
		}
		if last >= 0 && last+1 != first {
			b.WriteString("  …\n")
		}
		shown := slices.DeleteFunc(slices.Clone(marks[:n]), func(m explain.Mark) bool { return m.Span[0] >= m.Span[1] })
		s.line(&b, e, runes, first, end, shown[:min(len(shown), mostMarks)])
		marks, last = marks[n:], end
	}
	return b.String()
}

// lineAround returns where the line of a position begins and ends.
func lineAround(runes []rune, at int) (first, end int) {
	first, end = at, at
	for first > 0 && runes[first-1] != '\n' {
		first--
	}
	for end < len(runes) && runes[end] != '\n' {
		end++
	}
	return first, end
}

// line shows one line with its marks.
func (s Style) line(b *strings.Builder, e hook.Effect, runes []rune, first, end int, marks []explain.Mark) {
	if len(marks) == 0 {
		return
	}
	var shown strings.Builder
	carets := &row{}
	column := 2
	shown.WriteString("  ")
	at := make([]int, len(marks)) // the column of each mark
	for i, part := range views(first, end, marks) {
		if i > 0 || part[0] > first {
			shown.WriteString("… ")
			column += 2
		}
		for j := part[0]; j < part[1]; j++ {
			char := show(runes[j])
			n := Columns(char)
			m := slices.IndexFunc(marks, func(m explain.Mark) bool { return j >= m.Span[0] && j < m.Span[1] })
			if m >= 0 {
				if at[m] == 0 {
					at[m] = column
				}
				carets.put(column, strings.Repeat("^", n))
				char = s.Effect(e, char)
			}
			shown.WriteString(char)
			column += n
		}
		if part[1] < end {
			shown.WriteString(" ")
			column++
			if i == len(views(first, end, marks))-1 {
				shown.WriteString("…")
			}
		}
	}
	b.WriteString(shown.String() + "\n")
	s.labels(b, e, carets, marks, at)
}

// labels writes the row of carets and the labels: the last one behind its
// carets, the others below, each connected with its mark.
func (s Style) labels(b *strings.Builder, e hook.Effect, carets *row, marks []explain.Mark, at []int) {
	var labelled []int
	for i, m := range marks {
		if m.Label != "" && at[i] > 0 {
			labelled = append(labelled, i)
		}
	}
	n := len(labelled)
	b.WriteString(s.Effect(e, carets.text))
	if n > 0 && labelled[n-1] == len(marks)-1 {
		b.WriteString(" " + label(marks[labelled[n-1]].Label))
		n--
	}
	b.WriteString("\n")
	for ; n > 0; n-- {
		below := &row{}
		for _, i := range labelled[:n-1] {
			below.put(at[i], "|")
		}
		below.put(at[labelled[n-1]], label(marks[labelled[n-1]].Label))
		b.WriteString(below.text + "\n")
	}
}

func label(s string) string { return Short(strictjson.OneLine(s), LabelWidth) }

// Short cuts a text of one line.
func Short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// A row is one line of a terminal that is filled from left to right.
type row struct {
	text string
	used int
}

// put writes text at a column.
func (r *row) put(column int, text string) {
	if gap := column - r.used; gap > 0 {
		r.text += strings.Repeat(" ", gap)
		r.used = column
	}
	r.text += text
	r.used += Columns(text)
}

// views chooses what of a line is shown: all of a short one; of a long one
// what is around the marks, together if they are close, else each alone.
func views(first, end int, marks []explain.Mark) [][2]int {
	from, to := marks[0].Span[0], marks[len(marks)-1].Span[1]
	if end-first <= LineWidth || to-from <= LineWidth || len(marks) == 1 {
		a, b := window(first, end, from, to)
		return [][2]int{{a, b}}
	}
	var list [][2]int
	for _, m := range marks {
		part := [2]int{max(first, m.Span[0]-markEdge), min(end, min(m.Span[1], m.Span[0]+markWidth)+markEdge)}
		if n := len(list); n > 0 && part[0] <= list[n-1][1]+2 {
			list[n-1][1] = max(list[n-1][1], part[1])
			continue
		}
		list = append(list, part)
	}
	return list
}

// window chooses what of the line from first to last is shown, so that the
// beginning of the span is in it.
func window(first, last, from, to int) (begin, end int) {
	if last-first <= LineWidth {
		return first, last
	}
	room := LineWidth - min(to-from, LineWidth)
	begin = max(first, from-room/2)
	end = min(last, begin+LineWidth)
	return max(first, end-LineWidth), end
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

// Column shows a text in a column of so many characters: too long, and its end is
// missing.
func Column(s string, width int) string {
	s = strictjson.OneLine(s)
	if n := utf8.RuneCountInString(s); n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	return string([]rune(s)[:width-1]) + "…"
}

// Columns is how many columns of a terminal a text takes: two for what East
// Asian scripts and emoji use, none for what is put on the character before.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me), r >= 0x1160 && r <= 0x11ff: // the inner parts of Korean syllables
		default:
			switch width.LookupRune(r).Kind() {
			case width.EastAsianWide, width.EastAsianFullwidth:
				n += 2
			default:
				n++
			}
		}
	}
	return n
}

func clamp(n, most int) int { return min(max(n, 0), most) }
