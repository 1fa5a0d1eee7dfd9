package code

import (
	"strings"
	"sync"
)

func awkLanguage() *language {
	return &language{
		name: "awk",
		syntax: syntax{
			lineComments: []string{"#"},
			double:       quoting{kind: textToken, keep: true},
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
func awkStatement(p *parser, t token) bool {
	switch t.text {
	case "print", "printf":
		p.next()
		use := use{name: t.text, action: "!print", offset: int(t.offset), args: p.printed()}
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
func (p *parser) printed() arguments {
	var args arguments
	for !p.done() {
		t := p.peek()
		if t.kind == lineToken || t.kind == markToken && strings.Contains("; } > >> |", t.text) {
			break
		}
		if t.is(",") {
			p.next()
			continue
		}
		v := p.expr()
		args.pos = append(args.pos, flatten(v)...)
	}
	return args
}

// redirected reads where print prints to: a file, or a command. What a shell is
// given to read runs.
func (p *parser) redirected(t token, printed []value) {
	op := p.peek()
	c := Call{Name: t.text, Offset: int(t.offset)}
	switch {
	case op.is(">"):
		c.Does = "write"
	case op.is(">>"):
		c.Does = "append"
	case op.is("|"):
		c.Does = "shell"
	default:
		return
	}
	p.next()
	p.accept("&")
	to := p.expr()
	if c.Does == "shell" && to.kind == knownValue && bareShell(strings.Fields(to.text)) {
		to = textValue("")
		if t.text == "printf" && len(printed) > 0 {
			printed = []value{p.format(printed[0], printed[1:])}
		}
		if len(printed) == 0 {
			to = value{} // the line that was read
		}
		for i, v := range printed {
			if i > 0 {
				to = p.concat(to, textValue(" "))
			}
			to = p.concat(to, v)
		}
	}
	p.file(c, to)
}

// file records a file, command or connection that awk reads or writes.
func (p *parser) file(c Call, v value) {
	if host, ok := strings.CutPrefix(v.text, "/inet"); ok {
		c.Does = "connect"
		parts := strings.Split(host, "/") // /inet/tcp/local/host/port
		args := []value{{}, {}}
		if len(parts) == 5 && v.kind == knownValue {
			args = []value{textValue(parts[3]), textValue(parts[4])}
		}
		p.record(c, args)
		return
	}
	if v.kind == knownValue && (v.text == "/dev/stderr" || v.text == "/dev/stdout" || v.text == "-") {
		return
	}
	p.record(c, []value{v})
}

func awkWord(p *parser, t token) (value, bool) {
	if t.text != "getline" {
		return value{}, false
	}
	if w := p.peek(); w.kind == wordToken && !p.lang.isReserved(w.text) {
		p.forget(p.next().text)
	}
	if p.accept("<") {
		p.file(Call{Name: "getline", Does: "read", Offset: int(t.offset)}, p.operand())
	}
	return value{}, true
}

// awkOperator reads "command" | getline.
func awkOperator(p *parser, v *value, t token) bool {
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
	p.file(Call{Name: "getline", Does: "shell", Offset: int(at.offset)}, *v)
	if w := p.peek(); w.kind == wordToken && !p.lang.isReserved(w.text) {
		p.forget(p.next().text)
		if strings.HasPrefix(v.text, "/inet") {
			p.vars[w.text] = flagged(fromNetwork)
		}
	}
	*v = value{}
	return true
}

var awkTable = sync.OnceValue(func() table { return parseTable(awkRows) })

const awkRows = `
system = shell 0
sprintf = =format *
tolower = =lower 0
toupper = =upper 0
length index substr split sub gsub match int rand srand systime close fflush strftime = =drop
`
