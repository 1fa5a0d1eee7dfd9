package facts

import (
	"path"
	"strings"

	"gate/hook"
	"mvdan.cc/sh/v3/syntax"
)

// A call is one simple command while it is being judged.
type call struct {
	*walker
	s         *state
	words     []field // program and arguments
	env       []setting
	redirects []redirect
	stdin     stream
	input     *hook.Stdin
	span      *hook.Span
	id        int // of its command, once it is listed
	out       stream
}

// A setting is an assignment before a command.
type setting struct {
	name  string
	value field
}

// A redirect is one redirection, expanded.
type redirect struct {
	op     syntax.RedirOperator
	fd     int
	target field
	span   *hook.Span
}

// call runs a simple command.
func (w *walker) call(s *state, st *syntax.Stmt, c *syntax.CallExpr, stdin stream) stream {
	words := w.fields(s, c.Args...)
	if len(c.Args) == 0 || len(words) == 0 {
		return w.redirected(s, st, stdin, nil, func(*state, stream) stream {
			for _, a := range c.Assigns {
				f := w.assign(s, a)
				if a.Name != nil {
					w.variableEffect(0, a.Name.Value, f)
				}
			}
			return stream{}
		})
	}
	cl := &call{walker: w, s: s, words: words, span: w.span(st)}
	for _, a := range c.Assigns {
		if a.Name != nil {
			cl.env = append(cl.env, setting{a.Name.Value, w.word(s, a.Value)})
		}
	}
	return w.redirected(s, st, stdin, cl, func(s *state, in stream) stream {
		cl.stdin = in
		return cl.run()
	})
}

// redirected applies a statement's redirections around run.
func (w *walker) redirected(s *state, st *syntax.Stmt, stdin stream, cl *call, run func(*state, stream) stream) stream {
	var redirects []redirect
	for _, r := range st.Redirs {
		red := redirect{op: r.Op, fd: -1, span: w.span(r)}
		if r.N != nil && len(r.N.Value) == 1 && r.N.Value[0] <= '9' && r.N.Value[0] >= '0' {
			red.fd = int(r.N.Value[0] - '0')
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			red.target = w.word(s, r.Hdoc)
			if r.Op == syntax.DashHdoc && red.target.literal() {
				red.target = literalField(stripTabs(red.target.text()))
			}
			stdin = w.textStream(red.target)
			cl.setInput("heredoc", stdin, nil)
		case syntax.WordHdoc:
			red.target = w.word(s, r.Word)
			stdin = w.textStream(join([]field{red.target, literalField("\n")}))
			cl.setInput("herestring", stdin, nil)
		default:
			if f := w.fields(s, r.Word); len(f) > 0 {
				red.target = join(f)
			}
			if (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut) && red.fd <= 0 {
				stdin = w.fileStream(s, red.target)
				cl.setInput("file", stdin, red.target.value())
			}
		}
		redirects = append(redirects, red)
	}
	if cl != nil {
		cl.redirects = redirects
		if cl.input == nil && stdin.some {
			cl.input = &hook.Stdin{From: "pipe", Command: stdin.from, Text: short(stdin.text)}
		}
	}
	out := run(s, stdin)
	id := 0
	if cl != nil {
		id = cl.id
	}
	return w.applyRedirects(s, redirects, out, id)
}

func (c *call) setInput(from string, in stream, file *string) {
	if c != nil {
		c.input = &hook.Stdin{From: from, Text: short(in.text), Path: file}
	}
}

const maxShown = 4096

// short keeps long texts out of the facts; they are judged in full all the same.
func short(s *string) *string {
	if s == nil || len(*s) <= maxShown {
		return s
	}
	return nil
}

func (w *walker) textStream(f field) stream {
	return stream{text: f.value(), taint: f.taint(), some: true}
}

func stripTabs(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, "\t")
	}
	return strings.Join(lines, "\n")
}

// applyRedirects judges the files that redirections open, and returns what is
// left for standard output.
func (w *walker) applyRedirects(s *state, redirects []redirect, out stream, id int) stream {
	for _, r := range redirects {
		switch r.op {
		case syntax.RdrIn:
			w.usePath(s, id, r.target, access{kind: "read"})
		case syntax.RdrInOut:
			w.usePath(s, id, r.target, access{kind: "write", how: "append"})
		case syntax.DplIn, syntax.DplOut:
			if v := r.target.value(); v == nil || !isDescriptor(*v) {
				w.outputTo(s, id, r.target, "overwrite", out)
			}
			if r.fd == 1 || r.fd < 0 && r.op == syntax.DplOut {
				out = stream{}
			}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.AppClob, syntax.RdrAllClob, syntax.AppAllClob:
			how := "overwrite"
			if r.op == syntax.AppOut || r.op == syntax.AppAll || r.op == syntax.AppClob || r.op == syntax.AppAllClob {
				how = "append"
			}
			written := out
			if r.fd > 1 {
				written = stream{some: true, from: id}
			}
			w.outputTo(s, id, r.target, how, written)
			if r.fd < 0 || r.fd == 1 {
				out = stream{from: id}
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		default:
			w.unknown("syntax", "a kind of redirection gate does not know", id, r.span)
		}
	}
	return out
}

func isDescriptor(s string) bool {
	s = strings.TrimSuffix(s, "-")
	return strings.Trim(s, "0123456789") == ""
}

// outputTo judges a file that is written, and remembers what it now holds.
func (w *walker) outputTo(s *state, id int, target field, how string, content stream) {
	if v := target.value(); v != nil && (*v == "" || isDescriptor(*v) && target.span == nil && how == "fd") {
		return
	}
	w.usePath(s, id, target, access{kind: "write", how: how, content: content})
	w.remember(s, target, content, how == "append")
	for _, v := range w.connections(target) {
		w.effect("exec.shell", id, map[string]any{"how": "reverse", "host": v})
	}
}

// connections lists hosts that bash's /dev/tcp/HOST/PORT names.
func (w *walker) connections(f field) []string {
	var hosts []string
	text := f.prefix()
	if strings.HasPrefix(text, "/dev/tcp/") || strings.HasPrefix(text, "/dev/udp/") {
		host, _, _ := strings.Cut(strings.SplitN(text, "/", 4)[3], "/")
		hosts = append(hosts, host)
	}
	return hosts
}

// remember notes the content of a file that the line writes.
func (w *walker) remember(s *state, target field, content stream, add bool) {
	for _, p := range w.absolute(s, target) {
		if p.path == "" {
			continue
		}
		if add {
			if old, ok := w.files[p.path]; ok {
				content = concat(old, content)
			} else {
				content.text = nil
			}
		}
		content.some = true
		w.files[p.path] = content
	}
}

// fileStream is what reading a file gives: what this line wrote, a secret, or
// nothing that is known.
func (w *walker) fileStream(s *state, f field) stream {
	out := stream{some: true, taint: f.taint()}
	for _, p := range w.absolute(s, f) {
		if st, ok := w.files[p.path]; ok {
			st.some = true
			return st
		}
		if what, _ := w.secret(p.path); what != "" {
			out.taint.secret = what
		}
	}
	return out
}

// run judges the command and returns what it writes.
func (c *call) run() stream {
	if len(c.out2()) > maxCommands {
		c.limit("more commands than gate looks at")
		return stream{}
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 4*maxDepth {
		c.limit("commands nested deeper than gate follows")
		return stream{}
	}
	program := c.words[0]
	names, known := program.variants()
	if program.empty() && len(c.words) > 1 && c.words[0].span == nil {
		c.words = c.words[1:]
		return c.run()
	}
	if !known {
		return c.unknownProgram()
	}
	var out stream
	for i, name := range names {
		if name == "" {
			continue
		}
		one := *c
		if i > 0 {
			one.s = c.s.clone()
		}
		out = concat(out, one.named(name))
		c.id = one.id
	}
	return out
}

func (c *call) out2() []hook.ShellCommand { return c.walker.out.Shell.Commands }

// unknownProgram lists a command whose program is not known.
func (c *call) unknownProgram() stream {
	c.list(nil, nil)
	why := "which program runs is not known: " + c.words[0].why()
	c.unknown("program", why, c.id, c.words[0].span)
	t := c.words[0].taint()
	if t.remote {
		c.effect("exec.remote", c.id, map[string]any{"host": orNil(t.host), "url": orNil(t.url), "via": "substitution"})
	}
	if c.words[0].many() && c.words[0].mayVanish() && len(c.words) > 1 {
		// It may vanish and leave the next word as the program.
		rest := *c
		rest.words = c.words[1:]
		rest.s = c.s.clone()
		if rest.words[0].literal() {
			rest.run()
		}
	}
	for _, w := range c.words[1:] {
		c.maybePath(w)
	}
	return stream{some: true, from: c.id}
}

// named runs the command under one name.
func (c *call) named(name string) stream {
	if body, ok := c.s.aliases[name]; ok && !contains(c.active, "alias "+name) {
		return c.alias(name, body)
	}
	if body, ok := c.s.funcs[name]; ok {
		return c.function(name, body)
	}
	if p, ok := c.s.hashed[name]; ok {
		name = p
	}
	if strings.HasPrefix(name, "=") && len(name) > 1 {
		c.unknown("dialect", "in zsh =name is the path of a program", 0, c.words[0].span)
	}
	base := strings.TrimSuffix(path.Base(name), ".exe")
	if strings.Contains(name, "/") {
		c.runsFile(name)
	}
	if run := builtin(base); run != nil && !strings.Contains(name, "/") {
		if out, done := run(c); done {
			return out
		}
	}
	return c.program(name, base)
}

// alias puts the alias's text in the place of the first word.
func (c *call) alias(name, body string) stream {
	c.active = append(c.active, "alias "+name)
	defer func() { c.active = c.active[:len(c.active)-1] }()
	rest := make([]field, len(c.words)-1)
	copy(rest, c.words[1:])
	c.s.params, c.s.args = rest, true
	defer func() { c.s.args, c.s.params = false, nil }()
	return c.nestedScript(body+` "$@"`, c.stdin)
}

// function runs a function's body with the arguments of the call.
func (c *call) function(name string, body *syntax.Stmt) stream {
	if contains(c.active, name) || len(c.active) > maxDepth {
		return stream{some: true}
	}
	c.active = append(c.active, name)
	params, args := c.s.params, c.s.args
	c.s.params, c.s.args = c.words[1:], true
	out := c.stmt(c.s, body, c.stdin)
	c.s.params, c.s.args = params, args
	c.active = c.active[:len(c.active)-1]
	c.s.ended = false
	return out
}

// nestedScript runs a text that is not literally the line.
func (c *call) nestedScript(text string, stdin stream) stream {
	c.nested++
	defer func() { c.nested-- }()
	return c.script(c.s, text, stdin)
}

// list adds the command to the facts.
func (c *call) list(program *string, r *row) {
	cmd := hook.ShellCommand{
		Program: program, Path: nil, Operands: []*string{}, Options: map[string][]any{},
		Env: map[string]*string{}, Via: append([]string{}, c.via...), Depth: c.depth - 1, Span: c.span, Stdin: c.input,
	}
	if v := c.words[0].value(); v != nil && strings.Contains(*v, "/") {
		cmd.Path = v
	}
	for _, f := range c.words {
		cmd.Words = append(cmd.Words, hook.Word{Value: short(f.value()), Span: f.span})
		if f.value() == nil {
			c.walker.out.Opaque = true
		}
	}
	for _, e := range c.env {
		cmd.Env[e.name] = e.value.value()
	}
	for _, red := range c.redirects {
		cmd.Redirects = append(cmd.Redirects, hook.Redirect{Op: red.op.String(), FD: red.fd, Target: short(red.target.value()), Span: red.span})
	}
	c.id = c.command(cmd, c.s)
	for _, e := range c.env {
		c.variableEffect(c.id, e.name, e.value)
	}
}

// command appends one command and returns its number.
func (w *walker) command(cmd hook.ShellCommand, s *state) int {
	cmd.ID = len(w.out.Shell.Commands) + 1
	if len(s.dirs) == 1 {
		cmd.Dir = &s.dirs[0]
	}
	if cmd.Via == nil {
		cmd.Via = append([]string{}, w.via...)
	}
	w.out.Shell.Commands = append(w.out.Shell.Commands, cmd)
	for _, word := range cmd.Words {
		if word.Value == nil {
			w.unknown("word", "an argument is not known", cmd.ID, word.Span)
			break
		}
	}
	return cmd.ID
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
