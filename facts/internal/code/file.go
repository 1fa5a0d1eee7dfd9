package code

import (
	"slices"
	"strings"

	"gate/facts/internal/sql"
)

// specialFile performs the calls that touch files, databases and the output.
func (p *parser) specialFile(name, rest string, u *use) (value, bool) {
	first, second, _ := strings.Cut(rest, " ")
	c := Call{Name: u.name, Offset: u.offset}
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
		c.Does = "sql"
		for _, v := range append([]value{p.arg(first, u)}, p.arg(first, u).items...) {
			switch {
			case v.kind == knownValue && changesData(v.text):
				p.emit(c, []value{v})
			case v.kind == opaqueValue && dropsData(v.text): // what it drops is not known
				p.emit(c, []value{textValue(v.text)})
			}
		}
	case "statement": // a method that is one
		c.Does = "sql"
		p.emit(c, []value{textValue(rest)})
	case "unlimited": // by a filter without conditions, or by an option
		v, ok := u.args.option(first)
		if first == "0" {
			v, ok = u.args.at(0)
			ok = !ok || v.kind == mapValue && len(v.keys) == 0
		} else {
			ok = ok && v.truth()
		}
		if c.Does = "sql"; ok {
			p.emit(c, []value{textValue("truncate")})
		}
	case "openself":
		if u.on.kind == knownValue || u.on.kind == choiceValue {
			return p.open(u.on, p.arg("0/mode", u), u), true
		}
		if path := p.arg("0", u); path.kind == knownValue && !strings.Contains(path.text, "://") {
			return p.open(path, p.arg("1/mode", u), u), true
		}
	case "rubyopen":
		if path := p.arg("0", u); strings.HasPrefix(path.text, "|") || strings.Contains(path.text, "://") {
			return p.request("readurl", "0", "", u), true
		}
		return p.open(p.arg("0", u), p.arg("1", u), u), true
	case "deleteself":
		if u.on.kind == knownValue && len(u.args.pos) == 0 {
			c.Does = "delete"
			p.emit(c, []value{u.on})
		}
	default:
		return value{}, false
	}
	return u.origin(), true
}

// open reports a file that is opened, by its mode.
func (p *parser) open(path, mode value, u *use) value {
	c := Call{Name: u.name, Does: "read", Offset: u.offset}
	if path.flags&isNumber != 0 {
		return value{} // a descriptor
	}
	if mode.kind == choiceValue {
		for _, m := range mode.items {
			p.open(path, value{kind: knownValue, text: m.text}, u)
		}
		return value{}
	}
	switch {
	case mode.kind != knownValue:
	case strings.ContainsAny(mode.text, "wx") || strings.Contains(mode.text, "+") && !strings.HasPrefix(mode.text, "a"):
		c.Does = "write"
	case strings.HasPrefix(mode.text, "a"):
		c.Does = "append"
	}
	p.record(c, []value{path})
	return value{}
}

// perlOpen reports Perl's open with two or three arguments, and that of Ruby
// and PHP with a pipe in the name.
func (p *parser) perlOpen(u *use) value {
	args := u.args.pos
	if len(args) < 2 {
		return value{}
	}
	c := Call{Name: u.name, Offset: u.offset}
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
		c.Does = "shell"
		words := args[min(2, len(args)-1):]
		if len(args) > 3 {
			c.Does = "argv"
			p.record(c, words)
			return value{}
		}
	case strings.Contains(sign, ">&") || strings.Contains(sign, "<&"):
		p.dup = true
		return value{}
	case strings.HasPrefix(sign, ">>"):
		c.Does = "append"
	case strings.Contains(sign, ">") || strings.HasPrefix(sign, "+"):
		c.Does = "write"
	default:
		c.Does = "read"
	}
	p.record(c, []value{target})
	return value{}
}

// source reports code that is run from a file or a URL.
func (p *parser) source(from value, u *use) value {
	c := Call{Name: u.name, Does: "read", Offset: u.offset}
	switch {
	case strings.Contains(from.text, "://") && !strings.HasPrefix(from.text, "file://"), from.flags&fromNetwork != 0:
		c.Does = "eval-remote"
	case from.kind != knownValue:
		return value{}
	}
	p.emit(c, []value{from})
	return value{}
}

func (p *parser) chmod(paths []value, mode value, u *use) {
	if len(paths) == 0 {
		paths = []value{{}}
	}
	c := Call{Name: u.name, Does: "permissions", Offset: u.offset}
	c.Recursive = strings.HasSuffix(u.name, "_R")
	for _, path := range paths {
		p.emit(c, []value{path, modeValue(mode)})
	}
}

// dropsData reports the beginning of a statement that nothing behind it limits.
func dropsData(text string) bool {
	words := strings.Fields(strings.ToLower(text[:min(len(text), 64)]))
	return len(words) > 0 && (words[0] == "drop" || words[0] == "truncate")
}

// changesData reports whether statements for a database change anything.
func changesData(text string) bool {
	if len(text) > maxFold {
		return true
	}
	return slices.ContainsFunc(sql.Inspect(text), func(s sql.Statement) bool { return s.Access != "read" })
}
