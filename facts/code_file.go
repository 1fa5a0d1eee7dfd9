package facts

import (
	"strings"

	"gate/facts/sql"
)

// specialFile performs the calls that touch files, databases and the output.
func (p *codeParser) specialFile(name, rest string, u *codeUse) (codeValue, bool) {
	first, second, _ := strings.Cut(rest, " ")
	c := codeCall{name: u.name, offset: u.offset}
	switch name {
	case "open":
		return p.open(p.arg(first, u), p.arg(second, u), u), true
	case "perlopen":
		return p.perlOpen(u), true
	case "print":
		p.leak(c, u.args.flags()|u.on.all())
	case "chmod":
		p.chmod(p.selected(first, u), p.arg(second, u), u)
	case "sql":
		c.does = "sql"
		for _, v := range append([]codeValue{p.arg(first, u)}, p.arg(first, u).items...) {
			switch {
			case v.kind == codeKnown && changesData(v.text):
				p.emit(c, []codeValue{v})
			case v.kind == codeOpaque && dropsData(v.text): // what it drops is not known
				p.emit(c, []codeValue{codeString(v.text)})
			}
		}
	case "statement": // a method that is one
		c.does = "sql"
		p.emit(c, []codeValue{codeString(rest)})
	case "unlimited": // by a filter without conditions, or by an option
		v, ok := u.args.option(first)
		if first == "0" {
			v, ok = u.args.at(0)
			ok = !ok || v.kind == codeMap && len(v.keys) == 0
		} else {
			ok = ok && v.truth()
		}
		if c.does = "sql"; ok {
			p.emit(c, []codeValue{codeString("truncate")})
		}
	case "openself":
		if u.on.kind == codeKnown || u.on.kind == codeChoice {
			return p.open(u.on, p.arg("0/mode", u), u), true
		}
		if path := p.arg("0", u); path.kind == codeKnown && !strings.Contains(path.text, "://") {
			return p.open(path, p.arg("1/mode", u), u), true
		}
	case "rubyopen":
		if path := p.arg("0", u); strings.HasPrefix(path.text, "|") || strings.Contains(path.text, "://") {
			return p.request("readurl", "0", "", u), true
		}
		return p.open(p.arg("0", u), p.arg("1", u), u), true
	case "deleteself":
		if u.on.kind == codeKnown && len(u.args.pos) == 0 {
			c.does = "delete"
			p.emit(c, []codeValue{u.on})
		}
	default:
		return codeValue{}, false
	}
	return u.origin(), true
}

// open reports a file that is opened, by its mode.
func (p *codeParser) open(path, mode codeValue, u *codeUse) codeValue {
	c := codeCall{name: u.name, does: "read", offset: u.offset}
	if path.flags&isNumber != 0 {
		return codeValue{} // a descriptor
	}
	if mode.kind == codeChoice {
		for _, m := range mode.items {
			p.open(path, codeValue{kind: codeKnown, text: m.text}, u)
		}
		return codeValue{}
	}
	switch {
	case mode.kind != codeKnown:
	case strings.ContainsAny(mode.text, "wx") || strings.Contains(mode.text, "+") && !strings.HasPrefix(mode.text, "a"):
		c.does = "write"
	case strings.HasPrefix(mode.text, "a"):
		c.does = "append"
	}
	p.record(c, []codeValue{path})
	return codeValue{}
}

// perlOpen reports Perl's open with two or three arguments, and that of Ruby
// and PHP with a pipe in the name.
func (p *codeParser) perlOpen(u *codeUse) codeValue {
	args := u.args.pos
	if len(args) < 2 {
		return codeValue{}
	}
	c := codeCall{name: u.name, offset: u.offset}
	mode := strings.TrimSpace(args[1].text)
	symbols := strings.TrimLeft(mode, "+<>|&=")
	sign := mode[:len(mode)-len(symbols)]
	target := args[1]
	target.text = strings.TrimSpace(symbols)
	if len(args) > 2 {
		sign, target = mode, args[2]
	}
	switch {
	case strings.HasPrefix(sign, "|") || strings.HasPrefix(mode, "-|") || strings.HasSuffix(mode, "|"):
		target.text = strings.TrimSpace(strings.TrimSuffix(target.text, "|"))
		c.does = "shell"
		words := args[min(2, len(args)-1):]
		if len(args) > 3 {
			c.does = "argv"
			p.record(c, words)
			return codeValue{}
		}
	case strings.Contains(sign, ">&") || strings.Contains(sign, "<&"):
		p.dup = true
		return codeValue{}
	case strings.HasPrefix(sign, ">>"):
		c.does = "append"
	case strings.Contains(sign, ">") || strings.HasPrefix(sign, "+"):
		c.does = "write"
	default:
		c.does = "read"
	}
	p.record(c, []codeValue{target})
	return codeValue{}
}

// source reports code that is run from a file or a URL.
func (p *codeParser) source(from codeValue, u *codeUse) codeValue {
	c := codeCall{name: u.name, does: "read", offset: u.offset}
	switch {
	case strings.Contains(from.text, "://") && !strings.HasPrefix(from.text, "file://"), from.flags&fromNetwork != 0:
		c.does = "eval-remote"
	case from.kind != codeKnown:
		return codeValue{}
	}
	p.emit(c, []codeValue{from})
	return codeValue{}
}

func (p *codeParser) chmod(paths []codeValue, mode codeValue, u *codeUse) {
	if len(paths) == 0 {
		paths = []codeValue{{}}
	}
	c := codeCall{name: u.name, does: "permissions", offset: u.offset}
	c.recursive = strings.HasSuffix(u.name, "_R")
	for _, path := range paths {
		p.emit(c, []codeValue{path, codeMode(mode)})
	}
}

// dropsData reports the beginning of a statement that nothing behind it limits.
func dropsData(text string) bool {
	words := strings.Fields(strings.ToLower(text[:min(len(text), 64)]))
	return len(words) > 0 && (words[0] == "drop" || words[0] == "truncate")
}

// changesData reports whether statements for a database change anything.
func changesData(text string) bool {
	if len(text) > maxCodeFold {
		return true
	}
	for _, s := range sql.Inspect(text) {
		if s.Access != "read" {
			return true
		}
	}
	return false
}
