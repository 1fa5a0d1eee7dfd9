package code

import "strings"

// A tokenKind tells tokens apart.
type tokenKind uint8

const (
	endToken     tokenKind = iota
	wordToken              // a name, with its sigil
	textToken              // a string
	numberToken            // a number
	markToken              // an operator or bracket
	lineToken              // the end of a line; the text is the indentation of the next
	commandToken           // a string that a shell runs: `x`, qx(x), %x(x)
	patternToken           // a regular expression
	wordsToken             // a list of words: qw(a b), %w[a b]
	filesToken             // Perl's <*.c>
)

// A token is one token of program text.
type token struct {
	kind   tokenKind
	blank  bool // blank before it
	offset int32
	text   string // as it means: without quotes, escapes resolved
	parts  []part // of a string with code inside; nil otherwise
}

func (t token) is(mark string) bool { return t.kind == markToken && t.text == mark }

func (t token) word(w string) bool { return t.kind == wordToken && t.text == w }

// A part is a piece of a string: literal text, or code.
type part struct {
	text string
	code []token
}

// A quoting says how a string behaves.
type quoting struct {
	kind   tokenKind
	raw    bool // a backslash escapes only itself and the quote
	verb   bool // a backslash means nothing
	keep   bool // a backslash before any other character stays
	interp byte // code inside: '$' (Perl, PHP), '#' (Ruby), 'j' (${x}), '{' (Python)
}

// A lexer splits text. It never fails: what it cannot read becomes an
// operator, and an unclosed string ends with the text.
type lexer struct {
	*inspection
	syntax  *syntax
	text    string
	pos     int
	blank   bool
	toks    []token
	stack   []byte // open brackets
	nested  int
	format  bool // in a field of an f-string, before its format
	noRegex int  // no regular expression begins before this offset
	docs    []heredoc
	lines   map[string][]int // where each trimmed line begins
}

// A heredoc is a text that begins on the next line.
type heredoc struct {
	tag   string
	tok   int // index of its token
	quote quoting
}

// lex reads all tokens of text.
func (r *inspection) lex(text string) []token {
	l := &lexer{inspection: r, syntax: &r.lang.syntax, text: text}
	if l.syntax.tags && strings.Contains(text, "<?") {
		l.skipMarkup()
	}
	if strings.HasPrefix(text, "#!") {
		l.pos = l.lineEnd(0)
	}
	l.run(0)
	return l.toks
}

// run reads tokens up to an unmatched stop bracket, or to the end.
func (l *lexer) run(stop byte) {
	base := len(l.stack)
	for l.pos < len(l.text) {
		if l.tokens <= 0 {
			l.over("program text is too long")
			l.pos = len(l.text)
			return
		}
		if stop != 0 && len(l.stack) <= base && l.text[l.pos] == stop {
			return
		}
		if l.format && len(l.stack) <= base && l.text[l.pos] == ':' {
			l.formatSpec()
			continue
		}
		l.step()
	}
}

// formatSpec skips what follows the colon in a field of an f-string, but for
// the fields inside it.
func (l *lexer) formatSpec() {
	for l.pos < len(l.text) && l.text[l.pos] != '}' && l.text[l.pos] != '\n' {
		if l.text[l.pos] != '{' {
			l.pos++
			continue
		}
		l.pos++
		l.toks = append(l.toks, l.inner('}')...)
	}
	l.format = false
}

// inner reads the code inside a string, up to the stop bracket, and consumes
// that too.
func (l *lexer) inner(stop byte) []token {
	if l.nested > 20 {
		l.over("strings nest too deeply")
		l.pos = len(l.text)
		return nil
	}
	toks, stack, format := l.toks, l.stack, l.format
	l.toks, l.stack, l.format = nil, []byte{'('}, l.syntax.prefixes
	l.nested++
	l.run(stop)
	l.nested--
	out := l.toks
	l.toks, l.stack, l.format = toks, stack, format
	if l.pos < len(l.text) {
		l.pos++
	}
	return out
}

func (l *lexer) push(kind tokenKind, text string, at int) {
	l.tokens--
	if kind == patternToken {
		l.holes -= strings.Count(text, string(Hole))
	}
	l.toks = append(l.toks, token{kind: kind, text: text, offset: int32(at), blank: l.blank})
	l.blank = false
}

func (l *lexer) peek(n int) byte {
	if i := l.pos + n; i >= 0 && i < len(l.text) {
		return l.text[i]
	}
	return 0
}

func (l *lexer) has(prefix string) bool { return strings.HasPrefix(l.text[l.pos:], prefix) }

func (l *lexer) lineEnd(from int) int {
	if i := strings.IndexByte(l.text[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(l.text)
}

// step reads one token, comment or blank.
func (l *lexer) step() {
	c := l.text[l.pos]
	switch {
	case c == '\n':
		l.newline()
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		l.pos++
		l.blank = true
	case c == '\\' && l.peek(1) == '\n':
		l.pos += 2
		l.blank = true
	case l.comment(), l.special(), l.quoted():
	case wordByte(c, l.syntax.wordBytes) && !digitByte(c):
		l.name()
	case digitByte(c) || c == '.' && digitByte(l.peek(1)) && !l.valueBefore():
		l.number()
	default:
		l.mark()
	}
}

func (l *lexer) newline() {
	at := l.pos
	l.pos++
	l.blank = true
	if len(l.docs) > 0 {
		l.heredocs()
	}
	if !l.syntax.lines || len(l.stack) > 0 && (l.stack[len(l.stack)-1] != '{' || l.syntax.braces) {
		return
	}
	end := l.pos
	for end < len(l.text) && (l.text[end] == ' ' || l.text[end] == '\t') {
		end++
	}
	if l.syntax.dots && end+1 < len(l.text) && (l.text[end] == '.' && l.text[end+1] != '.' || l.text[end] == '?' && l.text[end+1] == '.') {
		return // a method call goes on
	}
	if n := len(l.toks); n > 0 && l.toks[n-1].kind == lineToken {
		l.toks[n-1].text = l.text[l.pos:end] // an empty line: what counts is the last
		l.pos = end
		return
	}
	l.push(lineToken, l.text[l.pos:end], at)
	l.pos = end
	l.blank = true
}
