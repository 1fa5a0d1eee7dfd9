package code

import (
	"sort"
	"strings"
)

// heredoc reads the beginning of a here-document: <<"EOT", <<~EOT, <<<EOT. Its
// text follows at the end of the line.
func (l *lexer) heredoc() bool {
	at, i := l.pos, l.pos+len(l.syntax.heredoc)
	for i < len(l.text) && (l.text[i] == '~' || l.text[i] == '-' || l.syntax.tags && l.text[i] == ' ') {
		i++
	}
	quote := byte(0)
	if i < len(l.text) && (l.text[i] == '"' || l.text[i] == '\'' || l.text[i] == '`') {
		quote = l.text[i]
		i++
	}
	start := i
	for i < len(l.text) && i-start < 64 && wordByte(l.text[i], "") {
		i++
	}
	tag := l.text[start:i]
	if tag == "" || digitByte(tag[0]) || quote == 0 && l.valueBefore() && !l.syntax.commands || len(l.lineStarts(tag, at)) == 0 {
		return false
	}
	if quote != 0 {
		i++
	}
	q := l.syntax.double
	switch quote {
	case '\'':
		q = quoting{kind: textToken, verb: true}
	case '`':
		q.kind = commandToken
	}
	l.pos = min(i, len(l.text))
	l.push(q.kind, "", at)
	l.docs = append(l.docs, heredoc{tag: tag, tok: len(l.toks) - 1, quote: q})
	return true
}

// lineStarts returns where lines after at begin that hold nothing but tag.
func (l *lexer) lineStarts(tag string, at int) []int {
	if l.lines == nil {
		l.lines = map[string][]int{}
		for start := 0; start < len(l.text); {
			end := l.lineEnd(start)
			line := strings.Trim(l.text[start:end], " \t\r;),")
			if plainWord(line) {
				l.lines[line] = append(l.lines[line], start)
			}
			start = end + 1
		}
	}
	starts := l.lines[tag]
	return starts[sort.SearchInts(starts, at):]
}

// heredocs reads the texts of here-documents whose lines begin here.
func (l *lexer) heredocs() {
	docs := l.docs
	l.docs = nil
	for _, d := range docs {
		starts := l.lineStarts(d.tag, l.pos)
		if len(starts) == 0 || d.tok >= len(l.toks) {
			continue
		}
		whole, toks := l.text, l.toks
		l.text, l.toks = whole[:starts[0]], nil
		l.body(d.quote, 0, "", l.pos, false)
		read := l.toks
		l.text, l.toks = whole, toks
		if len(read) > 0 {
			l.toks[d.tok].text, l.toks[d.tok].parts = read[0].text, read[0].parts
		}
		l.pos = min(len(l.text), l.lineTag(starts[0], d.tag))
	}
}

// lineTag returns the offset behind the closing tag.
func (l *lexer) lineTag(start int, tag string) int {
	return start + strings.Index(l.text[start:], tag) + len(tag)
}
