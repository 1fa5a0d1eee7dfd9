package code

// sequence reads an expression statement, with the assignment of several
// variables at once.
func (p *parser) sequence() {
	start := p.pos
	var targets []string
	for p.lang.tuples && p.peek().kind == wordToken && p.ahead(1).is(",") {
		targets = append(targets, p.next().text)
		p.next()
	}
	if targets != nil && p.peek().kind == wordToken && p.ahead(1).is("=") {
		targets = append(targets, p.next().text)
		p.next()
		values := []value{p.expr()}
		for p.accept(",") {
			values = append(values, p.expr())
		}
		if len(values) == 1 && values[0].kind == listValue {
			values = values[0].items
		}
		p.assignEach(targets, values)
		return
	}
	p.pos = start
	v := p.expr()
	if p.lang.as && p.atWord("as") && p.ahead(1).kind == wordToken {
		p.next()
		p.assign(p.next().text, "=", v)
	}
}

func (p *parser) assignEach(targets []string, values []value) {
	for i, name := range targets {
		var v value
		if len(targets) == len(values) {
			v = values[i]
		}
		p.assign(name, "=", v)
	}
}

// assign gives a variable its value. Where the statement may not run, or may
// run often, the old value stays possible.
func (p *parser) assign(name, op string, v value) {
	old, had := p.vars[name]
	maybe := had && (p.block > 0 || p.indent || p.branch)
	switch op {
	case "+=", ".=", "..=", "<<":
		if v = p.concat(old, v); maybe && v.kind != listValue {
			v = value{flags: v.all(), text: old.text}
		}
	case "||=", "??=", "//=":
		if had {
			v = oneOf(old, v)
		}
	default:
		if maybe && v.kind != nameValue && old.kind != nameValue && old.kind != mapValue && v.kind != mapValue {
			if v.kind == listValue || old.kind == listValue {
				v = flagged(v.all() | old.all())
			} else {
				v = oneOf(old, v)
			}
		}
	}
	p.vars[name] = v
}

// forget makes a variable unknown: a parameter, a loop variable.
func (p *parser) forget(name string) { p.vars[name] = value{} }

// targetsOf returns the names in a list that is assigned to.
func targetsOf(v value) []string {
	out := make([]string, len(v.items))
	for i, item := range v.items {
		out[i] = item.text
	}
	return out
}

func unpack(v value) []value {
	if v.kind == listValue {
		return v.items
	}
	return nil
}
