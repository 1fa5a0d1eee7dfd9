package powershell

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/internal/secret"
)

// builtin runs a command that the shell itself must understand. It reports false for
// one that the outside judges alone.
func (w *Shell) builtin(s *state, c *call, name string, in flow.Stream) (flow.Stream, bool) {
	switch name {
	case "foreach-object":
		return w.forEach(s, c, in), true
	case "where-object":
		w.eachItem(s, c, in)
		in.Whole, in.From = nil, 0 // some of it
		if pos := c.positional(""); in.Taint.Secret == "environment" && len(pos) > 0 && harmlessName(pos[len(pos)-1]) {
			in.Taint.Secret = ""
		}
		return flow.Unsure(in), true
	case "select-object", "sort-object", "get-unique", "out-string", "out-host", "out-default", "format-table", "format-list", "format-wide", "format-custom", "group-object", "convertto-json", "convertto-csv":
		w.eachItem(s, c, in)
		w.ask(s, c, name, flow.Stream{})
		if v, ok := c.value("-ExpandProperty"); ok && len(v.items) == 1 {
			if of := given(in); len(of.items) > 0 {
				return property(of, strings.ToLower(v.text())).stream(), true
			}
		}
		if v, ok := c.value("-InputObject"); ok {
			in = v.stream()
		}
		in.From = c.id
		if pos := c.positional(""); in.Taint.Secret == "environment" && len(pos) == 1 && name == "select-object" && strings.EqualFold(pos[0].text(), "Name") {
			in.Taint.Secret = "" // the names alone
		}
		return flow.Unsure(in), true
	case "invoke-expression":
		f, ok := c.value("-Command")
		if pos := c.positional(""); !ok && len(pos) > 0 {
			f = pos[0]
		} else if !ok {
			if text, known := in.Template(); known {
				f = value{items: []flow.Word{text}}
			} else {
				f = unknown("what comes through the pipe", in.Taint)
			}
		}
		return w.runText(s, f.word(), flow.Stream{}, c.place), true
	case "invoke-command":
		return w.invoke(s, c, in), true
	case "start-job", "start-threadjob", "measure-command", "trace-command", "register-objectevent", "register-engineevent":
		for _, a := range c.args {
			w.runBlock(s, a.value)
		}
		return w.ask(s, c, name, in), true
	case "set-location", "push-location", "pop-location":
		return w.location(s, c, name), true
	case "write-output", "write-host", "write-warning", "write-error", "write-information", "write-verbose", "write-debug":
		return w.writes(s, c, name, in), true
	case "set-variable", "new-variable", "get-variable", "remove-variable", "clear-variable", "set-alias", "new-alias", "set-item", "new-item":
		return w.names(s, c, name)
	case "start-process":
		return w.starts(s, c, in), true
	case "get-childitem", "get-content":
		return w.drive(s, c, name, in)
	case "join-path", "split-path", "get-location", "get-date", "get-item", "resolve-path", "convert-path", "new-temporaryfile":
		return w.paths(s, c, name, in)
	case "new-object":
		return w.newObject(s, c, in), true
	case "add-type":
		if _, ok := c.value("-TypeDefinition"); ok || !slices.ContainsFunc(c.args, func(a arg) bool { return strings.HasPrefix(strings.ToLower(a.param), "-as") }) {
			w.puzzle("code of .NET that Add-Type compiles or loads", c.place)
		}
		return flow.Stream{}, true
	case "pwsh", "powershell":
		for _, a := range c.args {
			if a.value.block != nil {
				w.runBlock(s, a.value)
				return flow.Stream{Some: true}, true
			}
		}
	}
	return flow.Stream{}, false
}

// drive runs commands that list or read the drive of the environment. Others are the
// outside's.
func (w *Shell) drive(s *state, c *call, name string, in flow.Stream) (flow.Stream, bool) {
	of, ok := c.value("-Path")
	if !ok {
		of, ok = c.value("-LiteralPath")
	}
	if pos := c.positional(" -force -recurse -raw "); !ok && len(pos) > 0 {
		of = pos[0]
	}
	env, ok := cutFold(of.text(), "env:")
	if !ok {
		return flow.Stream{}, false
	}
	out := w.ask(s, c, name, in)
	env = strings.ToLower(strings.TrimLeft(env, `\/`))
	switch {
	case env == "" || strings.Trim(env, "*") == "":
		return flow.Stream{Some: true, From: out.From, Taint: flow.Taint{Secret: "environment"}}, true
	case strings.Contains(env, "*"):
		return out, true
	}
	st := w.variableOfEnvironment(env).stream()
	st.From = out.From
	return st, true
}

// harmlessName reports a pattern of names that picks no variable with a secret.
func harmlessName(v value) bool {
	text := strings.Trim(v.text(), "*")
	return v.known() && len(text) > 2 && !secret.Variable(upper(text)) && !secret.Variable(upper(text)+"_KEY_") && !strings.Contains(" key token secret pass pwd auth aws cred ", " "+strings.ToLower(text)+" ")
}

// eachItem runs the blocks of a filter for what comes in.
func (w *Shell) eachItem(s *state, c *call, in flow.Stream) {
	item := given(in)
	if len(item.items) != 1 {
		item = unknown("an item of a pipeline", item.taint())
	}
	inner := s.clone()
	inner.vars["_"], inner.vars["psitem"] = item, item
	for _, a := range c.args {
		w.runBlock(inner, a.value)
	}
}

// forEach runs the blocks of ForEach-Object for each item that comes in.
func (w *Shell) forEach(s *state, c *call, in flow.Stream) flow.Stream {
	items := given(in)
	if v, ok := c.value("-InputObject"); ok {
		items = v
	}
	var blocks []*block
	for _, a := range c.args {
		if a.value.block != nil {
			blocks = append(blocks, a.value.block)
		}
	}
	if len(blocks) == 0 { // the name of a member
		pos := c.positional("")
		if len(pos) == 0 || !pos[0].known() {
			return flow.Unsure(in)
		}
		switch strings.ToLower(pos[0].text()) {
		case "delete", "kill", "moveto":
			return w.member(s, &member{place: c.place, of: &variable{name: "_"}, name: &text{s: pos[0].text()}, call: true}).stream()
		}
		return property(items, strings.ToLower(pos[0].text())).stream()
	}
	var out flow.Stream
	turns := []value{unknown("an item of a pipeline", items.taint())}
	if n := len(items.items); n > 0 && n <= maxTurns {
		turns = nil
		for _, item := range items.items {
			turns = append(turns, value{items: []flow.Word{item}})
		}
	}
	for _, item := range turns {
		for _, b := range blocks {
			way := s.clone()
			way.vars["_"], way.vars["psitem"] = item, item
			st := w.block(way, b, flow.Stream{})
			way.ended = false
			if len(out.Files) > 0 || len(st.Files) > 0 {
				st.Files = append(slices.Clip(out.Files), st.Files...)
			}
			files := st.Files
			out = flow.Concat(out, st)
			out.Files = files
			delete(way.vars, "_")
			s.become(s.clone(), way)
		}
	}
	return out
}

// invoke runs Invoke-Command, here or elsewhere.
func (w *Shell) invoke(s *state, c *call, in flow.Stream) flow.Stream {
	remote := false
	for _, p := range []string{"-ComputerName", "-HostName", "-Session", "-VMName", "-ContainerId", "-ConnectionUri"} {
		_, ok := c.value(p)
		remote = remote || ok
	}
	if pos := c.positional(""); len(pos) > 1 && pos[0].block == nil {
		remote = true
	}
	if !remote {
		for _, a := range c.args {
			if a.value.block != nil {
				inner := &call{}
				if v, ok := c.value("-ArgumentList"); ok {
					for _, item := range v.items {
						inner.args = append(inner.args, arg{value: value{items: []flow.Word{item}}})
					}
				}
				return w.apart(s, a.value.block, in, func(i *state) { w.bind(i, a.value.block, inner) })
			}
		}
		return w.ask(s, c, "invoke-command", in)
	}
	out := w.ask(s, c, "invoke-command", in)
	for _, a := range c.args {
		if a.value.block == nil {
			continue
		}
		inner := s.clone()
		inner.Remote, inner.Dirs = true, []string{w.World.Home}
		w.Via = append(w.Via, "invoke-command")
		out = flow.Concat(out, w.block(inner, a.value.block, in))
		w.Via = w.Via[:len(w.Via)-1]
	}
	return out
}

// location moves the shell.
func (w *Shell) location(s *state, c *call, name string) flow.Stream {
	if name == "pop-location" {
		s.Dirs = nil
		if n := len(s.stack); n > 0 {
			s.Dirs, s.stack = s.stack[n-1], s.stack[:n-1]
		}
		return flow.Stream{}
	}
	if name == "push-location" {
		s.stack = append(s.stack, s.Dirs)
	}
	to, ok := c.value("-Path")
	if !ok {
		to, ok = c.value("-LiteralPath")
	}
	if pos := c.positional(" -passthru "); !ok && len(pos) > 0 {
		to, ok = pos[0], true
	}
	if !ok {
		if name == "set-location" {
			s.Dirs = []string{w.World.Home}
		}
		return flow.Stream{}
	}
	f := to.word()
	var dirs []string
	for _, t := range w.Absolute(s.Where, f) {
		if t.Path == "" || t.Glob {
			dirs = nil
			break
		}
		dirs = append(dirs, t.Path)
	}
	under := s.Below(dirs, f)
	s.Dirs, s.Under = dirs, under
	if len(dirs) == 0 && under == "" {
		w.Unknown("directory", "the working directory is not known", 0, w.span(c.place))
	}
	return flow.Stream{}
}

// writes runs Write-Output and its like.
func (w *Shell) writes(s *state, c *call, name string, in flow.Stream) flow.Stream {
	w.ask(s, c, name, flow.Stream{})
	var v value
	for _, p := range c.positional(" -nonewline -noenumerate ") {
		if p.table != nil || p.block != nil {
			v.items = append(v.items, p.word())
			continue
		}
		v.items = append(v.items, p.items...)
	}
	for _, p := range []string{"-InputObject", "-Object", "-Message"} {
		if one, ok := c.value(p); ok {
			v.items = append(v.items, one.items...)
		}
	}
	st := v.stream()
	if len(v.items) == 0 {
		st = in
	}
	if st.From == 0 {
		st.From = c.id
	}
	return st
}

// names runs the commands that set variables and aliases. Items of other drives are
// the outside's.
func (w *Shell) names(s *state, c *call, name string) (flow.Stream, bool) {
	pos := c.positional(" -force -valueonly -passthru ")
	at := func(i int, param string) (value, bool) {
		if v, ok := c.value(param); ok {
			return v, true
		}
		if i < len(pos) {
			return pos[i], true
		}
		return value{}, false
	}
	switch name {
	case "set-item", "new-item":
		p, _ := at(0, "-Path")
		env, ok := cutFold(p.text(), "env:")
		if !ok {
			return flow.Stream{}, false
		}
		v, _ := at(1, "-Value")
		env = strings.TrimLeft(env, `\/`)
		s.vars["env:"+strings.ToLower(env)] = v
		w.ask(s, c, name, flow.Stream{})
		w.environment(c.id, env, v)
		return flow.Stream{}, true
	}
	n, ok := at(0, "-Name")
	key := strings.ToLower(strings.TrimPrefix(n.text(), "$"))
	v, _ := at(1, "-Value")
	switch {
	case !ok:
		return flow.Stream{}, true
	case name == "set-alias", name == "new-alias":
		if !n.known() || !v.known() {
			w.puzzle("an alias that is not known", c.place)
			return flow.Stream{}, true
		}
		to := &call{name: v.text()}
		s.aliases[key] = w.resolve(s, to)
	case name == "get-variable":
		return w.lookup(s, key).stream(), true
	case name == "remove-variable", name == "clear-variable":
		delete(s.vars, key)
	case key == "":
		w.puzzle("a variable whose name is not known", c.place)
	default:
		s.vars[key] = v
	}
	return flow.Stream{}, true
}

// starts runs Start-Process: the program is a command of its own.
func (w *Shell) starts(s *state, c *call, in flow.Stream) flow.Stream {
	switches := " -wait -nonewwindow -passthru -loaduserprofile -useNewEnvironment "
	pos := c.positional(switches)
	file, ok := c.value("-FilePath")
	if !ok && len(pos) > 0 {
		file, pos = pos[0], pos[1:]
	}
	args, ok := c.value("-ArgumentList")
	if !ok {
		args, ok = c.value("-Args")
	}
	if !ok && len(pos) > 0 {
		args = pos[0]
	}
	out := w.ask(s, c, "start-process", in)
	inner := &call{place: c.place, word: file.word()}
	if url := strings.ToLower(file.text()); strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") || file.text() == "" && file.known() {
		return out // opens a browser
	}
	list := args.items
	if len(list) == 1 && list[0].Literal() {
		list = nil
		for _, field := range cutWords(args.text()) {
			list = append(list, flow.Literal(field))
		}
	}
	for _, f := range list {
		inner.args = append(inner.args, arg{value: value{items: []flow.Word{bareDash(f)}}})
	}
	back := s.clone()
	if dir, ok := c.value("-WorkingDirectory"); ok {
		w.location(back, &call{args: []arg{{value: dir}}}, "set-location")
	}
	w.Via = append(w.Via, "start-process")
	out = w.named(back, inner, flow.Stream{})
	w.Via = w.Via[:len(w.Via)-1]
	for _, p := range []string{"-RedirectStandardOutput", "-RedirectStandardError"} {
		if f, ok := c.value(p); ok {
			w.OutputTo(s.Where, c.id, loose(f.word()), "overwrite", out)
		}
	}
	return out
}

// bareDash is a word whose dash begins an option.
func bareDash(f flow.Word) flow.Word {
	out := flow.Word{Parts: append([]flow.Part(nil), f.Parts...), Span: f.Span}
	if len(out.Parts) > 0 && strings.HasPrefix(out.Parts[0].Text, "-") {
		out.Parts[0].Quoted = false
	}
	return out
}

// cutWords cuts a command line into words, as programs of Windows do.
func cutWords(s string) (out []string) {
	var b strings.Builder
	quoted, open := false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted, open = !quoted, true
		case (c == ' ' || c == '\t') && !quoted:
			if open {
				out = append(out, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, b.String())
	}
	return out
}

// paths runs commands that make paths of paths.
func (w *Shell) paths(s *state, c *call, name string, in flow.Stream) (flow.Stream, bool) {
	pos := c.positional(" -parent -leaf -relative -resolve -qualifier -isabsolute ")
	first, ok := c.value("-Path")
	if !ok {
		first, ok = c.value("-LiteralPath")
	}
	if !ok && len(pos) > 0 {
		first, pos, ok = pos[0], pos[1:], true
	}
	if !ok {
		first = given(in)
	}
	switch name {
	case "join-path":
		parts := value{items: []flow.Word{first.word()}}
		if v, ok := c.value("-ChildPath"); ok {
			parts.items = append(parts.items, v.items...)
		}
		for _, p := range pos {
			parts.items = append(parts.items, p.items...)
		}
		return joined(parts, "/").stream(), true
	case "split-path":
		var v value
		_, leaf := c.value("-Leaf")
		for _, item := range first.items {
			v.items = append(v.items, flow.Map(item, func(p string) string {
				p = strings.ReplaceAll(p, `\`, "/")
				if leaf {
					return path.Base(p)
				}
				return path.Dir(p)
			}))
		}
		return v.stream(), true
	case "get-location":
		return w.lookup(s, "pwd").stream(), true
	case "get-item", "resolve-path", "convert-path":
		if env, ok := cutFold(first.text(), "env:"); ok {
			st := w.variableOfEnvironment(strings.ToLower(strings.TrimLeft(env, `\/`))).stream()
			st.From = w.ask(s, c, name, in).From
			return st, true
		}
		out := w.ask(s, c, name, in)
		st := first.stream()
		st.From, st.Taint = out.From, st.Taint.Merge(out.Taint)
		return st, true
	case "new-temporaryfile":
		w.Temps++
		return literal(w.World.Home + "/AppData/Local/Temp/gate.tmp").stream(), true
	}
	return flow.Stream{}, false
}

// newObject judges an object by its type.
func (w *Shell) newObject(s *state, c *call, in flow.Stream) flow.Stream {
	kind, ok := c.value("-TypeName")
	pos := c.positional("")
	if !ok && len(pos) > 0 {
		kind = pos[0]
	}
	t := flow.Taint{}
	for _, p := range pos {
		t = t.Merge(p.taint())
	}
	name := strings.TrimPrefix(strings.ToLower(kind.text()), "system.")
	if com, ok := c.value("-ComObject"); ok {
		if !strings.Contains(" excel.application word.application outlook.application powerpoint.application sapi.spvoice ", " "+strings.ToLower(com.text())+" ") {
			w.puzzle("a COM object, whose methods gate does not know", c.place)
		}
		return hole("a COM object", t).stream()
	}
	switch {
	case harmlessType(name), strings.Contains(" net.webclient net.http.httpclient management.automation.pscredential io.streamreader io.memorystream io.filesystemwatcher diagnostics.processstartinfo diagnostics.process xml.xmldocument ", " "+name+" "),
		strings.HasPrefix(name, "collections."), strings.HasSuffix(name, "[]"), strings.HasPrefix(name, "windows.forms."), strings.HasPrefix(name, "drawing."):
		if name == "io.streamreader" && len(pos) > 1 {
			return w.run(s, &call{name: "get-content", place: c.place, args: []arg{{value: pos[1]}}}, in)
		}
	default:
		w.puzzle("an object of the type "+name+", which gate does not know", c.place)
	}
	return hole("an object of the type "+name, t).stream()
}
