package code

import "strings"

// maxName limits the length of a qualified name.
const maxName = 200

// name reads what a word stands for.
func (p *parser) name(t token) value {
	if p.lang.arrows && p.at("=>") {
		p.next()
		return p.function([]token{t})
	}
	if p.lang.word != nil {
		if v, ok := p.lang.word(p, t); ok {
			return v
		}
	}
	switch t.text {
	case "true", "True", "TRUE":
		return textValue("true")
	case "false", "False", "FALSE":
		return textValue("false")
	case "None", "null", "nil", "undef", "undefined", "NULL":
		return value{}
	}
	p.target = t.text
	v := p.known(t.text)
	if function, ok := strings.CutPrefix(v.text, definedPrefix); ok && v.kind == nameValue && !p.again && !p.at("(") {
		p.siteOf(function).escaped = true
	}
	return v
}

// known returns the value of a variable, or else the name itself.
func (p *parser) known(name string) value {
	if v, ok := p.vars[name]; ok {
		return v
	}
	if len(name) > maxName {
		return value{}
	}
	for _, prefix := range p.lang.strip {
		name = strings.TrimPrefix(name, prefix)
	}
	if name == p.lang.itself && name != "" && !p.renamed {
		return textValue(p.lang.name)
	}
	v := named(name)
	for _, env := range p.lang.env {
		if name == env {
			v.flags |= fromEnvironment
		}
	}
	return v
}

// A pending is a member that was named and not yet used.
type pending struct {
	on     value
	method string
	set    bool
	offset int
}

// postfix reads members, subscripts and calls behind a value.
func (p *parser) postfix(v value) value {
	var m pending
	var block value // what a block behind the last call gets
	start := p.pos
	offset := int(p.toks[min(max(start-1, 0), len(p.toks)-1)].offset)
	for !p.done() {
		t := p.peek()
		switch {
		case t.kind == markToken && p.lang.isMember(t.text) && p.ahead(1).kind == wordToken:
			p.next()
			word := p.next()
			v = p.settle(v, &m)
			v = p.member(v, word, &m)
		case t.is("?.") && p.lang.arrows, t.is("->") && p.lang.curlyIndex:
			p.next()
		case t.is("("):
			if t.blank && p.lang.syntax.symbols && m.set {
				return p.settle(v, &m)
			}
			v, block = p.called(v, &m, offset, func() arguments { p.next(); return p.list(")", p.pos-1) })
		case p.lang.arrows && t.kind == textToken && !t.blank && (v.kind == nameValue && (v.text == "$" || strings.HasSuffix(v.text, ".$")) || p.target == "$"):
			p.record(Call{Name: "$", Does: "shell", Offset: offset}, []value{p.textOf(p.next())})
			v = value{}
		case t.is("[") && !(t.blank && p.lang.commands):
			v = p.index(p.settle(v, &m), "]")
		case t.is("{") && p.lang.curlyIndex && !t.blank && p.pos > 0 && p.indexable():
			v = p.index(p.settle(v, &m), "}")
		case p.lang.textCalls && (t.kind == textToken || t.is("{")) && (v.kind == nameValue || m.set) && !p.lang.isReserved(v.text):
			v, block = p.called(v, &m, offset, func() arguments {
				return arguments{pos: []value{p.primary()}}
			})
		case p.lang.commands && p.beginsArgument(t) && p.callable(v, &m):
			v, block = p.called(v, &m, offset, p.commandArgs)
		case p.lang.blocks && (t.is("{") || t.word("do")) && (p.pos > start || v.kind == nameValue):
			if m.set && block.kind == opaqueValue {
				block = m.on.element()
			}
			v = p.settle(v, &m)
			switch {
			case block.kind == opaqueValue && v.kind == knownValue:
				block = v
			case block.kind == opaqueValue:
				block = v.element()
			}
			p.blockBody(block)
		default:
			return p.settle(v, &m)
		}
	}
	return p.settle(v, &m)
}

// member reads one member of v.
func (p *parser) member(v value, word token, m *pending) value {
	if p.target != "" && len(p.target) < maxName {
		p.target += "." + word.text
		if known, ok := p.vars[p.target]; ok {
			return known
		}
	}
	if v.kind == nameValue {
		if v.flags&fromEnvironment != 0 && p.lang.arrows && !p.at("(") {
			return p.environment(word.text)
		}
		q := p.known(v.text + "." + word.text)
		q.flags |= v.flags
		return q
	}
	if item, ok := v.get(word.text); ok {
		return item
	}
	*m = pending{on: v, method: word.text, set: true, offset: int(word.offset)}
	return v
}

// settle gives the value of a member that is not called. Where a call needs no
// parentheses it is one.
func (p *parser) settle(v value, m *pending) value {
	if !m.set {
		if v.kind == nameValue && p.lang.blocks && strings.Contains(v.text, ".") && v.flags&fromEnvironment == 0 {
			if action, ok := p.table[v.text]; ok {
				return p.perform(use{name: v.text, action: action, offset: int(p.toks[min(max(p.pos-1, 0), len(p.toks)-1)].offset)})
			}
		}
		return v
	}
	m.set = false
	key := "*." + m.method
	if !p.lang.commands {
		key = "*:" + m.method
	}
	if action, ok := p.table[key]; ok {
		return p.perform(use{name: m.method, action: action, on: m.on, offset: m.offset})
	}
	if m.method == "length" || m.method == "size" || m.method == "count" {
		return value{}
	}
	return flagged(m.on.all())
}

// called reads the arguments of a call and performs it.
func (p *parser) called(v value, m *pending, offset int, read func() arguments) (result, block value) {
	use := use{offset: offset, target: p.target}
	if m.set {
		use.on, use.name, use.offset = m.on, m.method, m.offset
		use.action = p.table["*."+m.method]
		use.method = true
		m.set = false
	} else {
		use.on = flagged(v.flags)
		use.name, use.action = p.resolve(v)
	}
	outer := p.element
	p.naming = ""
	p.element = use.on.element()
	if strings.HasPrefix(use.action, "fetch") || strings.HasPrefix(use.action, "!fetch") || strings.HasPrefix(use.action, "connect") {
		p.element.flags |= fromNetwork
	}
	use.args = read()
	p.element = outer
	p.target = ""
	p.site(&use)
	result = p.perform(use)
	p.callbacks(use)
	if use.on.kind == listValue {
		return result, use.on.element()
	}
	if result.kind == knownValue {
		return result, result
	}
	return result, result.element()
}

// resolve finds the row of a function by what it is called with.
func (p *parser) resolve(v value) (name, action string) {
	switch {
	case v.kind == nameValue, v.kind == knownValue && p.lang.nameCalls:
		name = v.text
		for _, prefix := range p.lang.strip {
			name = strings.TrimPrefix(name, prefix)
		}
	case v.kind == opaqueValue && p.lang.nameCalls && p.target != "":
		if _, ok := p.vars[p.target]; ok && v.flags != 0 {
			p.suspect("calls a function by a computed name")
		}
		return "", ""
	default:
		return "", ""
	}
	if p.lang.syntax.foldWords || p.lang.name == "php" {
		name = strings.ToLower(name)
	}
	if action, ok := p.table[name]; ok {
		return name, action
	}
	if len(p.opened) > 0 {
		for _, module := range p.opened {
			if action, ok := p.table[module+"."+name]; ok {
				return module + "." + name, action
			}
		}
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		if name[i+1:] == "call" { // Ruby's method(:x).call, JavaScript's f.call
			if action, ok := p.table[name[:i]]; ok {
				return name[:i], action
			}
		}
		if action, ok := p.table["*."+name[i+1:]]; ok {
			return name, action
		}
	}
	return name, ""
}

// callable reports whether a name or member without parentheses takes the
// arguments that follow.
func (p *parser) callable(v value, m *pending) bool {
	if m.set {
		_, ok := p.table["*."+m.method]
		return ok
	}
	if v.kind != nameValue {
		return false
	}
	_, action := p.resolve(v)
	return action != ""
}

// beginsArgument reports whether a token may begin the arguments of a call
// without parentheses.
func (p *parser) beginsArgument(t token) bool {
	switch t.kind {
	case textToken, numberToken, commandToken, wordsToken, filesToken, patternToken:
		return true
	case wordToken:
		return !p.lang.isReserved(t.text)
	case markToken:
		switch t.text {
		case "[", "*", "-", "&", "::", "\\", "->", "%", "@", "!", ":":
			return t.blank && !p.ahead(1).blank
		}
	}
	return false
}

// commandArgs reads arguments without parentheses.
func (p *parser) commandArgs() arguments {
	var args arguments
	for !p.done() {
		p.argument(&args)
		if !p.at(",") && !p.at("=>") {
			break
		}
		p.next()
		p.skipLines()
	}
	return args
}

// blockBody reads a block behind a call and binds its parameters. The body of
// a block with do is read as the statements that follow.
func (p *parser) blockBody(element value) {
	braces := p.next().is("{")
	p.skipLines()
	if p.accept("|") {
		var names []string
		for !p.done() && !p.at("|") && p.peek().kind != lineToken {
			if t := p.next(); t.kind == wordToken {
				names = append(names, t.text)
			}
		}
		p.next()
		for i, name := range names {
			if i == 0 {
				p.vars[name] = element
			} else {
				p.vars[name] = flagged(element.all())
			}
		}
	}
	if braces {
		p.block++
		p.statements("}")
		p.block--
	}
}
