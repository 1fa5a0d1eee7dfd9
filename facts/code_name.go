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
	return p.known(t.text)
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

// indexable reports whether the token before is a variable with subscripts.
func (p *codeParser) indexable() bool {
	t := p.toks[min(p.pos, len(p.toks))-1]
	return t.kind == codeWord && strings.IndexByte("$@%", t.text[0]) >= 0 || t.is("->") || t.is("}") || t.is("]")
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
	p.element = use.on.element()
	if strings.HasPrefix(use.action, "fetch") || strings.HasPrefix(use.action, "!fetch") || strings.HasPrefix(use.action, "connect") {
		p.element.flags |= fromNetwork
	}
	use.args = read()
	p.element = outer
	p.target = ""
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

// index reads a subscript.
func (p *codeParser) index(v codeValue, end string) codeValue {
	open := p.pos
	p.next()
	target := p.target
	var key codeValue
	if t := p.peek(); end == "}" && t.kind == codeWord && p.ahead(1).is("}") && letterByte(t.text[0]) {
		key = codeString(t.text)
		p.next()
		p.next()
	} else {
		args := p.list(end, open)
		if len(args.pos) > 0 {
			key = args.pos[0]
		}
		if p.lang.comprehensions && v.kind == codeKnown && p.reversed(open) {
			return p.each(v, codeReverse)
		}
		if len(args.pos) > 1 {
			key = codeValue{}
		}
	}
	p.target = ""
	if key.text == "constructor" && p.lang.arrows {
		p.suspect("reaches a constructor by a subscript")
	}
	switch {
	case v.kind == codeName && (v.flags&fromEnvironment != 0 || p.isEnvironment(v.text)):
		if key.kind != codeKnown {
			return codeFlagged(fromSecret)
		}
		return p.environment(key.text)
	case v.kind == codeName:
		return p.pick(v, key, target)
	case v.kind == codeMap && key.kind == codeKnown:
		item, _ := v.get(key.text)
		return item
	case v.kind == codeList && key.kind == codeKnown && len(key.text) < 4:
		n := 0
		for _, c := range key.text {
			n = n*10 + int(c-'0')
		}
		if n >= 0 && n < len(v.items) {
			return v.items[n]
		}
	}
	return codeFlagged(v.all())
}

// pick takes a member of a name by subscript.
func (p *codeParser) pick(v, key codeValue, target string) codeValue {
	if action, ok := p.table[v.text+".[]"]; ok {
		return p.perform(codeUse{name: v.text, action: action, args: codeArgs{pos: []codeValue{key}}})
	}
	module := strings.TrimSuffix(v.text, ".__dict__")
	switch {
	case key.kind == codeKnown && v.text == "sys.modules":
		return p.known(key.text)
	case key.kind == codeKnown && module != v.text:
		return p.known(module + "." + key.text)
	case key.kind == codeKnown && hasWord(p.lang.modules, v.text):
		return p.known(v.text + "." + key.text)
	case key.kind != codeKnown && (hasWord(p.lang.modules, v.text) || module != v.text) && p.peek().is("("):
		p.suspect("picks a function by a computed name")
	}
	if target != "" && key.kind == codeKnown && len(target)+len(key.text) < maxCodeName {
		if known, ok := p.vars[target+"."+key.text]; ok {
			return known
		}
	}
	return codeFlagged(v.flags)
}

func (p *codeParser) isEnvironment(name string) bool {
	name = strings.TrimLeft(name, "$%@")
	for _, env := range p.lang.env {
		if name == strings.TrimLeft(env, "$%@") {
			return true
		}
	}
	return false
}

// reversed reports whether the subscript that begins at open is [::-1].
func (p *codeParser) reversed(open int) bool {
	return open+3 < len(p.toks) && p.toks[open+1].is("::") && p.toks[open+2].is("-") && p.toks[open+3].text == "1"
}

func codeReverse(s string) codeValue {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return codeString(string(r))
}

// environment is the value of a variable of the environment.
func (p *codeParser) environment(name string) codeValue {
	switch strings.ToUpper(name) {
	case "HOME", "USERPROFILE":
		return codeString("~")
	case "TMPDIR", "TEMP", "TMP":
		return codeString("/tmp")
	case "PWD":
		return codeString(".")
	}
	if secretName(name) {
		return codeFlagged(fromSecret)
	}
	return codeValue{}
}

// secretName reports whether the name of a variable promises a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, s := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "_KEY", "DATABASE_URL"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
