package facts

import "strings"

func applescriptLanguage() *codeLanguage {
	return &codeLanguage{
		name: "applescript",
		syntax: codeSyntax{
			lineComments:  []string{"--", "#"},
			blockComments: [][2]string{{"(*", "*)"}},
			double:        codeQuote{kind: codeText},
			foldWords:     true, lines: true,
		},
		table:     func() codeTable { return nil },
		concat:    " & ",
		prefixes:  " posix file quoted form of alias folder the string text my disk item every contents document ",
		statement: applescriptStatement,
		word:      applescriptWord,
		inStops:   true,
	}
}

// applescriptStatement reads the commands that reach out of the script.
func applescriptStatement(p *codeParser, t codeToken) bool {
	c := codeCall{offset: int(t.offset)}
	switch {
	case p.words("do", "shell", "script"):
		c.name, c.does = "do shell script", "shell"
		p.record(c, []codeValue{p.expr()})
	case p.words("do", "script"), p.words("write", "text"):
		c.name, c.does = "do script", "shell"
		p.record(c, []codeValue{p.expr()})
	case p.words("run", "script"):
		v := p.expr()
		p.evaluate(v, &codeUse{name: "run script", offset: c.offset})
	case p.words("keystroke"), p.words("key", "code"):
		p.suspect("types keys into another program")
	case p.words("make", "login", "item"), p.words("make", "new", "login", "item"):
		p.suspect("adds a login item")
	case p.words("empty", "trash"), p.words("empty", "the", "trash"):
		c.name, c.does, c.recursive = "empty trash", "delete", true
		p.record(c, []codeValue{codeString("~/.Trash")})
	case t.text == "delete", t.text == "move":
		p.next()
		p.applescriptDelete(t)
	case p.words("set"):
		name := p.next().text
		if p.peek().word("to") {
			p.next()
			p.assign(name, "=", p.expr())
		}
	case p.words("open", "for", "access"):
		c.name, c.does = "open for access", "read"
		v := p.expr()
		if p.words("with", "write", "permission") {
			c.does = "write"
		}
		p.record(c, []codeValue{v})
	default:
		p.next()
	}
	return true
}

// words consumes a sequence of words.
func (p *codeParser) words(words ...string) bool {
	for i, w := range words {
		if !p.ahead(i).word(w) {
			return false
		}
	}
	for range words {
		p.next()
	}
	return true
}

// applescriptDelete reads "delete X" and "move X to trash" up to the end of the
// line. What is deleted inside other programs than the Finder is not a file.
func (p *codeParser) applescriptDelete(t codeToken) {
	c := codeCall{name: t.text, does: "delete", recursive: true, offset: int(t.offset)}
	var paths []codeValue
	files, trash, home := false, false, false
	for !p.done() && p.peek().kind != codeLine {
		w := p.peek()
		switch w.text {
		case "file", "folder", "posix", "alias", "disk", "item", "items", "files", "folders", "path":
			files = true
		case "trash":
			trash = true
		case "home":
			home = true
		}
		if w.kind == codeText || w.word("path") || w.word("posix") {
			paths = append(paths, p.expr())
			continue
		}
		p.next()
	}
	for i := range paths {
		if home {
			paths[i] = p.joinPath(codeString("~"), paths[i])
		}
	}
	switch {
	case t.text == "move" && !trash:
	case len(paths) > 0:
		p.record(c, paths)
	case files || trash:
		p.record(c, []codeValue{{}})
	}
}

func applescriptWord(p *codeParser, t codeToken) (codeValue, bool) {
	switch {
	case t.text == "path" && p.words("to", "home", "folder"):
		if p.words("as") {
			p.words("text")
		}
		return codeString("~/"), true
	case t.text == "path" && p.words("to"):
		return codeValue{}, true
	case t.text == "path":
		return p.operand(), true
	case t.text == "system" && p.words("attribute"):
		name := p.operand()
		if name.kind == codeKnown {
			return p.environment(name.text), true
		}
		return codeFlagged(fromEnvironment), true
	case t.text == "home" && p.words("folder"), strings.HasPrefix(t.text, "home") && p.peek().word("directory"):
		return codeString("~"), true
	case t.text == "do" && p.words("shell", "script"):
		c := codeCall{name: "do shell script", does: "shell", offset: int(t.offset)}
		p.record(c, []codeValue{p.expr()})
		return codeValue{}, true
	}
	return codeValue{}, false
}
