package facts

import (
	"maps"
	"path"
	"slices"
	"strings"

	"gate/facts/catalogue"
	"gate/facts/code"
	"gate/facts/glob"
	"gate/hook"

	"gate/facts/flow"
)

// looksInto returns what a program surely does that is a small, readable shell
// script: ./scripts/clean.sh. The rest of it is as unknown as what any program
// does, and asking about that would be asking about every build script.
func (c *call) looksInto(file string) []hook.FactEffect {
	if file == "" || c.s.remote || c.running("script "+file) {
		return nil
	}
	text, err := c.world.Read(file, maxScript)
	if err != nil || !isShellScript(file, text) {
		return nil
	}
	out, full := c.facts, c.full
	c.facts = &hook.Facts{Shell: &hook.Shell{}}
	c.active = append(c.active, frame{name: "script " + file, state: c.s})
	s := c.s.clone()
	name := flow.Literal(file)
	s.zero, s.params, s.args = &name, c.args(), true
	c.nested++
	c.script(s, text, c.stdin)
	c.nested--
	c.active = c.active[:len(c.active)-1]
	found := c.facts.Effects
	c.facts, c.full = out, full // a limit that is reached later is said then
	return slices.DeleteFunc(found, func(e hook.FactEffect) bool { return doubtful(e) && !decoded(e) })
}

// doubtful reports an effect of a program that may be no such thing.
func doubtful(e hook.FactEffect) bool {
	for name, at := range hook.Members(&e) {
		if name == "path" && hook.Plain(at) == nil {
			return true
		}
	}
	return e.Kind() == "exec.code"
}

// decoded reports code that somebody made unreadable.
func decoded(e hook.FactEffect) bool {
	code, ok := e.Is.(*hook.ExecCode)
	return ok && code.Decoded
}

// asProgram judges the text of a script as the program that it is: by what it
// surely does. What else it may do is as unknown as it is of any program, whether
// a shell is told to run the file or the file is called by its name. Code that is
// hidden in it is no program's, and one that is handed a command may run just that.
func (c *call) asProgram(script flow.Word, judge func()) {
	out := c.facts
	opaque, unknown, effects, full := out.Opaque, len(out.Unknown), len(out.Effects), c.full
	judge()
	if slices.ContainsFunc(out.Effects[effects:], decoded) || len(out.Unknown) > unknown && c.handsCommand(script) {
		return
	}
	out.Opaque, out.Unknown, c.full = opaque, out.Unknown[:unknown], full
	out.Effects = append(out.Effects[:effects], slices.DeleteFunc(out.Effects[effects:], doubtful)...)
}

// maxHanded bounds how many arguments are read as the beginning of a command.
const maxHanded = 8

// handsCommand reports whether one of a script's arguments, or those from one on,
// read as a command that does something: run.py 'rm -rf ~'.
func (c *call) handsCommand(script flow.Word) bool {
	args := c.args()
	at := slices.IndexFunc(args, func(f flow.Word) bool { return f.Text() == script.Text() })
	args = args[at+1:]
	for i := range min(len(args), maxHanded) {
		if c.acts(args[i].Text()) || c.acts(flow.Join(args[i:]).Text()) {
			return true
		}
	}
	return false
}

// acts reports whether a line would do more than look at and write files. Nothing
// comes of the question but what it costs.
func (c *call) acts(line string) bool {
	w, d, s := *c.walker, *c.draft, c.s
	c.facts, c.s = &hook.Facts{Shell: &hook.Shell{}}, s.clone()
	c.files, c.links, c.copied, c.seen = maps.Clone(d.files), maps.Clone(d.links), maps.Clone(d.copied), maps.Clone(w.seen)
	c.nestedScript(line, flow.Stream{})
	found := c.facts.Effects
	w.steps, w.parsed, w.listed, w.match = c.steps, c.parsed, c.listed, c.match
	*c.walker, *c.draft, c.s = w, d, s
	return slices.ContainsFunc(found, func(e hook.FactEffect) bool { return e.Kind() != "fs.read" && e.Kind() != "fs.write" })
}

// isShellScript goes by the first line, else by the name: bash runs a file
// without one itself.
func isShellScript(file, text string) bool {
	switch interpreter(text) {
	case "sh", "bash", "dash", "ksh":
		return true
	case "":
		return strings.HasSuffix(file, ".sh") || strings.HasSuffix(file, ".bash")
	}
	return false
}

// interpreter is the program that the first line of a script names, "" for none.
func interpreter(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	words, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return ""
	}
	for w := range strings.FieldsSeq(words) {
		if base := path.Base(w); base != "env" && base[0] != '-' && !strings.Contains(base, "=") {
			return base
		}
	}
	return ""
}

// execute judges a script that is named on the line.
func (u *use) execute(language string, f flow.Word) {
	u.inside(func() {
		u.call.s.zero = &f
		if len(u.rest) > 0 && u.rest[0].Text() == f.Text() {
			u.call.s.params, u.call.s.args = u.rest[1:], true
		}
		u.prints(u.runScript(language, f, false))
	})
}

const maxScript = 64 << 10

// runScript follows a script file: written in this line, from a substitution,
// or readable and small.
func (c *call) runScript(language string, f flow.Word, here bool) flow.Stream {
	for _, p := range c.absolute(c.s.where, f) {
		if p.path == "" {
			continue
		}
		if p.glob || p.contents { // of what it matches, the line's own files are known
			pattern := p.path
			if p.contents {
				pattern += "/*"
			}
			for _, name := range slices.Sorted(maps.Keys(c.files)) {
				if glob.Compile(pattern, glob.Syntax{}).Match(name) != glob.No {
					c.runScript(language, flow.Literal(name), here)
				}
			}
			continue
		}
		st, ok := c.files[p.path]
		if isInput(flow.Literal(p.path)) {
			st, ok = c.stdin, true
		}
		whole, known := st.Template()
		if ok && !known {
			return c.unknownCode(c.id, language, st.Taint, "file", "the file was written by a program")
		}
		if !ok {
			if language != "" && language != "bash" && !code.HasRules(language) {
				continue // what such a program does is as unknown as what any does
			}
			text, err := c.world.Read(p.path, maxScript)
			if err != nil {
				if c.world.Exists(p.path) {
					c.unknown("script", "a script that gate could not read", c.id, f.Span)
				}
				continue
			}
			whole = flow.Literal(text)
		}
		var out flow.Stream
		judge := func() { out = c.runText(language, whole, here) }
		if ok {
			judge()
		} else {
			c.asProgram(f, judge)
		}
		if here || language == "bash" || language == "" || out.Taint.Secret != "" {
			return out
		}
	}
	if f.Value() == nil {
		return c.unknownCode(c.id, language, f.Taint(), "file", f.Why())
	}
	return flow.Stream{Some: true, From: c.id}
}

// runText runs the text of a script, here or in a program of its own.
func (c *call) runText(language string, text flow.Word, here bool) flow.Stream {
	if !here && language != "bash" && language != "" {
		u := &use{call: c, row: &catalogue.Row{}}
		u.code(language, text, "file")
		return flow.Stream{Some: true, From: c.id, Taint: text.Taint()}
	}
	if !text.Literal() {
		return c.shellText(text, c.stdin)
	}
	s := c.s
	if !here {
		s = c.s.clone()
	}
	c.nested++
	defer func() { c.nested-- }()
	return c.script(s, text.Text(), c.stdin)
}

// runsFile judges a program called by a path: ./x.sh that this line wrote, or
// that is there.
func (c *call) runsFile(name string) {
	f := flow.Literal(name)
	for _, p := range c.absolute(c.s.where, f) {
		st, ok := c.files[p.path]
		if !ok {
			c.does = append(c.does, c.looksInto(p.path)...)
		} else if text, ok := st.Template(); !ok {
			c.unknownCode(c.id, "bash", st.Taint, "file", "the file was written by a program")
		} else if language := interpreter(text.Prefix()); code.HasRules(language) {
			c.runText(language, text, false)
		} else {
			c.shellText(text, c.stdin)
		}
	}
}
