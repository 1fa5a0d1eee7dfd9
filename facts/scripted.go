package facts

import (
	"regexp"
	"strings"
	"sync"

	"gate/facts/wordlist"
)

// editorCommands judges what vi and its kin are told on the command line: a
// bang runs a shell, w writes a file, p shows the one that is open, other
// languages run their code, the rest edits.
func (u *use) editorCommands(f field) {
	for _, line := range strings.FieldsFunc(f.text(), func(r rune) bool { return r == '\n' || r == '|' }) {
		line = strings.TrimLeft(strings.TrimSpace(line), ":%0123456789,$.")
		for _, prefix := range []string{"silent ", "silent! ", "sil! ", "exe ", "execute "} {
			line = strings.Trim(strings.TrimPrefix(line, prefix), `"'`)
		}
		u.editorCommand(line)
	}
}

func (u *use) editorCommand(line string) {
	i := strings.IndexByte(line, '!')
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case i == 0, i > 0 && strings.TrimSpace(line[:i]) != "q" && strings.HasPrefix(line[i-1:], " !"):
		u.hiddenShell("command", line[i+1:])
	case strings.Contains(line, "system("):
		_, text, _ := strings.Cut(line, "system(")
		u.hiddenShell("command", strings.Trim(text, `"')`))
	case verb == "w" && rest != "":
		u.usePath(u.s, u.id, literalField(rest), access{kind: "write", how: "overwrite"})
	case verb == "p", verb == "print", verb == "nu", verb == "number", verb == "l", verb == "list", verb == "#", strings.HasPrefix(verb, "g/") && strings.HasSuffix(line, "/p"):
		for _, open := range u.rest {
			u.usePath(u.s, u.id, open, access{kind: "read", shown: true})
		}
	case verb == "call" && strings.HasPrefix(rest, "delete("):
		name, flags, _ := strings.Cut(rest[len("delete("):], ",")
		name = strings.TrimPrefix(strings.TrimSpace(name), "expand(")
		u.usePath(u.s, u.id, field{parts: []part{{text: strings.Trim(name, ` "')`)}}}, access{kind: "delete", how: "remove", recursive: strings.Contains(flags, "r")})
	case verb == "lua":
		u.code("lua", literalField(rest), "inline")
	case verb == "py", verb == "py3", verb == "pyx", verb == "python", verb == "python3":
		u.code("python", literalField(rest), "inline")
	case verb == "perl", verb == "ruby":
		u.code(verb, literalField(rest), "inline")
	}
}

// debugger judges what gdb and lldb are told on the command line.
func (u *use) debugger() {
	for _, name := range []string{"eval-command", "init-eval-command", "one-line", "one-line-before-file"} {
		for _, f := range u.opts[name] {
			u.debuggerCommand(strings.TrimSpace(f.text()))
		}
	}
}

func (u *use) debuggerCommand(line string) {
	line = strings.TrimPrefix(line, "platform ")
	verb, rest, _ := strings.Cut(line, " ")
	verb, _, _ = strings.Cut(verb, "/") // x/8i, p/x
	rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "--"))
	switch {
	case strings.HasPrefix(line, "!"), strings.HasPrefix(line, "|"):
		u.hiddenShell("eval-command", line[1:])
	case verb == "shell", verb == "pipe", verb == "make":
		u.hiddenShell("eval-command", rest)
	case strings.Contains(line, "system("):
		_, text, _ := strings.Cut(line, "system(")
		u.hiddenShell("eval-command", strings.Trim(text, `"')`))
	case verb == "python", verb == "py", verb == "python-interactive", verb == "pi", verb == "script":
		u.code("python", literalField(rest), "inline")
	case verb == "set" && !wordlist.Has(debuggerSettings, strings.Fields(rest + " -")[0]), !wordlist.Has(debuggerVerbs, verb),
		strings.Contains(line, "$_") && strings.Contains(line, "("), callsFunction(verb, rest), verb != "p" && verb != "print" && strings.ContainsAny(rest, ";|&`<>"):
		u.effect("exec.hidden", u.id, map[string]any{"program": u.name, "option": "eval-command", "value": line})
	}
}

// What debuggers are told that only looks, stops or goes on, and the settings
// that change nothing but that.
const (
	debuggerVerbs = " info i bt backtrace where thread t frame f up down p print inspect x list l disassemble disas di show break b tbreak rbreak watch rwatch awatch " +
		"delete d disable enable continue c run r start starti next n step s nexti ni stepi si finish until advance detach quit q echo ptype whatis display undisplay " +
		"file core-file symbol-file image memory register breakpoint process set "
	debuggerSettings = " pagination confirm width height print disassembly-flavor breakpoint verbose listsize language style follow-fork-mode detach-on-fork scheduler-locking "
)

var callInText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*\s*\(`) })

// callsFunction reports an expression that calls something in the program which
// is looked at; a breakpoint has the parameters of a function in brackets, too.
func callsFunction(verb, rest string) bool {
	switch verb {
	case "p", "print", "inspect", "x", "display", "set", "until", "advance":
		return callInText().MatchString(strings.ReplaceAll(rest, "sizeof(", ""))
	}
	return false
}

// hiddenShell judges a line that the program hands to a shell.
func (u *use) hiddenShell(option, line string) {
	if u.id == 0 {
		u.listUse()
	}
	u.effect("exec.hidden", u.id, map[string]any{"program": u.name, "option": option, "value": line})
	u.inside(func() { u.shellText(literalField(line), stream{}) })
}

// processes reports ps e…, which shows the environment of what runs.
func (u *use) processes() {
	if given := u.given(); len(given) > 0 {
		flags := given[0].text()
		if given[0].literal() && strings.Contains(flags, "e") && strings.Trim(flags, "aceflmrstuvwxjghnST") == "" {
			u.effect("secret.read", u.id, map[string]any{"path": nil, "what": "environment", "grade": "config", "shown": true})
		}
	}
}
