package powershell

import (
	"fmt"
	"strings"
)

// Limits of one text.
const (
	maxText  = 256 << 10 // bytes
	maxDepth = 120       // brackets inside brackets
)

// A syntaxError says what is not understood, and where.
type syntaxError struct {
	at  int
	why string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.why, e.at) }

// A parser reads a text without tokens: a word means something else in a command
// than in an expression. It stops at the first thing that it does not understand.
type parser struct {
	s     string
	i     int
	depth int
	steps int
}

// parse reads a text. It returns the statements before a mistake, too.
func parse(s string) (b *block, err error) {
	b = &block{place: place{0, len(s)}}
	if len(s) > maxText {
		return b, &syntaxError{0, "a text longer than gate reads"}
	}
	p := &parser{s: s}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*syntaxError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	p.blank(true)
	b.params = p.paramBlock()
	for p.i < len(p.s) {
		if n := p.statement(); n != nil {
			b.body = append(b.body, n)
		}
		p.separator("")
	}
	return b, nil
}

func (p *parser) fail(why string) { panic(&syntaxError{min(p.i, len(p.s)), why}) }

// enter counts a nesting; the caller defers what it returns.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail("brackets nested deeper than gate follows")
	}
	return func() { p.depth-- }
}

func (p *parser) peek(n int) byte {
	if p.i+n < len(p.s) {
		return p.s[p.i+n]
	}
	return 0
}

func (p *parser) has(prefix string) bool { return strings.HasPrefix(p.s[p.i:], prefix) }

func (p *parser) take(prefix string) bool {
	if p.has(prefix) {
		p.i += len(prefix)
		return true
	}
	return false
}

func (p *parser) need(prefix string) {
	if !p.take(prefix) {
		p.fail(prefix + " is missing")
	}
}

// blank skips blanks, comments, continued lines and, where they part nothing, line
// breaks.
func (p *parser) blank(lines bool) {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\t' || c == '\f' || c == '\v' || lines && (c == '\n' || c == '\r'):
			p.i++
		case c == '`' && p.peek(1) == '\n':
			p.i += 2
		case c == '`' && p.peek(1) == '\r':
			p.i += 2
			p.take("\n")
		case c == '#':
			for p.i < len(p.s) && p.s[p.i] != '\n' {
				p.i++
			}
		case c == '<' && p.peek(1) == '#':
			end := strings.Index(p.s[p.i+2:], "#>")
			if end < 0 {
				p.fail("a comment is not closed")
			}
			p.i += end + 4
		default:
			return
		}
	}
}

// separator skips what stands between statements. Before closing text, or at the
// end, there need be nothing.
func (p *parser) separator(closing string) {
	p.blank(false)
	if p.i >= len(p.s) || closing != "" && p.has(closing) {
		return
	}
	at := p.i
	for p.i < len(p.s) && strings.IndexByte(";\n\r", p.s[p.i]) >= 0 {
		p.i++
		p.blank(false)
	}
	if p.i == at && p.s[at-1] != '}' && p.s[at-1] != '\n' {
		p.fail("a character that gate does not expect")
	}
}

// statements reads up to the closing text, which it takes.
func (p *parser) statements(closing string) (body []node) {
	defer p.enter()()
	for {
		p.blank(true)
		for p.take(";") {
			p.blank(true)
		}
		if p.take(closing) {
			return body
		}
		if p.i >= len(p.s) {
			p.fail(closing + " is missing")
		}
		if n := p.statement(); n != nil {
			body = append(body, n)
		}
		p.separator(closing)
	}
}

// braces reads { statements }.
func (p *parser) braces() *block {
	p.blank(true)
	b := &block{place: place{from: p.i}}
	p.need("{")
	p.blank(true)
	b.params = p.paramBlock()
	b.body = p.statements("}")
	b.to = p.i
	return b
}

// paramBlock reads attributes and param( ), which stand before the statements.
func (p *parser) paramBlock() []param {
	at := p.i
	for p.has("[") { // [CmdletBinding()]
		word := strings.ToLower(p.s[p.i:min(len(p.s), p.i+24)])
		if !strings.HasPrefix(word, "[cmdletbinding") && !strings.HasPrefix(word, "[outputtype") && !strings.HasPrefix(word, "[alias") {
			break
		}
		p.brackets()
		p.blank(true)
	}
	if !p.word("param") {
		p.i = at
		return nil
	}
	p.blank(true)
	p.need("(")
	return p.parameters()
}

// parameters reads the parameters of a block up to the bracket.
func (p *parser) parameters() (params []param) {
	defer p.enter()()
	for {
		p.blank(true)
		if p.take(")") {
			return params
		}
		for p.has("[") {
			p.brackets()
			p.blank(true)
		}
		if !p.has("$") {
			p.fail("a parameter without a name")
		}
		v, ok := p.variable().(*variable)
		if !ok {
			p.fail("a parameter without a name")
		}
		one := param{name: v.name}
		p.blank(true)
		if p.take("=") {
			p.blank(true)
			one.value = p.expression(1)
		}
		params = append(params, one)
		p.blank(true)
		if !p.take(",") && !p.has(")") {
			p.fail("a parameter that gate does not understand")
		}
	}
}

// brackets skips [ ], with what is nested in it.
func (p *parser) brackets() {
	deep := 0
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case '[', '(':
			deep++
		case ']', ')':
			deep--
		case '\'', '"':
			p.primary()
			continue
		case '{', '$':
			p.fail("code in an attribute")
		}
		p.i++
		if deep == 0 {
			return
		}
	}
	p.fail("] is missing")
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}
func digit(c byte) bool { return '0' <= c && c <= '9' }

// word takes a keyword, of which the case does not matter.
func (p *parser) word(w string) bool {
	if p.i+len(w) > len(p.s) || !strings.EqualFold(p.s[p.i:p.i+len(w)], w) {
		return false
	}
	if c := p.peek(len(w)); letter(c) || digit(c) || c == '-' || c == '\\' || c == '/' || c == '.' || c == ':' {
		return false
	}
	p.i += len(w)
	return true
}

// statement reads one statement; nil is an empty one.
func (p *parser) statement() node {
	defer p.enter()()
	p.blank(true)
	if p.has(":") && letter(p.peek(1)) { // a label
		for p.i++; letter(p.peek(0)) || digit(p.peek(0)); {
			p.i++
		}
		p.blank(true)
	}
	switch c := p.peek(0); {
	case c == ';':
		return nil
	case letter(c):
		if n, ok := p.keyword(); ok {
			return n
		}
	}
	return p.chain()
}

// keyword reads a statement that begins with a keyword.
func (p *parser) keyword() (node, bool) {
	at := p.i
	switch {
	case p.word("if"):
		return p.branch(), true
	case p.word("while"), p.word("for"):
		return &loop{heads: p.head(), bodies: []*block{p.braces()}}, true
	case p.word("foreach"):
		p.blank(true)
		if !p.has("(") && !p.has("-parallel") { // in a pipeline it is an alias
			p.i = at
			return nil, false
		}
		return p.foreach(), true
	case p.word("do"):
		l := &loop{bodies: []*block{p.braces()}}
		p.blank(true)
		if !p.word("while") && !p.word("until") {
			p.fail("do without while")
		}
		l.heads = p.head()
		return l, true
	case p.word("switch"):
		return p.switches(), true
	case p.word("try"):
		return p.try(), true
	case p.word("function"), p.word("filter"):
		return p.function(), true
	case p.word("return"), p.word("throw"), p.word("exit"), p.word("break"), p.word("continue"):
		l := &leave{word: strings.ToLower(p.s[at:p.i])}
		p.blank(false)
		if p.i < len(p.s) && strings.IndexByte(";}\n\r)", p.s[p.i]) < 0 {
			l.value = p.chain()
		}
		return l, true
	case p.word("begin"), p.word("process"), p.word("end"), p.word("trap"):
		b := at
		p.blank(true)
		if p.has("{") {
			return &loop{bodies: []*block{p.braces()}}, true
		}
		p.i = b
		return nil, false
	}
	for _, w := range []string{"class", "enum", "using", "workflow", "configuration", "data", "dynamicparam", "parallel", "sequence", "inlinescript"} {
		if p.word(w) {
			if p.blank(false); letter(p.peek(0)) || p.has("{") {
				p.fail(w + ", which gate does not read")
			}
			p.i = at
		}
	}
	return nil, false
}

// head reads what stands in round brackets behind while, for and until.
func (p *parser) head() []node {
	p.blank(true)
	p.need("(")
	return p.statements(")")
}

func (p *parser) branch() node {
	b := &branch{}
	for {
		b.conditions = append(b.conditions, p.group(p.i, p.head()))
		b.blocks = append(b.blocks, p.braces())
		at := p.i
		p.blank(true)
		if p.word("elseif") {
			continue
		}
		if p.word("else") {
			b.blocks = append(b.blocks, p.braces())
			return b
		}
		p.i = at
		return b
	}
}

func (p *parser) group(from int, body []node) node { return &group{place{from, p.i}, body} }

func (p *parser) foreach() node {
	if p.take("-parallel") {
		p.blank(true)
	}
	p.need("(")
	p.blank(true)
	v, ok := p.variable().(*variable)
	if !ok {
		p.fail("foreach without a variable")
	}
	p.blank(true)
	if !p.word("in") {
		p.fail("foreach without in")
	}
	return &loop{name: v.name, over: p.group(p.i, p.statements(")")), bodies: []*block{p.braces()}}
}

// switches reads switch, each of whose patterns may hold.
func (p *parser) switches() node {
	p.blank(true)
	for p.has("-") {
		for p.i++; letter(p.peek(0)); {
			p.i++
		}
		p.blank(true)
	}
	l := &loop{name: "_"}
	p.need("(")
	l.over = p.group(p.i, p.statements(")"))
	p.blank(true)
	p.need("{")
	for p.blank(true); !p.take("}"); p.blank(true) {
		if p.take(";") {
			continue
		}
		l.heads = append(l.heads, p.argument())
		l.bodies = append(l.bodies, p.braces())
	}
	return l
}

func (p *parser) try() node {
	t := &try{body: p.braces()}
	for {
		at := p.i
		p.blank(true)
		switch {
		case p.word("catch"):
			for p.blank(true); p.has("[") || p.take(","); p.blank(true) {
				if p.has("[") {
					p.brackets()
				}
			}
			t.catches = append(t.catches, p.braces())
			continue
		case p.word("finally"):
			t.finally = p.braces()
			return t
		}
		p.i = at
		return t
	}
}

func (p *parser) function() node {
	p.blank(true)
	at := p.i
	for c := p.peek(0); letter(c) || digit(c) || c == '-' || c == ':' || c == '.'; c = p.peek(0) {
		p.i++
	}
	f := &function{name: strings.ToLower(p.s[at:p.i])}
	if _, rest, ok := strings.Cut(f.name, ":"); ok {
		f.name = rest
	}
	if f.name == "" {
		p.fail("a function without a name")
	}
	p.blank(true)
	var params []param
	if p.take("(") {
		params = p.parameters()
	}
	f.body = p.braces()
	f.body.params = append(params, f.body.params...)
	return f
}

// chain reads pipelines with && and || between them.
func (p *parser) chain() node {
	c := &chain{place: place{from: p.i}}
	for {
		first := len(c.parts) == 0
		n := p.pipeline(first)
		one, ok := n.(*pipeline)
		if !ok {
			return n // an assignment
		}
		c.parts = append(c.parts, one)
		c.to = p.i
		p.blank(false)
		switch {
		case p.take("&&"):
			c.ops = append(c.ops, "&&")
		case p.take("||"):
			c.ops = append(c.ops, "||")
		case p.take("&"): // in the background
			return c
		default:
			return c
		}
		p.blank(true)
	}
}

func (p *parser) pipeline(assigns bool) node {
	one := &pipeline{place: place{from: p.i}}
	for {
		p.blank(true)
		n := p.element(assigns && len(one.elements) == 0)
		if a, ok := n.(*assign); ok {
			return a
		}
		one.elements = append(one.elements, n)
		one.to = p.i
		at := p.i
		p.blank(false)
		if p.has("\n") || p.has("\r") { // the bar may begin the next line
			p.blank(true)
			if !p.has("|") || p.has("||") {
				p.i = at
				return one
			}
		}
		if p.has("||") || !p.take("|") {
			p.i = at
			return one
		}
	}
}

// element reads a command, an expression or an assignment.
func (p *parser) element(assigns bool) node {
	from := p.i
	if !p.isExpression() {
		return p.command()
	}
	e := p.expression(0)
	p.blank(false)
	if assigns {
		for _, op := range []string{"=", "+=", "-=", "*=", "/=", "%=", "??="} {
			if p.has(op) && !p.has("==") {
				p.i += len(op)
				p.blank(true)
				return &assign{place{from, p.i}, e, op, p.statement()}
			}
		}
	}
	w := &written{place: place{from, p.i}, value: e}
	for p.redirection(&w.redirects) {
		p.blank(false)
	}
	return w
}

// isExpression reports that an element is no command.
func (p *parser) isExpression() bool {
	switch c := p.peek(0); {
	case strings.IndexByte("$@(\"'{[,!", c) >= 0 && c != 0:
		return true
	case c == '+' || c == '-':
		n := p.peek(1)
		return digit(n) || n == '$' || n == '(' || n == c || p.operator(p.i, unaries) != ""
	case digit(c):
		j := p.i
		for j < len(p.s) && (digit(p.s[j]) || strings.IndexByte(".xXabcdefABCDEFkKmMgGtTbBlL", p.s[j]) >= 0) {
			j++
		}
		return j == len(p.s) || strings.IndexByte(" \t\r\n;|)}],+-*/%&>=", p.s[j]) >= 0
	}
	return false
}
