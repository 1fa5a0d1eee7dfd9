package program

import (
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/catalogue"
)

// common are the parameters of every cmdlet: those that take a value, and switches.
var common = [...]struct {
	names string
	takes bool
}{
	{" -erroraction -ea -warningaction -wa -informationaction -infa -errorvariable -ev -warningvariable -wv -informationvariable -iv -outvariable -ov -outbuffer -ob -pipelinevariable -pv -progressaction ", true},
	{" -verbose -vb -debug -db -whatif -wi -confirm -cf -usetransaction ", false},
}

// parameters tells the parameters of a cmdlet from its other arguments. A parameter
// stands without quotes, and may be abbreviated; -Name:value attaches a value.
func parameters(r *catalogue.Row, words []flow.Word) []argument {
	var args []argument
	for i := 0; i < len(words); i++ {
		w := words[i]
		text := w.Prefix()
		if len(text) < 2 || text[0] != '-' || w.Parts[0].Quoted || text[1] >= '0' && text[1] <= '9' || text == "--" {
			args = append(args, argument{field: w})
			continue
		}
		name, value, attached := w.Cut(":")
		if !attached {
			name = text
		}
		o, listed := parameter(r, name)
		flag := ""
		if !listed {
			flag = name
		}
		switch {
		case attached && value.Text() == "False" && value.Literal():
		case attached && value.Text() == "True" && value.Literal():
			args = append(args, argument{field: w, option: o, flag: flag})
		case attached:
			args = append(args, argument{field: w, option: o, value: value})
		case o.Takes && i+1 < len(words):
			args = append(args, argument{field: w, option: o, value: words[i+1]})
			i++
		default:
			args = append(args, argument{field: w, option: o, flag: flag})
		}
	}
	return args
}

// parameter is the parameter that a name means. It reports false for one that neither
// the row nor every cmdlet has.
func parameter(r *catalogue.Row, name string) (o *catalogue.Option, listed bool) {
	if o := r.Options.Abbreviated(name); o != nil {
		return o, true
	}
	lower := strings.ToLower(name)
	for _, c := range common {
		for one := range strings.FieldsSeq(c.names) {
			if strings.HasPrefix(one, lower) {
				return &catalogue.Option{Name: one[1:], Takes: c.takes, Role: catalogue.Role{Name: "text"}}, true
			}
		}
	}
	return &catalogue.Option{Name: lower[1:]}, false
}

// slashOptions tells the options of a program of Windows from its operands: /s, /f:x.
// Their case does not matter, and a dash does as well.
func slashOptions(r *catalogue.Row, words []flow.Word) []argument {
	var args []argument
	for i := 0; i < len(words); i++ {
		w := words[i]
		text := w.Prefix()
		name, value, attached := w.Cut(":")
		if !attached {
			if name, value, attached = w.Cut("="); !attached {
				name = text
			}
		}
		if len(name) < 2 || name[0] != '/' && name[0] != '-' || len(text) > 2 && text[0] == '/' && text[2] == ':' && strings.HasPrefix(text[3:], "/") {
			args = append(args, argument{field: w})
			continue
		}
		o := r.Options.Named("/" + strings.ToLower(name[1:]))
		switch {
		case o == nil && name[0] == '/' && strings.Contains(name[1:], "/") && strings.Count(name, "/") > 1 && len(name) > 4: // /tmp/x, a path of Unix
			args = append(args, argument{field: w})
		case o == nil:
			for _, letters := range strings.Split(strings.ToLower(name[1:]), "/") { // /s/q
				if one := r.Options.Named("/" + letters); one != nil {
					args = append(args, argument{field: w, option: one})
					continue
				}
				args = append(args, argument{field: w, option: &catalogue.Option{Name: letters}, flag: name})
			}
		case attached:
			args = append(args, argument{field: w, option: o, value: value})
		case o.Takes && !o.Attached && i+1 < len(words):
			args = append(args, argument{field: w, option: o, value: words[i+1]})
			i++
		default:
			args = append(args, argument{field: w, option: o})
		}
	}
	return args
}

// whatIf takes from a cmdlet that only says what it would do all that it does.
func (u *use) whatIf() {
	if u.row.Style == "cmdlet" && u.has("whatif") {
		u.row = &catalogue.Row{Name: u.row.Name, Options: &catalogue.Options{}, Style: "cmdlet", Operands: []catalogue.Role{{Name: "text", Many: true}}}
		u.args, u.opts = nil, map[string][]flow.Word{"whatif": {flow.Word{}}}
	}
}

// fromPipeline adds what comes through the pipe to the operands, as far as the line
// names none.
func (u *use) fromPipeline() {
	if len(u.row.Operands) == 0 || !u.Stdin.Some || len(u.rest) > 0 && !u.targetNamed() {
		return
	}
	first := u.row.Operands[0].Name
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == first && len(a.value.Parts) > 0 && !strings.EqualFold(a.option.Name, "destination") {
			return
		}
	}
	items := u.Stdin.Handed()
	if len(items) == 0 {
		text, known := u.Stdin.Left()
		for line := range strings.Lines(text) {
			items = append(items, flow.Literal(strings.TrimRight(line, "\r\n")))
		}
		if !known {
			items = []flow.Word{flow.Unknown(&flow.Hole{Why: "what comes through the pipe", Many: true, Taint: u.Stdin.Taint})}
		}
	}
	u.rest = append(append([]flow.Word(nil), items...), u.rest...)
}

// targetNamed reports a cmdlet whose only operand is where things go.
func (u *use) targetNamed() bool {
	return len(u.rest) == 1 && len(u.row.Operands) == 2 && !u.has("Destination") && (u.name == "copy-item" || u.name == "move-item")
}

// children are the names that a directory's listing prints.
func (u *use) children() []flow.Word {
	dirs := append([]flow.Word(nil), u.rest...)
	for _, name := range []string{"Path", "LiteralPath"} {
		dirs = append(dirs, u.opts[name]...)
	}
	filter := ""
	if u.row.Style == "cmdlet" && len(u.rest) > 1 {
		dirs, filter = u.rest[:1], u.rest[1].Text()
	}
	for _, name := range []string{"Filter", "Include"} {
		if f, ok := u.opt(name); ok && f.Literal() {
			filter = f.Text()
		}
	}
	if len(dirs) == 0 {
		dirs = []flow.Word{flow.Literal(".")}
	}
	var out []flow.Word
	for _, dir := range dirs {
		if dir.Matches() && filter == "" {
			out = append(out, dir)
			continue
		}
		name := filter
		if name == "" {
			name = "*"
		}
		f := flow.Word{Parts: append([]flow.Part(nil), dir.Parts...)}
		f.Parts = append(f.Parts, flow.Part{Text: "/" + name})
		out = append(out, f)
	}
	return out
}

// setContent notes what a cmdlet writes into a file.
func (u *use) setContent() {
	content := u.Stdin
	if f, ok := u.opt("Value"); ok {
		content = wordStream(f)
	} else if len(u.rest) > 1 {
		content = wordStream(u.rest[1])
	}
	targets := append([]flow.Word(nil), u.opts["FilePath"]...)
	targets = append(append(targets, u.opts["Path"]...), u.opts["LiteralPath"]...)
	if len(targets) == 0 && len(u.rest) > 0 {
		targets = u.rest[:1]
	}
	for _, f := range targets {
		u.remember(f, content, u.name == "add-content")
	}
	if u.name != "tee-object" {
		u.Stdin = flow.Stream{}
	}
}

func wordStream(f flow.Word) flow.Stream {
	st := flow.Stream{Some: true, Text: f.Value(), Taint: f.Taint()}
	if st.Text == nil {
		st.Form = &f
	}
	return st
}

// setx judges a variable that every program of the account gets from now on.
func (u *use) setx() {
	name, ok := u.opt("Name")
	v, _ := u.opt("Value")
	if !ok && len(u.rest) > 1 {
		name, v = u.rest[0], u.rest[1]
	}
	if t := name.Value(); t != nil && len(v.Parts) > 0 {
		u.sets(strings.ToUpper(*t), v)
	}
}

// cmdLine runs the line behind cmd /c.
func (u *use) cmdLine() {
	for i, f := range u.rest {
		if t := strings.ToLower(f.Text()); strings.HasPrefix(t, "/c") || strings.HasPrefix(t, "/k") || strings.HasPrefix(t, "/r") || t == "//c" {
			words := append([]flow.Word(nil), u.rest[i+1:]...)
			if f = f.From(min(len(f.Prefix()), 2)); !f.Empty() && t != "//c" {
				words = append([]flow.Word{f}, words...)
			}
			line := flow.Word{}
			for j, w := range words {
				if j > 0 {
					line.Parts = append(line.Parts, flow.Part{Text: " ", Quoted: true})
				}
				if v := w.Text(); len(words) > 1 && w.Literal() && strings.ContainsAny(v, " ") && j > 0 && w.Parts[0].Quoted {
					line.Parts = append(line.Parts, flow.Part{Text: `"` + v + `"`, Quoted: true})
					continue
				}
				line.Parts = append(line.Parts, w.Parts...)
			}
			u.inside(func() { u.prints(u.shell.Other("cmd", line, u.Stdin)) })
			return
		}
	}
	if u.Stdin.Some {
		if text, ok := u.Stdin.Template(); ok {
			u.inside(func() { u.prints(u.shell.Other("cmd", text, flow.Stream{})) })
			return
		}
		u.unknownCode("cmd", u.Stdin.Taint, "stdin", "it comes from a pipe")
	}
}

// powershell runs what the command line of PowerShell names.
func (u *use) powershell() {
	run := func(language string, f flow.Word) {
		u.inside(func() { u.prints(u.shell.Other(language, f, u.Stdin)) })
	}
	words := u.rest
	for i := 0; i < len(words); i++ {
		t := strings.ToLower(words[i].Text())
		rest := words[i+1:]
		is := func(names ...string) bool {
			for _, n := range names {
				if len(t) > 1 && strings.HasPrefix(n, t[1:]) {
					return true
				}
			}
			return false
		}
		switch {
		case t == "" || t[0] != '-' && t[0] != '/':
			if u.name == "pwsh" || strings.HasSuffix(t, ".ps1") {
				u.role(catalogue.Role{Name: "execute", Detail: "powershell"}, words[i])
				return
			}
			run("powershell", flow.Join(words[i:]))
			return
		case t == "-":
			u.runStdin("powershell")
			return
		case is("command"):
			if len(rest) == 1 && rest[0].Text() == "-" {
				u.runStdin("powershell")
			} else if len(rest) > 0 {
				run("powershell", flow.Join(rest))
			}
			return
		case is("encodedcommand", "ec"):
			if len(rest) > 0 {
				run("encoded", rest[0])
			}
			return
		case is("file"):
			if len(rest) > 0 {
				u.rest = rest
				u.role(catalogue.Role{Name: "execute", Detail: "powershell"}, rest[0])
			}
			return
		case is("workingdirectory", "wd"):
			if len(rest) > 0 {
				u.role(catalogue.Role{Name: "cd"}, rest[0])
			}
			i++
		case is("executionpolicy", "ep", "ex", "inputformat", "outputformat", "version", "windowstyle", "configurationname", "psconsolefile", "settingsfile", "custompipename"):
			i++
		}
	}
	if u.Stdin.Some {
		u.runStdin("powershell")
	}
}

// saves notes what a program fetches or decodes into the file that it names last.
func (u *use) saves() {
	if len(u.rest) < 2 {
		return
	}
	t := flow.Taint{Remote: true}
	if u.has("decode") {
		t = flow.Taint{Hidden: true}
	} else if h := u.lastHost(); h != nil {
		t.Host, t.URL = flow.Text(h.Host), flow.Text(h.URL)
	} else {
		return
	}
	u.remember(u.rest[len(u.rest)-1], flow.Stream{Some: true, From: u.ID, Taint: t}, false)
}

// stopsAll judges Stop-Process behind all processes: Get-Process | Stop-Process.
func (u *use) stopsAll() {
	from := u.Stdin.From
	if !u.Stdin.Some || from < 1 || from > len(u.Commands()) {
		return
	}
	c := u.Commands()[from-1]
	if flow.Text(c.Program) == "get-process" && len(c.Operands) == 0 && len(c.Options) == 0 {
		u.effect(&hook.Process{Verb: "kill", Target: new("*"), All: true})
	}
}
