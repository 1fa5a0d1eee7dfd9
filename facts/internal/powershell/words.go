package powershell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// command reads a name with its arguments.
func (p *parser) command() node {
	defer p.enter()()
	c := &command{place: place{from: p.i}}
	switch {
	case p.has("&") && !p.has("&&"), p.has(".") && strings.IndexByte(" \t{$(\"'", p.peek(1)) >= 0 && p.peek(1) != 0:
		c.call = p.s[p.i]
		p.i++
		p.blank(true)
	}
	switch c.call {
	case 0:
		c.name = p.bare()
	default:
		c.name = p.single()
	}
	for {
		at := p.i
		p.blank(false)
		if p.i >= len(p.s) || strings.IndexByte("|;)}&\n\r", p.s[p.i]) >= 0 {
			p.i = at
			c.to = at
			return c
		}
		if p.has("--%") && (p.peek(3) == ' ' || p.peek(3) == 0) {
			p.verbatim(c)
			continue
		}
		if p.redirection(&c.redirects) {
			continue
		}
		c.args = append(c.args, p.commandArgument())
		c.to = p.i
	}
}

// verbatim reads what stands behind --% as it stands.
func (p *parser) verbatim(c *command) {
	p.i += 3
	for p.i < len(p.s) && strings.IndexByte("\n\r|", p.s[p.i]) < 0 {
		for p.peek(0) == ' ' || p.peek(0) == '\t' {
			p.i++
		}
		from, quoted := p.i, false
		var b strings.Builder
		for ; p.i < len(p.s) && (quoted || strings.IndexByte(" \t\n\r|", p.s[p.i]) < 0); p.i++ {
			if p.s[p.i] == '"' {
				quoted = !quoted
				continue
			}
			b.WriteByte(p.s[p.i])
		}
		if p.i == from {
			continue
		}
		var value node = &text{place{from, p.i}, b.String(), true}
		if strings.Contains(b.String(), "%") {
			value = &template{place: place{from, p.i}, parts: []node{&variable{place{from, p.i}, "verbatim"}}}
		}
		c.args = append(c.args, argument{place: place{from, p.i}, value: value})
	}
}

// commandArgument reads a parameter, a value, or values with commas between them.
func (p *parser) commandArgument() argument {
	from := p.i
	if p.has("@") && letter(p.peek(1)) {
		p.i++
		for letter(p.peek(0)) || digit(p.peek(0)) || p.peek(0) == ':' {
			p.i++
		}
		return argument{place: place{from, p.i}, value: &variable{place{from, p.i}, strings.ToLower(p.s[from+1 : p.i])}, splat: true}
	}
	if p.has("-") && (letter(p.peek(1)) || p.peek(1) == '?') {
		for p.i++; p.i < len(p.s) && strings.IndexByte(" \t\r\n|&;(){},<>'\"$`:", p.s[p.i]) < 0; {
			p.i++
		}
		a := argument{param: p.s[from:p.i]}
		if p.take(":") {
			a.param += ":"
			p.blank(false)
			a.value = p.argument()
		} else if p.i < len(p.s) && strings.IndexByte("\"'$`", p.s[p.i]) >= 0 || p.i < len(p.s) && p.s[p.i] == ',' {
			p.i = from // -DFOO="bar", which no cmdlet has
			a = argument{value: p.argument()}
		}
		a.place = place{from, p.i}
		return a
	}
	a := argument{value: p.argument()}
	a.place = place{from, p.i}
	return a
}

// argument reads a value in a command, with more of them behind commas.
func (p *parser) argument() node {
	from := p.i
	l := &list{}
	if p.take(",") {
		p.blank(true)
	}
	for {
		l.items = append(l.items, p.single())
		at := p.i
		p.blank(false)
		if !p.take(",") {
			p.i = at
			break
		}
		p.blank(true)
	}
	if len(l.items) == 1 {
		return l.items[0]
	}
	l.place = place{from, p.i}
	return l
}

// single reads one value in a command.
func (p *parser) single() node {
	from := p.i
	switch c := p.peek(0); {
	case c == '\'' || c == '"' || c == '(' || c == '{' || c == '@' && strings.IndexByte("({'\"", p.peek(1)) >= 0:
		return p.postfix(p.primary())
	case c == '$':
		n := p.postfix(p.primary())
		if p.ends() {
			return n
		}
		rest := p.generic([]node{n})
		rest.from = from
		return rest
	}
	return p.bare()
}

// ends reports that no word goes on here.
func (p *parser) ends() bool {
	return p.i >= len(p.s) || strings.IndexByte(" \t\r\n|&;(){},<>", p.s[p.i]) >= 0
}

// bare reads a word without quotes around it, in which there may be some.
func (p *parser) bare() node {
	t := p.generic(nil)
	if len(t.parts) == 1 {
		if s, ok := t.parts[0].(*text); ok {
			s.place = t.place
			return s
		}
	}
	if t.from == t.to {
		p.fail("a character that gate does not expect")
	}
	return t
}

// generic reads the rest of a word behind parts of it.
func (p *parser) generic(parts []node) *template {
	t := &template{place: place{from: p.i}, parts: parts}
	var b strings.Builder
	at := p.i
	flush := func() {
		if b.Len() > 0 {
			t.parts = append(t.parts, &text{place{at, p.i}, b.String(), false})
			b.Reset()
		}
	}
	for !p.ends() {
		switch c := p.s[p.i]; {
		case c == '`':
			if p.peek(1) == '\n' || p.peek(1) == '\r' {
				flush()
				t.to = p.i
				return t
			}
			if p.peek(1) == 'e' { // the edition before has no such escape
				p.i += 2
				b.WriteByte('e')
				continue
			}
			p.escape(&b)
		case c == '\'' || c == '"':
			flush()
			t.parts = append(t.parts, p.primary())
			at = p.i
		case c == '$' && (letter(p.peek(1)) || strings.IndexByte("{(?^$", p.peek(1)) >= 0 && p.peek(1) != 0):
			flush()
			t.parts = append(t.parts, p.variable())
			at = p.i
		default:
			p.curly()
			b.WriteByte(c)
			p.i++
		}
	}
	flush()
	t.to = p.i
	return t
}

// curly refuses the quotes and dashes of typesetters: PowerShell takes them for
// ASCII's, and a reader of the line may not.
func (p *parser) curly() {
	if p.s[p.i] < 0x80 {
		return
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.i:])
	switch r {
	case 0x2018, 0x2019, 0x201A, 0x201B, 0x201C, 0x201D, 0x201E, 0x2013, 0x2014, 0x2015:
		p.fail("a typographic quote or dash")
	}
}

// redirection takes one redirection.
func (p *parser) redirection(out *[]redirect) bool {
	r := redirect{place: place{from: p.i}, from: '1'}
	at := p.i
	if c := p.peek(0); (c == '*' || '1' <= c && c <= '6') && p.peek(1) == '>' {
		r.from = c
		p.i++
	}
	if !p.take(">") {
		p.i = at
		if p.has("<") {
			p.fail("an input redirection")
		}
		return false
	}
	r.add = p.take(">")
	if p.take("&") {
		r.to = p.peek(0)
		p.i++
		if r.to != '1' && r.to != '2' {
			p.fail("a redirection that gate does not know")
		}
	} else {
		p.blank(false)
		r.target = p.single()
	}
	r.place.to = p.i
	*out = append(*out, r)
	return true
}

// escape reads a backtick and what stands behind it.
func (p *parser) escape(b *strings.Builder) {
	p.i++
	if p.i >= len(p.s) {
		p.fail("a backtick at the end")
	}
	c := p.s[p.i]
	p.i++
	if at := strings.IndexByte("0abefnrtv", c); at >= 0 {
		b.WriteByte("\x00\a\b\x1b\f\n\r\t\v"[at])
		return
	}
	if c == 'u' && p.peek(0) == '{' {
		end := strings.IndexByte(p.s[p.i:], '}')
		if end < 0 || end > 7 {
			p.fail("an escape that is not closed")
		}
		n, err := strconv.ParseUint(p.s[p.i+1:p.i+end], 16, 32)
		if err != nil || n > utf8.MaxRune {
			p.fail("an escape that is no character")
		}
		b.WriteRune(rune(n))
		p.i += end + 1
		return
	}
	b.WriteByte(c)
}

// quoted reads a string in quotes.
func (p *parser) quoted() node {
	from, q := p.i, p.s[p.i]
	p.i++
	t := &template{quoted: true}
	var b strings.Builder
	for {
		if p.i >= len(p.s) {
			p.fail("a quote is not closed")
		}
		c := p.s[p.i]
		switch {
		case c == q && p.peek(1) == q:
			b.WriteByte(c)
			p.i += 2
		case c == q:
			p.i++
			return t.closed(from, p.i, b.String())
		case q == '"' && c == '`' && p.peek(1) == '\n':
			p.i += 2
		case q == '"' && c == '`':
			p.escape(&b)
		case q == '"' && c == '$' && p.expands():
			t.add(&b, from, p.i, p.variable())
		case c >= 0x80:
			r, size := utf8.DecodeRuneInString(p.s[p.i:])
			if q == '"' && 0x201C <= r && r <= 0x201E || q == '\'' && 0x2018 <= r && r <= 0x201B {
				p.fail("a typographic quote")
			}
			b.WriteString(p.s[p.i : p.i+size])
			p.i += size
		default:
			b.WriteByte(c)
			p.i++
		}
	}
}

// expands reports a dollar sign that begins an expression.
func (p *parser) expands() bool {
	n := p.peek(1)
	return letter(n) || digit(n) || n != 0 && strings.IndexByte("{(?^$", n) >= 0
}

func (t *template) add(b *strings.Builder, from, to int, n node) {
	if b.Len() > 0 {
		t.parts = append(t.parts, &text{place{from, to}, b.String(), true})
		b.Reset()
	}
	t.parts = append(t.parts, n)
}

// closed is the string as a text where it holds no expression.
func (t *template) closed(from, to int, rest string) node {
	if len(t.parts) == 0 {
		return &text{place{from, to}, rest, true}
	}
	if rest != "" {
		t.parts = append(t.parts, &text{place{from, to}, rest, true})
	}
	t.place = place{from, to}
	return t
}

// here reads a here-string.
func (p *parser) here() node {
	from, q := p.i, p.s[p.i+1]
	p.i += 2
	for p.peek(0) == ' ' || p.peek(0) == '\t' {
		p.i++
	}
	p.take("\r")
	p.need("\n")
	end := strings.Index(p.s[p.i-1:], "\n"+string(q)+"@")
	if end < 0 {
		p.fail("a here-string is not closed")
	}
	end += p.i - 1
	t := &template{quoted: true}
	if q == '\'' {
		body := strings.TrimSuffix(p.s[min(p.i, end):end], "\r")
		p.i = end + 3
		return t.closed(from, p.i, body)
	}
	var b strings.Builder
	for p.i < end {
		switch c := p.s[p.i]; {
		case c == '`':
			p.escape(&b)
		case c == '$' && p.expands():
			t.add(&b, from, p.i, p.variable())
			if p.i > end {
				p.fail("an expression that goes on behind a here-string")
			}
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	p.i = end + 3
	return t.closed(from, p.i, strings.TrimSuffix(b.String(), "\r"))
}

// variable reads $name, ${name}, $scope:name and $( ).
func (p *parser) variable() node {
	from := p.i
	if !p.take("$") {
		p.fail("a variable is missing")
	}
	switch c := p.peek(0); {
	case c == '(':
		p.i++
		return &group{place{from, p.i}, p.statements(")")}
	case c == '{':
		end := strings.IndexByte(p.s[p.i:], '}')
		if end < 0 {
			p.fail("} is missing")
		}
		name := p.s[p.i+1 : p.i+end]
		p.i += end + 1
		if strings.Contains(name, "`") {
			p.fail("a variable's name with escapes")
		}
		return &variable{place{from, p.i}, scoped(name)}
	case c == '?' || c == '^' || c == '$':
		p.i++
		return &variable{place{from, p.i}, string(c)}
	case !letter(c) && !digit(c):
		p.fail("a dollar sign without a name")
	}
	at := p.i
	for {
		c := p.peek(0)
		if c == ':' && (letter(p.peek(1)) || digit(p.peek(1))) && !strings.Contains(p.s[at:p.i], ":") {
			p.i++
			continue
		}
		if !letter(c) && !digit(c) {
			break
		}
		p.curly()
		p.i++
	}
	return &variable{place{from, p.i}, scoped(p.s[at:p.i])}
}

// scoped is the name of a variable without its scope.
func scoped(name string) string {
	name = strings.ToLower(name)
	switch scope, rest, ok := strings.Cut(name, ":"); {
	case !ok:
	case scope == "global", scope == "script", scope == "local", scope == "private", scope == "using", scope == "variable":
		return rest
	}
	return name
}
