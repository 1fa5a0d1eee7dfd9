package facts

import (
	"strings"

	"gate/facts/bash"
	"gate/facts/wordlist"
)

// specialRun performs the calls that run something.
func (p *codeParser) specialRun(name, rest string, u *codeUse) (codeValue, bool) {
	first, second, _ := strings.Cut(rest, " ")
	c := codeCall{name: u.name, offset: u.offset}
	switch name {
	case "eval":
		p.evaluate(p.arg(first, u), u)
	case "function": // its body stands last, behind the names of its parameters
		if n := len(u.args.pos); n > 0 {
			p.evaluate(u.args.pos[n-1], u)
		}
	case "source":
		return p.source(p.arg(first, u), u), true
	case "getattr":
		return p.getattr(p.arg(first, u), p.arg(second, u), u), true
	case "process":
		p.process(p.arg(first, u), u)
	case "popen":
		if c.does = "shell"; p.arg(first, u).kind == codeList {
			c.does = "argv"
		}
		p.record(c, codeFlatten(p.arg(first, u)))
	case "spawn":
		p.spawn(p.arg(first, u), p.arg(second, u), u)
	case "system":
		p.system(u)
	case "kill":
		c.does = "kill"
		p.emit(c, []codeValue{p.arg(first, u), p.arg(second, u)})
	case "dup":
		p.dup = true
	case "pty":
		p.shell = true
		c.does = "argv"
		p.record(c, codeFlatten(p.arg(first, u)))
	case "rubyeval", "softeval":
		if code := p.arg("0", u); len(u.args.pos) > 0 && (name == "rubyeval" || code.kind == codeKnown || code.flags&(fromNetwork|fromDecoder) != 0) {
			p.evaluate(code, u)
		}
	case "phpeval":
		if code := p.arg("0", u); u.name == "eval" || code.kind == codeKnown && code.flags&isNumber == 0 && code.text != "true" && code.text != "false" {
			p.evaluate(code, u)
		}
	case "preg":
		if pattern := p.arg("0", u).text; len(pattern) > 2 && strings.Contains(pattern[strings.LastIndexByte(pattern, pattern[0]):], "e") {
			p.evaluate(p.arg("1", u), u)
		}
	case "docall":
		_, action := p.resolve(codeNamed(p.arg("0", u).text))
		use := codeUse{name: p.arg("0", u).text, action: action, offset: u.offset}
		use.args.pos = codeFlatten(p.arg("1", u))
		return p.perform(use), true
	case "denorun", "denocommand":
		p.deno(name, u)
	case "constructor":
		if code := p.arg("0", u); code.kind == codeKnown || code.flags&(fromNetwork|fromDecoder) != 0 {
			p.evaluate(code, u)
		}
	case "suspect":
		p.suspect(u.name + " " + rest)
	default:
		return codeValue{}, false
	}
	return u.origin(), true
}

// process reports Python's subprocess calls: a list of words, or a line for a
// shell.
func (p *codeParser) process(what codeValue, u *codeUse) {
	c := codeCall{name: u.name, does: "argv", offset: u.offset}
	shell, ok := u.args.option("shell")
	if program, ok := u.args.option("executable"); ok && program.kind == codeKnown && what.kind == codeList && len(what.items) > 0 {
		items := append([]codeValue(nil), what.items...)
		items[0] = program
		what.items = items
	}
	if what.kind == codeName {
		what = codeFlagged(what.flags)
	}
	if input, given := u.args.option("input"); given && input.kind == codeKnown && !(ok && shell.truth()) {
		what, shell, ok = p.fed(what, input), codeString("true"), true
	}
	switch {
	case ok && shell.truth():
		c.does = "shell"
		p.record(c, codeFlatten(what)[:min(1, len(codeFlatten(what)))])
	case what.kind == codeList:
		p.record(c, what.items)
	case what.kind == codeChoice:
		for _, one := range what.items {
			p.record(c, codeFlatten(one))
		}
	default:
		p.record(c, []codeValue{what})
	}
}

// fed is the line that runs words with a text as their input.
func (p *codeParser) fed(words, input codeValue) codeValue {
	line := codeString("")
	for _, w := range codeFlatten(words) {
		line = p.concat(line, p.concat(p.each(w, func(s string) codeValue { return codeString(bash.Quote(s)) }), codeString(" ")))
	}
	return p.concat(line, codeString("<<< "+bash.Quote(input.text)))
}

// spawn reports Node's spawn and execFile: a program, its arguments, options.
func (p *codeParser) spawn(program, args codeValue, u *codeUse) {
	words := codeFlatten(program)
	switch args.kind {
	case codeList:
		words = append(append([]codeValue(nil), words...), args.items...)
	case codeOpaque, codeName, codeChoice:
		if len(u.args.pos) > 1 && u.args.pos[1].kind != codeMap {
			words = append(append([]codeValue(nil), words...), codeValue{flags: args.flags})
		}
	}
	c := codeCall{name: u.name, does: "argv", offset: u.offset}
	if shell, ok := u.args.option("shell"); ok && shell.truth() {
		c.does = "shell"
		line := codeString("")
		for i, w := range words {
			if i > 0 {
				w = p.concat(codeString(" "), w)
			}
			line = p.concat(line, w)
		}
		words = []codeValue{line}
	}
	p.record(c, words)
}

// system reports Perl's and Ruby's system and exec: one argument is a line for
// a shell, several are words. Ruby takes the environment first and options
// last.
func (p *codeParser) system(u *codeUse) {
	var words []codeValue
	for _, v := range u.args.pos {
		if v.kind != codeMap {
			words = append(words, codeFlatten(v)...)
		}
	}
	c := codeCall{name: u.name, does: "shell", offset: u.offset}
	if len(words) > 1 || len(u.args.pos) > 0 && u.args.pos[0].kind == codeList {
		c.does = "argv"
	}
	if len(words) == 0 {
		words = []codeValue{{}}
	}
	p.record(c, words)
}

// deno reports Deno's two ways to run a command.
func (p *codeParser) deno(how string, u *codeUse) {
	c := codeCall{name: u.name, does: "argv", offset: u.offset}
	if how == "denorun" {
		words, _ := u.args.option("cmd")
		p.record(c, codeFlatten(words))
		return
	}
	args, _ := u.args.option("args")
	p.record(c, append([]codeValue{p.arg("0", u)}, args.items...))
}

// getattr picks a member by its name.
func (p *codeParser) getattr(on, name codeValue, u *codeUse) codeValue {
	switch {
	case name.kind == codeKnown && on.kind == codeName:
		return p.known(on.text + "." + name.text)
	case name.kind != codeKnown && (on.kind == codeName && wordlist.Has(p.lang.modules, on.text)):
		p.suspect(u.name + " picks a function by a computed name")
	case name.kind == codeKnown:
		if action := p.table[name.text]; action != "" && p.lang.commands {
			use := codeUse{name: name.text, action: action, offset: u.offset}
			use.args.pos = u.args.pos[min(1, len(u.args.pos)):]
			return p.perform(use)
		}
		if action := p.table["*."+name.text]; action != "" && p.lang.commands { // Ruby's send
			use := *u
			use.name, use.action = name.text, action
			use.args.pos = use.args.pos[min(1, len(use.args.pos)):]
			return p.perform(use)
		}
	}
	return codeFlagged(on.all())
}
