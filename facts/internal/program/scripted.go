package program

import (
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// debugger judges what gdb and lldb are told on the command line.
func (u *use) debugger() {
	for _, name := range []string{"eval-command", "init-eval-command", "one-line", "one-line-before-file"} {
		for _, f := range u.opts[name] {
			u.debuggerCommand(strings.TrimSpace(f.Text()))
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
		u.code("python", flow.Literal(rest), "inline")
	case verb == "set" && !wordlist.Has(debuggerSettings, strings.Fields(rest + " -")[0]), !wordlist.Has(debuggerVerbs, verb),
		strings.Contains(line, "$_") && strings.Contains(line, "("), callsFunction(verb, rest), verb != "p" && verb != "print" && strings.ContainsAny(rest, ";|&`<>"):
		u.effect(&hook.ExecHidden{Program: u.name, Option: "eval-command", Value: new(line)})
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

var callInText = lazy(`[A-Za-z_]\w*\s*\(`)

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
	if u.ID == 0 {
		u.listUse()
	}
	u.effect(&hook.ExecHidden{Program: u.name, Option: option, Value: new(line)})
	u.inside(func() { u.shell.Text(flow.Literal(line), flow.Stream{}) })
}

// processes reports ps e…, which shows the environment of what runs.
func (u *use) processes() {
	if given := u.Given(); len(given) > 0 {
		flags := given[0].Text()
		if given[0].Literal() && strings.Contains(flags, "e") && strings.Trim(flags, "aceflmrstuvwxjghnST") == "" {
			u.effect(&hook.SecretRead{What: "environment", Grade: "config", Shown: true})
		}
	}
}
