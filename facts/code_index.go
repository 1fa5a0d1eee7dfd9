package facts

import (
	"strconv"
	"strings"

	"gate/facts/wordlist"
)

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
	case v.kind == codeList && key.kind == codeKnown:
		return v.nth(key.text)
	case v.kind == codeChoice && key.kind == codeKnown && len(v.items) > 0 && v.items[0].kind == codeList:
		var each []codeValue
		for _, item := range v.items {
			each = append(each, item.nth(key.text))
		}
		return codeOneOf(each...)
	}
	return codeFlagged(v.all())
}

// nth is the item of a list at a place that is written as key.
func (v codeValue) nth(key string) codeValue {
	if n, err := strconv.Atoi(key); err == nil && n >= 0 && n < len(v.items) {
		return v.items[n]
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
	case key.kind == codeKnown && wordlist.Has(p.lang.modules, v.text):
		return p.known(v.text + "." + key.text)
	case key.kind != codeKnown && (wordlist.Has(p.lang.modules, v.text) || module != v.text) && p.peek().is("("):
		p.suspect("picks a function by a computed name")
	}
	if target != "" && key.kind == codeKnown && len(target)+len(key.text) < maxCodeName {
		if known, ok := p.vars[target+"."+key.text]; ok {
			return known
		}
	}
	return codeFlagged(v.flags)
}

// reversed reports whether the subscript that begins at open is [::-1].
func (p *codeParser) reversed(open int) bool {
	return open+3 < len(p.toks) && p.toks[open+1].is("::") && p.toks[open+2].is("-") && p.toks[open+3].text == "1"
}

// indexable reports whether the token before is a variable with subscripts.
func (p *codeParser) indexable() bool {
	t := p.toks[min(p.pos, len(p.toks))-1]
	return t.kind == codeWord && strings.IndexByte("$@%", t.text[0]) >= 0 || t.is("->") || t.is("}") || t.is("]")
}
