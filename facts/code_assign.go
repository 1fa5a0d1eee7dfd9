package facts

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
