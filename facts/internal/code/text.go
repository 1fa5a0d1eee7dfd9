package code

import (
	"slices"
	"strconv"
	"strings"
)

// specialText performs the calls that make texts.
func (p *parser) specialText(name, _ string, u *use) (value, bool) {
	switch name {
	case "join":
		return p.joinTexts(u.on, p.arg("0", u)), true
	case "format":
		return p.formatted(u), true
	case "replace":
		return p.replaced(u), true
	case "joinlist":
		return p.joinTexts(p.arg("0", u), value{kind: listValue, items: p.selected("1..", u)}), true
	case "luaconcat":
		sep := textValue("")
		if v, ok := u.args.at(1); ok {
			sep = v
		}
		return p.joinTexts(sep, p.arg("0", u)), true
	case "rubyjoin":
		if u.on.kind != listValue {
			return p.joined("join", append([]value{u.on}, p.selected("*", u)...)), true
		}
		return p.joinTexts(textValue(p.arg("0", u).text), u.on), true
	case "paste":
		sep := textValue(" ")
		if v, ok := u.args.option("sep"); ok {
			sep = v
		}
		return p.joinTexts(sep, value{kind: listValue, items: p.selected("*", u)}), true
	case "pack":
		return p.packed(p.arg("0", u), p.arg("1", u)), true
	case "rubypack":
		if u.on.kind == listValue && len(u.on.items) == 1 {
			return p.packed(p.arg("0", u), u.on.items[0]), true
		}
		return p.characters(&use{args: arguments{pos: u.on.items}}), true
	case "unpack":
		if strings.HasPrefix(p.arg("0", u).text, "m") {
			return value{kind: listValue, items: []value{p.decoded(u.on, "base64")}}, true
		}
		return flagged(fromDecoder), true
	case "buffer":
		return p.buffer(u), true
	case "bytes":
		if v := p.arg("0", u); v.kind != listValue {
			return v, true
		}
		return p.characters(u), true
	case "chars":
		return p.characters(u), true
	case "jsjoin":
		sep := p.arg("0", u)
		if len(u.args.pos) == 0 {
			sep = textValue(",")
		}
		return p.joinTexts(sep, u.on), true
	case "jsreverse":
		return reversedValue(u.on), true
	case "jssplit":
		return p.split(u.on, p.arg("0", u)), true
	}
	return value{}, false
}

// joinTexts folds sep.join(list).
func (p *parser) joinTexts(sep, list value) value {
	switch {
	case list.kind == knownValue && sep.kind == knownValue && sep.text == "":
		return list
	case list.kind != listValue || sep.kind != knownValue:
		return flagged(list.all())
	}
	out := textValue("")
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
func (p *parser) formatted(u *use) value {
	if u.on.kind != knownValue || !p.spend(len(u.on.text)) {
		return flagged(u.on.all() | u.args.flags())
	}
	out, rest, n := textValue(""), u.on.text, 0
	for {
		lit, after, ok := strings.Cut(rest, "{")
		out = p.concat(out, textValue(strings.ReplaceAll(lit, "}}", "}")))
		if !ok {
			return out
		}
		field, tail, ok := strings.Cut(after, "}")
		if !ok {
			return value{}
		}
		rest = tail
		switch {
		case strings.HasPrefix(field, "{"):
			out = p.concat(out, textValue("{"))
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
func (p *parser) replaced(u *use) value {
	if len(u.args.pos) == 1 && u.on.kind == knownValue {
		c := Call{Name: u.name, Does: "delete", Offset: u.offset}
		p.emit(c, []value{u.on})
		c.Does = "write"
		p.emit(c, u.args.pos)
		return value{}
	}
	old, with := p.arg("0", u), p.arg("1", u)
	if old.kind != knownValue || old.text == "" || with.kind != knownValue || len(with.text) > 64 {
		return flagged(u.on.all())
	}
	return p.each(u.on, func(s string) value {
		if len(s) > maxFold {
			return value{}
		}
		return textValue(strings.ReplaceAll(s, old.text, with.text))
	})
}

// packed folds pack("H*", text) and the like.
func (p *parser) packed(format, v value) value {
	switch {
	case strings.HasPrefix(format.text, "H"):
		return p.decoded(v, "hex")
	case strings.HasPrefix(format.text, "a") || strings.HasPrefix(format.text, "A"):
		return v
	}
	return flagged(fromDecoder)
}

// buffer folds Buffer.from(text, encoding) and Buffer.from([bytes]).
func (p *parser) buffer(u *use) value {
	v, encoding := p.arg("0", u), p.arg("1", u)
	switch {
	case v.kind == listValue:
		return p.characters(&use{args: arguments{pos: v.items}})
	case encoding.text == "base64" || encoding.text == "base64url":
		return p.decoded(v, "base64")
	case encoding.text == "hex":
		return p.decoded(v, "hex")
	}
	return v
}

// decoded folds a decoder; what it cannot fold keeps the mark.
func (p *parser) decoded(v value, how string) value {
	v = p.each(v, foldOf(how))
	v.flags |= fromDecoder
	return v
}

// characters folds a text that is given by its code points.
func (p *parser) characters(u *use) value {
	out := value{kind: knownValue, flags: fromDecoder}
	items := p.selected("*", u)
	if !p.spend(len(items)) {
		return flagged(fromDecoder)
	}
	var b strings.Builder
	for _, v := range items {
		n, err := strconv.ParseInt(v.text, 0, 32)
		if v.kind != knownValue || err != nil || n < 0 {
			return flagged(fromDecoder)
		}
		b.WriteRune(rune(n))
	}
	out.text = b.String()
	return out
}

// reversedValue is a list in the other order.
func reversedValue(v value) value {
	if v.kind == listValue {
		v.items = slices.Clone(v.items)
		slices.Reverse(v.items)
	}
	return v
}

// split folds text.split(sep).
func (p *parser) split(v, sep value) value {
	if v.kind != knownValue || sep.kind != knownValue || !p.spend(len(v.text)) {
		return flagged(v.all())
	}
	out := value{kind: listValue, flags: v.flags &^ isNumber}
	for _, s := range strings.SplitN(v.text, sep.text, maxCalls) {
		out.items = append(out.items, textValue(s))
	}
	return out
}

// format folds printf-like formatting of texts.
func (p *parser) format(f value, args []value) value {
	out, n := textValue(""), 0
	if f.kind != knownValue || !p.spend(len(f.text)) {
		return flagged(f.all())
	}
	rest := f.text
	for {
		lit, after, ok := strings.Cut(rest, "%")
		out = p.concat(out, textValue(lit))
		if !ok {
			return out
		}
		i := 0
		for i < len(after) && strings.IndexByte("0123456789.-+ #l", after[i]) >= 0 {
			i++
		}
		switch {
		case i < len(after) && after[i] == '%':
			out = p.concat(out, textValue("%"))
		case i < len(after) && (after[i] == 's' || after[i] == 'd') && i == 0 && n < len(args):
			out = p.concat(out, args[n])
			n++
		default:
			out = p.concat(out, value{})
			n++
		}
		rest = after[min(i+1, len(after)):]
	}
}

// flatten returns the items of a list, or the value itself.
func flatten(v value) []value {
	if v.kind == listValue {
		return v.items
	}
	return []value{v}
}

func reverseText(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}
