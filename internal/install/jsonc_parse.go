package install

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// parse reads JSON with comments, trailing commas and a byte order mark. Two
// members of one object with the same name are an error: programs differ in
// which of them counts.
func parse(text []byte) (*document, error) {
	p := &parser{text: text, comment: -1, trailing: -1}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		p.at = 3
	}
	d := &document{text: text}
	if err := p.blank(); err != nil {
		return nil, p.located(err)
	}
	if p.at < len(text) {
		root, err := p.value(0)
		if err == nil {
			err = p.blank()
		}
		if err == nil && p.at < len(text) {
			err = p.fail(p.at, "something follows the JSON value")
		}
		if err != nil {
			return nil, p.located(err)
		}
		d.root = root
	} else if p.comment >= 0 {
		return nil, p.located(p.fail(len(text), "there are comments but no JSON value"))
	}
	d.comment, d.trailing = p.comment, p.trailing
	return d, nil
}

type parser struct {
	text     []byte
	at       int
	last     int  // end of the last token or comment
	lastLine bool // it is a // comment
	seen     int  // comments so far
	comment  int
	trailing int
}

type parseError struct {
	at    int
	msg   string
	twice bool
}

func (e *parseError) Error() string { return e.msg }

func (p *parser) fail(at int, format string, args ...any) error {
	return &parseError{at: at, msg: fmt.Sprintf(format, args...)}
}

func (p *parser) located(err error) error {
	e := err.(*parseError)
	begin := bytes.LastIndexByte(p.text[:e.at], '\n') + 1
	return &syntaxError{line(p.text, e.at), utf8.RuneCount(p.text[begin:e.at]) + 1, e.msg, e.twice}
}

// token notes that a token ends here.
func (p *parser) token(end int) {
	p.at, p.last, p.lastLine = end, end, false
}

// blank skips white space and comments.
func (p *parser) blank() error {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '/':
			if err := p.remark(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) remark() error {
	begin, rest := p.at, p.text[p.at:]
	end, isLine := 0, bytes.HasPrefix(rest, []byte("//"))
	switch {
	case isLine:
		if end = bytes.IndexAny(rest, "\n\r"); end < 0 {
			end = len(rest)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end < 0 {
			return p.fail(begin, "the comment does not end")
		}
		end += 4
	default:
		return p.fail(begin, "unexpected %q", '/')
	}
	if !utf8.Valid(rest[:end]) {
		return p.fail(begin, "invalid UTF-8")
	}
	if p.comment < 0 {
		p.comment = begin
	}
	p.token(begin + end)
	p.lastLine = isLine
	p.seen++
	return nil
}

func (p *parser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail(p.at, "nested deeper than %d", maxDepth)
	}
	if p.at >= len(p.text) {
		return nil, p.fail(p.at, "the file ends too early")
	}
	n := &node{kind: p.text[p.at], start: p.at}
	var err error
	switch c := n.kind; {
	case c == '{' || c == '[':
		err = p.container(n, depth)
	case c == '"':
		n.str, err = p.quoted()
	case c == '-' || '0' <= c && c <= '9':
		n.kind = '0'
		err = p.number()
	default:
		err = p.literal()
	}
	n.end = p.at
	return n, err
}

func (p *parser) container(n *node, depth int) error {
	closer := n.kind + 2 // ] follows [ by two, and } follows {
	names := map[string]bool{}
	p.token(p.at + 1)
	for wanted := false; ; {
		seen := p.seen
		if err := p.blank(); err != nil {
			return err
		}
		n.comments += p.seen - seen
		if p.at >= len(p.text) {
			return p.fail(p.at, "the file ends too early: a %q of line %d is not closed", n.kind, line(p.text, n.start))
		}
		if p.text[p.at] == closer {
			n.tail, n.tailLine = p.last, p.lastLine
			p.token(p.at + 1)
			return nil
		}
		if wanted {
			return p.fail(p.at, "a comma or %q is missing", closer)
		}
		it := item{lead: p.last, leadLine: p.lastLine, comma: -1}
		if err := p.item(n, &it, names, depth); err != nil {
			return err
		}
		seen = p.seen
		if err := p.blank(); err != nil {
			return err
		}
		n.comments += p.seen - seen
		if wanted = p.at >= len(p.text) || p.text[p.at] != ','; !wanted {
			it.comma = p.at
			p.token(p.at + 1)
			p.noteTrailing(it.comma, closer)
		}
		n.items = append(n.items, it)
	}
}

// item reads one member or element.
func (p *parser) item(n *node, it *item, names map[string]bool, depth int) error {
	if n.kind == '{' {
		if p.text[p.at] != '"' {
			return p.fail(p.at, "unexpected %s where a name in quotes is wanted", p.shown())
		}
		it.key = &node{kind: '"', start: p.at}
		var err error
		if it.key.str, err = p.quoted(); err != nil {
			return err
		}
		it.key.end = p.at
		if names[it.key.str] {
			return &parseError{it.key.start, fmt.Sprintf("%.80q stands twice in one object", it.key.str), true}
		}
		names[it.key.str] = true
		seen := p.seen
		if err := p.blank(); err != nil {
			return err
		}
		if p.at >= len(p.text) || p.text[p.at] != ':' {
			return p.fail(p.at, "a colon is missing")
		}
		p.token(p.at + 1)
		if err := p.blank(); err != nil {
			return err
		}
		n.comments += p.seen - seen
	}
	var err error
	it.value, err = p.value(depth + 1)
	return err
}

// noteTrailing looks ahead for a closing bracket behind a comma.
func (p *parser) noteTrailing(comma int, closer byte) {
	if p.trailing >= 0 {
		return
	}
	ahead := *p
	if ahead.blank() == nil && ahead.at < len(ahead.text) && ahead.text[ahead.at] == closer {
		p.trailing = comma
	}
}

func (p *parser) literal() error {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(p.text[p.at:], []byte(word)) {
			p.token(p.at + len(word))
			return nil
		}
	}
	return p.fail(p.at, "unexpected %s", p.shown())
}

func (p *parser) shown() string {
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return fmt.Sprintf("%+q", r)
}

func (p *parser) number() error {
	i := p.at
	if p.text[i] == '-' {
		i++
	}
	digits := func() int {
		n := 0
		for i < len(p.text) && '0' <= p.text[i] && p.text[i] <= '9' {
			i, n = i+1, n+1
		}
		return n
	}
	first := i
	n := digits()
	ok := n == 1 || n > 1 && p.text[first] != '0'
	if ok && i < len(p.text) && p.text[i] == '.' {
		i++
		ok = digits() > 0
	}
	if ok && i < len(p.text) && (p.text[i] == 'e' || p.text[i] == 'E') {
		i++
		if i < len(p.text) && (p.text[i] == '+' || p.text[i] == '-') {
			i++
		}
		ok = digits() > 0
	}
	if !ok {
		return p.fail(p.at, "this is no JSON number")
	}
	p.token(i)
	return nil
}
