package facts

import "strings"

// maxCodeName limits the length of a qualified name.
const maxCodeName = 200

// name reads what a word stands for.
func (p *codeParser) name(t codeToken) codeValue {
	if p.lang.arrows && p.peek().is("=>") {
		p.next()
		return p.function([]codeToken{t})
	}
	if p.lang.word != nil {
		if v, ok := p.lang.word(p, t); ok {
			return v
		}
	}
	switch t.text {
	case "true", "True", "TRUE":
		return codeString("true")
	case "false", "False", "FALSE":
		return codeString("false")
	case "None", "null", "nil", "undef", "undefined", "NULL":
		return codeValue{}
	}
	p.target = t.text
	v := p.known(t.text)
	if function, ok := strings.CutPrefix(v.text, codeDefined); ok && v.kind == codeName && !p.again && !p.peek().is("(") {
		p.siteOf(function).escaped = true
	}
	return v
}

// known returns the value of a variable, or else the name itself.
func (p *codeParser) known(name string) codeValue {
	if v, ok := p.vars[name]; ok {
		return v
	}
	if len(name) > maxCodeName {
		return codeValue{}
	}
	for _, prefix := range p.lang.strip {
		name = strings.TrimPrefix(name, prefix)
	}
	if name == p.lang.itself && name != "" && !p.renamed {
		return codeString(p.lang.name)
	}
	v := codeNamed(name)
	for _, env := range p.lang.env {
		if name == env {
			v.flags |= fromEnvironment
		}
	}
	return v
}

// A codePending is a member that was named and not yet used.
type codePending struct {
	on     codeValue
	method string
	set    bool
	offset int
}

// postfix reads members, subscripts and calls behind a value.
func (p *codeParser) postfix(v codeValue) codeValue {
	var m codePending
	var block codeValue // what a block behind the last call gets
	start := p.pos
	offset := int(p.toks[min(max(start-1, 0), len(p.toks)-1)].offset)
	for !p.done() {
		t := p.peek()
		switch {
		case t.kind == codeMark && p.lang.isMember(t.text) && p.ahead(1).kind == codeWord:
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
			v, block = p.called(v, &m, offset, func() codeArgs { p.next(); return p.list(")", p.pos-1) })
		case p.lang.arrows && t.kind == codeText && !t.blank && (v.kind == codeName && (v.text == "$" || strings.HasSuffix(v.text, ".$")) || p.target == "$"):
			p.record(codeCall{name: "$", does: "shell", offset: offset}, []codeValue{p.textOf(p.next())})
			v = codeValue{}
		case t.is("[") && !(t.blank && p.lang.commands):
			v = p.index(p.settle(v, &m), "]")
		case t.is("{") && p.lang.curlyIndex && !t.blank && p.pos > 0 && p.indexable():
			v = p.index(p.settle(v, &m), "}")
		case p.lang.textCalls && (t.kind == codeText || t.is("{")) && (v.kind == codeName || m.set) && !p.lang.isReserved(v.text):
			v, block = p.called(v, &m, offset, func() codeArgs {
				return codeArgs{pos: []codeValue{p.primary()}}
			})
		case p.lang.commands && p.beginsArgument(t) && p.callable(v, &m):
			v, block = p.called(v, &m, offset, p.commandArgs)
		case p.lang.blocks && (t.is("{") || t.word("do")) && (p.pos > start || v.kind == codeName):
			if m.set && block.kind == codeOpaque {
				block = m.on.element()
			}
			v = p.settle(v, &m)
			switch {
			case block.kind == codeOpaque && v.kind == codeKnown:
				block = v
			case block.kind == codeOpaque:
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
func (p *codeParser) member(v codeValue, word codeToken, m *codePending) codeValue {
	if p.target != "" && len(p.target) < maxCodeName {
		p.target += "." + word.text
		if known, ok := p.vars[p.target]; ok {
			return known
		}
	}
	if v.kind == codeName {
		if v.flags&fromEnvironment != 0 && p.lang.arrows && !p.peek().is("(") {
			return p.environment(word.text)
		}
		q := p.known(v.text + "." + word.text)
		q.flags |= v.flags
		return q
	}
	if item, ok := v.get(word.text); ok {
		return item
	}
	*m = codePending{on: v, method: word.text, set: true, offset: int(word.offset)}
	return v
}

// settle gives the value of a member that is not called. Where a call needs no
// parentheses it is one.
func (p *codeParser) settle(v codeValue, m *codePending) codeValue {
	if !m.set {
		if v.kind == codeName && p.lang.blocks && strings.Contains(v.text, ".") && v.flags&fromEnvironment == 0 {
			if action, ok := p.table[v.text]; ok {
				return p.perform(codeUse{name: v.text, action: action, offset: int(p.toks[min(max(p.pos-1, 0), len(p.toks)-1)].offset)})
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
		return p.perform(codeUse{name: m.method, action: action, on: m.on, offset: m.offset})
	}
	if m.method == "length" || m.method == "size" || m.method == "count" {
		return codeValue{}
	}
	return codeFlagged(m.on.all())
}

// called reads the arguments of a call and performs it.
func (p *codeParser) called(v codeValue, m *codePending, offset int, read func() codeArgs) (result, block codeValue) {
	use := codeUse{offset: offset, target: p.target}
	if m.set {
		use.on, use.name, use.offset = m.on, m.method, m.offset
		use.action = p.table["*."+m.method]
		use.method = true
		m.set = false
	} else {
		use.on = codeFlagged(v.flags)
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
	if use.on.kind == codeList {
		return result, use.on.element()
	}
	if result.kind == codeKnown {
		return result, result
	}
	return result, result.element()
}

// resolve finds the row of a function by what it is called with.
func (p *codeParser) resolve(v codeValue) (name, action string) {
	switch {
	case v.kind == codeName, v.kind == codeKnown && p.lang.nameCalls:
		name = v.text
		for _, prefix := range p.lang.strip {
			name = strings.TrimPrefix(name, prefix)
		}
	case v.kind == codeOpaque && p.lang.nameCalls && p.target != "":
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
func (p *codeParser) callable(v codeValue, m *codePending) bool {
	if m.set {
		_, ok := p.table["*."+m.method]
		return ok
	}
	if v.kind != codeName {
		return false
	}
	_, action := p.resolve(v)
	return action != ""
}

// beginsArgument reports whether a token may begin the arguments of a call
// without parentheses.
func (p *codeParser) beginsArgument(t codeToken) bool {
	switch t.kind {
	case codeText, codeNumber, codeCommand, codeWords, codeFiles, codePattern:
		return true
	case codeWord:
		return !p.lang.isReserved(t.text)
	case codeMark:
		switch t.text {
		case "[", "*", "-", "&", "::", "\\", "->", "%", "@", "!", ":":
			return t.blank && !p.ahead(1).blank
		}
	}
	return false
}

// commandArgs reads arguments without parentheses.
func (p *codeParser) commandArgs() codeArgs {
	var args codeArgs
	for !p.done() {
		p.argument(&args)
		if !p.peek().is(",") && !p.peek().is("=>") {
			break
		}
		p.next()
		p.skipLines()
	}
	return args
}

// blockBody reads a block behind a call and binds its parameters. The body of
// a block with do is read as the statements that follow.
func (p *codeParser) blockBody(element codeValue) {
	braces := p.next().is("{")
	p.skipLines()
	if p.accept("|") {
		var names []string
		for !p.done() && !p.peek().is("|") && p.peek().kind != codeLine {
			if t := p.next(); t.kind == codeWord {
				names = append(names, t.text)
			}
		}
		p.next()
		for i, name := range names {
			if i == 0 {
				p.vars[name] = element
			} else {
				p.vars[name] = codeFlagged(element.all())
			}
		}
	}
	if braces {
		p.block++
		p.statements("}")
		p.block--
	}
}
