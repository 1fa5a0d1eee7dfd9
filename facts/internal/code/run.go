package code

import (
	"strings"

	"gate/facts/internal/bash"
	"gate/internal/wordlist"
)

// specialRun performs the calls that run something.
func (p *parser) specialRun(name, rest string, u *use) (value, bool) {
	first, second, _ := strings.Cut(rest, " ")
	c := Call{Name: u.name, Offset: u.offset}
	switch name {
	case "eval":
		p.evaluate(p.arg(first, u), u)
	case "function": // its body stands last, behind the names of its parameters
		if n := len(u.args.pos); n > 0 {
			p.evaluate(u.args.pos[n-1], u)
		}
	case "worker": // new Worker(text, {eval: true})
		if v, ok := u.args.option("eval"); ok && v.truth() {
			p.evaluate(p.arg("0", u), u)
		}
	case "source":
		return p.source(p.arg(first, u), u), true
	case "getattr":
		return p.getattr(p.arg(first, u), p.arg(second, u), u), true
	case "process":
		p.process(p.arg(first, u), u)
	case "popen":
		if c.Does = "shell"; p.arg(first, u).kind == listValue {
			c.Does = "argv"
		}
		p.record(c, flatten(p.arg(first, u)))
	case "spawn":
		p.spawn(p.arg(first, u), p.arg(second, u), u)
	case "system":
		p.system(u)
	case "kill":
		c.Does = "kill"
		p.emit(c, []value{p.number(p.arg(first, u)), p.arg(second, u)})
	case "parent": // of what it does to other processes there is nothing to say
		if v := p.number(p.arg(first, u)); v.kind == knownValue && v.text == Parent {
			c.Does = "kill"
			p.emit(c, []value{v})
		}
	case "typing":
		if v := p.arg(first, u); strings.HasSuffix(v.text, "TIOCSTI") || v.text == "0x5412" || v.text == "21522" {
			c.Does = "type"
			p.emit(c, nil)
		}
	case "dup":
		p.dup = true
	case "pty":
		p.shell = true
		c.Does = "argv"
		p.record(c, flatten(p.arg(first, u)))
	case "rubyeval", "softeval":
		if code := p.arg("0", u); len(u.args.pos) > 0 && (name == "rubyeval" || code.kind == knownValue || code.flags&(fromNetwork|fromDecoder) != 0) {
			p.evaluate(code, u)
		}
	case "phpeval":
		if code := p.arg("0", u); u.name == "eval" || code.kind == knownValue && code.flags&isNumber == 0 && code.text != "true" && code.text != "false" {
			p.evaluate(code, u)
		}
	case "preg":
		if pattern := p.arg("0", u).text; len(pattern) > 2 && strings.Contains(pattern[strings.LastIndexByte(pattern, pattern[0]):], "e") {
			p.evaluate(p.arg("1", u), u)
		}
	case "docall":
		_, action := p.resolve(named(p.arg("0", u).text))
		use := use{name: p.arg("0", u).text, action: action, offset: u.offset}
		use.args.pos = flatten(p.arg("1", u))
		return p.perform(use), true
	case "denorun", "denocommand":
		p.deno(name, u)
	case "constructor":
		if code := p.arg("0", u); code.kind == knownValue || code.flags&(fromNetwork|fromDecoder) != 0 {
			p.evaluate(code, u)
		}
	case "suspect":
		p.suspect(u.name + " " + rest)
	default:
		return value{}, false
	}
	return u.origin(), true
}

// number is the number of a process, also where it is a function without brackets.
func (p *parser) number(v value) value {
	if v.kind == nameValue && p.table[v.text] == "=is "+Parent {
		return textValue(Parent)
	}
	return v
}

// process reports Python's subprocess calls: a list of words, or a line for a
// shell.
func (p *parser) process(what value, u *use) {
	c := Call{Name: u.name, Does: "argv", Offset: u.offset}
	shell, ok := u.args.option("shell")
	if program, ok := u.args.option("executable"); ok && program.kind == knownValue && what.kind == listValue && len(what.items) > 0 {
		items := append([]value(nil), what.items...)
		items[0] = program
		what.items = items
	}
	if what.kind == nameValue {
		what = flagged(what.flags)
	}
	if input, given := u.args.option("input"); given && input.kind == knownValue && !(ok && shell.truth()) {
		what, shell, ok = p.fed(what, input), textValue("true"), true
	}
	switch {
	case ok && shell.truth():
		c.Does = "shell"
		p.record(c, flatten(what)[:min(1, len(flatten(what)))])
	case what.kind == listValue:
		p.record(c, what.items)
	case what.kind == choiceValue:
		for _, one := range what.items {
			p.record(c, flatten(one))
		}
	default:
		p.record(c, []value{what})
	}
}

// fed is the line that runs words with a text as their input.
func (p *parser) fed(words, input value) value {
	line := textValue("")
	for _, w := range flatten(words) {
		line = p.concat(line, p.concat(p.each(w, func(s string) value { return textValue(bash.Quote(s)) }), textValue(" ")))
	}
	return p.concat(line, textValue("<<< "+bash.Quote(input.text)))
}

// spawn reports Node's spawn and execFile: a program, its arguments, options.
func (p *parser) spawn(program, args value, u *use) {
	words := flatten(program)
	switch args.kind {
	case listValue:
		words = append(append([]value(nil), words...), args.items...)
	case opaqueValue, nameValue, choiceValue:
		if len(u.args.pos) > 1 && u.args.pos[1].kind != mapValue {
			words = append(append([]value(nil), words...), value{flags: args.flags})
		}
	}
	c := Call{Name: u.name, Does: "argv", Offset: u.offset}
	if shell, ok := u.args.option("shell"); ok && shell.truth() {
		c.Does = "shell"
		line := textValue("")
		for i, w := range words {
			if i > 0 {
				w = p.concat(textValue(" "), w)
			}
			line = p.concat(line, w)
		}
		words = []value{line}
	}
	p.record(c, words)
}

// system reports Perl's and Ruby's system and exec: one argument is a line for
// a shell, several are words. Ruby takes the environment first and options
// last.
func (p *parser) system(u *use) {
	var words []value
	for _, v := range u.args.pos {
		if v.kind != mapValue {
			words = append(words, flatten(v)...)
		}
	}
	c := Call{Name: u.name, Does: "shell", Offset: u.offset}
	if len(words) > 1 || len(u.args.pos) > 0 && u.args.pos[0].kind == listValue {
		c.Does = "argv"
	}
	if len(words) == 0 {
		words = []value{{}}
	}
	p.record(c, words)
}

// deno reports Deno's two ways to run a command.
func (p *parser) deno(how string, u *use) {
	c := Call{Name: u.name, Does: "argv", Offset: u.offset}
	if how == "denorun" {
		words, _ := u.args.option("cmd")
		p.record(c, flatten(words))
		return
	}
	args, _ := u.args.option("args")
	p.record(c, append([]value{p.arg("0", u)}, args.items...))
}

// getattr picks a member by its name.
func (p *parser) getattr(on, name value, u *use) value {
	switch {
	case name.kind == knownValue && on.kind == nameValue:
		return p.known(on.text + "." + name.text)
	case name.kind != knownValue && (on.kind == nameValue && wordlist.Has(p.lang.modules, on.text)):
		p.suspect(u.name + " picks a function by a computed name")
	case name.kind == knownValue:
		if action := p.table[name.text]; action != "" && p.lang.commands {
			use := use{name: name.text, action: action, offset: u.offset}
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
	return flagged(on.all())
}
