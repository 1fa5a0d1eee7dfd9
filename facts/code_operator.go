package facts

import (
	"strconv"
	"strings"
)

// expr reads an expression and returns what is known of its value.
func (p *codeParser) expr() codeValue {
	if !p.enter() {
		return codeValue{}
	}
	defer p.leave()
	v := p.operand()
	for !p.done() {
		t := p.peek()
		if t.kind == codeWord {
			done := false
			if v, done = p.wordOperator(v, t); done {
				break
			}
			continue
		}
		if t.kind != codeMark {
			if p.lang.juxtapose && (t.kind == codeText || t.kind == codeNumber) {
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
func (p *codeParser) operator(v *codeValue, t codeToken) bool {
	switch t.text {
	case "=", ":=", "+=", ".=", "||=", "??=", "//=", "<-", "..=":
		if t.text == "<-" && !p.lang.arrowAssign {
			break
		}
		name := p.target
		p.next()
		p.skipLines()
		if name == "" && v.kind == codeList && t.text == "=" {
			p.assignEach(codeTargets(*v), codeUnpack(p.expr()))
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
			a = codeOneOf(a, p.expr())
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
			*v = codeOneOf(*v, b)
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
		*v = codeValue{}
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
func (p *codeParser) fold(op string, a, b codeValue) codeValue {
	switch {
	case !strings.Contains(p.lang.concat, " "+op+" "):
		if op == "/" && p.lang.pathDivide {
			return p.joinPath(a, b)
		}
		if op == "%" && p.lang.percentFormat {
			return p.format(a, codeFlatten(b))
		}
		return codeValue{}
	case a.flags&b.flags&isNumber != 0:
		x, err1 := strconv.Atoi(a.text)
		y, err2 := strconv.Atoi(b.text)
		if err1 != nil || err2 != nil {
			return codeValue{}
		}
		n := codeString(strconv.Itoa(x + y))
		n.flags |= isNumber
		return n
	}
	return p.concat(a, b)
}

// wordOperator applies an operator that is a word; done tells that the
// expression ends here.
func (p *codeParser) wordOperator(v codeValue, t codeToken) (_ codeValue, done bool) {
	switch t.text {
	case "or", "and", "xor":
		if p.lang.listOperators && t.text != "xor" || p.lang.commands {
			p.branch = true
		}
		p.next()
		p.skipLines()
		if b := p.operand(); t.text == "or" {
			return codeOneOf(v, b), false
		} else {
			return b, false
		}
	case "if":
		if !p.lang.comprehensions {
			return v, true
		}
		p.next() // a if c else b
		p.expr()
		if p.peek().word("else") {
			p.next()
			return codeOneOf(v, p.expr()), true
		}
		return v, true
	case "in", "is", "not", "instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "x", "isa":
		if t.text == "in" && p.lang.inStops || len(t.text) <= 2 && t.text != "in" && t.text != "is" && !p.lang.listOperators {
			return v, true
		}
		p.next()
		p.operand()
		return codeValue{}, false
	}
	if p.lang.juxtapose && !p.lang.isReserved(t.text) {
		return p.concat(v, p.operand()), false
	}
	return v, true
}
