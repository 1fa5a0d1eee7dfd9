package facts

import (
	"strconv"
	"strings"
)

// A codeUse is one call that the parser met.
type codeUse struct {
	name   string
	action string // the row of the table; "" when there is none
	on     codeValue
	method bool // on is the receiver
	args   codeArgs
	offset int
	target string // the variable that the receiver is
}

// perform reports what a call does and returns what is known of its result.
func (p *codeParser) perform(u codeUse) codeValue {
	flags := u.on.all() | u.args.flags()
	if u.action == "" {
		return p.unlisted(u, flags)
	}
	result := codeFlagged(flags & (fromNetwork | fromDecoder))
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
func (p *codeParser) unlisted(u codeUse, flags codeFlags) codeValue {
	if v, ok := p.client(u); ok {
		v.flags |= flags & (fromNetwork | fromDecoder)
		return v
	}
	if !u.method {
		return codeFlagged(flags)
	}
	switch u.name {
	case "append", "push", "extend", "unshift":
		if old, ok := p.vars[u.target[:max(0, strings.LastIndexByte(u.target, '.'))]]; ok && old.kind == codeList && len(old.items) < 1000 {
			for _, v := range u.args.pos {
				old.items = append(old.items, codeFlatten(v)...)
			}
			p.vars[u.target[:strings.LastIndexByte(u.target, '.')]] = old
		}
		return codeValue{}
	case "filter", "sort", "slice", "reverse", "select", "reject", "compact", "uniq", "flatten", "to_a", "copy", "tap", "freeze", "to_s", "toString", "String", "chomp":
		return u.on
	case "length", "len", "size", "count", "keys", "key", "includes", "startsWith", "startswith", "endswith", "endsWith", "include?":
		return codeValue{}
	}
	return codeFlagged(flags)
}

// report adds the call to the report. The verb may carry +r or +option, and ?
// where methods of other things have the same name: then the first argument
// must be known.
func (p *codeParser) report(verb, selectors string, u *codeUse) {
	verb, sure := strings.CutSuffix(verb, "?")
	does, option, _ := strings.Cut(verb, "+")
	c := codeCall{name: u.name, does: does, offset: u.offset}
	switch {
	case option == "r":
		c.recursive = true
	case option != "":
		v, ok := u.args.option(option)
		c.recursive = ok && v.truth()
	}
	args := p.selected(selectors, u)
	if len(args) == 0 && selectors != "" {
		if does == "list" || does == "read" {
			return
		}
		args = []codeValue{{}}
	}
	if sure && args[0].kind != codeKnown && args[0].kind != codeChoice {
		return
	}
	p.record(c, args)
}

// record adds a call, and what the origin of its arguments makes of it.
func (p *codeParser) record(c codeCall, args []codeValue) {
	if c.does == "shell" && len(args) > 0 && args[0].kind == codeKnown && strings.TrimSpace(args[0].text) == "" {
		return // awk's system("") only flushes
	}
	var flags codeFlags
	for i, a := range args {
		flags |= a.flags
		if i == 0 && (c.does == "shell" || c.does == "argv") {
			if a.flags&fromNetwork != 0 {
				p.emit(codeCall{name: c.name, does: "eval-remote", offset: c.offset}, []codeValue{a})
			}
			if a.flags&fromDecoder != 0 {
				p.emit(codeCall{name: c.name, does: "eval-decoded", offset: c.offset}, []codeValue{a})
			}
		}
	}
	if codeOnNetwork(c.does) {
		p.leak(c, flags)
	}
	if (c.does == "shell" || c.does == "argv") && len(args) > 0 && args[0].kind != codeKnown && args[0].text != "" {
		p.shell = p.shell || bareShell(strings.Fields(args[0].text))
	}
	p.emit(c, args)
}

// leak reports that the environment or a secret from it goes to an output.
func (p *codeParser) leak(c codeCall, flags codeFlags) {
	if flags&(fromEnvironment|fromSecret) == 0 {
		return
	}
	c.does, c.recursive = "environment", false
	if flags&fromEnvironment != 0 {
		p.emit(c, nil)
		return
	}
	p.emit(c, []codeValue{{}})
}

// selected returns the arguments that selectors name, lists taken apart.
func (p *codeParser) selected(selectors string, u *codeUse) []codeValue {
	var out []codeValue
	for s := range strings.FieldsSeq(selectors) {
		switch {
		case s == "self|0" && u.on.kind != codeKnown && u.on.kind != codeChoice && len(u.args.pos) > 0:
			out = append(out, codeFlatten(u.args.pos[0])...)
		case s == "self", s == "self|0":
			out = append(out, codeFlatten(u.on)...)
		case s == "*":
			for _, v := range u.args.pos {
				out = append(out, codeFlatten(v)...)
			}
		case s[0] == '\'':
			out = append(out, codeString(strings.Trim(s, "'")))
		case strings.HasSuffix(s, ".."):
			n, _ := strconv.Atoi(s[:len(s)-2])
			for i := n; i < len(u.args.pos); i++ {
				out = append(out, codeFlatten(u.args.pos[i])...)
			}
		default:
			if v, ok := u.args.at(codeSelector(s)); ok {
				out = append(out, codeFlatten(v)...)
			}
		}
		if len(out) > maxCodeCalls {
			return out[:maxCodeCalls]
		}
	}
	return out
}

// codeSelector reads N or N/name/name.
func codeSelector(s string) (int, string, string) {
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
func (p *codeParser) arg(selector string, u *codeUse) codeValue {
	if selector == "self" {
		return u.on
	}
	v, _ := u.args.at(codeSelector(selector))
	return v
}

// callbacks reports functions that are handed to another function, as in
// map(os.remove, files).
func (p *codeParser) callbacks(u codeUse) {
	for i, f := range u.args.pos {
		if f.kind != codeName && !(p.lang.nameCalls && f.kind == codeKnown && strings.Contains(" array_map array_walk call_user_func call_user_func_array usort register_shutdown_function ", " "+u.name+" ")) {
			continue
		}
		name, action := p.resolve(f)
		if !dangerousAction(action) {
			continue
		}
		use := codeUse{name: name, action: action, offset: u.offset}
		for j, other := range u.args.pos {
			if j != i && other.kind != codeName {
				use.args.pos = append(use.args.pos, other)
			}
		}
		switch {
		case len(use.args.pos) == 1 && use.args.pos[0].kind == codeList:
			use.args.pos = []codeValue{use.args.pos[0].element()}
		case len(use.args.pos) == 0:
			use.args.pos = []codeValue{u.on.element()}
		}
		p.perform(use)
	}
}

// dangerousAction reports whether a row does what matters even when its
// arguments are not known.
func dangerousAction(action string) bool {
	for _, verb := range []string{"delete", "shell", "argv", "!eval", "!argv", "!process"} {
		if strings.HasPrefix(action, verb) {
			return true
		}
	}
	return false
}

// evaluate reports text that runs as code of the same language.
func (p *codeParser) evaluate(v codeValue, u *codeUse) {
	c := codeCall{name: u.name, offset: u.offset}
	flags := v.all()
	if flags&fromNetwork != 0 {
		c.does = "eval-remote"
		p.emit(c, []codeValue{v})
	}
	if flags&fromDecoder != 0 {
		c.does = "eval-decoded"
		p.emit(c, []codeValue{v})
	}
	switch {
	case v.kind == codeKnown:
		p.inspect(v.text, u.offset)
	case v.kind == codeChoice:
		for _, item := range v.items {
			if item.kind == codeKnown {
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
func (p *codeParser) special(name, rest string, u *codeUse) codeValue {
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
func (u *codeUse) origin() codeValue {
	return codeFlagged((u.on.all() | u.args.flags()) & (fromNetwork | fromDecoder))
}
