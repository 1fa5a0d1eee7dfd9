package code

import "strings"

// quoted reads a string that begins with a quote.
func (l *lexer) quoted() bool {
	c := l.text[l.pos]
	var q quoting
	switch c {
	case '"':
		q = l.syntax.double
	case '\'':
		q = l.syntax.single
	case '`':
		q = l.syntax.back
	default:
		return false
	}
	if q.kind == 0 {
		return false
	}
	l.literal(q, l.pos)
	return true
}

// literal reads a string whose opening quote is the next byte.
func (l *lexer) literal(q quoting, at int) {
	c := l.text[l.pos]
	end := l.text[l.pos : l.pos+1]
	if l.syntax.triple && strings.HasPrefix(l.text[l.pos:], strings.Repeat(end, 3)) {
		end = l.text[l.pos : l.pos+3]
	}
	l.pos += len(end)
	l.body(q, 0, end, at, len(end) == 1 && c != '`' && l.syntax.oneLine)
}

// body reads the inside of a string up to end, which nests when open is given.
// Without an end it is the rest of the text.
func (l *lexer) body(q quoting, open byte, end string, at int, oneLine bool) {
	var text strings.Builder
	var parts []part
	start, depth, last := l.pos, 0, byte(0)
	if end != "" {
		last = end[0]
	}
	flush := func() { text.WriteString(l.text[start:l.pos]) }
	code := func(toks []token) {
		parts = append(parts, part{text: text.String()}, part{code: toks})
		text.Reset()
		start = l.pos
	}
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case end != "" && c == last && depth == 0 && strings.HasPrefix(l.text[l.pos:], end):
			flush()
			l.pos += len(end)
			l.pushString(q.kind, text.String(), parts, at)
			return
		case open != 0 && c == open:
			depth++
			l.pos++
		case open != 0 && c == last:
			depth--
			l.pos++
		case c == '\n' && oneLine:
			flush()
			l.pushString(q.kind, text.String(), parts, at)
			return
		case c == Hole && (q.kind == textToken || q.kind == commandToken):
			flush()
			l.pos++
			l.holes--
			code([]token{})
		case c == '\\' && !q.verb:
			flush()
			l.escape(&text, q, open, last)
			start = l.pos
		case q.interp != 0 && l.codeAhead(q.interp):
			flush()
			if toks, ok := l.interpolation(q.interp); ok {
				code(toks)
			} else {
				start = l.pos
				l.pos++
			}
		case q.interp == '{' && (c == '{' || c == '}'):
			flush()
			text.WriteByte(c) // {{ and }} stand for one
			l.pos += min(2, len(l.text)-l.pos)
			start = l.pos
		default:
			l.pos++
		}
	}
	flush()
	if end != "" {
		l.suspect("a string does not end")
	}
	l.pushString(q.kind, text.String(), parts, at)
}

func (l *lexer) pushString(kind tokenKind, text string, parts []part, at int) {
	if parts != nil {
		parts = append(parts, part{text: text})
		text = ""
	}
	l.push(kind, text, at)
	l.toks[len(l.toks)-1].parts = parts
}

// codeAhead reports whether code begins here inside a string.
func (l *lexer) codeAhead(interp byte) bool {
	c, n := l.text[l.pos], l.peek(1)
	switch interp {
	case 'j':
		return c == '$' && n == '{'
	case '#':
		return c == '#' && n == '{'
	case '{':
		return c == '{' && n != '{'
	case '$':
		return c == '$' && (letterByte(n) || n == '{') || c == '{' && n == '$' && l.syntax.tags ||
			c == '@' && (n == '{' || letterByte(n)) && !l.syntax.tags
	}
	return false
}

// interpolation reads code inside a string. It reports false when it is none
// after all; nothing is consumed then.
func (l *lexer) interpolation(interp byte) ([]token, bool) {
	switch {
	case interp == '{':
		l.pos++
		return l.inner('}'), true
	case interp == 'j' || interp == '#' || l.text[l.pos] == '@' && l.peek(1) == '{':
		l.pos += 2
		return l.inner('}'), true
	case l.text[l.pos] == '{': // PHP's {$x}
		l.pos++
		return l.inner('}'), true
	case l.text[l.pos] == '@':
		at := l.pos
		l.pos++
		for l.pos < len(l.text) && wordByte(l.text[l.pos], "") {
			l.pos++
		}
		return []token{{kind: wordToken, text: l.text[at:l.pos], offset: int32(at)}}, true
	}
	return l.variable(), true
}

// variable reads $x, ${x}, $x{y}, $x[0], $x->{y} inside a string.
func (l *lexer) variable() []token {
	at := l.pos
	toks := l.toks
	l.toks = nil
	l.pos++
	if l.peek(0) == '{' {
		l.pos++
		name := l.inner('}')
		if len(name) == 1 && name[0].kind == wordToken {
			l.toks = append(l.toks, token{kind: wordToken, text: "$" + name[0].text, offset: int32(at)})
		} else {
			l.toks = append(l.toks, name...)
		}
	} else {
		for l.pos < len(l.text) && (wordByte(l.text[l.pos], "") || l.text[l.pos] == ':' && l.peek(1) == ':' && letterByte(l.peek(2))) {
			if l.text[l.pos] == ':' {
				l.pos++
			}
			l.pos++
		}
		l.toks = append(l.toks, token{kind: wordToken, text: l.text[at:l.pos], offset: int32(at)})
	}
	for l.pos < len(l.text) && l.index() {
	}
	out := l.toks
	l.toks = toks
	return out
}

// index reads one subscript inside a string.
func (l *lexer) index() bool {
	at := l.pos
	if l.has("->{") || l.has("->[") {
		l.toks = append(l.toks, token{kind: markToken, text: "->", offset: int32(at)})
		l.pos += 2
	}
	c := l.peek(0)
	if c != '[' && (c != '{' || l.syntax.tags) {
		return false
	}
	stop := byte(']')
	if c == '{' {
		stop = '}'
	}
	l.pos++
	inside := l.inner(stop)
	l.toks = append(l.toks, token{kind: markToken, text: string(c), offset: int32(at)})
	l.toks = append(l.toks, inside...)
	l.toks = append(l.toks, token{kind: markToken, text: string(stop), offset: int32(l.pos)})
	return true
}

// pythonPrefix reads the letters before a Python string.
func pythonPrefix(word string) (quoting, bool) {
	q := quoting{kind: textToken, keep: true}
	for _, c := range strings.ToLower(word) {
		switch c {
		case 'r':
			q.raw = true
		case 'f', 't':
			q.interp = '{'
		case 'b', 'u':
		default:
			return q, false
		}
	}
	return q, true
}
