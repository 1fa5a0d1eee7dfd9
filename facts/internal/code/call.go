package code

import (
	"slices"
	"strconv"
	"strings"
)

// A use is one call that the parser met.
type use struct {
	name   string
	action string // the row of the table; "" when there is none
	on     value
	method bool // on is the receiver
	args   arguments
	offset int
	target string // the variable that the receiver is
}

// perform reports what a call does and returns what is known of its result.
func (p *parser) perform(u use) value {
	flags := u.on.all() | u.args.flags()
	if u.action == "" {
		return p.unlisted(u, flags)
	}
	result := flagged(flags & (fromNetwork | fromDecoder))
	for action := range strings.SplitSeq(u.action, ";") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(action), " ")
		switch verb[0] {
		case '=':
			result = p.pure(verb[1:], rest, &u)
		case '!':
			result = p.special(verb[1:], rest, &u)
		default:
			p.report(verb, rest, &u)
			if verb == "fetch" || verb == "connect" || verb == "send" {
				result.flags |= fromNetwork
			}
		}
	}
	return result
}

// unlisted handles a call that no row knows. A method of a list may still
// change or pass on the list.
func (p *parser) unlisted(u use, flags valueFlags) value {
	if v, ok := p.client(u); ok {
		v.flags |= flags & (fromNetwork | fromDecoder)
		return v
	}
	if !u.method {
		return flagged(flags)
	}
	switch u.name {
	case "append", "push", "extend", "unshift":
		if old, ok := p.vars[u.target[:max(0, strings.LastIndexByte(u.target, '.'))]]; ok && old.kind == listValue && len(old.items) < 1000 {
			for _, v := range u.args.pos {
				old.items = append(old.items, flatten(v)...)
			}
			p.vars[u.target[:strings.LastIndexByte(u.target, '.')]] = old
		}
		return value{}
	case "filter", "sort", "slice", "reverse", "select", "reject", "compact", "uniq", "flatten", "to_a", "copy", "tap", "freeze", "to_s", "toString", "String", "chomp":
		return u.on
	case "length", "len", "size", "count", "keys", "key", "includes", "startsWith", "startswith", "endswith", "endsWith", "include?":
		return value{}
	}
	return flagged(flags)
}

// report adds the call to the report. The verb may carry +r or +option, and ?
// where methods of other things have the same name: then the first argument
// must be known.
func (p *parser) report(verb, selectors string, u *use) {
	verb, sure := strings.CutSuffix(verb, "?")
	does, option, _ := strings.Cut(verb, "+")
	c := Call{Name: u.name, Does: does, Offset: u.offset}
	switch {
	case option == "r":
		c.Recursive = true
	case option != "":
		v, ok := u.args.option(option)
		c.Recursive = ok && v.truth()
	}
	args := p.selected(selectors, u)
	if len(args) == 0 && selectors != "" {
		if does == "list" || does == "read" {
			return
		}
		args = []value{{}}
	}
	if sure && args[0].kind != knownValue && args[0].kind != choiceValue {
		return
	}
	p.record(c, args)
}

// record adds a call, and what the origin of its arguments makes of it.
func (p *parser) record(c Call, args []value) {
	if c.Does == "shell" && len(args) > 0 && args[0].kind == knownValue && strings.TrimSpace(args[0].text) == "" {
		return // awk's system("") only flushes
	}
	var flags valueFlags
	for i, a := range args {
		flags |= a.flags
		if i == 0 && (c.Does == "shell" || c.Does == "argv") {
			if a.flags&fromNetwork != 0 {
				p.emit(Call{Name: c.Name, Does: "eval-remote", Offset: c.Offset}, []value{a})
			}
			if a.flags&fromDecoder != 0 {
				p.emit(Call{Name: c.Name, Does: "eval-decoded", Offset: c.Offset}, []value{a})
			}
		}
	}
	if onNetwork(c.Does) {
		p.leak(c, flags)
	}
	if (c.Does == "shell" || c.Does == "argv") && len(args) > 0 && args[0].kind != knownValue && args[0].text != "" {
		p.shell = p.shell || bareShell(strings.Fields(args[0].text))
	}
	p.emit(c, args)
}

// leak reports that the environment or a secret from it goes to an output.
func (p *parser) leak(c Call, flags valueFlags) {
	if flags&(fromEnvironment|fromSecret) == 0 {
		return
	}
	c.Does, c.Recursive = "environment", false
	if flags&fromEnvironment != 0 {
		p.emit(c, nil)
		return
	}
	p.emit(c, []value{{}})
}

// selected returns the arguments that selectors name, lists taken apart.
func (p *parser) selected(selectors string, u *use) []value {
	var out []value
	for s := range strings.FieldsSeq(selectors) {
		switch {
		case s == "self|0" && u.on.kind != knownValue && u.on.kind != choiceValue && len(u.args.pos) > 0:
			out = append(out, flatten(u.args.pos[0])...)
		case s == "self", s == "self|0":
			out = append(out, flatten(u.on)...)
		case s == "*":
			for _, v := range u.args.pos {
				out = append(out, flatten(v)...)
			}
		case s[0] == '\'':
			out = append(out, textValue(strings.Trim(s, "'")))
		case strings.HasSuffix(s, ".."):
			n, _ := strconv.Atoi(s[:len(s)-2])
			for i := n; i < len(u.args.pos); i++ {
				out = append(out, flatten(u.args.pos[i])...)
			}
		default:
			if v, ok := u.args.at(cutSelector(s)); ok {
				out = append(out, flatten(v)...)
			}
		}
		if len(out) > maxCalls {
			return out[:maxCalls]
		}
	}
	return out
}

// cutSelector reads N or N/name/name.
func cutSelector(s string) (int, string, string) {
	place, names, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(place)
	if err != nil {
		n = -1
	}
	first, second, _ := strings.Cut(names, "/")
	return n, first, second
}

// arg returns the argument that one selector names; the zero value when it is
// missing.
func (p *parser) arg(selector string, u *use) value {
	if selector == "self" {
		return u.on
	}
	v, _ := u.args.at(cutSelector(selector))
	return v
}

// callbacks reports functions that are handed to another function, as in
// map(os.remove, files).
func (p *parser) callbacks(u use) {
	for i, f := range u.args.pos {
		if f.kind != nameValue && !(p.lang.nameCalls && f.kind == knownValue && strings.Contains(" array_map array_walk call_user_func call_user_func_array usort register_shutdown_function ", " "+u.name+" ")) {
			continue
		}
		name, action := p.resolve(f)
		if !dangerousAction(action) {
			continue
		}
		use := use{name: name, action: action, offset: u.offset}
		for j, other := range u.args.pos {
			if j != i && other.kind != nameValue {
				use.args.pos = append(use.args.pos, other)
			}
		}
		switch {
		case len(use.args.pos) == 1 && use.args.pos[0].kind == listValue:
			use.args.pos = []value{use.args.pos[0].element()}
		case len(use.args.pos) == 0:
			use.args.pos = []value{u.on.element()}
		}
		p.perform(use)
	}
}

// dangerousAction reports whether a row does what matters even when its
// arguments are not known.
func dangerousAction(action string) bool {
	return slices.ContainsFunc([]string{"delete", "shell", "argv", "!eval", "!argv", "!process"}, func(verb string) bool {
		return strings.HasPrefix(action, verb)
	})
}

// evaluate reports text that runs as code of the same language.
func (p *parser) evaluate(v value, u *use) {
	c := Call{Name: u.name, Offset: u.offset}
	flags := v.all()
	if flags&fromNetwork != 0 {
		c.Does = "eval-remote"
		p.emit(c, []value{v})
	}
	if flags&fromDecoder != 0 {
		c.Does = "eval-decoded"
		p.emit(c, []value{v})
	}
	switch {
	case v.kind == knownValue:
		p.inspect(v.text, u.offset)
	case v.kind == choiceValue:
		for _, item := range v.items {
			if item.kind == knownValue {
				p.inspect(item.text, u.offset)
			} else {
				p.suspect(u.name + " runs text that is not known")
			}
		}
	default:
		p.suspect(u.name + " runs text that is not known")
	}
}

// special performs the rows that begin with "!": calls whose meaning depends
// on their arguments.
func (p *parser) special(name, rest string, u *use) value {
	if v, ok := p.specialRun(name, rest, u); ok {
		return v
	}
	if v, ok := p.specialFile(name, rest, u); ok {
		return v
	}
	if v, ok := p.specialNet(name, rest, u); ok {
		return v
	}
	v, _ := p.specialText(name, rest, u)
	return v
}

// origin says what the result of a call has from its arguments.
func (u *use) origin() value {
	return flagged((u.on.all() | u.args.flags()) & (fromNetwork | fromDecoder))
}
