package code

// A parser walks tokens and evaluates what is constant. One parser serves
// all languages that have calls, members and operators; it accepts anything
// and always makes progress.
type parser struct {
	*inspection
	toks    []token
	loops   map[int]int // where the loop of a comprehension begins, by its bracket
	pos     int
	depth   int
	steps   int
	target  string // the variable that the last operand was; "" for anything else
	block   int    // open blocks
	indent  bool   // the line is indented
	branch  bool   // the statement began with if, for …
	naming  string // the variable that a function is about to be the value of
	element value  // what a callback in this argument list is called with
}

// arguments are the arguments of a call.
type arguments struct {
	pos   []value
	names []string
	named []value

	spread bool // *list: how many there are is not known
}

// at returns an argument by its place or one of its names.
func (a *arguments) at(i int, names ...string) (value, bool) {
	if i >= 0 && i < len(a.pos) {
		return a.pos[i], true
	}
	return a.option(names...)
}

// option returns an argument by name; the last map counts as names too.
func (a *arguments) option(names ...string) (value, bool) {
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
	return value{}, false
}

// flags returns where the arguments came from.
func (a *arguments) flags() valueFlags {
	var f valueFlags
	for _, v := range a.pos {
		f |= v.all()
	}
	for _, v := range a.named {
		f |= v.all()
	}
	return f
}

// loopsIn finds the comprehensions of Python.
func loopsIn(lang *language, toks []token) map[int]int {
	if !lang.comprehensions {
		return nil
	}
	loops := map[int]int{}
	var open []int
	for i := range toks {
		switch t := &toks[i]; {
		case t.kind == markToken && (t.text == "(" || t.text == "[" || t.text == "{"):
			open = append(open, i)
		case t.kind == markToken && (t.text == ")" || t.text == "]" || t.text == "}"):
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case t.kind == wordToken && t.text == "for" && len(open) > 0:
			if _, ok := loops[open[len(open)-1]]; !ok {
				loops[open[len(open)-1]] = i
			}
		}
	}
	return loops
}

func (p *parser) peek() token { return p.ahead(0) }

func (p *parser) ahead(n int) token {
	if p.pos+n < len(p.toks) {
		return p.toks[p.pos+n]
	}
	return token{}
}

// at reports whether the next token is this mark.
func (p *parser) at(mark string) bool { return p.peek().is(mark) }

// atWord reports whether the next token is this word.
func (p *parser) atWord(w string) bool { return p.peek().word(w) }

func (p *parser) next() token {
	t := p.peek()
	p.pos++
	if p.steps++; p.steps > 8*len(p.toks)+64 {
		p.suspect("brackets do not match")
		p.pos = len(p.toks)
	}
	return t
}

func (p *parser) done() bool { return p.pos >= len(p.toks) }

// enter guards recursion; leave must follow when it reports true.
func (p *parser) enter() bool {
	if p.depth >= maxDepth {
		p.over("program text nests too deeply")
		p.next()
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) skipLines() {
	for p.peek().kind == lineToken {
		p.next()
	}
}

// accept consumes a mark if it is the next token.
func (p *parser) accept(mark string) bool {
	if p.at(mark) {
		p.next()
		return true
	}
	return false
}

// statements reads statements up to an end mark, which it consumes.
func (p *parser) statements(end string) {
	if !p.enter() {
		return
	}
	defer p.leave()
	outer := p.block
	for !p.done() {
		t := p.peek()
		switch {
		case t.kind == lineToken:
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
		case p.lang.statement != nil && t.kind == wordToken && p.lang.statement(p, t):
		default:
			p.sequence()
		}
	}
	p.block = outer
}
