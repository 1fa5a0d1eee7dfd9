package code

import "strings"

// tclLanguage serves Tcl and Expect, whose text is nothing but words: it has a
// reader of its own.
func tclLanguage() *language {
	return &language{
		name:    "tcl",
		table:   func() table { return nil },
		inspect: func(r *inspection, text string) { (&tclReader{inspection: r, text: text}).script(0, 0) },
	}
}

// A tclReader reads a script.
type tclReader struct {
	*inspection
	text  string
	pos   int
	shell bool // the spawned program is a shell
}

// A tclWord is one word of a command. Text in braces is literal and may be a
// script.
type tclWord struct {
	value  value
	braced bool
	offset int
}

// script reads commands up to the end mark, which it consumes; 0 is the end of
// the text.
func (r *tclReader) script(end byte, depth int) value {
	if depth > maxDepth {
		r.over("program text nests too deeply")
		r.pos = len(r.text)
		return value{}
	}
	var words []tclWord
	var last value
	finish := func() {
		if len(words) > 0 {
			last = r.command(words, depth)
		}
		words = nil
	}
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		switch {
		case end != 0 && c == end:
			r.pos++
			finish()
			return last
		case c == '\n' || c == ';':
			r.pos++
			finish()
		case c == ' ' || c == '\t' || c == '\r':
			r.pos++
		case c == '\\' && r.pos+1 < len(r.text) && r.text[r.pos+1] == '\n':
			r.pos += 2
		case c == '#' && len(words) == 0:
			if i := strings.IndexByte(r.text[r.pos:], '\n'); i >= 0 {
				r.pos += i
			} else {
				r.pos = len(r.text)
			}
		default:
			if r.tokens--; r.tokens < 0 {
				r.over("program text is too long")
				r.pos = len(r.text)
				return value{}
			}
			words = append(words, r.word(end, depth))
		}
	}
	finish()
	return last
}

// word reads one word.
func (r *tclReader) word(end byte, depth int) tclWord {
	w := tclWord{offset: r.pos}
	switch r.text[r.pos] {
	case '{':
		start, level := r.pos+1, 0
		for ; r.pos < len(r.text); r.pos++ {
			switch r.text[r.pos] {
			case '\\':
				r.pos++
			case '{':
				level++
			case '}':
				level--
			}
			if level == 0 {
				break
			}
		}
		stop := min(r.pos, len(r.text))
		r.pos = min(r.pos+1, len(r.text))
		w.value, w.braced = textValue(r.text[start:max(start, stop)]), true
		return w
	case '"':
		r.pos++
		w.value = r.parts("\"", 0, depth)
		r.pos = min(r.pos+1, len(r.text))
		return w
	}
	w.value = r.parts(" \t\r\n;", end, depth)
	if r.pos == w.offset {
		r.pos++ // a stray bracket
	}
	return w
}

// parts reads text with variables and commands in brackets, up to a stop byte.
func (r *tclReader) parts(stops string, end byte, depth int) value {
	out := textValue("")
	start := r.pos
	flush := func() {
		if r.pos > start {
			out = r.concat(out, textValue(r.text[start:r.pos]))
		}
	}
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		switch {
		case strings.IndexByte(stops, c) >= 0, end != 0 && c == end:
			flush()
			return out
		case c == '\\' && r.pos+1 < len(r.text):
			flush()
			next := r.text[r.pos+1]
			if i := strings.IndexByte("nrt", next); i >= 0 {
				next = "\n\r\t"[i]
			}
			out = r.concat(out, textValue(string([]byte{next})))
			r.pos += 2
			start = r.pos
		case c == '[':
			flush()
			r.pos++
			out = r.concat(out, r.script(']', depth+1))
			start = r.pos
		case c == '$':
			flush()
			out = r.concat(out, r.variable())
			start = r.pos
		default:
			r.pos++
		}
	}
	flush()
	return out
}

// variable reads $x, ${x}, $x(y).
func (r *tclReader) variable() value {
	r.pos++
	start := r.pos
	if strings.HasPrefix(r.text[r.pos:], "{") {
		if i := strings.IndexByte(r.text[r.pos:min(len(r.text), r.pos+maxName)], '}'); i > 0 {
			r.pos += i + 1
			return r.vars[r.text[start+1:r.pos-1]]
		}
	}
	for r.pos < len(r.text) && wordByte(r.text[r.pos], ":") {
		r.pos++
	}
	if r.pos == start {
		return textValue("$")
	}
	name := r.text[start:r.pos]
	if strings.HasPrefix(r.text[r.pos:], "(") {
		if i := strings.IndexByte(r.text[r.pos:min(len(r.text), r.pos+maxName)], ')'); i > 0 {
			key := r.text[r.pos+1 : r.pos+i]
			r.pos += i + 1
			p := parser{inspection: r.inspection}
			if name == "env" || name == "::env" {
				return p.environment(key)
			}
			return value{}
		}
	}
	return r.vars[name]
}

// command reports one command.
func (r *tclReader) command(words []tclWord, depth int) value {
	name := strings.TrimPrefix(words[0].value.text, "::")
	c := Call{Name: name, Offset: words[0].offset}
	var args []value
	for _, w := range words[1:] {
		args = append(args, w.value)
	}
	p := &parser{inspection: r.inspection, depth: depth}
	switch {
	case words[0].value.kind != knownValue:
		r.suspect("calls a command by a computed name")
	case name == "set" && len(args) == 2 && args[0].kind == knownValue:
		if _, had := r.vars[args[0].text]; had && depth > 0 {
			args[1] = oneOf(r.vars[args[0].text], args[1])
		}
		r.vars[args[0].text] = args[1]
		return args[1]
	case (name == "exec" || name == "spawn") && len(args) > 0:
		for len(args) > 1 && strings.HasPrefix(args[0].text, "-") && args[0].kind == knownValue {
			args = args[1:]
		}
		if name == "exec" {
			c.Does = "argv"
			p.record(c, args)
			break
		}
		r.shell = args[0].kind != knownValue || bareShell([]string{args[0].text}) || args[0].text == "ssh" || args[0].text == "su"
		c.Does = "argv"
		p.record(c, args)
	case name == "send" && len(args) > 0 && r.shell:
		line := args[len(args)-1]
		line.text = strings.TrimSpace(line.text)
		if line.kind == knownValue && line.text != "" {
			c.Does = "shell"
			p.record(c, []value{line})
		}
	case name == "file" && len(args) > 1:
		return r.file(p, c, args)
	case name == "open" && len(args) > 0:
		if line, ok := strings.CutPrefix(args[0].text, "|"); ok {
			c.Does = "shell"
			args[0].text = strings.TrimSpace(line)
			p.record(c, args[:1])
			break
		}
		p.open(args[0], append(args, value{})[1], &use{name: name, offset: c.Offset})
	case name == "socket" && len(args) > 1:
		c.Does = "connect"
		p.record(c, args[len(args)-2:])
	case name == "source" && len(args) > 0:
		return p.source(args[0], &use{name: name, offset: c.Offset})
	case name == "eval" || name == "uplevel" || name == "subst":
		line := p.joinTexts(textValue(" "), value{kind: listValue, items: args})
		p.evaluate(line, &use{name: name, offset: c.Offset})
	case name == "glob" && len(args) > 0:
		return args[len(args)-1]
	case name == "pwd":
		return textValue(".")
	default:
		r.bodies(name, words, depth)
	}
	return value{}
}

// bodies reads the scripts that control commands run.
func (r *tclReader) bodies(name string, words []tclWord, depth int) {
	switch name {
	case "if", "while", "for", "proc", "catch", "try", "namespace", "expect", "expect_before", "expect_after", "switch", "interact", "after", "time":
	case "foreach":
		if len(words) > 3 && words[1].value.kind == knownValue {
			r.vars[words[1].value.text] = words[2].value
			if words[2].braced {
				r.vars[words[1].value.text] = value{}
			}
		}
	default:
		return
	}
	for _, w := range words[1:] {
		if !w.braced {
			continue
		}
		text, pos := r.text, r.pos
		r.text, r.pos = text[:w.offset+1+len(w.value.text)], w.offset+1
		r.script(0, depth+1)
		r.text, r.pos = text, pos
	}
}

// file reads the subcommands of file.
func (r *tclReader) file(p *parser, c Call, args []value) value {
	sub := args[0].text
	c.Name = "file " + sub
	paths := args[1:]
	for len(paths) > 1 && (paths[0].text == "-force" || paths[0].text == "--") {
		paths = paths[1:]
	}
	switch sub {
	case "delete":
		c.Does, c.Recursive = "delete", true
		p.record(c, paths)
	case "rename":
		c.Does = "delete"
		p.record(c, paths[:1])
		c.Does = "write"
		p.record(c, paths[len(paths)-1:])
	case "copy", "mkdir", "link":
		c.Does = "write"
		p.record(c, paths[len(paths)-1:])
	case "join":
		return p.joined("join", paths)
	case "normalize", "nativename":
		return paths[0]
	}
	return value{}
}
