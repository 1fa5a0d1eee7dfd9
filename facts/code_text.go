package facts

import (
	"strconv"
	"strings"
)

// specialText performs the calls that make texts.
func (p *codeParser) specialText(name, _ string, u *codeUse) (codeValue, bool) {
	switch name {
	case "join":
		return p.joinTexts(u.on, p.arg("0", u)), true
	case "format":
		return p.formatted(u), true
	case "replace":
		return p.replaced(u), true
	case "joinlist":
		return p.joinTexts(p.arg("0", u), codeValue{kind: codeList, items: p.selected("1..", u)}), true
	case "luaconcat":
		sep := codeString("")
		if v, ok := u.args.at(1); ok {
			sep = v
		}
		return p.joinTexts(sep, p.arg("0", u)), true
	case "rubyjoin":
		if u.on.kind != codeList {
			return p.joined("join", append([]codeValue{u.on}, p.selected("*", u)...)), true
		}
		return p.joinTexts(codeString(p.arg("0", u).text), u.on), true
	case "paste":
		sep := codeString(" ")
		if v, ok := u.args.option("sep"); ok {
			sep = v
		}
		return p.joinTexts(sep, codeValue{kind: codeList, items: p.selected("*", u)}), true
	case "pack":
		return p.packed(p.arg("0", u), p.arg("1", u)), true
	case "rubypack":
		if u.on.kind == codeList && len(u.on.items) == 1 {
			return p.packed(p.arg("0", u), u.on.items[0]), true
		}
		return p.characters(&codeUse{args: codeArgs{pos: u.on.items}}), true
	case "unpack":
		if strings.HasPrefix(p.arg("0", u).text, "m") {
			return codeValue{kind: codeList, items: []codeValue{p.decoded(u.on, "base64")}}, true
		}
		return codeFlagged(fromDecoder), true
	case "buffer":
		return p.buffer(u), true
	case "bytes":
		if v := p.arg("0", u); v.kind != codeList {
			return v, true
		}
		return p.characters(u), true
	case "chars":
		return p.characters(u), true
	case "jsjoin":
		sep := p.arg("0", u)
		if len(u.args.pos) == 0 {
			sep = codeString(",")
		}
		return p.joinTexts(sep, u.on), true
	case "jsreverse":
		return codeReversed(u.on), true
	case "jssplit":
		return p.split(u.on, p.arg("0", u)), true
	}
	return codeValue{}, false
}

// joinTexts folds sep.join(list).
func (p *codeParser) joinTexts(sep, list codeValue) codeValue {
	switch {
	case list.kind == codeKnown && sep.kind == codeKnown && sep.text == "":
		return list
	case list.kind != codeList || sep.kind != codeKnown:
		return codeFlagged(list.all())
	}
	out := codeString("")
	for i, v := range list.items {
		if i > 0 {
			out = p.concat(out, sep)
		}
		v.flags &^= isNumber
		out = p.concat(out, v)
	}
	return out
}

// formatted folds "{} {name}".format(…).
func (p *codeParser) formatted(u *codeUse) codeValue {
	if u.on.kind != codeKnown || !p.spend(len(u.on.text)) {
		return codeFlagged(u.on.all() | u.args.flags())
	}
	out, rest, n := codeString(""), u.on.text, 0
	for {
		lit, after, ok := strings.Cut(rest, "{")
		out = p.concat(out, codeString(strings.ReplaceAll(lit, "}}", "}")))
		if !ok {
			return out
		}
		field, tail, ok := strings.Cut(after, "}")
		if !ok {
			return codeValue{}
		}
		rest = tail
		switch {
		case strings.HasPrefix(field, "{"):
			out = p.concat(out, codeString("{"))
			rest = after[1:]
		case field == "" && n < len(u.args.pos):
			out = p.concat(out, u.args.pos[n])
			n++
		case len(field) == 1 && digitByte(field[0]) && int(field[0]-'0') < len(u.args.pos):
			out = p.concat(out, u.args.pos[field[0]-'0'])
		default:
			v, _ := u.args.option(field)
			out = p.concat(out, v)
		}
	}
}

// replaced folds text.replace(a, b). With one argument it is a path that moves.
func (p *codeParser) replaced(u *codeUse) codeValue {
	if len(u.args.pos) == 1 && u.on.kind == codeKnown {
		c := codeCall{name: u.name, does: "delete", offset: u.offset}
		p.emit(c, []codeValue{u.on})
		c.does = "write"
		p.emit(c, u.args.pos)
		return codeValue{}
	}
	old, with := p.arg("0", u), p.arg("1", u)
	if old.kind != codeKnown || old.text == "" || with.kind != codeKnown || len(with.text) > 64 {
		return codeFlagged(u.on.all())
	}
	return p.each(u.on, func(s string) codeValue {
		if len(s) > maxCodeFold {
			return codeValue{}
		}
		return codeString(strings.ReplaceAll(s, old.text, with.text))
	})
}

// packed folds pack("H*", text) and the like.
func (p *codeParser) packed(format, v codeValue) codeValue {
	switch {
	case strings.HasPrefix(format.text, "H"):
		return p.decoded(v, "hex")
	case strings.HasPrefix(format.text, "a") || strings.HasPrefix(format.text, "A"):
		return v
	}
	return codeFlagged(fromDecoder)
}

// buffer folds Buffer.from(text, encoding) and Buffer.from([bytes]).
func (p *codeParser) buffer(u *codeUse) codeValue {
	v, encoding := p.arg("0", u), p.arg("1", u)
	switch {
	case v.kind == codeList:
		return p.characters(&codeUse{args: codeArgs{pos: v.items}})
	case encoding.text == "base64" || encoding.text == "base64url":
		return p.decoded(v, "base64")
	case encoding.text == "hex":
		return p.decoded(v, "hex")
	}
	return v
}

// decoded folds a decoder; what it cannot fold keeps the mark.
func (p *codeParser) decoded(v codeValue, how string) codeValue {
	v = p.each(v, codeFold(how))
	v.flags |= fromDecoder
	return v
}

// characters folds a text that is given by its code points.
func (p *codeParser) characters(u *codeUse) codeValue {
	out := codeValue{kind: codeKnown, flags: fromDecoder}
	items := p.selected("*", u)
	if !p.spend(len(items)) {
		return codeFlagged(fromDecoder)
	}
	var b strings.Builder
	for _, v := range items {
		n, err := strconv.ParseInt(v.text, 0, 32)
		if v.kind != codeKnown || err != nil || n < 0 {
			return codeFlagged(fromDecoder)
		}
		b.WriteRune(rune(n))
	}
	out.text = b.String()
	return out
}

// codeReversed is a list in the other order.
func codeReversed(v codeValue) codeValue {
	items := make([]codeValue, len(v.items))
	for i, item := range v.items {
		items[len(items)-1-i] = item
	}
	if v.kind == codeList {
		v.items = items
	}
	return v
}

// split folds text.split(sep).
func (p *codeParser) split(v, sep codeValue) codeValue {
	if v.kind != codeKnown || sep.kind != codeKnown || !p.spend(len(v.text)) {
		return codeFlagged(v.all())
	}
	out := codeValue{kind: codeList, flags: v.flags &^ isNumber}
	for _, s := range strings.SplitN(v.text, sep.text, maxCodeCalls) {
		out.items = append(out.items, codeString(s))
	}
	return out
}

// format folds printf-like formatting of texts.
func (p *codeParser) format(f codeValue, args []codeValue) codeValue {
	out, n := codeString(""), 0
	if f.kind != codeKnown || !p.spend(len(f.text)) {
		return codeFlagged(f.all())
	}
	rest := f.text
	for {
		lit, after, ok := strings.Cut(rest, "%")
		out = p.concat(out, codeString(lit))
		if !ok {
			return out
		}
		i := 0
		for i < len(after) && strings.IndexByte("0123456789.-+ #l", after[i]) >= 0 {
			i++
		}
		switch {
		case i < len(after) && after[i] == '%':
			out = p.concat(out, codeString("%"))
		case i < len(after) && (after[i] == 's' || after[i] == 'd') && i == 0 && n < len(args):
			out = p.concat(out, args[n])
			n++
		default:
			out = p.concat(out, codeValue{})
			n++
		}
		rest = after[min(i+1, len(after)):]
	}
}

// codeFlatten returns the items of a list, or the value itself.
func codeFlatten(v codeValue) []codeValue {
	if v.kind == codeList {
		return v.items
	}
	return []codeValue{v}
}

func codeReverse(s string) codeValue {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return codeString(string(r))
}
