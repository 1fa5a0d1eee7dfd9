package facts

import (
	"sort"
	"strings"
)

// special reads what only some languages have: variables with sigils, regular
// expressions, quote-like operators, here-documents, symbols, long strings.
func (l *codeLexer) special() bool {
	c := l.text[l.pos]
	s := l.syntax
	switch {
	case s.tags && l.has("?>"):
		l.pos += 2
		l.push(codeMark, ";", l.pos-2)
		l.skipMarkup()
		return true
	case s.sigils != "" && strings.IndexByte(s.sigils, c) >= 0 && l.sigil(c):
		return true
	case s.regex && c == '/' && l.pos >= l.noRegex && l.regexAhead():
		l.regex(l.pos, '/')
		return true
	case s.perl && letterByte(c):
		return l.quoteLike()
	case s.percent && c == '%' && l.percent():
		return true
	case s.heredoc != "" && c == '<' && l.has(s.heredoc) && l.heredoc():
		return true
	case s.perl && c == '<' && (!l.valueBefore() || l.plainBefore()):
		return l.readline()
	case s.symbols && c == ':' && (letterByte(l.peek(1)) || l.peek(1) == '"') && l.peek(-1) != ':' && !wordByte(l.peek(-1), ")"):
		return l.symbol()
	case s.long && c == '[' && (l.peek(1) == '[' || l.peek(1) == '='):
		return l.longString()
	case s.rawStrings && (c == 'r' || c == 'R') && (l.peek(1) == '"' || l.peek(1) == '\'') && strings.IndexByte("([{-", l.peek(2)) >= 0:
		return l.rawString()
	}
	return false
}

// skipMarkup goes to the code after the next opening tag.
func (l *codeLexer) skipMarkup() {
	for _, tag := range []string{"<?php", "<?=", "<?"} {
		if i := strings.Index(l.text[l.pos:], tag); i >= 0 {
			l.pos += i + len(tag)
			return
		}
	}
	l.pos = len(l.text)
}

// sigil reads a variable: $x, @x, %x, $x::y, ${x}, $!.
func (l *codeLexer) sigil(c byte) bool {
	if (c == '%' || c == '&' || c == '@' && l.syntax.perl) && l.valueBefore() {
		return false
	}
	at, i := l.pos, l.pos+1
	for c == '@' && l.syntax.symbols && i < len(l.text) && l.text[i] == '@' {
		i++
	}
	start := i
	for i < len(l.text) && (wordByte(l.text[i], "") || l.syntax.perl && l.text[i] == ':' && i+2 < len(l.text) && l.text[i+1] == ':' && letterByte(l.text[i+2])) {
		if l.text[i] == ':' {
			i++
		}
		i++
	}
	switch {
	case i > start:
		l.pos = i
		l.push(codeWord, l.text[at:i], at)
		return true
	case l.syntax.perl && (c == '$' || c == '@' || c == '%') && i < len(l.text) && l.text[i] == '{':
		if end := strings.IndexByte(l.text[i:min(len(l.text), i+64)], '}'); end > 0 && plainWord(strings.Trim(l.text[i+1:i+end], "^ ")) {
			l.pos = i + end + 1
			l.push(codeWord, string(c)+l.text[i+1:i+end], at)
			return true
		}
		l.pos++ // a reference is followed: what is in the braces is read as code
		return true
	case c == '$' && i < len(l.text) && l.text[i] == '$':
		l.pos++
		return true
	case (l.syntax.perl || l.syntax.symbols) && c == '$' && i < len(l.text) && strings.IndexByte("!@/\\,;.&0_~?<>()[]|\"+'-^:", l.text[i]) >= 0:
		l.pos = i + 1
		l.push(codeWord, l.text[at:i+1], at)
		return true
	case c == '$' && l.syntax.perl && i < len(l.text) && l.text[i] == '#':
		l.pos += 2
		return true
	}
	return false
}

// plainWord reports whether s is one name.
func plainWord(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i], "") {
			return false
		}
	}
	return s != ""
}

// regexAhead reports whether a slash begins a regular expression.
func (l *codeLexer) regexAhead() bool {
	if !l.valueBefore() {
		return true
	}
	if n := len(l.toks); l.syntax.commands && l.toks[n-1].kind == codeWord && letterByte(l.toks[n-1].text[0]) {
		return l.blank && l.peek(1) != ' ' && l.peek(1) != '=' // grep /x/, @list
	}
	return false
}

// regex reads a regular expression from its opening delimiter.
func (l *codeLexer) regex(at int, end byte) {
	l.pos++
	start, class := l.pos, false
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '\n':
			l.noRegex = l.pos // it was a division after all
			l.pos = start
			l.push(codeMark, "/", at)
			return
		case c == '[' && l.syntax.classes:
			class = true
		case c == ']':
			class = false
		case c == end && !class:
			text := l.text[start:l.pos]
			l.pos++
			for l.pos < len(l.text) && letterByte(l.text[l.pos]) {
				l.pos++
			}
			l.push(codePattern, text, at)
			return
		}
		l.pos++
	}
	l.noRegex = len(l.text)
	l.pos = start
	l.push(codeMark, "/", at)
}

// quoteLike reads Perl's q qq qw qx m qr s tr y.
func (l *codeLexer) quoteLike() bool {
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
	quote := codeQuote{kind: codeText, interp: '$'}
	switch op {
	case "q":
		quote = codeQuote{kind: codeText, raw: true}
	case "qw":
		quote = codeQuote{kind: codeWords, raw: true}
	case "qx":
		quote.kind = codeCommand
	case "m", "qr", "s":
		quote = codeQuote{kind: codePattern, verb: true}
	case "tr", "y":
		quote = codeQuote{kind: codePattern, raw: true}
	}
	l.pos = i
	l.delimited(quote, at)
	if op == "s" || op == "tr" || op == "y" {
		l.replacement(op, l.text[i], at)
	} else if quote.kind == codePattern {
		l.modifiers()
	}
	return true
}

// delimited reads a string between any delimiters; brackets nest.
func (l *codeLexer) delimited(q codeQuote, at int) {
	open := l.text[l.pos]
	end := closing(open)
	l.pos++
	if q.kind == codePattern {
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
func (l *codeLexer) patternBody(open, end byte, at int) {
	start, depth := l.pos, 0
	for ; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; {
		case c == '\\':
			l.pos++
		case c == end && depth == 0:
			l.push(codePattern, l.text[start:l.pos], at)
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
	l.push(codePattern, l.text[min(start, l.pos):], at)
}

// replacement reads the second half of s/// and tr///. With the modifier e it
// is code.
func (l *codeLexer) replacement(op string, open byte, at int) {
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
	code := l.inner(0)
	l.text, l.pos = whole, end
	l.toks[n-1].parts = []codePart{{code: code}}
}

func (l *codeLexer) modifiers() string {
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
func (l *codeLexer) percent() bool {
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
	q := codeQuote{kind: codeText, interp: '#'}
	switch kind {
	case 'Q', 'W', 'I':
	case 'q', 's':
		q = codeQuote{kind: codeText, raw: true}
	case 'x':
		q.kind = codeCommand
	case 'r':
		q.kind = codePattern
	case 'w', 'i':
		q = codeQuote{kind: codeText, raw: true}
	default:
		return false
	}
	if kind == 'w' || kind == 'W' || kind == 'i' || kind == 'I' {
		q.kind = codeWords
	}
	l.pos = i
	l.delimited(q, at)
	return true
}

// plainBefore reports whether the token before is a name without sigil, which
// in Perl may take arguments without parentheses.
func (l *codeLexer) plainBefore() bool {
	t := l.toks[len(l.toks)-1]
	return t.kind == codeWord && letterByte(t.text[0])
}

// readline reads Perl's <STDIN>, <$fh> and <*.c>.
func (l *codeLexer) readline() bool {
	end := strings.IndexByte(l.text[l.pos:min(len(l.text), l.pos+200)], '>')
	if end < 1 || strings.ContainsAny(l.text[l.pos:l.pos+end], "\n;=") {
		return false
	}
	inside := l.text[l.pos+1 : l.pos+end]
	at := l.pos
	l.pos += end + 1
	if strings.ContainsAny(inside, "*?.~/") {
		l.push(codeFiles, inside, at)
	} else {
		l.push(codePattern, inside, at)
	}
	return true
}

// symbol reads Ruby's :name.
func (l *codeLexer) symbol() bool {
	at := l.pos
	l.pos++
	if l.text[l.pos] == '"' {
		l.literal(l.syntax.double, at)
		return true
	}
	start := l.pos
	for l.pos < len(l.text) && wordByte(l.text[l.pos], "") {
		l.pos++
	}
	l.push(codeText, l.text[start:l.pos], at)
	return true
}

// longString reads Lua's [[text]] and [=[text]=].
func (l *codeLexer) longString() bool {
	at, i := l.pos, l.pos+1
	for i < len(l.text) && l.text[i] == '=' {
		i++
	}
	if i >= len(l.text) || l.text[i] != '[' || i-at > 16 {
		return false
	}
	start := i + 1
	n := strings.Index(l.text[start:], "]"+l.text[at+1:i]+"]")
	if n < 0 {
		l.suspect("a string does not end")
		n = len(l.text) - start
	}
	l.pos = min(len(l.text), start+n+i-at+1)
	l.push(codeText, strings.TrimPrefix(l.text[start:start+n], "\n"), at)
	return true
}

// rawString reads R's r"(text)" with its dashes and brackets.
func (l *codeLexer) rawString() bool {
	at, quote, i := l.pos, l.peek(1), l.pos+2
	for i < len(l.text) && l.text[i] == '-' {
		i++
	}
	if i >= len(l.text) || strings.IndexByte("([{", l.text[i]) < 0 || i-at > 16 {
		return false
	}
	end := string(closing(l.text[i])) + l.text[at+2:i] + string(quote)
	start := i + 1
	n := strings.Index(l.text[start:], end)
	if n < 0 {
		l.suspect("a string does not end")
		n = len(l.text) - start
	}
	l.pos = min(len(l.text), start+n+len(end))
	l.push(codeText, l.text[start:start+n], at)
	return true
}

// heredoc reads the beginning of a here-document: <<"EOT", <<~EOT, <<<EOT. Its
// text follows at the end of the line.
func (l *codeLexer) heredoc() bool {
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
		q = codeQuote{kind: codeText, verb: true}
	case '`':
		q.kind = codeCommand
	}
	l.pos = min(i, len(l.text))
	l.push(q.kind, "", at)
	l.docs = append(l.docs, codeHeredoc{tag: tag, tok: len(l.toks) - 1, quote: q})
	return true
}

// lineStarts returns where lines after at begin that hold nothing but tag.
func (l *codeLexer) lineStarts(tag string, at int) []int {
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
func (l *codeLexer) heredocs() {
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
func (l *codeLexer) lineTag(start int, tag string) int {
	return start + strings.Index(l.text[start:], tag) + len(tag)
}
