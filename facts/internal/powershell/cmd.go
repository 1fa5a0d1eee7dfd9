package powershell

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// A cmdCommand is one command of a line of cmd.exe.
type cmdCommand struct {
	words     []flow.Word
	redirects []cmdRedirect
	piped     bool // its input is what the one before it writes
}

type cmdRedirect struct {
	op     string
	fd     byte
	target flow.Word
}

// internal are commands of cmd.exe under the names that their rows have.
const internal = " erase=del rmdir=rd mkdir=md rename=ren type=get-content chdir=cd "

// cmdLine judges a line of cmd.exe.
func (w *Shell) cmdLine(s *state, text string, in flow.Stream) flow.Stream {
	if w.Depth > maxNested || w.nested > maxNested {
		w.Limit("shells nested deeper than gate follows")
		return flow.Stream{}
	}
	if w.parsed += len(text); len(text) > maxText || w.parsed > maxParsed {
		w.Limit("a shell text longer than gate reads")
		return flow.Stream{}
	}
	var out flow.Stream
	st := in
	for _, c := range w.cmdCommands(s, text) {
		if !c.piped {
			out = flow.Concat(out, st)
			st = in
		}
		st = w.cmdRun(s, c, st)
	}
	return flow.Concat(out, st)
}

// cmdCommands cuts a line at & && || | and brackets. ^ takes the next character as it
// is, and %NAME% is a variable.
func (w *Shell) cmdCommands(s *state, text string) (out []cmdCommand) {
	one := cmdCommand{}
	f, open, quoted := flow.Word{}, false, false
	var redirect *cmdRedirect
	add := func(p flow.Part) {
		open = true
		if n := len(f.Parts); n > 0 && p.Hole == nil && f.Parts[n-1].Hole == nil && f.Parts[n-1].Quoted == p.Quoted {
			f.Parts[n-1].Text += p.Text
			return
		}
		f.Parts = append(f.Parts, p)
	}
	end := func() {
		if !open {
			return
		}
		if redirect != nil {
			redirect.target = f
			one.redirects = append(one.redirects, *redirect)
			redirect = nil
		} else {
			one.words = append(one.words, f)
		}
		f, open = flow.Word{}, false
	}
	next := func(piped bool) {
		end()
		if len(one.words) > 0 || len(one.redirects) > 0 {
			out = append(out, one)
		}
		one = cmdCommand{piped: piped}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted, open = !quoted, true
			if len(f.Parts) == 0 {
				f.Parts = []flow.Part{{Quoted: true}}
			}
		case c == '%' || c == '!' && strings.IndexByte(text[i+1:], '!') > 0 && !strings.ContainsAny(text[i+1:i+1+strings.IndexByte(text[i+1:], '!')], " \"&"):
			i += w.cmdVariable(s, text[i:], add)
		case quoted:
			add(flow.Part{Text: string(c), Quoted: true})
		case c == '^' && i+1 < len(text):
			i++
			add(flow.Part{Text: text[i : i+1]})
		case c == ' ' || c == '\t' || c == ',' && false || c == '\r':
			end()
		case c == '&' || c == '\n':
			next(false)
		case c == '|':
			next(i+1 >= len(text) || text[i+1] != '|')
			if i+1 < len(text) && text[i+1] == '|' {
				i++
			}
		case (c == '(' || c == ')') && !open && len(one.words) == 0, c == ')' && !open:
			next(false)
		case c == '>' || c == '<':
			r := &cmdRedirect{op: string(c), fd: '1'}
			if len(f.Parts) == 1 && len(f.Text()) == 1 && digit(f.Text()[0]) {
				r.fd, f, open = f.Text()[0], flow.Word{}, false
			}
			end()
			if i+1 < len(text) && text[i+1] == '>' {
				r.op = ">>"
				i++
			}
			if i+2 < len(text) && text[i+1] == '&' {
				i += 2
				continue
			}
			redirect = r
		default:
			add(flow.Part{Text: string(c)})
		}
		if len(out) > maxItems || len(one.words) > 4*maxItems {
			w.Limit("more commands than gate looks at")
			break
		}
	}
	next(false)
	return out
}

// cmdVariable reads %NAME%, with what stands behind a colon, or a loop's %i; it
// returns how many bytes it took more than one.
func (w *Shell) cmdVariable(s *state, text string, add func(flow.Part)) int {
	mark := text[0]
	if loop := strings.TrimLeft(text, "%"); mark == '%' && len(loop) > 0 && (letter(loop[0]) || loop[0] == '~') {
		if end := strings.IndexByte(text[1:], '%'); end < 1 || strings.ContainsAny(text[1:1+end], " \t&|\"") || text[1] == '%' {
			n := len(text) - len(loop)
			for n < len(text) && (text[n] == '~' || letter(text[n]) && n+1 < len(text) && letter(text[n+1]) && strings.Contains(text[:n], "~")) {
				n++
			}
			name := strings.ToLower(text[n:min(n+1, len(text))])
			v, ok := s.vars["%"+name]
			if !ok {
				v = hole("a variable of a loop", flow.Taint{})
			}
			for _, p := range v.word().Parts {
				add(p)
			}
			return min(n, len(text)-1)
		}
	}
	end := strings.IndexByte(text[1:], mark)
	if end < 1 {
		add(flow.Part{Text: string(mark)})
		return 0
	}
	name, _, changed := strings.Cut(strings.ToLower(text[1:1+end]), ":")
	v, ok := s.vars["env:"+name]
	switch {
	case changed:
		v = hole("a part of %"+name+"%", v.taint())
	case ok:
	case name == "cd" && len(s.Dirs) == 1:
		v = literal(s.Dirs[0])
	default:
		v = w.variableOfEnvironment(name)
	}
	for _, p := range v.word().Parts {
		p.Quoted = true
		add(p)
	}
	return end + 1
}

// cmdRun runs one command of cmd.exe.
func (w *Shell) cmdRun(s *state, c cmdCommand, in flow.Stream) flow.Stream {
	if w.steps++; w.steps > maxSteps || len(w.Commands()) > maxCommands {
		w.Limit("more commands than gate looks at")
		return flow.Stream{}
	}
	words := c.words
	id := 0
	var out flow.Stream
	if len(words) > 0 {
		out, id = w.cmdNamed(s, words, in)
	}
	for _, r := range c.redirects {
		if len(r.target.Parts) == 0 || strings.EqualFold(r.target.Text(), "nul") {
			continue
		}
		how := "overwrite"
		switch r.op {
		case "<":
			w.UsePath(s.Where, id, r.target, draft.Access{Kind: "read", Shown: true})
			continue
		case ">>":
			how = "append"
		}
		w.OutputTo(s.Where, id, r.target, how, out)
		out = flow.Stream{From: id}
	}
	return out
}

func (w *Shell) cmdNamed(s *state, words []flow.Word, in flow.Stream) (flow.Stream, int) {
	v := words[0].Value()
	if v == nil {
		inv := &draft.Invocation{Words: words, Stdin: in}
		w.List(s.Where, inv, nil, false)
		w.Unknown("program", "which program runs is not known: "+words[0].Why(), inv.ID, nil)
		return flow.Stream{Some: true}, inv.ID
	}
	base := strings.ToLower(strings.TrimLeft(*v, "@"))
	if strings.HasPrefix(base, "echo.") || strings.HasPrefix(base, "echo:") {
		base = "echo"
	}
	for _, ext := range []string{".exe", ".com", ".cmd", ".bat"} {
		base = strings.TrimSuffix(base, ext)
	}
	name := strings.ReplaceAll(base, `\`, "/")
	if i := strings.IndexByte(name, '/'); i > 0 && strings.Contains(" cd del rd dir copy type md move ren ", " "+name[:i]+" ") { // cd/d, del/q
		words = append([]flow.Word{words[0], flow.Literal(name[i:])}, words[1:]...)
		name = name[:i]
	}
	if _, rest, ok := strings.Cut(internal, " "+name+"="); ok {
		name, _, _ = strings.Cut(rest, " ")
	}
	args := words[1:]
	switch name {
	case "rem", "title", "color", "cls", "setlocal", "endlocal", "pause", "exit", "goto", "verify", "prompt", "ver", "vol", "chcp", "timeout", "break":
		return flow.Stream{}, 0
	case "":
		return flow.Stream{}, 0
	case "cd":
		for _, a := range args {
			if t := a.Text(); !strings.EqualFold(t, "/d") {
				w.location(s, &call{args: []arg{{value: value{items: []flow.Word{a}}}}}, "set-location")
			}
		}
		return flow.Stream{}, 0
	case "pushd", "popd":
		if len(args) > 0 {
			w.location(s, &call{args: []arg{{value: value{items: args[:1]}}}}, "push-location")
		}
		return flow.Stream{}, 0
	case "set":
		w.cmdSet(s, args)
		return flow.Stream{}, 0
	case "call", "else", "do":
		if len(args) > 0 {
			return w.cmdNamed(s, args, in)
		}
		return flow.Stream{}, 0
	case "start":
		if len(args) > 0 && len(args[0].Parts) == 1 && args[0].Parts[0].Quoted {
			args = args[1:] // the title
		}
		for len(args) > 0 && strings.HasPrefix(args[0].Text(), "/") {
			args = args[1:]
		}
		if len(args) > 0 && !strings.Contains(args[0].Text(), "://") {
			return w.cmdNamed(s, args, in)
		}
		return flow.Stream{}, 0
	case "if":
		return w.cmdIf(s, args, in)
	case "for":
		return w.cmdFor(s, args, in)
	}
	inv := &draft.Invocation{Words: append([]flow.Word{flow.Literal(name)}, args...), Stdin: in}
	if in.Some {
		inv.Input = &hook.Stdin{From: "pipe", Command: in.From, Text: draft.Short(in.Text)}
	}
	for i, f := range inv.Words[1:] {
		inv.Words[1+i] = bareDash(f)
	}
	out := w.outside.Run(inv, s.Where, name)
	return out, inv.ID
}

// cmdSet sets a variable: set NAME=value.
func (w *Shell) cmdSet(s *state, args []flow.Word) {
	name, v, ok := flow.Join(args).Cut("=")
	if !ok {
		return
	}
	s.vars["env:"+strings.ToLower(name)] = value{items: []flow.Word{v}}
	w.environment(0, name, value{items: []flow.Word{v}})
}

// cmdIf runs what stands behind a condition.
func (w *Shell) cmdIf(s *state, args []flow.Word, in flow.Stream) (flow.Stream, int) {
	for len(args) > 0 && (strings.EqualFold(args[0].Text(), "/i") || strings.EqualFold(args[0].Text(), "not")) {
		args = args[1:]
	}
	skip := 1
	switch {
	case len(args) > 1 && strings.Contains(" exist defined errorlevel ", " "+strings.ToLower(args[0].Text())+" "):
		skip = 2
	case len(args) > 2 && strings.Contains(" == equ neq lss leq gtr geq ", " "+strings.ToLower(args[1].Text())+" "):
		skip = 3
	}
	if len(args) <= skip {
		return flow.Stream{}, 0
	}
	rest := args[skip:]
	rest[0] = trimBracket(rest[0])
	return w.cmdNamed(s, rest, in)
}

func trimBracket(f flow.Word) flow.Word {
	if strings.HasPrefix(f.Prefix(), "(") {
		return f.From(1)
	}
	return f
}

// cmdFor runs the command of a loop with what it goes through.
func (w *Shell) cmdFor(s *state, args []flow.Word, in flow.Stream) (flow.Stream, int) {
	do := -1
	name := ""
	var over []flow.Word
	for i, a := range args {
		t := strings.ToLower(a.Text())
		switch {
		case t == "do":
			do = i
		case strings.HasPrefix(t, "(") || strings.HasSuffix(t, ")"):
			f := trimBracket(a)
			if strings.HasSuffix(f.Text(), ")") && f.Literal() {
				f = flow.Word{Parts: []flow.Part{{Text: strings.TrimSuffix(f.Text(), ")")}}}
			}
			over = append(over, f)
		}
		if do >= 0 {
			break
		}
	}
	if do < 0 || do+1 >= len(args) {
		return flow.Stream{}, 0
	}
	_ = name
	w.Unknown("word", "a loop of cmd.exe goes through what gate does not follow", 0, nil)
	out, id := w.cmdNamed(s, args[do+1:], in)
	for _, f := range over { // what it goes through may be handed to the command
		for i := range args[do+1:] {
			if a := args[do+1+i]; a.Value() == nil && a.Why() == "a variable of a loop" {
				one := append([]flow.Word(nil), args[do+1:]...)
				one[i] = f
				out, id = w.cmdNamed(s, one, in)
			}
		}
	}
	return out, id
}
