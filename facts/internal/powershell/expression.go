package powershell

import "strings"

// unaries and binaries are the operators that are words. In front of binaries stands
// how tightly they bind.
const (
	unaries  = " not bnot split isplit csplit join "
	logical  = " and or xor "
	bitwise  = " band bor bxor "
	compares = " eq ne ge gt lt le ieq ine ige igt ilt ile ceq cne cge cgt clt cle like notlike ilike inotlike clike cnotlike match notmatch imatch inotmatch cmatch cnotmatch replace ireplace creplace contains notcontains icontains inotcontains ccontains cnotcontains in notin iin inotin cin cnotin split isplit csplit join is isnot as shl shr "
)

// operator returns the operator that is a word at i, of one of the lists.
func (p *parser) operator(i int, words string) string {
	if i >= len(p.s) || p.s[i] != '-' {
		return ""
	}
	j := i + 1
	for j < len(p.s) && letter(p.s[j]) {
		j++
	}
	w := strings.ToLower(p.s[i+1 : j])
	if w != "" && !strings.Contains(w, " ") && strings.Contains(words, " "+w+" ") {
		return w
	}
	return ""
}

// binaryAt returns the operator at the place, with its length and how tightly it
// binds: from 1, the least.
func (p *parser) binaryAt() (op string, size, tight int) {
	for level, words := range []string{logical, bitwise, compares} {
		if w := p.operator(p.i, words); w != "" {
			return w, len(w) + 1, level + 2
		}
	}
	if p.operator(p.i, " f ") != "" {
		return "f", 2, 7
	}
	c := p.peek(0)
	switch {
	case c == ',':
		return ",", 1, 9
	case p.has("??") && !p.has("??="):
		return "??", 2, 4
	case p.has(".."):
		return "..", 2, 8
	case (c == '+' || c == '-') && p.peek(1) != '=' && p.peek(1) != c:
		return string(c), 1, 5
	case (c == '*' || c == '/' || c == '%') && p.peek(1) != '=':
		return string(c), 1, 6
	}
	return "", 0, 0
}

// expression reads operands with operators that bind as tightly as that.
func (p *parser) expression(tight int) node {
	defer p.enter()()
	from := p.i
	var l node
	if p.has(",") && tight <= 9 {
		p.i++
		p.blank(true)
		l = &list{place{from, p.i}, []node{p.expression(10)}}
	} else {
		l = p.operand()
	}
	for {
		at := p.i
		p.blank(false)
		op, size, binds := p.binaryAt()
		if size == 0 || binds < max(tight, 1) || op == "," && tight == 1 {
			if p.has("?") && tight <= 1 && (p.peek(1) == ' ' || p.peek(1) == '\n') {
				p.i++
				p.blank(true)
				l = p.ternary(from, l)
				continue
			}
			p.i = at
			return l
		}
		p.i += size
		p.blank(true)
		if op == "," {
			r := p.expression(10)
			if items, ok := l.(*list); ok && at > items.from {
				items.items, items.to = append(items.items, r), p.i
				continue
			}
			l = &list{place{from, p.i}, []node{l, r}}
			continue
		}
		r := p.expression(binds + 1)
		l = &binary{place{from, p.i}, op, l, r}
	}
}

// ternary reads the two ways of condition ? a : b.
func (p *parser) ternary(from int, condition node) node {
	yes := p.expression(2)
	p.blank(true)
	p.need(":")
	p.blank(true)
	no := p.expression(2)
	return &binary{place{from, p.i}, "?", condition, &binary{place{from, p.i}, "??", yes, no}}
}

// operand reads unary operators, casts and a value.
func (p *parser) operand() node {
	defer p.enter()()
	from := p.i
	if w := p.operator(p.i, unaries); w != "" {
		p.i += len(w) + 1
		p.blank(true)
		return &unary{place{from, p.i}, w, p.operand()}
	}
	switch {
	case p.has("++"), p.has("--"):
		p.i += 2
		return &unary{place{from, p.i}, "+", p.operand()}
	case p.has("!"), p.has("+"), p.has("-"):
		op := p.s[p.i : p.i+1]
		p.i++
		p.blank(true)
		return &unary{place{from, p.i}, op, p.operand()}
	case p.has("["):
		name := p.typeName()
		p.blank(false)
		if p.has("::") {
			break
		}
		if p.i < len(p.s) && strings.IndexByte("$@(\"'{[", p.s[p.i]) >= 0 || digit(p.peek(0)) || p.has("-") && digit(p.peek(1)) {
			return &cast{place{from, p.i}, name.name, p.operand()}
		}
		return p.postfix(name)
	}
	if p.i > from { // a type with a static member
		return p.postfix(&typeName{place{from, p.i}, strings.ToLower(strings.Trim(strings.TrimSpace(p.s[from:p.i]), "[]"))})
	}
	n := p.postfix(p.primary())
	if p.take("++") || p.take("--") {
		return &unary{place{from, p.i}, "+", n}
	}
	return n
}

// typeName reads [name].
func (p *parser) typeName() *typeName {
	from := p.i
	deep := 0
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '[':
			deep++
		case c == ']':
			deep--
		case letter(c), digit(c), strings.IndexByte(".,` +", c) >= 0:
		default:
			p.fail("a type that gate does not read")
		}
		p.i++
		if deep == 0 {
			return &typeName{place{from, p.i}, strings.ToLower(strings.TrimSpace(p.s[from+1 : p.i-1]))}
		}
	}
	p.fail("] is missing")
	return nil
}

// primary reads a value without what stands behind it.
func (p *parser) primary() node {
	defer p.enter()()
	from := p.i
	c := p.peek(0)
	switch {
	case c == '\'' || c == '"':
		return p.quoted()
	case c == '@' && (p.peek(1) == '\'' || p.peek(1) == '"'):
		return p.here()
	case c == '@' && p.peek(1) == '(':
		p.i += 2
		return p.group(from, p.statements(")"))
	case c == '@' && p.peek(1) == '{':
		p.i += 2
		return p.table(from)
	case c == '(':
		p.i++
		body := p.statements(")")
		return p.group(from, body)
	case c == '{':
		b := p.braces()
		return &scriptBlock{b.place, b}
	case c == '$':
		return p.variable()
	case c == '[':
		return p.typeName()
	case digit(c) || c == '.' && digit(p.peek(1)):
		for digit(p.peek(0)) || letter(p.peek(0)) || p.peek(0) == '.' && p.peek(1) != '.' && digit(p.peek(1)) {
			p.i++
		}
		return &text{place{from, p.i}, p.s[from:p.i], false}
	}
	p.fail("an expression that gate does not read")
	return nil
}

// table reads the entries of @{ }.
func (p *parser) table(from int) node {
	defer p.enter()()
	t := &table{}
	for {
		for p.blank(true); p.take(";"); {
			p.blank(true)
		}
		if p.take("}") {
			t.place = place{from, p.i}
			return t
		}
		at := p.i
		var key node
		if letter(p.peek(0)) {
			for letter(p.peek(0)) || digit(p.peek(0)) || p.peek(0) == '-' {
				p.i++
			}
			key = &text{place{at, p.i}, p.s[at:p.i], false}
		} else {
			key = p.operand()
		}
		p.blank(true)
		p.need("=")
		p.blank(true)
		t.keys = append(t.keys, key)
		t.values = append(t.values, p.statement())
		p.blank(false)
		if p.i < len(p.s) && strings.IndexByte(";}\n\r", p.s[p.i]) < 0 {
			p.fail("an entry that gate does not read")
		}
	}
}

// postfix reads members, calls and indexes behind a value.
func (p *parser) postfix(n node) node {
	from := p.i
	for {
		if p.steps++; p.steps > maxText {
			p.fail("a text that costs more than gate spends")
		}
		switch c := p.peek(0); {
		case c == '.' && (letter(p.peek(1)) || p.peek(1) == '$' || p.peek(1) == '\'' || p.peek(1) == '"'),
			c == ':' && p.peek(1) == ':', c == '?' && p.peek(1) == '.' && letter(p.peek(2)):
			m := &member{of: n, static: c == ':'}
			p.i++
			if c != '.' {
				p.i++
			}
			m.name = p.memberName()
			if p.take("(") {
				m.call = true
				m.args = p.arguments()
			}
			m.place = place{from, p.i}
			n = m
		case c == '[':
			p.i++
			p.blank(true)
			at := p.expression(0)
			p.blank(true)
			p.need("]")
			n = &index{place{from, p.i}, n, at}
		default:
			return n
		}
	}
}

func (p *parser) memberName() node {
	from := p.i
	switch c := p.peek(0); {
	case c == '$':
		return p.variable()
	case c == '\'' || c == '"':
		return p.quoted()
	case letter(c):
		for letter(p.peek(0)) || digit(p.peek(0)) {
			p.i++
		}
		return &text{place{from, p.i}, p.s[from:p.i], false}
	}
	p.fail("a member without a name")
	return nil
}

// arguments reads the arguments of a method up to the bracket.
func (p *parser) arguments() (args []node) {
	defer p.enter()()
	for {
		p.blank(true)
		if p.take(")") {
			return args
		}
		args = append(args, p.expression(1))
		p.blank(true)
		if !p.take(",") && !p.has(")") {
			p.fail("an argument that gate does not read")
		}
	}
}
