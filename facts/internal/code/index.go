package code

import (
	"strconv"
	"strings"

	"gate/internal/wordlist"
)

// index reads a subscript.
func (p *parser) index(v value, end string) value {
	open := p.pos
	p.next()
	target := p.target
	var key value
	if t := p.peek(); end == "}" && t.kind == wordToken && p.ahead(1).is("}") && letterByte(t.text[0]) {
		key = textValue(t.text)
		p.next()
		p.next()
	} else {
		args := p.list(end, open)
		if len(args.pos) > 0 {
			key = args.pos[0]
		}
		if p.lang.comprehensions && v.kind == knownValue && p.reversed(open) {
			return p.each(v, foldOf("reverse"))
		}
		if len(args.pos) > 1 {
			key = value{}
		}
	}
	p.target = ""
	if key.text == "constructor" && p.lang.arrows {
		p.suspect("reaches a constructor by a subscript")
	}
	switch {
	case v.kind == nameValue && (v.flags&fromEnvironment != 0 || p.isEnvironment(v.text)):
		if key.kind != knownValue {
			return flagged(fromSecret)
		}
		return p.environment(key.text)
	case v.kind == nameValue:
		return p.pick(v, key, target)
	case v.kind == mapValue && key.kind == knownValue:
		item, _ := v.get(key.text)
		return item
	case v.kind == listValue && key.kind == knownValue:
		return v.nth(key.text)
	case v.kind == choiceValue && key.kind == knownValue && len(v.items) > 0 && v.items[0].kind == listValue:
		var each []value
		for _, item := range v.items {
			each = append(each, item.nth(key.text))
		}
		return oneOf(each...)
	}
	return flagged(v.all())
}

// nth is the item of a list at a place that is written as key.
func (v value) nth(key string) value {
	if n, err := strconv.Atoi(key); err == nil && n >= 0 && n < len(v.items) {
		return v.items[n]
	}
	return flagged(v.all())
}

// pick takes a member of a name by subscript.
func (p *parser) pick(v, key value, target string) value {
	if action, ok := p.table[v.text+".[]"]; ok {
		return p.perform(use{name: v.text, action: action, args: arguments{pos: []value{key}}})
	}
	module := strings.TrimSuffix(v.text, ".__dict__")
	switch {
	case key.kind == knownValue && v.text == "sys.modules":
		return p.known(key.text)
	case key.kind == knownValue && module != v.text:
		return p.known(module + "." + key.text)
	case key.kind == knownValue && wordlist.Has(p.lang.modules, v.text):
		return p.known(v.text + "." + key.text)
	case key.kind != knownValue && (wordlist.Has(p.lang.modules, v.text) || module != v.text) && p.at("("):
		p.suspect("picks a function by a computed name")
	}
	if target != "" && key.kind == knownValue && len(target)+len(key.text) < maxName {
		if known, ok := p.vars[target+"."+key.text]; ok {
			return known
		}
	}
	return flagged(v.flags)
}

// reversed reports whether the subscript that begins at open is [::-1].
func (p *parser) reversed(open int) bool {
	return open+3 < len(p.toks) && p.toks[open+1].is("::") && p.toks[open+2].is("-") && p.toks[open+3].text == "1"
}

// indexable reports whether the token before is a variable with subscripts.
func (p *parser) indexable() bool {
	t := p.toks[min(p.pos, len(p.toks))-1]
	return t.kind == wordToken && strings.IndexByte("$@%", t.text[0]) >= 0 || t.is("->") || t.is("}") || t.is("]")
}
