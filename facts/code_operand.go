package facts

import "strings"

// operand reads prefixes, one primary expression and what follows it.
func (p *codeParser) operand() codeValue {
	p.target = ""
	if !p.enter() {
		return codeValue{}
	}
	defer p.leave()
	for {
		t := p.peek()
		switch {
		case t.kind == codeWord && p.lang.isPrefix(t.text):
			p.next()
			p.skipLines()
		case t.is("$") && p.lang.juxtapose: // a field of awk
			p.next()
			p.operand()
			return codeValue{}
		case t.is("-") && p.ahead(1).kind == codeNumber:
			p.next()
			n := p.next()
			return codeValue{kind: codeKnown, text: "-" + n.text, flags: isNumber}
		case t.kind == codeMark && prefixMark(t.text):
			p.next()
		default:
			return p.postfix(p.primary())
		}
	}
}

func prefixMark(s string) bool {
	switch s {
	case "!", "-", "+", "~", "...", "*", "**", "&", "@", "\\", "++", "--", "..":
		return true
	}
	return false
}

// primary reads a literal, a name or something in brackets.
func (p *codeParser) primary() codeValue {
	open := p.pos
	t := p.next()
	switch t.kind {
	case codeText:
		v := p.textOf(t)
		for p.lang.adjacent && p.peek().kind == codeText {
			v = p.concat(v, p.textOf(p.next()))
		}
		return v
	case codeNumber:
		return codeValue{kind: codeKnown, text: t.text, flags: isNumber}
	case codeCommand:
		line := p.textOf(t)
		p.perform(codeUse{name: "`…`", action: "shell 0", args: codeArgs{pos: []codeValue{line}}, offset: int(t.offset)})
		return codeValue{}
	case codePattern:
		p.textOf(t)
		if p.lang.syntax.perl && (strings.Contains(t.text, "(?{") || strings.Contains(t.text, "(??{")) {
			p.suspect("a pattern holds code")
		}
		return codeValue{}
	case codeWords:
		v := codeValue{kind: codeList}
		for w := range strings.FieldsSeq(t.text) {
			v.items = append(v.items, codeString(w))
		}
		return v
	case codeFiles:
		return codeValue{kind: codeList, items: []codeValue{codeString(t.text)}}
	case codeWord:
		return p.name(t)
	}
	switch t.text {
	case "(":
		return p.group(open)
	case "[":
		return p.listOf(p.list("]", open))
	case "{":
		return p.braces(open)
	}
	return codeValue{}
}

// textOf evaluates a string with the code in it.
func (p *codeParser) textOf(t codeToken) codeValue {
	if t.parts == nil {
		return codeString(t.text)
	}
	out := codeString("")
	for _, part := range t.parts {
		if part.code == nil {
			out = p.concat(out, codeString(part.text))
			continue
		}
		v := p.embedded(part.code)
		if v.kind == codeList && len(v.items) == 1 {
			v = v.items[0]
		}
		out = p.concat(out, v)
	}
	return out
}

// embedded evaluates code inside a string.
func (p *codeParser) embedded(toks []codeToken) codeValue {
	if len(toks) == 0 || !p.enter() {
		return codeValue{}
	}
	defer p.leave()
	sub := &codeParser{codeRun: p.codeRun, toks: toks, loops: codeLoops(p.lang, toks), depth: p.depth, branch: true}
	v := sub.expr()
	if sub.done() {
		return v
	}
	sub.statements("") // a format, a conversion or more statements
	return codeFlagged(v.all())
}

// group reads what is in parentheses: an expression, a tuple or the parameters
// of an arrow function.
func (p *codeParser) group(open int) codeValue {
	args := p.list(")", open)
	if p.lang.arrows && p.peek().is("=>") {
		params := p.toks[open:p.pos]
		p.next()
		return p.function(params)
	}
	if len(args.pos) == 1 && !(p.pos >= 2 && p.toks[min(p.pos, len(p.toks))-2].is(",")) {
		return args.pos[0]
	}
	return codeValue{kind: codeList, items: args.pos}
}

// list reads expressions up to the end mark.
func (p *codeParser) list(end string, open int) codeArgs {
	if at, ok := p.loops[open]; ok && at >= p.pos {
		return codeArgs{pos: []codeValue{p.comprehension(at)}}
	}
	var args codeArgs
	for !p.done() {
		t := p.peek()
		switch {
		case t.is(end):
			p.next()
			return args
		case t.is(",") || t.is(";") || t.kind == codeLine || t.is(")") || t.is("]") || t.is("}"):
			p.next()
		default:
			p.argument(&args)
		}
	}
	return args
}

// argument reads one argument, which may have a name.
func (p *codeParser) argument(args *codeArgs) {
	if len(args.pos) > maxCodeArgs {
		p.suspect("too many arguments")
		args.pos = args.pos[:maxCodeArgs]
	}
	t, sep := p.peek(), p.ahead(1)
	if t.kind == codeWord && (sep.is("=") && p.lang.keywordArgs || sep.is(":") && p.lang.colonArgs) ||
		(t.kind == codeText || t.kind == codeWord) && t.parts == nil && sep.is("=>") && !p.lang.arrows {
		p.next()
		p.next()
		args.names = append(args.names, t.text)
		args.named = append(args.named, p.expr())
		return
	}
	spread := t.is("*") || t.is("...") || t.is("**")
	v := p.expr()
	if spread && v.kind == codeList {
		args.pos = append(args.pos, v.items...)
		return
	}
	args.spread = args.spread || spread
	args.pos = append(args.pos, v)
}

// comprehension reads the loops first and then the expression before them, and
// ends behind the closing bracket.
func (p *codeParser) comprehension(at int) codeValue {
	start := p.pos
	p.pos = at
	for !p.done() {
		t := p.peek()
		if t.is(")") || t.is("]") || t.is("}") {
			break
		}
		if t.word("for") {
			p.next()
			p.loop()
			continue
		}
		p.expr()
	}
	end := p.pos
	p.pos = start
	var v codeValue
	for p.pos < at && !p.done() {
		if t := p.peek(); t.kind == codeMark && (t.text == "," || t.text == ":") {
			p.next()
			continue
		}
		v = p.expr()
	}
	p.pos = max(p.pos, end)
	p.next()
	if v.kind == codeKnown || v.kind == codeChoice {
		return codeValue{kind: codeList, items: []codeValue{v}, flags: v.flags}
	}
	return codeFlagged(v.all())
}

// loop reads "x, y in values" and binds the variables.
func (p *codeParser) loop() {
	var names []string
	for !p.done() && !p.peek().word("in") && !p.peek().word("of") {
		t := p.peek()
		if t.kind == codeLine || t.is(";") || t.is("{") && len(names) > 0 {
			return
		}
		if t.kind == codeWord && !p.lang.isPrefix(t.text) {
			names = append(names, t.text)
		}
		p.next()
	}
	p.next()
	v := p.expr()
	p.bind(names, v)
}

// bind gives loop variables the elements of v.
func (p *codeParser) bind(names []string, v codeValue) {
	e := v.element()
	if len(names) == 1 && e.kind == codeList && len(v.items) <= maxCodeChoice {
		p.vars[names[0]] = codeValue{kind: codeChoice, items: v.items, flags: e.flags}
		return
	}
	for i, name := range names {
		switch {
		case len(names) == 1:
			p.vars[name] = e
		case e.kind == codeList && i < len(e.items):
			p.vars[name] = e.items[i]
		default:
			p.vars[name] = codeFlagged(v.all())
		}
	}
}

// braces reads a map, or a block where it is none.
func (p *codeParser) braces(open int) codeValue {
	if !p.mapAhead() {
		p.block++
		p.statements("}")
		p.block--
		return codeValue{}
	}
	if at, ok := p.loops[open]; ok && at >= p.pos {
		return p.comprehension(at)
	}
	v := codeValue{kind: codeMap}
	for !p.done() && !p.accept("}") {
		t := p.peek()
		if t.kind == codeLine || t.kind == codeMark && (t.text == "," || t.text == ":" || t.text == ")" || t.text == "]" || t.text == ";") {
			p.next()
			continue
		}
		sep := p.ahead(1)
		if (t.kind == codeWord || t.kind == codeText || t.kind == codeNumber) && (sep.is(":") || sep.is("=>")) {
			p.next()
			p.next()
			v.keys, v.items = append(v.keys, t.text), append(v.items, p.expr())
			continue
		}
		spread := t.is("...") || t.is("**")
		item := p.expr()
		switch {
		case spread && item.kind == codeMap:
			v.keys, v.items = append(v.keys, item.keys...), append(v.items, item.items...)
		case t.kind == codeWord && (sep.is(",") || sep.is("}")):
			v.keys, v.items = append(v.keys, t.text), append(v.items, item)
		default:
			v.flags |= item.all() // a computed key, or an item of a set
		}
	}
	return v
}

// mapAhead reports whether the brace before opens a map and not a block.
func (p *codeParser) mapAhead() bool {
	if p.lang.syntax.braces {
		return true
	}
	i := 0
	for p.ahead(i).kind == codeLine {
		if i++; i > 8 {
			return false
		}
	}
	t, sep := p.ahead(i), p.ahead(i+1)
	switch t.kind {
	case codeWord:
		return sep.is(":") || sep.is("=>") || (sep.is(",") || sep.is("}")) && p.lang.arrows
	case codeText, codeNumber:
		return sep.is(":") || sep.is("=>") || sep.is("=") || sep.is(",")
	}
	return t.is("}") || t.is("...") || t.is("[") && p.lang.arrows
}
