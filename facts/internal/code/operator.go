package code

import (
	"strconv"
	"strings"
)

// expr reads an expression and returns what is known of its value.
func (p *parser) expr() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	v := p.operand()
	for !p.done() {
		t := p.peek()
		if t.kind == wordToken {
			done := false
			if v, done = p.wordOperator(v, t); done {
				break
			}
			continue
		}
		if t.kind != markToken {
			if p.lang.juxtapose && (t.kind == textToken || t.kind == numberToken) {
				v = p.concat(v, p.operand())
				continue
			}
			break
		}
		if !p.operator(&v, t) {
			break
		}
	}
	return v
}

// operator applies one binary operator; it reports false where the expression
// ends.
func (p *parser) operator(v *value, t token) bool {
	switch t.text {
	case "=", ":=", "+=", ".=", "||=", "??=", "//=", "<-", "..=":
		if t.text == "<-" && !p.lang.arrowAssign {
			break
		}
		name := p.target
		p.next()
		p.skipLines()
		if name == "" && v.kind == listValue && t.text == "=" {
			p.assignEach(targetsOf(*v), unpack(p.expr()))
			return true
		}
		p.naming = name
		value := p.expr()
		p.naming = ""
		if name != "" {
			p.assign(name, t.text, value)
		}
		*v = value
		return true
	case "?":
		p.next()
		a := p.expr()
		if p.accept(":") {
			a = oneOf(a, p.expr())
		}
		*v = a
		return true
	case "||", "??", "&&", "//":
		p.next()
		p.skipLines()
		branch := p.branch
		p.branch = true
		b := p.operand()
		p.branch = branch
		if t.text == "&&" {
			*v = b
		} else {
			*v = oneOf(*v, b)
		}
		return true
	case "+", ".", "/", "%", "..", "&", "<<":
		p.next()
		p.skipLines()
		*v = p.fold(t.text, *v, p.operand())
		return true
	case "*", "-", "**", "==", "!=", "===", "!==", "<=", ">=", "<=>", "=~", "!~", "<", ">", ">>", "^", "|", "|>":
		if p.lang.operator != nil && p.lang.operator(p, v, t) {
			return true
		}
		if p.lang.redirects && (t.text == ">" || t.text == ">>" || t.text == "|") {
			return false
		}
		p.next()
		p.skipLines()
		p.operand()
		*v = value{}
		return true
	case "$", "(":
		if p.lang.juxtapose {
			*v = p.concat(*v, p.operand())
			return true
		}
	}
	return false
}

// fold applies an operator that may be constant. What "/" or "%" means depends
// on the language.
func (p *parser) fold(op string, a, b value) value {
	switch {
	case !strings.Contains(p.lang.concat, " "+op+" "):
		if op == "/" && p.lang.pathDivide {
			return p.joinPath(a, b)
		}
		if op == "%" && p.lang.percentFormat {
			return p.format(a, flatten(b))
		}
		return value{}
	case a.flags&b.flags&isNumber != 0:
		x, err1 := strconv.Atoi(a.text)
		y, err2 := strconv.Atoi(b.text)
		if err1 != nil || err2 != nil {
			return value{}
		}
		n := textValue(strconv.Itoa(x + y))
		n.flags |= isNumber
		return n
	}
	return p.concat(a, b)
}

// wordOperator applies an operator that is a word; done tells that the
// expression ends here.
func (p *parser) wordOperator(v value, t token) (_ value, done bool) {
	switch t.text {
	case "or", "and", "xor":
		if p.lang.listOperators && t.text != "xor" || p.lang.commands {
			p.branch = true
		}
		p.next()
		p.skipLines()
		if b := p.operand(); t.text == "or" {
			return oneOf(v, b), false
		} else {
			return b, false
		}
	case "if":
		if !p.lang.comprehensions {
			return v, true
		}
		p.next() // a if c else b
		p.expr()
		if p.atWord("else") {
			p.next()
			return oneOf(v, p.expr()), true
		}
		return v, true
	case "in", "is", "not", "instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "x", "isa":
		if t.text == "in" && p.lang.inStops || len(t.text) <= 2 && t.text != "in" && t.text != "is" && !p.lang.listOperators {
			return v, true
		}
		p.next()
		p.operand()
		return value{}, false
	}
	if p.lang.juxtapose && !p.lang.isReserved(t.text) {
		return p.concat(v, p.operand()), false
	}
	return v, true
}
