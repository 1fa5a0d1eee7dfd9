package code

import "strings"

// operand reads prefixes, one primary expression and what follows it.
func (p *parser) operand() value {
	p.target = ""
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	for {
		t := p.peek()
		switch {
		case t.kind == wordToken && p.lang.isPrefix(t.text):
			p.next()
			p.skipLines()
		case t.is("$") && p.lang.juxtapose: // a field of awk
			p.next()
			p.operand()
			return value{}
		case t.is("-") && p.ahead(1).kind == numberToken:
			p.next()
			n := p.next()
			return value{kind: knownValue, text: "-" + n.text, flags: isNumber}
		case t.kind == markToken && prefixMark(t.text):
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
func (p *parser) primary() value {
	open := p.pos
	t := p.next()
	switch t.kind {
	case textToken:
		v := p.textOf(t)
		for p.lang.adjacent && p.peek().kind == textToken {
			v = p.concat(v, p.textOf(p.next()))
		}
		return v
	case numberToken:
		return value{kind: knownValue, text: t.text, flags: isNumber}
	case commandToken:
		line := p.textOf(t)
		p.perform(use{name: "`…`", action: "shell 0", args: arguments{pos: []value{line}}, offset: int(t.offset)})
		return value{}
	case patternToken:
		p.textOf(t)
		if p.lang.syntax.perl && (strings.Contains(t.text, "(?{") || strings.Contains(t.text, "(??{")) {
			p.suspect("a pattern holds code")
		}
		return value{}
	case wordsToken:
		v := value{kind: listValue}
		for w := range strings.FieldsSeq(t.text) {
			v.items = append(v.items, textValue(w))
		}
		return v
	case filesToken:
		return value{kind: listValue, items: []value{textValue(t.text)}}
	case wordToken:
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
	return value{}
}

// textOf evaluates a string with the code in it.
func (p *parser) textOf(t token) value {
	if t.parts == nil {
		return textValue(t.text)
	}
	out := textValue("")
	for _, part := range t.parts {
		if part.code == nil {
			out = p.concat(out, textValue(part.text))
			continue
		}
		v := p.embedded(part.code)
		if v.kind == listValue && len(v.items) == 1 {
			v = v.items[0]
		}
		out = p.concat(out, v)
	}
	return out
}

// embedded evaluates code inside a string.
func (p *parser) embedded(toks []token) value {
	if len(toks) == 0 || !p.enter() {
		return value{}
	}
	defer p.leave()
	sub := &parser{inspection: p.inspection, toks: toks, loops: loopsIn(p.lang, toks), depth: p.depth, branch: true}
	v := sub.expr()
	if sub.done() {
		return v
	}
	sub.statements("") // a format, a conversion or more statements
	return flagged(v.all())
}

// group reads what is in parentheses: an expression, a tuple or the parameters
// of an arrow function.
func (p *parser) group(open int) value {
	args := p.list(")", open)
	if p.lang.arrows && p.at("=>") {
		params := p.toks[open:p.pos]
		p.next()
		return p.function(params)
	}
	if len(args.pos) == 1 && !(p.pos >= 2 && p.toks[min(p.pos, len(p.toks))-2].is(",")) {
		return args.pos[0]
	}
	return value{kind: listValue, items: args.pos}
}

// list reads expressions up to the end mark.
func (p *parser) list(end string, open int) arguments {
	if at, ok := p.loops[open]; ok && at >= p.pos {
		return arguments{pos: []value{p.comprehension(at)}}
	}
	var args arguments
	for !p.done() {
		t := p.peek()
		switch {
		case t.is(end):
			p.next()
			return args
		case t.is(",") || t.is(";") || t.kind == lineToken || t.is(")") || t.is("]") || t.is("}"):
			p.next()
		default:
			p.argument(&args)
		}
	}
	return args
}

// argument reads one argument, which may have a name.
func (p *parser) argument(args *arguments) {
	if len(args.pos) > maxArgs {
		p.over("too many arguments")
		args.pos = args.pos[:maxArgs]
	}
	t, sep := p.peek(), p.ahead(1)
	if t.kind == wordToken && (sep.is("=") && p.lang.keywordArgs || sep.is(":") && p.lang.colonArgs) ||
		(t.kind == textToken || t.kind == wordToken) && t.parts == nil && sep.is("=>") && !p.lang.arrows {
		p.next()
		p.next()
		args.names = append(args.names, t.text)
		args.named = append(args.named, p.expr())
		return
	}
	spread := t.is("*") || t.is("...") || t.is("**")
	v := p.expr()
	if spread && v.kind == listValue {
		args.pos = append(args.pos, v.items...)
		return
	}
	args.spread = args.spread || spread
	args.pos = append(args.pos, v)
}

// comprehension reads the loops first and then the expression before them, and
// ends behind the closing bracket.
func (p *parser) comprehension(at int) value {
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
	var v value
	for p.pos < at && !p.done() {
		if t := p.peek(); t.kind == markToken && (t.text == "," || t.text == ":") {
			p.next()
			continue
		}
		v = p.expr()
	}
	p.pos = max(p.pos, end)
	p.next()
	if v.kind == knownValue || v.kind == choiceValue {
		return value{kind: listValue, items: []value{v}, flags: v.flags}
	}
	return flagged(v.all())
}

// loop reads "x, y in values" and binds the variables.
func (p *parser) loop() {
	var names []string
	for !p.done() && !p.atWord("in") && !p.atWord("of") {
		t := p.peek()
		if t.kind == lineToken || t.is(";") || t.is("{") && len(names) > 0 {
			return
		}
		if t.kind == wordToken && !p.lang.isPrefix(t.text) {
			names = append(names, t.text)
		}
		p.next()
	}
	p.next()
	v := p.expr()
	p.bind(names, v)
}

// bind gives loop variables the elements of v.
func (p *parser) bind(names []string, v value) {
	e := v.element()
	if len(names) == 1 && e.kind == listValue && len(v.items) <= maxChoice {
		p.vars[names[0]] = value{kind: choiceValue, items: v.items, flags: e.flags}
		return
	}
	for i, name := range names {
		switch {
		case len(names) == 1:
			p.vars[name] = e
		case e.kind == listValue && i < len(e.items):
			p.vars[name] = e.items[i]
		default:
			p.vars[name] = flagged(v.all())
		}
	}
}

// braces reads a map, or a block where it is none.
func (p *parser) braces(open int) value {
	if !p.mapAhead() {
		p.block++
		p.statements("}")
		p.block--
		return value{}
	}
	if at, ok := p.loops[open]; ok && at >= p.pos {
		return p.comprehension(at)
	}
	v := value{kind: mapValue}
	for !p.done() && !p.accept("}") {
		t := p.peek()
		if t.kind == lineToken || t.kind == markToken && (t.text == "," || t.text == ":" || t.text == ")" || t.text == "]" || t.text == ";") {
			p.next()
			continue
		}
		sep := p.ahead(1)
		if (t.kind == wordToken || t.kind == textToken || t.kind == numberToken) && (sep.is(":") || sep.is("=>")) {
			p.next()
			p.next()
			v.keys, v.items = append(v.keys, t.text), append(v.items, p.expr())
			continue
		}
		spread := t.is("...") || t.is("**")
		item := p.expr()
		switch {
		case spread && item.kind == mapValue:
			v.keys, v.items = append(v.keys, item.keys...), append(v.items, item.items...)
		case t.kind == wordToken && (sep.is(",") || sep.is("}")):
			v.keys, v.items = append(v.keys, t.text), append(v.items, item)
		default:
			v.flags |= item.all() // a computed key, or an item of a set
		}
	}
	return v
}

// mapAhead reports whether the brace before opens a map and not a block.
func (p *parser) mapAhead() bool {
	if p.lang.syntax.braces {
		return true
	}
	i := 0
	for p.ahead(i).kind == lineToken {
		if i++; i > 8 {
			return false
		}
	}
	t, sep := p.ahead(i), p.ahead(i+1)
	switch t.kind {
	case wordToken:
		return sep.is(":") || sep.is("=>") || (sep.is(",") || sep.is("}")) && p.lang.arrows
	case textToken, numberToken:
		return sep.is(":") || sep.is("=>") || sep.is("=") || sep.is(",")
	}
	return t.is("}") || t.is("...") || t.is("[") && p.lang.arrows
}
