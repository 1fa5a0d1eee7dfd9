package code

import "strings"

// quoteLike reads Perl's q qq qw qx m qr s tr y.
func (l *lexer) quoteLike() bool {
	at, i := l.pos, l.pos
	for i < len(l.text) && i-at < 3 && letterByte(l.text[i]) {
		i++
	}
	op := l.text[at:i]
	switch op {
	case "q", "qq", "qw", "qx", "m", "qr", "s", "tr", "y":
	default:
		return false
	}
	if at > 0 && (wordByte(l.text[at-1], "$@%&-") || l.text[at-1] == '>' && at > 1 && l.text[at-2] == '-') || i < len(l.text) && digitByte(l.text[i]) {
		return false
	}
	for i < len(l.text) && (l.text[i] == ' ' || l.text[i] == '\t') {
		i++
	}
	if i >= len(l.text) || strings.IndexByte("=,;)}>", l.text[i]) >= 0 || wordByte(l.text[i], "\n\r") || l.text[i] == '#' && i > at+len(op) {
		return false
	}
	quote := quoting{kind: textToken, interp: '$'}
	switch op {
	case "q":
		quote = quoting{kind: textToken, raw: true}
	case "qw":
		quote = quoting{kind: wordsToken, raw: true}
	case "qx":
		quote.kind = commandToken
	case "m", "qr", "s":
		quote = quoting{kind: patternToken, verb: true}
	case "tr", "y":
		quote = quoting{kind: patternToken, raw: true}
	}
	l.pos = i
	l.delimited(quote, at)
	if op == "s" || op == "tr" || op == "y" {
		l.replacement(op, l.text[i], at)
	} else if quote.kind == patternToken {
		l.modifiers()
	}
	return true
}

// delimited reads a string between any delimiters; brackets nest.
func (l *lexer) delimited(q quoting, at int) {
	open := l.text[l.pos]
	end := closing(open)
	l.pos++
	if q.kind == patternToken {
		l.patternBody(open, end, at)
		return
	}
	if end == open {
		open = 0
	}
	if open == 0 && end == '\'' {
		q.interp = 0
	}
	l.body(q, open, string(end), at, false)
}

// patternBody reads a pattern to its delimiter, backslashes left as they are.
func (l *lexer) patternBody(open, end byte, at int) {
	start, depth := l.pos, 0
	for ; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; {
		case c == '\\':
			l.pos++
		case c == end && depth == 0:
			l.push(patternToken, l.text[start:l.pos], at)
			l.pos++
			return
		case open != end && c == open:
			depth++
		case open != end && c == end:
			depth--
		}
	}
	l.pos = len(l.text)
	l.suspect("a pattern does not end")
	l.push(patternToken, l.text[min(start, l.pos):], at)
}

// replacement reads the second half of s/// and tr///. With the modifier e it
// is code.
func (l *lexer) replacement(op string, open byte, at int) {
	if end := closing(open); end != open {
		for l.pos < len(l.text) && (l.text[l.pos] == ' ' || l.text[l.pos] == '\n') {
			l.pos++
		}
		if l.pos >= len(l.text) {
			return
		}
		open = l.text[l.pos]
		l.pos++
	}
	start, n := l.pos, len(l.toks)
	l.patternBody(open, closing(open), at)
	body := l.toks[n].text
	l.toks = l.toks[:n]
	flags := l.modifiers()
	if op != "s" || !strings.Contains(flags, "e") {
		return
	}
	end := l.pos
	whole := l.text
	l.text, l.pos = whole[:start+len(body)], start
	l.holes += strings.Count(body, string(Hole)) // in code they are parts that nobody knows
	code := l.inner(0)
	l.text, l.pos = whole, end
	l.toks[n-1].parts = []part{{code: code}}
}

func (l *lexer) modifiers() string {
	at := l.pos
	for l.pos < len(l.text) && 'a' <= l.text[l.pos] && l.text[l.pos] <= 'z' {
		l.pos++
	}
	return l.text[at:l.pos]
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return open
}

// percent reads Ruby's %w[] %q() %x{} and the like.
func (l *lexer) percent() bool {
	if l.valueBefore() && !(l.blank && l.peek(1) != ' ' && l.peek(1) != '=' && l.syntax.commands) {
		return false
	}
	at, i, kind := l.pos, l.pos+1, byte('Q')
	if i < len(l.text) && letterByte(l.text[i]) {
		kind = l.text[i]
		i++
	}
	if i >= len(l.text) || strings.IndexByte("([{<|!/", l.text[i]) < 0 {
		return false
	}
	q := quoting{kind: textToken, interp: '#'}
	switch kind {
	case 'Q', 'W', 'I':
	case 'q', 's':
		q = quoting{kind: textToken, raw: true}
	case 'x':
		q.kind = commandToken
	case 'r':
		q.kind = patternToken
	case 'w', 'i':
		q = quoting{kind: textToken, raw: true}
	default:
		return false
	}
	if kind == 'w' || kind == 'W' || kind == 'i' || kind == 'I' {
		q.kind = wordsToken
	}
	l.pos = i
	l.delimited(q, at)
	return true
}

// plainBefore reports whether the token before is a name without sigil, which
// in Perl may take arguments without parentheses.
func (l *lexer) plainBefore() bool {
	t := l.toks[len(l.toks)-1]
	return t.kind == wordToken && letterByte(t.text[0])
}

// readline reads Perl's <STDIN>, <$fh> and <*.c>.
func (l *lexer) readline() bool {
	end := strings.IndexByte(l.text[l.pos:min(len(l.text), l.pos+200)], '>')
	if end < 1 || strings.ContainsAny(l.text[l.pos:l.pos+end], "\n;=") {
		return false
	}
	inside := l.text[l.pos+1 : l.pos+end]
	at := l.pos
	l.pos += end + 1
	if strings.ContainsAny(inside, "*?.~/") {
		l.push(filesToken, inside, at)
	} else {
		l.push(patternToken, inside, at)
	}
	return true
}
