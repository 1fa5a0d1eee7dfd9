package code

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// comment skips a comment.
func (l *lexer) comment() bool {
	s := l.syntax
	lineStart := l.pos == 0 || l.text[l.pos-1] == '\n'
	if lineStart && s.pod && l.text[l.pos] == '=' && letterByte(l.peek(1)) {
		end := strings.Index(l.text[l.pos:], "\n"+s.podEnd)
		if end < 0 {
			l.pos = len(l.text)
			return true
		}
		l.pos = l.lineEnd(l.pos + end + 1)
		return true
	}
	for _, open := range s.blockComments {
		if l.has(open[0]) {
			end := strings.Index(l.text[l.pos+len(open[0]):], open[1])
			if end < 0 {
				l.pos = len(l.text)
			} else {
				l.pos += len(open[0]) + end + len(open[1])
			}
			l.blank = true
			return true
		}
	}
	if slices.ContainsFunc(s.lineComments, l.has) {
		end := l.lineEnd(l.pos)
		if s.tags {
			if i := strings.Index(l.text[l.pos:end], "?>"); i >= 0 {
				end = l.pos + i
			}
		}
		l.pos = end
		l.blank = true
		return true
	}
	return false
}

// valueBefore reports whether the token before ends a value, so that what
// follows is an operator and not the beginning of a literal.
func (l *lexer) valueBefore() bool {
	if len(l.toks) == 0 {
		return false
	}
	switch t := &l.toks[len(l.toks)-1]; t.kind {
	case textToken, numberToken, commandToken, patternToken, wordsToken, filesToken:
		return true
	case wordToken:
		if strings.ContainsAny(t.text[:1], "$@%") {
			return true
		}
		return !strings.Contains(l.syntax.openers, " "+t.text+" ")
	case markToken:
		return t.text == ")" || t.text == "]" || t.text == "++" || t.text == "--" || t.text == "}" && l.syntax.braceValue
	}
	return false
}

// name reads a word. A prefix of a string (Python's rb"") belongs to it.
func (l *lexer) name() {
	at := l.pos
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case wordByte(c, l.syntax.wordBytes):
			l.pos++
			continue
		case l.syntax.colons && c == ':' && l.peek(1) == ':' && letterByte(l.peek(2)):
			l.pos += 2
			continue
		case l.syntax.bang && (c == '?' || c == '!') && l.peek(1) != '=' && l.pos > at:
			l.pos++
		}
		break
	}
	word := l.text[at:l.pos]
	if l.syntax.pod && (word == "__END__" || word == "__DATA__" && l.syntax.perl) {
		l.pos = len(l.text) // what follows is data
		return
	}
	if l.syntax.prefixes && len(word) <= 2 && l.pos < len(l.text) && (l.text[l.pos] == '"' || l.text[l.pos] == '\'') {
		if q, ok := pythonPrefix(word); ok {
			l.literal(q, at)
			return
		}
	}
	if l.syntax.foldWords {
		word = strings.ToLower(word)
	}
	l.push(wordToken, word, at)
}

func (l *lexer) number() {
	at := l.pos
	for l.pos < len(l.text) && (wordByte(l.text[l.pos], "") || l.text[l.pos] == '.' && digitByte(l.peek(1))) {
		l.pos++
	}
	l.push(numberToken, strings.ReplaceAll(l.text[at:l.pos], "_", ""), at)
}

// mark reads an operator or bracket.
func (l *lexer) mark() {
	at, n := l.pos, 1
	rest := l.text[at:]
	switch {
	case len(rest) > 2 && threeByteMark(rest[:3]):
		n = 3
	case len(rest) > 1 && twoByteMark(rest[:2]):
		n = 2
	default:
		switch c := rest[0]; c {
		case '(', '[', '{':
			l.stack = append(l.stack, c)
		case ')', ']', '}':
			if len(l.stack) > 0 {
				l.stack = l.stack[:len(l.stack)-1]
			}
		default:
			if c >= utf8.RuneSelf {
				_, n = utf8.DecodeRuneInString(rest)
			}
		}
	}
	l.pos += n
	l.push(markToken, rest[:n], at)
}

func threeByteMark(s string) bool {
	switch s {
	case "===", "!==", "**=", "<<=", ">>=", "...", "<=>", "||=", "&&=", "??=", "//=", "?->":
		return true
	}
	return false
}

func twoByteMark(s string) bool {
	switch s {
	case "=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+=", "-=", ".=", "*=", "/=", "|=",
		"=~", "!~", "..", "**", "++", "--", "<<", ">>", ":=", "<-", "//", "&.", "|>":
		return true
	}
	return false
}

// wordByte reports whether c may be part of a name; more lists bytes that a
// language adds. Bytes beyond ASCII always may.
func wordByte(c byte, more string) bool {
	return letterByte(c) || digitByte(c) || more != "" && strings.IndexByte(more, c) >= 0
}

func letterByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func digitByte(c byte) bool { return '0' <= c && c <= '9' }
