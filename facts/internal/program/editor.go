package program

import (
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// typed judges what ed, ex and vi as ex are told on their input.
func (u *use) typed() {
	switch u.name {
	case "ed", "red", "ex", "vi", "vim", "nvim", "view":
	default:
		u.bangs()
		return
	}
	if u.Stdin.Text == nil || u.name != "ed" && u.name != "red" && u.name != "ex" && !u.has("e") && !u.has("E") && !u.has("es") && !u.has("Es") {
		return
	}
	lines := strings.Split(*u.Stdin.Text, "\n")
	for i := 0; i < len(lines); i++ {
		u.editorCommand(lines[i])
		if verb := strings.TrimLeft(lines[i], "0123456789$.,+-"); verb == "a" || verb == "i" || verb == "c" {
			end := i + 1
			for end < len(lines) && lines[end] != "." {
				end++
			}
			u.edits(u.rest, strings.Join(lines[i+1:end], "\n"))
		}
	}
}

// bangs judges what a program is told that hands lines behind an exclamation mark to a
// shell: on its input, or as an expression (dc -e).
func (u *use) bangs() {
	lines := flow.Text(u.Stdin.Text)
	for _, f := range append(u.opts["expression"], u.opts["request"]...) {
		lines += "\n" + f.Text()
	}
	for line := range strings.Lines(lines) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok && command != "" {
			u.hiddenShell("command", command)
		}
	}
}

// editorCommands judges what vi and its kin are told on the command line.
func (u *use) editorCommands(f flow.Word) {
	for _, line := range strings.FieldsFunc(f.Text(), func(r rune) bool { return r == '\n' || r == '|' }) {
		u.editorCommand(line)
	}
}

// editorModifiers are words that say where or how the command behind them runs.
const editorModifiers = " sil silent exe execute norm normal noau noautocmd keepalt keepp keeppatterns argdo bufdo windo tabdo tab vert vertical sp "

// editorCommand judges one command: a bang runs a shell, w writes a file, p shows
// the one that is open, other languages run their code, the rest edits.
func (u *use) editorCommand(line string) {
	verb, bang, rest := "", false, ""
	for range maxModifiers {
		line = strings.TrimLeft(line, " \t:;%0123456789,.$\"'")
		verb, bang, rest = editorVerb(line)
		switch {
		case wordlist.Has(editorModifiers, verb):
			line = strings.TrimRight(rest, ` "'`)
			continue
		case verb == "au", verb == "autocmd": // an event and a pattern
			_, rest, _ = strings.Cut(rest, " ")
			_, line, _ = strings.Cut(strings.TrimSpace(rest), " ")
			continue
		case verb == "g", verb == "v", verb == "global":
			if _, rest, ok := strings.Cut(strings.TrimPrefix(rest, "/"), "/"); ok {
				line = rest
				continue
			}
		}
		break
	}
	command, shell := strings.CutPrefix(rest, "!")
	switch {
	case verb == "" && bang:
		u.hiddenShell("command", rest)
	case shell && slices.Contains([]string{"r", "re", "read", "w", "wr", "write"}, verb):
		u.hiddenShell("command", command)
	case slices.Contains([]string{"ter", "term", "terminal", "te"}, verb):
		u.hiddenShell("command", rest)
	case rest != "" && wordlist.Has(" w wr write wq x xit sav saveas up update ", verb):
		u.touch(flow.Literal(strings.TrimSpace(strings.TrimPrefix(rest, ">>"))), draft.Access{Kind: "write", How: "overwrite"})
	case rest != "" && slices.Contains([]string{"r", "re", "read"}, verb):
		u.touch(flow.Literal(rest), draft.Access{Kind: "read", Shown: true})
	case rest == "" && wordlist.Has(" p print nu number l list # ", verb):
		for _, open := range u.rest {
			u.touch(open, draft.Access{Kind: "read", Shown: true})
		}
	case verb == "so", verb == "source":
		u.role(catalogue.Role{Name: "execute", Detail: "vim"}, flow.Literal(rest))
	case verb == "luafile":
		u.role(catalogue.Role{Name: "execute", Detail: "lua"}, flow.Literal(rest))
	case verb == "pyfile", verb == "pyf", verb == "py3file":
		u.role(catalogue.Role{Name: "execute", Detail: "python"}, flow.Literal(rest))
	case verb == "lua":
		u.code("lua", flow.Literal(rest), "inline")
	case verb == "py", verb == "pyx", verb == "python":
		u.code("python", flow.Literal(strings.TrimLeft(rest, "3 ")), "inline")
	case verb == "perl", verb == "ruby":
		u.code(verb, flow.Literal(rest), "inline")
	case verb == "set" && editorPrograms().MatchString(rest):
		u.effect(&hook.ExecHidden{Program: u.name, Option: "command", Value: new(line)})
	}
	u.editorCalls(line)
}

// maxModifiers bounds how many words of a command say how it runs.
const maxModifiers = 8

// editorVerb takes a command's name, its bang and what follows apart.
func editorVerb(line string) (verb string, bang bool, rest string) {
	i := 0
	for i < len(line) && (line[i] >= 'a' && line[i] <= 'z' || line[i] >= 'A' && line[i] <= 'Z' || line[i] == '#') {
		i++
	}
	rest, bang = strings.CutPrefix(line[i:], "!")
	return line[:i], bang, strings.TrimSpace(rest)
}

// Functions that run a line or do something to a file, and settings that name
// programs.
var (
	editorFunctions = lazy(`\b(system|systemlist|job_start|jobstart|term_start|termopen|delete|writefile)\((?:expand\()?(.*)`)
	editorPrograms  = lazy(`^(shell|sh|makeprg|mp|grepprg|gp|equalprg|ep|formatprg|fp|keywordprg|kp)=`)
)

// editorCalls judges the functions that a command calls.
func (u *use) editorCalls(line string) {
	found := editorFunctions().FindStringSubmatch(line)
	if found == nil {
		return
	}
	name, text := found[1], strings.TrimSpace(found[2])
	first, more := text, ""
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		if i := strings.IndexByte(text[1:], text[0]); i >= 0 {
			first, more = text[1:i+1], text[i+2:]
		}
	}
	switch name {
	case "delete":
		u.touch(flow.Word{Parts: []flow.Part{{Text: first}}}, draft.Access{Kind: "delete", How: "remove", Recursive: strings.Contains(more, "r")})
	case "writefile":
		_, to, _ := strings.Cut(text, "],")
		u.touch(flow.Word{Parts: []flow.Part{{Text: strings.Trim(to, ` "')`)}}}, draft.Access{Kind: "write", How: "overwrite"})
	default:
		u.hiddenShell("command", strings.Trim(first, `"')`))
	}
}
