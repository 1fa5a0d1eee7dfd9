package facts

import (
	"regexp"
	"strings"

	"gate/hook"
)

// A use is a call seen through its row: options told from operands, each with
// its role.
type use struct {
	*call
	row     *row
	name    string // the program
	global  string // the special of a program with verbs, for options before the verb
	verbs   []string
	args    []argument
	opts    map[string][]field // values by canonical name; the zero field for a flag
	rest    []field            // operands, without verbs
	inner   []field            // the words of a command inside
	reads   []field            // files whose content goes to the output
	asks    bool               // --help, --version and nothing else
	recurse bool
	force   bool
}

// program judges a program by its row.
func (c *call) program(name, base string) stream {
	row, ok := c.lookup(base)
	if !ok {
		return c.strange(base)
	}
	u := &use{call: c, row: row, name: base}
	u.sort()
	if u.wraps() {
		return u.wrapped()
	}
	u.listUse()
	if u.asks {
		return stream{some: true, from: c.id}
	}
	u.roles()
	u.effects()
	for _, name := range []string{u.global, u.row.special} {
		if f := special(name); f != nil {
			f(u)
		}
	}
	out := u.output()
	out.from = c.id
	return out
}

// strange lists a program without a row: raw words only. Paths on it that are
// secrets or gate's own still count, whatever the program does with them.
func (c *call) strange(base string) stream {
	c.list(ptr(base), nil)
	for _, w := range c.args() {
		c.maybePath(w)
	}
	return stream{some: true, from: c.id, taint: c.stdin.taint}
}

// sort finds the verbs, tells options from operands and files option values.
func (u *use) sort() {
	words := u.args2()
	var before []argument // options between the program and its verb
	spec := u.row.options
	if u.row.verbs {
		u.global = u.row.special
	}
	for u.row.verbs {
		head := *u.row
		head.options, head.stop = spec, true
		args := head.arguments(words)
		at := -1
		for i, a := range args {
			if a.option == nil {
				at = i
				break
			}
		}
		if at < 0 || args[at].field.value() == nil {
			break
		}
		verb := *args[at].field.value()
		child, ok := u.lookup(strings.Join(append(append([]string{u.name}, u.verbs...), verb), " "))
		u.verbs = append(u.verbs, verb)
		before = append(before, args[:at]...)
		words = words[:0:0]
		for _, a := range args[at+1:] {
			words = append(words, a.field)
		}
		if !ok {
			u.row = &row{name: u.name, options: spec, style: u.row.style}
			break // a verb without a row: it has no effects of its own
		}
		spec = child.options.merge(spec)
		parent := u.row
		merged := *child
		merged.options = spec
		if merged.style == "" {
			merged.style = parent.style
		}
		u.row = &merged
	}
	merged := *u.row
	merged.options = spec
	u.row = &merged
	u.args = append(before, u.row.arguments(words)...)
	u.opts = map[string][]field{}
	for _, a := range u.args {
		if a.option == nil {
			u.rest = append(u.rest, a.field)
			continue
		}
		u.opts[a.option.name] = append(u.opts[a.option.name], a.value)
	}
	u.recurse = u.has("recursive")
	u.force = u.has("force")
	u.asks = len(u.rest) == 0 && (u.has("help") || u.has("version")) && !u.commandRole()
}

// args2 are the words after the program.
func (u *use) args2() []field { return u.words[1:] }

func (u *use) has(option string) bool { _, ok := u.opts[option]; return ok }

// opt returns the last value of an option.
func (u *use) opt(option string) (field, bool) {
	v := u.opts[option]
	if len(v) == 0 {
		return field{}, false
	}
	return v[len(v)-1], true
}

// optText returns the option's value as JSON: a string, or nil when it is
// absent or unknown.
func (u *use) optText(option string) any {
	f, ok := u.opt(option)
	if !ok {
		return nil
	}
	return textOrNil(f)
}

func textOrNil(f field) any {
	if v := f.value(); v != nil {
		return *v
	}
	return nil
}

// listUse adds the command to the facts with its options and operands.
func (u *use) listUse() {
	u.list(ptr(u.name), u.row)
	cmd := &u.call.out2()[u.id-1]
	if len(u.verbs) > 0 {
		cmd.Subcommand = ptr(strings.Join(u.verbs, " "))
	}
	for _, f := range u.rest {
		cmd.Operands = append(cmd.Operands, short(f.value()))
	}
	for name, values := range u.opts {
		for _, v := range values {
			switch {
			case len(v.parts) == 0:
				cmd.Options[name] = append(cmd.Options[name], true)
			default:
				cmd.Options[name] = append(cmd.Options[name], textOrNil(v))
			}
		}
	}
}

// operandRoles gives each operand its role.
func (u *use) operandRoles() []role {
	roles := u.row.operands
	for option, other := range u.row.when {
		if u.has(option) {
			roles = other
			break
		}
	}
	return spread(roles, len(u.rest))
}

// spread lays roles over n operands: those after a starred role take the last.
func spread(roles []role, n int) []role {
	star := -1
	for i, r := range roles {
		if r.many {
			star = i
			break
		}
	}
	out := make([]role, n)
	for i := range out {
		switch {
		case star < 0 && i < len(roles), star >= 0 && i < star:
			out[i] = roles[i]
		case star >= 0:
			after := len(roles) - star - 1
			if k := n - i; k <= after {
				out[i] = roles[len(roles)-k]
			} else {
				out[i] = roles[star]
			}
		default:
			out[i] = role{name: "text"}
		}
	}
	return out
}

func (u *use) commandRole() bool {
	for _, r := range u.row.operands {
		if r.name == "command" {
			return true
		}
	}
	return false
}

// roles judges option values and operands.
func (u *use) roles() {
	for _, a := range u.args {
		if a.option != nil && len(a.value.parts) > 0 {
			u.role(a.option.role, a.value)
		}
	}
	roles := u.operandRoles()
	for i, f := range u.rest {
		if roles[i].name == "shell" && roles[i].many {
			u.inside(func() { u.shellText(join(u.rest[i:]), u.stdin) })
			return
		}
		if roles[i].name == "command" {
			return // wrapped has run it
		}
		u.role(roles[i], f)
	}
	if len(u.rest) == 0 || len(u.reads) == 0 && onlyDash(u.rest) {
		u.implied()
	}
}

func onlyDash(fields []field) bool {
	for _, f := range fields {
		if f.text() != "-" {
			return false
		}
	}
	return true
}

// implied judges what a program reads when it has no operand: an interpreter
// its input.
func (u *use) implied() {
	for _, r := range u.row.operands {
		if r.name == "execute" && !u.inline() {
			u.runStdin(r.detail)
			return
		}
	}
}

// inline reports program text among the options.
func (u *use) inline() bool {
	for _, a := range u.args {
		if a.option != nil && len(a.value.parts) > 0 && (a.option.role.name == "code" || a.option.role.name == "shell") {
			return true
		}
	}
	return false
}

// role judges one word in its role.
func (u *use) role(r role, f field) {
	how := r.detail
	switch r.name {
	case "read":
		if f.text() == "-" && f.literal() {
			return
		}
		u.reads = append(u.reads, f)
		u.usePath(u.s, u.id, f, access{kind: "read", shown: u.shows(), recursive: u.recurse})
	case "use":
		u.usePath(u.s, u.id, f, access{kind: "use"})
	case "list":
		u.usePath(u.s, u.id, f, access{kind: "list"})
	case "write":
		if how == "" {
			how = "overwrite"
		}
		if f.text() == "-" && f.literal() {
			return
		}
		u.usePath(u.s, u.id, f, access{kind: "write", how: how, recursive: u.recurse, content: u.stdin, links: u.linkTarget(how)})
	case "delete":
		if how == "" {
			how = "remove"
		}
		u.usePath(u.s, u.id, f, access{kind: "delete", how: how, recursive: u.recurse || how == "sync", force: u.force})
	case "permissions":
		u.usePath(u.s, u.id, f, access{kind: "permissions", recursive: u.recurse, mode: u.mode()})
	case "cd":
		u.s = u.s.clone()
		u.s.dirs = u.enter(u.s, f)
	case "execute":
		u.usePath(u.s, u.id, f, access{kind: "execute"})
		u.execute(how, f)
	case "url", "host":
		u.peer(r.name, f)
	case "upload":
		u.upload(f)
	case "data":
		u.data(f)
	case "shell", "command":
		u.inside(func() { u.shellText(f, stream{}) })
	case "code":
		u.code(how, f, "inline")
	case "sql":
		u.sql(f)
	case "package":
		u.pkg(f)
	case "assign":
		if name, value, ok := f.cut("="); ok {
			u.variableEffect(u.id, name, value)
		}
	}
}

// inside runs f with this program among the wrappers.
func (u *use) inside(f func()) {
	u.via = append(u.via, u.viaName())
	s := u.call.s
	u.call.s = u.s.clone()
	f()
	u.call.s = s
	u.via = u.via[:len(u.via)-1]
}

func (u *use) viaName() string {
	return strings.Join(append([]string{u.name}, u.verbs...), " ")
}

// shows reports whether what the program reads goes to its output.
func (u *use) shows() bool {
	switch u.row.output {
	case "copy", "filter", "encode", "decode", "":
		return true
	}
	return false
}

// linkTarget returns what a link that is made points to.
func (u *use) linkTarget(how string) []field {
	if how != "link" || len(u.rest) < 2 {
		return nil
	}
	return u.rest[:len(u.rest)-1]
}

func (u *use) mode() field {
	if len(u.rest) > 0 && u.name != "chattr" {
		return u.rest[0]
	}
	return field{}
}

// effects adds what the row says besides its roles.
func (u *use) effects() {
	for _, t := range u.row.effects {
		if !u.holds(t.conds) {
			continue
		}
		attrs := make(map[string]any, len(t.attrs))
		for k, v := range t.attrs {
			attrs[k] = u.value(v)
		}
		u.effect(t.kind, u.id, attrs)
		u.tainted(t.kind)
	}
}

// tainted passes what an effect says about the output on.
func (u *use) tainted(kind string) {
	if kind == "secret.read" {
		u.call.out.taint.secret = "secret"
	}
}

func (u *use) holds(conds []string) bool {
	for _, c := range conds {
		if !u.holdsOne(c) {
			return false
		}
	}
	return true
}

func (u *use) holdsOne(cond string) bool {
	body, negated := strings.CutPrefix(cond, "!")
	ok := false
	switch {
	case body == "operands":
		ok = len(u.rest) > 0
	case strings.HasPrefix(body, "has:"):
		ok = u.has(body[4:])
	case strings.HasPrefix(body, "opt:"):
		name, values, _ := strings.Cut(body[4:], "=")
		f, set := u.opt(name)
		ok = set && oneOf(f, values)
	case strings.HasPrefix(body, "operand:"):
		n, values, _ := strings.Cut(body[8:], "=")
		i := int(n[0] - '0')
		ok = i < len(u.rest) && oneOf(u.rest[i], values)
	case strings.HasPrefix(body, "any~"):
		re, err := regexp.Compile(body[4:])
		for _, f := range u.rest {
			vs, known := f.variants()
			ok = ok || !known && !negated || err != nil
			for _, v := range vs {
				ok = ok || err == nil && re.MatchString(v)
			}
		}
	}
	return ok != negated
}

// oneOf reports whether f is one of the values, separated by "|", or unknown.
func oneOf(f field, values string) bool {
	vs, known := f.variants()
	if !known {
		return true
	}
	for _, v := range vs {
		if contains(strings.Split(values, "|"), v) {
			return true
		}
	}
	return false
}

// value resolves a template's value.
func (u *use) value(v any) any {
	s, ok := v.(string)
	if !ok || !strings.HasPrefix(s, "$") {
		return v
	}
	switch name, arg, _ := strings.Cut(s[1:], ":"); name {
	case "has":
		return u.has(arg)
	case "opt":
		return u.optText(arg)
	case "operand":
		if i := int(arg[0] - '0'); i < len(u.rest) {
			return textOrNil(u.rest[i])
		}
		return nil
	case "operands":
		from := 0
		if arg != "" {
			from = int(arg[0] - '0')
		}
		list := []any{}
		for i := from; i < len(u.rest); i++ {
			list = append(list, textOrNil(u.rest[i]))
		}
		return list
	case "verb":
		return strings.Join(u.verbs, " ")
	case "program":
		return u.name
	}
	return v
}

// output returns what the program writes to standard output.
func (u *use) output() stream {
	out := u.call.out
	out.some = true
	in := u.stdin
	if len(u.reads) > 0 {
		in = stream{}
		for _, f := range u.reads {
			in = concat(in, u.fileStream(u.s, f))
		}
	}
	switch u.row.output {
	case "echo":
		out.text, out.taint = u.echo(), out.taint.merge(join(u.rest).taint())
	case "printf":
		f := formatted(u.args2())
		out.text, out.taint = f.value(), out.taint.merge(join(u.rest).taint())
	case "copy":
		out.text, out.taint = in.text, out.taint.merge(in.taint)
	case "filter", "encode":
		out.taint = out.taint.merge(in.taint)
		if u.has("quiet") || u.has("count") || out.taint.secret == "environment" && u.narrows() {
			out.taint.secret = ""
		}
	case "decode":
		out = u.decode(in, out)
	case "fetch":
		out.taint.remote = true
		if h := u.lastHost(); h != nil {
			out.taint.host, out.taint.url = deref(h.Host), deref(h.URL)
		}
	case "environment":
		out.taint.secret = "environment"
	case "secret":
		out.taint.secret = "secret"
	}
	return out
}

// narrows reports a search whose pattern picks out variables that hold no
// secret: env | grep NODE.
func (u *use) narrows() bool {
	patterns := append(append([]field(nil), u.opts["regexp"]...), u.opts["expression"]...)
	if len(patterns) == 0 && len(u.rest) > 0 {
		patterns = u.rest[:1]
	}
	for _, p := range patterns {
		v := p.value()
		if v == nil || u.has("invert-match") || secretVariable(*v) || len(strings.Trim(*v, ".*^$ =")) < 2 || strings.ContainsAny(*v, "|") && secretVariable(*v) {
			return false
		}
		for _, word := range []string{"pass", "pwd", "key", "auth", "cred", "aws", "secret", "token"} {
			if strings.Contains(strings.ToLower(*v), word) {
				return false
			}
		}
	}
	return len(patterns) > 0
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (u *use) lastHost() *hook.Host {
	for i := len(u.walker.out.Hosts) - 1; i >= 0; i-- {
		if h := &u.walker.out.Hosts[i]; h.Command == u.id {
			return h
		}
	}
	return nil
}

// echo returns what echo prints, with its escapes when -e is there.
func (u *use) echo() *string {
	words := u.args2()
	escapes, newline := false, true
	for len(words) > 0 {
		t := words[0].text()
		if len(t) < 2 || t[0] != '-' || strings.Trim(t[1:], "neE") != "" {
			break
		}
		escapes = escapes || strings.Contains(t, "e")
		newline = newline && !strings.Contains(t, "n")
		words = words[1:]
	}
	v := join(words).value()
	if v == nil {
		return nil
	}
	text := *v
	if escapes {
		text = ansiC(text)
	}
	if newline {
		text += "\n"
	}
	return &text
}

// formatted is what printf prints for its words.
func formatted(words []field) field {
	for len(words) > 0 && words[0].text() == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return literalField("")
	}
	format := words[0].value()
	if format == nil {
		return holeField(&hole{why: "printf with an unknown format", empty: true, taint: join(words).taint()})
	}
	args := words[1:]
	var out field
	for {
		var used int
		var f field
		f, used = formatOnce(*format, args)
		out.parts = append(out.parts, f.parts...)
		if used == 0 || used >= len(args) {
			return out
		}
		args = args[used:]
	}
}

func formatOnce(format string, args []field) (field, int) {
	var out field
	used := 0
	text := func(s string) { out.parts = append(out.parts, part{text: s, quoted: true}) }
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			text(ansiC(format))
			break
		}
		text(ansiC(format[:i]))
		j := i + 1
		for j < len(format) && strings.IndexByte("-+ #0123456789.*", format[j]) >= 0 {
			j++
		}
		if j >= len(format) {
			break
		}
		verb := format[j]
		format = format[j+1:]
		if verb == '%' {
			text("%")
			continue
		}
		var arg field
		if used < len(args) {
			arg = args[used]
		}
		used++
		if verb == 'b' {
			arg = mapText(arg, ansiC)
		}
		if verb == 'q' || strings.IndexByte("sbqdiuc", verb) < 0 {
			arg = holeField(&hole{why: "a formatted value", empty: true, taint: arg.taint()})
		}
		out.parts = append(out.parts, arg.parts...)
	}
	return out, used
}
