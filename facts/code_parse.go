package facts

import (
	"strconv"
	"strings"
)

// A codeParser walks tokens and evaluates what is constant. One parser serves
// all languages that have calls, members and operators; it accepts anything
// and always makes progress.
type codeParser struct {
	*codeRun
	toks    []codeToken
	loops   map[int]int // where the loop of a comprehension begins, by its bracket
	pos     int
	depth   int
	steps   int
	target  string    // the variable that the last operand was; "" for anything else
	block   int       // open blocks
	indent  bool      // the line is indented
	branch  bool      // the statement began with if, for …
	element codeValue // what a callback in this argument list is called with
}

// codeArgs are the arguments of a call.
type codeArgs struct {
	pos   []codeValue
	names []string
	named []codeValue
}

// at returns an argument by its place or one of its names.
func (a *codeArgs) at(i int, names ...string) (codeValue, bool) {
	if i >= 0 && i < len(a.pos) {
		return a.pos[i], true
	}
	return a.option(names...)
}

// option returns an argument by name; the last map counts as names too.
func (a *codeArgs) option(names ...string) (codeValue, bool) {
	for _, name := range names {
		for i := len(a.names) - 1; i >= 0; i-- {
			if a.names[i] == name {
				return a.named[i], true
			}
		}
		for i := len(a.pos) - 1; i >= 0; i-- {
			if v, ok := a.pos[i].get(name); ok {
				return v, true
			}
		}
	}
	return codeValue{}, false
}

// flags returns where the arguments came from.
func (a *codeArgs) flags() codeFlags {
	var f codeFlags
	for _, v := range a.pos {
		f |= v.all()
	}
	for _, v := range a.named {
		f |= v.all()
	}
	return f
}

// codeLoops finds the comprehensions of Python.
func codeLoops(lang *codeLanguage, toks []codeToken) map[int]int {
	if !lang.comprehensions {
		return nil
	}
	loops := map[int]int{}
	var open []int
	for i := range toks {
		switch t := &toks[i]; {
		case t.kind == codeMark && (t.text == "(" || t.text == "[" || t.text == "{"):
			open = append(open, i)
		case t.kind == codeMark && (t.text == ")" || t.text == "]" || t.text == "}"):
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case t.kind == codeWord && t.text == "for" && len(open) > 0:
			if _, ok := loops[open[len(open)-1]]; !ok {
				loops[open[len(open)-1]] = i
			}
		}
	}
	return loops
}

func (p *codeParser) peek() codeToken { return p.ahead(0) }

func (p *codeParser) ahead(n int) codeToken {
	if p.pos+n < len(p.toks) {
		return p.toks[p.pos+n]
	}
	return codeToken{}
}

func (p *codeParser) next() codeToken {
	t := p.peek()
	p.pos++
	if p.steps++; p.steps > 8*len(p.toks)+64 {
		p.suspect("brackets do not match")
		p.pos = len(p.toks)
	}
	return t
}

func (p *codeParser) done() bool { return p.pos >= len(p.toks) }

// enter guards recursion; leave must follow when it reports true.
func (p *codeParser) enter() bool {
	if p.depth >= maxCodeDepth {
		p.suspect("program text nests too deeply")
		p.next()
		return false
	}
	p.depth++
	return true
}

func (p *codeParser) leave() { p.depth-- }

func (p *codeParser) skipLines() {
	for p.peek().kind == codeLine {
		p.next()
	}
}

// accept consumes a mark if it is the next token.
func (p *codeParser) accept(mark string) bool {
	if p.peek().is(mark) {
		p.next()
		return true
	}
	return false
}

// statements reads statements up to an end mark, which it consumes.
func (p *codeParser) statements(end string) {
	if !p.enter() {
		return
	}
	defer p.leave()
	outer := p.block
	for !p.done() {
		t := p.peek()
		switch {
		case t.kind == codeLine:
			p.indent, p.branch = t.text != "", false
			p.next()
		case t.is(";"):
			p.branch = false
			p.next()
		case end != "" && p.block == outer && t.is(end):
			p.next()
			return
		case t.is("{") && !p.lang.syntax.braces:
			p.block++
			p.next()
		case t.is("}"):
			p.block = max(outer, p.block-1)
			p.branch = false
			p.next()
		case p.lang.statement != nil && t.kind == codeWord && p.lang.statement(p, t):
		default:
			p.sequence()
		}
	}
	p.block = outer
}

// sequence reads an expression statement, with the assignment of several
// variables at once.
func (p *codeParser) sequence() {
	start := p.pos
	var targets []string
	for p.lang.tuples && p.peek().kind == codeWord && p.ahead(1).is(",") {
		targets = append(targets, p.next().text)
		p.next()
	}
	if targets != nil && p.peek().kind == codeWord && p.ahead(1).is("=") {
		targets = append(targets, p.next().text)
		p.next()
		values := []codeValue{p.expr()}
		for p.accept(",") {
			values = append(values, p.expr())
		}
		if len(values) == 1 && values[0].kind == codeList {
			values = values[0].items
		}
		p.assignEach(targets, values)
		return
	}
	p.pos = start
	v := p.expr()
	if p.lang.as && p.peek().word("as") && p.ahead(1).kind == codeWord {
		p.next()
		p.assign(p.next().text, "=", v)
	}
}

func (p *codeParser) assignEach(targets []string, values []codeValue) {
	for i, name := range targets {
		var v codeValue
		if len(targets) == len(values) {
			v = values[i]
		}
		p.assign(name, "=", v)
	}
}

// assign gives a variable its value. Where the statement may not run, or may
// run often, the old value stays possible.
func (p *codeParser) assign(name, op string, v codeValue) {
	old, had := p.vars[name]
	maybe := had && (p.block > 0 || p.indent || p.branch)
	switch op {
	case "+=", ".=", "..=", "<<":
		if v = p.concat(old, v); maybe && v.kind != codeList {
			v = codeValue{flags: v.all(), text: old.text}
		}
	case "||=", "??=", "//=":
		if had {
			v = codeOneOf(old, v)
		}
	default:
		if maybe && v.kind != codeName && old.kind != codeName && old.kind != codeMap && v.kind != codeMap {
			if v.kind == codeList || old.kind == codeList {
				v = codeFlagged(v.all() | old.all())
			} else {
				v = codeOneOf(old, v)
			}
		}
	}
	p.vars[name] = v
}

// forget makes a variable unknown: a parameter, a loop variable.
func (p *codeParser) forget(name string) { p.vars[name] = codeValue{} }

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
		value := p.expr()
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

// codeTargets returns the names in a list that is assigned to.
func codeTargets(v codeValue) []string {
	out := make([]string, len(v.items))
	for i, item := range v.items {
		out[i] = item.text
	}
	return out
}

func codeUnpack(v codeValue) []codeValue {
	if v.kind == codeList {
		return v.items
	}
	return nil
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

// format folds printf-like formatting of texts.
func (p *codeParser) format(f codeValue, args []codeValue) codeValue {
	out, n := codeString(""), 0
	if f.kind != codeKnown || !p.spend(len(f.text)) {
		return codeFlagged(f.all())
	}
	rest := f.text
	for {
		lit, after, ok := strings.Cut(rest, "%")
		out = p.concat(out, codeString(lit))
		if !ok {
			return out
		}
		i := 0
		for i < len(after) && strings.IndexByte("0123456789.-+ #l", after[i]) >= 0 {
			i++
		}
		switch {
		case i < len(after) && after[i] == '%':
			out = p.concat(out, codeString("%"))
		case i < len(after) && (after[i] == 's' || after[i] == 'd') && i == 0 && n < len(args):
			out = p.concat(out, args[n])
			n++
		default:
			out = p.concat(out, codeValue{})
			n++
		}
		rest = after[min(i+1, len(after)):]
	}
}

// codeFlatten returns the items of a list, or the value itself.
func codeFlatten(v codeValue) []codeValue {
	if v.kind == codeList {
		return v.items
	}
	return []codeValue{v}
}
