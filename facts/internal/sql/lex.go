package sql

import (
	"strings"
	"unicode/utf8"
)

// A lexer splits a script into statements.
type lexer struct {
	text    string
	pos     int
	escapes bool   // a backslash escapes a quote
	version bool   // inside MySQL's /*! … */, which runs
	mark    string // what ends statements besides a semicolon: "delimiter //"
}

// statement reads up to the next semicolon or meta command.
func (l *lexer) statement() (toks tokens, more bool) {
	body := false
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case c == ';':
			l.pos++
			if body && !toks.ended() {
				continue
			}
			return toks, true
		case l.mark != "" && strings.HasPrefix(l.text[l.pos:], l.mark):
			l.pos += len(l.mark)
			return toks, true
		case c <= ' ':
			l.pos++
		case l.comment():
		case c == '\\' && len(toks) > 0:
			return toks, true // what stands before the meta command goes first
		case c == '\\', c == '.' && len(toks) == 0 && l.lineStart():
			return tokens{{metaToken, l.line()}}, true
		case len(toks) == 0 && l.lineStart() && l.clientLine():
			return tokens{{metaToken, l.clientCommand()}}, true
		default:
			toks = append(toks, l.token())
			if len(toks) == 1 && toks.word(0) == "system" { // mysql's own word for \!
				return tokens{{metaToken, `\!` + l.line()}}, true
			}
			if len(toks) == 1 && toks.word(0) == "delimiter" {
				if l.mark = l.line(); l.mark == ";" {
					l.mark = ""
				}
				return nil, true
			}
			if len(toks) < 12 && toks.word(0) == "create" && (toks.word(len(toks)-1) == "procedure" || toks.word(len(toks)-1) == "function" || toks.word(len(toks)-1) == "trigger") {
				body = !strings.Contains(l.text[l.pos:], "$$")
			}
		}
	}
	return toks, false
}

func (l *lexer) lineStart() bool {
	before := strings.TrimRight(l.text[max(0, l.pos-64):l.pos], " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// clientLine reports a line that the clients of Oracle and SQL Server, and the pager of
// mysql, run themselves.
func (l *lexer) clientLine() bool {
	rest := strings.ToLower(l.text[l.pos:min(len(l.text), l.pos+6)])
	for _, begin := range []string{":!!", ":r ", "!", "@", "host ", "start ", "pager "} {
		if after, ok := strings.CutPrefix(rest, begin); ok {
			return begin != "@" || after != "" && (isLetter(after[0]) || strings.IndexByte("@./", after[0]) >= 0)
		}
	}
	return false
}

// clientCommand reads such a line as a command of a client with its words behind it.
func (l *lexer) clientCommand() string {
	line := strings.TrimSuffix(l.line(), ";")
	switch word, rest, _ := strings.Cut(line, " "); {
	case line[0] == '!':
		return `\!` + line[1:]
	case line[0] == '@':
		return "@ " + strings.TrimLeft(line, "@")
	case strings.EqualFold(word, "start") && strings.EqualFold(rest, "transaction"), strings.EqualFold(word, "start") && strings.Contains(rest, " "):
		return `\begin`
	default:
		return strings.ToLower(word) + " " + rest
	}
}

func (l *lexer) line() string {
	end := strings.IndexByte(l.text[l.pos:], '\n')
	if end < 0 {
		end = len(l.text) - l.pos
	}
	line := l.text[l.pos : l.pos+end]
	l.pos += end
	return strings.TrimSpace(line)
}

// comment skips a comment. MySQL runs what is in /*! … */.
func (l *lexer) comment() bool {
	rest := l.text[l.pos:]
	switch {
	case strings.HasPrefix(rest, "--"), rest[0] == '#' && l.lineStart():
		l.line()
	case strings.HasPrefix(rest, "/*!"), strings.HasPrefix(rest, "/*M!"):
		l.pos += strings.IndexByte(rest, '!') + 1
		for l.pos < len(l.text) && isDigit(l.text[l.pos]) {
			l.pos++
		}
		l.version = true
	case l.version && strings.HasPrefix(rest, "*/"):
		l.pos += 2
		l.version = false
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			l.pos = len(l.text)
			return true
		}
		l.pos += end + 4
	default:
		return false
	}
	return true
}

// token reads one token; the next byte is not blank.
func (l *lexer) token() token {
	c := l.text[l.pos]
	switch {
	case c == '\'':
		return l.quoted(textToken, c, l.escapes)
	case c == '"', c == '`':
		return l.quoted(nameToken, c, false)
	case c == '[' && l.pos+1 < len(l.text) && isLetter(l.text[l.pos+1]):
		return l.quoted(nameToken, ']', false)
	case c == '$':
		if tok, ok := l.dollar(); ok {
			return tok
		}
	case isLetter(c) || c == '@':
		start := l.pos
		for l.pos < len(l.text) && nameByte(l.text[l.pos], "$@#") {
			l.pos++
		}
		word := strings.ToLower(l.text[start:l.pos])
		if l.pos < len(l.text) && l.text[l.pos] == '\'' && len(word) == 1 && strings.Contains("ebnx", word) {
			return l.quoted(textToken, '\'', l.escapes || word == "e")
		}
		return token{wordToken, word}
	case isDigit(c):
		start := l.pos
		for l.pos < len(l.text) && nameByte(l.text[l.pos], ".") {
			l.pos++
		}
		return token{numberToken, l.text[start:l.pos]}
	}
	l.pos++
	return token{markToken, l.text[l.pos-1 : l.pos]}
}

// quoted reads a quoted text or name; a doubled quote stands for one.
func (l *lexer) quoted(kind tokenKind, end byte, escapes bool) token {
	var b strings.Builder
	l.pos++
	start := l.pos
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == '\\' && escapes && l.pos+1 < len(l.text):
			b.WriteString(l.text[start:l.pos])
			start = l.pos + 1
			l.pos += 2
			continue
		case c == end:
			b.WriteString(l.text[start:l.pos])
			l.pos++
			if l.pos >= len(l.text) || l.text[l.pos] != end {
				return token{kind, b.String()}
			}
			start = l.pos
		}
		l.pos++
	}
	b.WriteString(l.text[min(start, len(l.text)):])
	return token{kind, b.String()}
}

// dollar reads $tag$ text $tag$.
func (l *lexer) dollar() (token, bool) {
	i := l.pos + 1
	for i < len(l.text) && i-l.pos < 64 && nameByte(l.text[i], "") {
		i++
	}
	if i >= len(l.text) || l.text[i] != '$' || isDigit(l.text[l.pos+1]) {
		return token{}, false
	}
	tag := l.text[l.pos : i+1]
	end := strings.Index(l.text[i+1:], tag)
	if end < 0 {
		end = len(l.text) - i - 1
	}
	text := l.text[i+1 : i+1+end]
	l.pos = min(len(l.text), i+1+end+len(tag))
	return token{textToken, text}, true
}

// nameByte reports whether c may be part of a name; more lists further bytes that
// may. Bytes beyond ASCII always may.
func nameByte(c byte, more string) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte(more, c) >= 0
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
