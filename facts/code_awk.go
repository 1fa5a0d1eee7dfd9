package facts

import (
	"strings"
	"sync"
)

func awkLanguage() *codeLanguage {
	return &codeLanguage{
		name: "awk",
		syntax: codeSyntax{
			lineComments: []string{"#"},
			double:       codeQuote{kind: codeText, keep: true},
			openers:      " return print printf in getline if else do ",
			classes:      true, lines: true, oneLine: true, regex: true,
		},
		table:     awkTable,
		prefixes:  " return else do exit BEGIN END BEGINFILE ENDFILE ",
		reserved:  " in getline else if while for do print printf return next exit delete ",
		env:       []string{"ENVIRON"},
		statement: awkStatement,
		word:      awkWord,
		operator:  awkOperator,
		inStops:   true, juxtapose: true, redirects: true,
	}
}

// awkStatement reads print with its redirection, and loops.
func awkStatement(p *codeParser, t codeToken) bool {
	switch t.text {
	case "print", "printf":
		p.next()
		use := codeUse{name: t.text, action: "!print", offset: int(t.offset), args: p.printed()}
		p.perform(use)
		p.redirected(t, use.args.pos)
		return true
	case "for":
		p.branch = true
		p.next()
		if p.accept("(") && p.ahead(1).word("in") {
			p.forget(p.next().text)
		}
		return true
	case "if", "while":
		p.branch = true
	case "function", "func":
		p.next()
		p.define(p.next().text)
		return true
	}
	return false
}

// printed reads what print prints, with or without parentheses.
func (p *codeParser) printed() codeArgs {
	var args codeArgs
	for !p.done() {
		t := p.peek()
		if t.kind == codeLine || t.kind == codeMark && strings.Contains("; } > >> |", t.text) {
			break
		}
		if t.is(",") {
			p.next()
			continue
		}
		v := p.expr()
		args.pos = append(args.pos, codeFlatten(v)...)
	}
	return args
}

// redirected reads where print prints to: a file, or a command. What a shell is
// given to read runs.
func (p *codeParser) redirected(t codeToken, printed []codeValue) {
	op := p.peek()
	c := codeCall{name: t.text, offset: int(t.offset)}
	switch {
	case op.is(">"):
		c.does = "write"
	case op.is(">>"):
		c.does = "append"
	case op.is("|"):
		c.does = "shell"
	default:
		return
	}
	p.next()
	p.accept("&")
	to := p.expr()
	if c.does == "shell" && to.kind == codeKnown && bareShell(strings.Fields(to.text)) {
		to = codeString("")
		if t.text == "printf" && len(printed) > 0 {
			printed = []codeValue{p.format(printed[0], printed[1:])}
		}
		if len(printed) == 0 {
			to = codeValue{} // the line that was read
		}
		for i, v := range printed {
			if i > 0 {
				to = p.concat(to, codeString(" "))
			}
			to = p.concat(to, v)
		}
	}
	p.file(c, to)
}

// file records a file, command or connection that awk reads or writes.
func (p *codeParser) file(c codeCall, v codeValue) {
	if host, ok := strings.CutPrefix(v.text, "/inet"); ok {
		c.does = "connect"
		parts := strings.Split(host, "/") // /inet/tcp/local/host/port
		args := []codeValue{{}, {}}
		if len(parts) == 5 && v.kind == codeKnown {
			args = []codeValue{codeString(parts[3]), codeString(parts[4])}
		}
		p.record(c, args)
		return
	}
	if v.kind == codeKnown && (v.text == "/dev/stderr" || v.text == "/dev/stdout" || v.text == "-") {
		return
	}
	p.record(c, []codeValue{v})
}

func awkWord(p *codeParser, t codeToken) (codeValue, bool) {
	if t.text != "getline" {
		return codeValue{}, false
	}
	if w := p.peek(); w.kind == codeWord && !p.lang.isReserved(w.text) {
		p.forget(p.next().text)
	}
	if p.accept("<") {
		p.file(codeCall{name: "getline", does: "read", offset: int(t.offset)}, p.operand())
	}
	return codeValue{}, true
}

// awkOperator reads "command" | getline.
func awkOperator(p *codeParser, v *codeValue, t codeToken) bool {
	n := 1
	if p.ahead(1).is("&") {
		n = 2
	}
	if !t.is("|") || !p.ahead(n).word("getline") {
		return false
	}
	at := p.ahead(n)
	for range n + 1 {
		p.next()
	}
	p.file(codeCall{name: "getline", does: "shell", offset: int(at.offset)}, *v)
	if w := p.peek(); w.kind == codeWord && !p.lang.isReserved(w.text) {
		p.forget(p.next().text)
		if strings.HasPrefix(v.text, "/inet") {
			p.vars[w.text] = codeFlagged(fromNetwork)
		}
	}
	*v = codeValue{}
	return true
}

var awkTable = sync.OnceValue(func() codeTable { return parseCodeTable(awkRows) })

const awkRows = `
system = shell 0
sprintf = =format *
tolower = =lower 0
toupper = =upper 0
length index substr split sub gsub match int rand srand systime close fflush strftime = =drop
`
