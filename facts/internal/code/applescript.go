package code

import "strings"

func applescriptLanguage() *language {
	return &language{
		name: "applescript",
		syntax: syntax{
			lineComments:  []string{"--", "#"},
			blockComments: [][2]string{{"(*", "*)"}},
			double:        quoting{kind: textToken},
			foldWords:     true, lines: true,
		},
		table:     func() table { return nil },
		concat:    " & ",
		prefixes:  " posix file quoted form of alias folder the string text my disk item every contents document ",
		statement: applescriptStatement,
		word:      applescriptWord,
		inStops:   true,
	}
}

// applescriptStatement reads the commands that reach out of the script.
func applescriptStatement(p *parser, t token) bool {
	c := Call{Offset: int(t.offset)}
	switch {
	case p.words("do", "shell", "script"):
		c.Name, c.Does = "do shell script", "shell"
		p.record(c, []value{p.expr()})
	case p.words("do", "script"), p.words("write", "text"):
		c.Name, c.Does = "do script", "shell"
		p.record(c, []value{p.expr()})
	case p.words("run", "script"):
		v := p.expr()
		p.evaluate(v, &use{name: "run script", offset: c.Offset})
	case p.words("keystroke"), p.words("key", "code"):
		p.suspect("types keys into another program")
	case p.words("make", "login", "item"), p.words("make", "new", "login", "item"):
		p.suspect("adds a login item")
	case p.words("delete", "login", "item"), p.words("delete", "every", "login", "item"):
		p.suspect("takes a login item away")
	case p.words("empty", "trash"), p.words("empty", "the", "trash"):
		c.Name, c.Does, c.Recursive = "empty trash", "delete", true
		p.record(c, []value{textValue("~/.Trash")})
	case t.text == "delete", t.text == "move":
		p.next()
		p.applescriptDelete(t)
	case p.words("set"):
		name := p.next().text
		if p.atWord("to") {
			p.next()
			p.assign(name, "=", p.expr())
		}
	case p.words("open", "for", "access"):
		c.Name, c.Does = "open for access", "read"
		v := p.expr()
		if p.words("with", "write", "permission") {
			c.Does = "write"
		}
		p.record(c, []value{v})
	default:
		p.next()
	}
	return true
}

// words consumes a sequence of words.
func (p *parser) words(words ...string) bool {
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
func (p *parser) applescriptDelete(t token) {
	c := Call{Name: t.text, Does: "delete", Recursive: true, Offset: int(t.offset)}
	var paths []value
	files, trash, home := false, false, false
	for !p.done() && p.peek().kind != lineToken {
		w := p.peek()
		switch w.text {
		case "file", "folder", "posix", "alias", "disk", "item", "items", "files", "folders", "path":
			files = true
		case "trash":
			trash = true
		case "home":
			home = true
		}
		if w.kind == textToken || w.word("path") || w.word("posix") {
			paths = append(paths, p.expr())
			continue
		}
		p.next()
	}
	for i := range paths {
		if home {
			paths[i] = p.joinPath(textValue("~"), paths[i])
		}
	}
	switch {
	case t.text == "move" && !trash:
	case len(paths) > 0:
		p.record(c, paths)
	case files || trash:
		p.record(c, []value{{}})
	}
}

func applescriptWord(p *parser, t token) (value, bool) {
	switch {
	case t.text == "path" && p.words("to", "home", "folder"):
		if p.words("as") {
			p.words("text")
		}
		return textValue("~/"), true
	case t.text == "path" && p.words("to"):
		return value{}, true
	case t.text == "path":
		return p.operand(), true
	case t.text == "system" && p.words("attribute"):
		name := p.operand()
		if name.kind == knownValue {
			return p.environment(name.text), true
		}
		return flagged(fromEnvironment), true
	case t.text == "home" && p.words("folder"), strings.HasPrefix(t.text, "home") && p.atWord("directory"):
		return textValue("~"), true
	case t.text == "do" && p.words("shell", "script"):
		c := Call{Name: "do shell script", Does: "shell", Offset: int(t.offset)}
		p.record(c, []value{p.expr()})
		return value{}, true
	}
	return value{}, false
}
