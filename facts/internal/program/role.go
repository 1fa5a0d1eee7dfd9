package program

import (
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/world"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// operandRoles gives each operand its role.
func (u *use) operandRoles() []catalogue.Role {
	return spread(u.rolesInForce(), len(u.rest))
}

// rolesInForce are the row's roles under the options that are there.
func (u *use) rolesInForce() []catalogue.Role {
	for _, v := range u.row.When {
		if !slices.ContainsFunc(v.Options, func(o string) bool { return !u.has(o) }) {
			return v.Roles
		}
	}
	return u.row.Operands
}

// spread lays roles over n operands: those after a starred role take the last. Those
// that are too many have none.
func spread(roles []catalogue.Role, n int) []catalogue.Role {
	star := -1
	for i, r := range roles {
		if r.Many {
			star = i
			break
		}
	}
	out := make([]catalogue.Role, n)
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
		}
	}
	return out
}

func (u *use) commandRole() bool {
	return slices.ContainsFunc(u.row.Operands, func(r catalogue.Role) bool { return r.Name == "command" })
}

// optionRoles judges the values of options.
func (u *use) optionRoles() {
	var looked flow.Word
	for _, a := range u.args {
		switch {
		case a.option == nil:
		case len(a.value.Parts) > 0 && a.option.Role.Name == "":
			u.maybePath(a.field) // with its name, which may tell
		case len(a.value.Parts) > 0:
			u.role(a.option.Role, a.value)
		case a.flag != "" && !a.field.Same(looked): // -x=PATH, of which each letter is an option
			looked = a.field
			u.maybePath(a.field)
		}
	}
}

// roles judges the operands.
func (u *use) roles() {
	if len(u.strayed) > 0 {
		u.maybePath(u.strayed[0])
	}
	roles := u.operandRoles()
	if len(u.row.Operands) > 0 && u.row.Operands[0].Name == "execute" && u.has("s") { // bash -s ARGS
		u.runStdin(u.row.Operands[0].Detail)
		return
	}
	for i, f := range u.rest {
		if roles[i].Name == "shell" && roles[i].Many {
			u.inside(func() { u.prints(u.shell.Text(flow.Join(u.rest[i:]), u.Stdin)) })
			return
		}
		if roles[i].Name == "command" {
			return // wrapped has run it
		}
		if strings.HasPrefix(f.Prefix(), "+") && takesCommands(u.name) {
			u.editorCommands(f.From(1))
			continue
		}
		u.role(roles[i], f)
	}
	if len(u.rest) == 0 || len(u.reads) == 0 && onlyDash(u.rest[:u.dashes()]) {
		u.implied()
	}
}

// dashes is how many operands must be a dash for the input to be read: the first
// of an interpreter, behind which its program's own begin. To a shell a dash is
// what -- is.
func (u *use) dashes() int {
	if r := u.row.Operands; len(r) > 0 && r[0].Name == "execute" && r[0].Detail != "bash" {
		return 1
	}
	return len(u.rest)
}

func onlyDash(fields []flow.Word) bool {
	return !slices.ContainsFunc(fields, func(f flow.Word) bool { return f.Text() != "-" })
}

// takesCommands lists programs whose +COMMAND is run.
func takesCommands(name string) bool {
	return wordlist.Has(" vi vim nvim view ex vimdiff gvim less more most ", name)
}

// implied judges what a program reads when it has no operand: an interpreter
// its input.
func (u *use) implied() {
	for _, r := range u.row.Operands {
		if r.Name == "execute" && !u.inline() {
			u.runStdin(r.Detail)
			return
		}
	}
}

// inline reports program text among the options.
func (u *use) inline() bool {
	return slices.ContainsFunc(u.args, func(a argument) bool {
		return a.option != nil && len(a.value.Parts) > 0 && (a.option.Role.Name == "code" || a.option.Role.Name == "shell")
	})
}

// role judges one word in its role.
func (u *use) role(r catalogue.Role, f flow.Word) {
	how := r.Detail
	switch r.Name {
	case "": // what becomes of it nobody says
		u.maybePath(f)
	case "text":
		u.maybeValue(f)
	case "read":
		if f.Text() == "-" && f.Literal() {
			return
		}
		u.reads = append(u.reads, f)
		u.touch(f, u.printsOf(f))
	case "use":
		u.touch(f, draft.Access{Kind: "use"})
	case "list":
		u.touch(f, draft.Access{Kind: "list"})
	case "write":
		if how == "" {
			how = "overwrite"
		}
		if u.row.Special == "copy" && (u.has("link") || u.has("symbolic-link")) {
			how = "link"
		}
		if f.Text() == "-" && f.Literal() {
			return
		}
		if how == "unpack" {
			u.unpacks(f)
			return
		}
		in := u.Stdin
		in.Endless = in.Endless || u.row.Special == "copy" && world.Endless(u.rest[0].Text())
		for _, to := range u.destinations(f) {
			u.touch(to, draft.Access{Kind: "write", How: how, Recursive: u.recurse, Content: in, Links: u.linkTarget(how), Keeps: u.copiesGuarded()})
		}
	case "delete":
		if how == "" {
			how = "remove"
		}
		u.touch(f, draft.Access{Kind: "delete", How: how, Recursive: u.recurse || how == "sync", Force: u.force})
	case "permissions":
		u.touch(f, draft.Access{Kind: "permissions", Recursive: u.recurse, Mode: u.mode()})
	case "cd":
		u.shell.Fork()
		to := u.enter(f)
		u.at().Dirs, u.at().Under = to, u.at().Below(to, f)
	case "execute":
		if f.Text() == "-" && f.Literal() { // standard input
			return
		}
		u.touch(f, draft.Access{Kind: "execute"})
		u.execute(how, f)
	case "url", "host":
		if pathLike(f) { // w3m FILE, fping -f FILE
			u.maybePath(f)
		}
		u.peer(r.Name, f)
	case "upload":
		u.upload(f)
	case "data":
		u.data(f)
	case "shell", "command":
		u.inside(func() { u.shellOperand(f) })
	case "code":
		u.code(how, f, "inline")
	case "sql":
		u.sql(f)
	case "package":
		u.pkg(f)
	case "process":
		u.process(f, how == "name")
	case "proxy":
		u.sets("https_proxy", detour(f, how))
	case "assign":
		if name, value, ok := f.Cut("="); ok {
			u.sets(name, value)
		}
	}
}

// shellOperand runs the text that a shell is given, with the operands behind it as
// its name and arguments: sh -c TEXT NAME ARGS.
func (u *use) shellOperand(f flow.Word) {
	if len(u.row.Operands) > 0 && u.row.Operands[0].Name == "execute" {
		name := flow.Literal(u.name)
		if len(u.rest) > 1 {
			name = u.rest[1]
		}
		u.shell.Arguments(name, u.rest[min(2, len(u.rest)):])
	}
	u.prints(u.shell.Text(f, u.Stdin))
}

// prints adds what a shell inside writes to what the program itself does.
func (u *use) prints(out flow.Stream) { u.Out = flow.Concat(u.Out, out) }

// inside runs f with this program among the wrappers.
func (u *use) inside(f func()) {
	u.Via = append(u.Via, u.viaName())
	u.shell.Inside(func() {
		if len(u.row.Operands) > 0 && u.row.Operands[0].Name == "host" && !u.loopback() { // ssh and its like
			u.at().Remote, u.at().Dirs = true, []string{u.World.Home}
		}
		f()
	})
	u.Via = u.Via[:len(u.Via)-1]
}

// loopback reports that the peer is this machine after all.
func (u *use) loopback() bool {
	if len(u.rest) == 0 {
		return true
	}
	host := peer.Parse(u.rest[0].Text(), false).Host
	return !u.rest[0].Literal() || host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "0")
}

func (u *use) viaName() string {
	return strings.Join(append([]string{u.name}, u.verbs...), " ")
}

// linkTarget returns what a link that is made points to.
func (u *use) linkTarget(how string) []flow.Word {
	if how != "link" || len(u.rest) < 2 {
		return nil
	}
	return u.rest[:len(u.rest)-1]
}

func (u *use) mode() flow.Word {
	for _, f := range u.Given() { // chmod -x FILE, which looks like an option
		if t := f.Text(); u.name != "chattr" && len(t) > 1 && t[0] == '-' && strings.Trim(t[1:], "rwxXst") == "" {
			return f
		}
	}
	if len(u.rest) > 0 && u.name != "chattr" && !u.has("reference") {
		return u.rest[0]
	}
	return flow.Word{}
}

// detour is the peer in the value of an option that leads a request elsewhere: a proxy,
// or for how "address" the last part of HOST:PORT:ADDRESS and HOST:PORT:HOST:PORT.
func detour(f flow.Word, how string) flow.Word {
	if how != "address" {
		return f
	}
	parts := strings.SplitN(f.Text(), ":", 3)
	if !f.Literal() || len(parts) < 3 {
		return f
	}
	return flow.Literal(strings.TrimSuffix(parts[2], ":"))
}
