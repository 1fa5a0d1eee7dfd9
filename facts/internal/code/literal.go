package code

import "strings"

// special reads what only some languages have: variables with sigils, regular
// expressions, quote-like operators, here-documents, symbols, long strings.
func (l *lexer) special() bool {
	c := l.text[l.pos]
	s := l.syntax
	switch {
	case s.tags && l.has("?>"):
		l.pos += 2
		l.push(markToken, ";", l.pos-2)
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
func (l *lexer) skipMarkup() {
	for _, tag := range []string{"<?php", "<?=", "<?"} {
		if i := strings.Index(l.text[l.pos:], tag); i >= 0 {
			l.pos += i + len(tag)
			return
		}
	}
	l.pos = len(l.text)
}

// sigil reads a variable: $x, @x, %x, $x::y, ${x}, $!.
func (l *lexer) sigil(c byte) bool {
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
		l.push(wordToken, l.text[at:i], at)
		return true
	case l.syntax.perl && (c == '$' || c == '@' || c == '%') && i < len(l.text) && l.text[i] == '{':
		if end := strings.IndexByte(l.text[i:min(len(l.text), i+64)], '}'); end > 0 && plainWord(strings.Trim(l.text[i+1:i+end], "^ ")) {
			l.pos = i + end + 1
			l.push(wordToken, string(c)+l.text[i+1:i+end], at)
			return true
		}
		l.pos++ // a reference is followed: what is in the braces is read as code
		return true
	case c == '$' && i < len(l.text) && l.text[i] == '$':
		l.pos++
		return true
	case (l.syntax.perl || l.syntax.symbols) && c == '$' && i < len(l.text) && strings.IndexByte("!@/\\,;.&0_~?<>()[]|\"+'-^:", l.text[i]) >= 0:
		l.pos = i + 1
		l.push(wordToken, l.text[at:i+1], at)
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
func (l *lexer) regexAhead() bool {
	if !l.valueBefore() {
		return true
	}
	if n := len(l.toks); l.syntax.commands && l.toks[n-1].kind == wordToken && letterByte(l.toks[n-1].text[0]) {
		return l.blank && l.peek(1) != ' ' && l.peek(1) != '=' // grep /x/, @list
	}
	return false
}

// regex reads a regular expression from its opening delimiter.
func (l *lexer) regex(at int, end byte) {
	l.pos++
	start, class := l.pos, false
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '\n':
			l.noRegex = l.pos // it was a division after all
			l.pos = start
			l.push(markToken, "/", at)
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
			l.push(patternToken, text, at)
			return
		}
		l.pos++
	}
	l.noRegex = len(l.text)
	l.pos = start
	l.push(markToken, "/", at)
}

// symbol reads Ruby's :name.
func (l *lexer) symbol() bool {
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
	l.push(textToken, l.text[start:l.pos], at)
	return true
}

// longString reads Lua's [[text]] and [=[text]=].
func (l *lexer) longString() bool {
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
	l.push(textToken, strings.TrimPrefix(l.text[start:start+n], "\n"), at)
	return true
}

// rawString reads R's r"(text)" with its dashes and brackets.
func (l *lexer) rawString() bool {
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
	l.push(textToken, l.text[start:start+n], at)
	return true
}
