package facts

import "strings"

// special performs the rows that begin with "!": calls whose meaning depends
// on their arguments.
func (p *codeParser) special(name, rest string, u *codeUse) codeValue {
	first, second, _ := strings.Cut(rest, " ")
	c := codeCall{name: u.name, offset: u.offset}
	switch name {
	case "open":
		return p.open(p.arg(first, u), p.arg(second, u), u)
	case "perlopen":
		return p.perlOpen(u)
	case "eval":
		p.evaluate(p.arg(first, u), u)
	case "source":
		return p.source(p.arg(first, u), u)
	case "getattr":
		return p.getattr(p.arg(first, u), p.arg(second, u), u)
	case "print":
		p.leak(c, u.args.flags()|u.on.all())
	case "fetch", "urlopen", "request", "readurl":
		return p.request(name, first, second, u)
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
	case "connect":
		return p.connect(p.selected(rest, u), u)
	case "chmod":
		p.chmod(p.selected(first, u), p.arg(second, u), u)
	case "kill":
		c.does = "kill"
		p.emit(c, []codeValue{p.arg(first, u), p.arg(second, u)})
	case "dup":
		p.dup = true
	case "pty":
		p.shell = true
		c.does = "argv"
		p.record(c, codeFlatten(p.arg(first, u)))
	case "sql":
		if v := p.arg(first, u); v.kind == codeKnown && changesData(v.text) {
			c.does = "sql"
			p.emit(c, []codeValue{v})
		}
	case "post":
		c.does = "send"
		p.leak(c, u.args.flags())
		p.record(c, []codeValue{p.arg(first, u)})
		return codeFlagged(fromNetwork)
	case "url":
		if body, ok := u.args.at(codeSelector(second)); ok {
			p.leak(c, body.all())
			c.does = "send"
			p.record(c, []codeValue{p.arg(first, u)})
		}
		return p.arg(first, u)
	case "connectto", "listen":
		p.peer(name, p.arg(first, u), u)
		return codeFlagged(fromNetwork)
	case "openself":
		if u.on.kind == codeKnown || u.on.kind == codeChoice {
			return p.open(u.on, p.arg("0/mode", u), u)
		}
		if path := p.arg("0", u); path.kind == codeKnown && !strings.Contains(path.text, "://") {
			return p.open(path, p.arg("1/mode", u), u)
		}
	case "join":
		return p.joinTexts(u.on, p.arg("0", u))
	case "format":
		return p.formatted(u)
	case "replace":
		return p.replaced(u)
	case "socketconnect":
		if u.on.flags&fromNetwork != 0 {
			return p.connect(p.selected("*", u), u)
		}
	case "maybeurl":
		if url := p.arg(second, u); strings.Contains(url.text, "://") {
			c.does = first
			p.record(c, []codeValue{url})
			return codeFlagged(fromNetwork)
		}
	case "rubyopen":
		if path := p.arg("0", u); strings.HasPrefix(path.text, "|") || strings.Contains(path.text, "://") {
			return p.request("readurl", "0", "", u)
		}
		return p.open(p.arg("0", u), p.arg("1", u), u)
	case "deleteself":
		if u.on.kind == codeKnown && len(u.args.pos) == 0 {
			c.does = "delete"
			p.emit(c, []codeValue{u.on})
		}
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
	case "curlopt":
		p.curlOption(u)
	case "docall":
		_, action := p.resolve(codeNamed(p.arg("0", u).text))
		use := codeUse{name: p.arg("0", u).text, action: action, offset: u.offset}
		use.args.pos = codeFlatten(p.arg("1", u))
		return p.perform(use)
	case "joinlist":
		return p.joinTexts(p.arg("0", u), codeValue{kind: codeList, items: p.selected("1..", u)})
	case "luaconcat":
		sep := codeString("")
		if v, ok := u.args.at(1); ok {
			sep = v
		}
		return p.joinTexts(sep, p.arg("0", u))
	case "rubyjoin":
		if u.on.kind != codeList {
			return p.joined("join", append([]codeValue{u.on}, p.selected("*", u)...))
		}
		return p.joinTexts(codeString(p.arg("0", u).text), u.on)
	case "paste":
		sep := codeString(" ")
		if v, ok := u.args.option("sep"); ok {
			sep = v
		}
		return p.joinTexts(sep, codeValue{kind: codeList, items: p.selected("*", u)})
	case "pack":
		return p.packed(p.arg("0", u), p.arg("1", u))
	case "rubypack":
		if u.on.kind == codeList && len(u.on.items) == 1 {
			return p.packed(p.arg("0", u), u.on.items[0])
		}
		return p.characters(&codeUse{args: codeArgs{pos: u.on.items}})
	case "unpack":
		if strings.HasPrefix(p.arg("0", u).text, "m") {
			return codeValue{kind: codeList, items: []codeValue{p.decoded(u.on, "base64")}}
		}
		return codeFlagged(fromDecoder)
	case "denorun", "denocommand":
		p.deno(name, u)
	case "buffer":
		return p.buffer(u)
	case "bytes":
		if v := p.arg("0", u); v.kind != codeList {
			return v
		}
		return p.characters(u)
	case "chars":
		return p.characters(u)
	case "jsjoin":
		sep := p.arg("0", u)
		if len(u.args.pos) == 0 {
			sep = codeString(",")
		}
		return p.joinTexts(sep, u.on)
	case "jsreverse":
		return codeReversed(u.on)
	case "jssplit":
		return p.split(u.on, p.arg("0", u))
	case "constructor":
		if code := p.arg("0", u); code.kind == codeKnown || code.flags&(fromNetwork|fromDecoder) != 0 {
			p.evaluate(code, u)
		}
	case "suspect":
		p.suspect(u.name + " " + rest)
	}
	return codeFlagged((u.on.all() | u.args.flags()) & (fromNetwork | fromDecoder))
}

// changesData reports whether statements for a database change anything.
func changesData(text string) bool {
	if len(text) > maxCodeFold {
		return true
	}
	for _, s := range inspectSQL(text) {
		if s.access != "read" {
			return true
		}
	}
	return false
}

// open reports a file that is opened, by its mode.
func (p *codeParser) open(path, mode codeValue, u *codeUse) codeValue {
	c := codeCall{name: u.name, does: "read", offset: u.offset}
	if path.flags&isNumber != 0 {
		return codeValue{} // a descriptor
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
	if args[1].kind == codeOpaque && args[1].text == "" {
		p.suspect("open with a mode that is not known")
		return codeValue{}
	}
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

// getattr picks a member by its name.
func (p *codeParser) getattr(on, name codeValue, u *codeUse) codeValue {
	switch {
	case name.kind == codeKnown && on.kind == codeName:
		return p.known(on.text + "." + name.text)
	case name.kind != codeKnown && (on.kind == codeName && hasWord(p.lang.modules, on.text)):
		p.suspect(u.name + " picks a function by a computed name")
	case name.kind == codeKnown:
		if action := p.table["*."+name.text]; action != "" && p.lang.commands { // Ruby's send
			use := *u
			use.name, use.action = name.text, action
			use.args.pos = use.args.pos[min(1, len(use.args.pos)):]
			return p.perform(use)
		}
		if action := p.table[name.text]; action != "" && p.lang.commands {
			use := codeUse{name: name.text, action: action, offset: u.offset}
			use.args.pos = u.args.pos[min(1, len(u.args.pos)):]
			return p.perform(use)
		}
	}
	return codeFlagged(on.all())
}

// request reports a request to a server: fetch, or send when it carries
// something.
func (p *codeParser) request(kind, first, second string, u *codeUse) codeValue {
	url := p.arg(first, u)
	c := codeCall{name: u.name, does: "fetch", offset: u.offset}
	var flags codeFlags
	switch kind {
	case "readurl":
		if !strings.Contains(url.text, "://") || strings.HasPrefix(url.text, "file://") {
			c.does = "read"
			if strings.HasPrefix(url.text, "|") {
				c.does = "shell"
				url.text = strings.TrimSpace(url.text[1:])
			}
			if strings.HasPrefix(url.text, "php://") {
				return codeValue{}
			}
			p.record(c, []codeValue{p.each(url, codeFold("file"))})
			return codeFlagged(url.all() & (fromNetwork | fromDecoder))
		}
	case "request":
		url = p.arg(second, u)
		if m := p.arg(first, u); m.kind == codeKnown && sendingMethod(m.text) {
			c.does = "send"
		}
	}
	for _, name := range []string{"method", "type"} {
		if m, ok := u.args.option(name); ok && m.kind == codeKnown && sendingMethod(m.text) {
			c.does = "send"
		}
	}
	if kind == "urlopen" {
		if body, ok := u.args.at(codeSelector(second)); ok {
			c.does, flags = "send", body.all()
		}
	}
	for _, name := range []string{"data", "body", "json", "files", "form"} {
		if body, ok := u.args.option(name); ok {
			c.does = "send"
			flags |= body.all()
		}
	}
	p.leak(c, flags)
	p.record(c, []codeValue{url})
	return codeFlagged(fromNetwork)
}

func sendingMethod(m string) bool {
	switch strings.ToUpper(m) {
	case "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return false
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
	switch {
	case ok && shell.truth():
		c.does = "shell"
		p.record(c, codeFlatten(what)[:min(1, len(codeFlatten(what)))])
	case what.kind == codeList:
		p.record(c, what.items)
	default:
		p.record(c, []codeValue{what})
	}
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

// connect reports a connection to a host and a port. Node gives the port
// first, or an object.
func (p *codeParser) connect(args []codeValue, u *codeUse) codeValue {
	host, port := codeValue{}, codeValue{}
	if len(args) > 0 {
		host = args[0]
	}
	if len(args) > 1 {
		port = args[1]
	}
	if host.flags&isNumber != 0 {
		host, port = port, host
		if host.kind != codeKnown {
			host = codeString("localhost")
		}
	}
	for _, name := range []string{"host", "PeerAddr", "PeerHost"} {
		if v, ok := u.args.option(name); ok {
			host = v
		}
	}
	for _, name := range []string{"port", "PeerPort"} {
		if v, ok := u.args.option(name); ok {
			port = v
		}
	}
	if v, ok := u.args.option("Proto"); ok && v.text == "" {
		return codeValue{}
	}
	if host.kind == codeMap {
		host = codeValue{}
	}
	p.record(codeCall{name: u.name, does: "connect", offset: u.offset}, []codeValue{host, port})
	return codeFlagged(fromNetwork)
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

// peer reports a socket that connects or listens: its address is a pair.
// Databases have methods of the same name.
func (p *codeParser) peer(how string, address codeValue, u *codeUse) {
	c := codeCall{name: u.name, does: "connect", offset: u.offset}
	if how == "listen" {
		c.does = "listen"
	}
	switch {
	case address.kind == codeList && len(address.items) == 2:
		p.record(c, address.items)
	case u.on.flags&fromNetwork != 0 && address.kind != codeName:
		p.record(c, []codeValue{address, {}})
	}
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

// curlOption reports what curl_setopt of PHP says about a request.
func (p *codeParser) curlOption(u *codeUse) {
	option, value := p.arg("1", u), p.arg("2", u)
	c := codeCall{name: u.name, offset: u.offset}
	switch strings.ToUpper(option.text) {
	case "CURLOPT_URL":
		c.does = "fetch"
		p.record(c, []codeValue{value})
	case "CURLOPT_POSTFIELDS", "CURLOPT_INFILE":
		c.does = "send"
		p.leak(c, value.all())
		p.record(c, []codeValue{{}})
	}
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
