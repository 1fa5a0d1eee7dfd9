package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/sql"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// code judges program text of another language: its dangerous calls become the
// effects a command would have.
func (u *use) code(language string, f flow.Word, source string) {
	if language == "bash" || language == "sh" {
		u.inside(func() { u.shell.Text(f, flow.Stream{}) })
		return
	}
	if kind, ok := u.opt("l"); ok && language == "applescript" && strings.EqualFold(kind.Text(), "JavaScript") {
		language = "node"
	}
	if language == "powershell" {
		u.effect(&hook.ExecCode{Language: language, Source: source, Known: f.Literal(), Decoded: f.Taint().Hidden})
		u.inside(func() { u.prints(u.shell.Other(language, f, flow.Stream{})) })
		return
	}
	if language == "vim" || language == "ex" {
		u.editorCommands(f)
		return
	}
	if source == "inline" && (language == "perl" || language == "ruby") {
		u.editsInPlace(f)
	}
	texts, known := f.Variants()
	if !known {
		text, ok := f.Holed(code.Hole)
		if !ok {
			u.unknownCode(language, f.Taint(), source, f.Why())
			if f.Prefix() != "" {
				u.calls(language, f.Text())
			}
			return
		}
		texts = []string{text}
		if f.MayVanish() {
			texts = append(texts, f.Text())
		}
	}
	for _, text := range texts {
		if language == "node" && u.has("print") && !strings.ContainsAny(text, ";\n") {
			text = "console.log(" + text + ")"
		}
		u.effect(&hook.ExecCode{Language: language, Source: source, Known: known, Decoded: f.Taint().Hidden})
		shown := draft.Short(&text)
		if !known {
			shown = nil
		}
		u.Facts.Code = append(u.Facts.Code, hook.Code{Command: u.ID, Language: language, Text: shown, Source: source, Calls: u.calls(language, text)})
	}
}

// The steps that [code.Inspect] takes for each byte of a text, and that judging one of the
// calls in it takes.
const (
	inspectSteps = 40
	callSteps    = 8000
)

// calls judges the calls in a text and returns their names.
func (u *use) calls(language, text string) []string {
	if !u.affords(inspectSteps * len(text)) {
		return []string{}
	}
	if clearsTable(text) {
		u.effect(&hook.Database{Tool: u.name, Verb: new("delete"), Access: "delete"})
	}
	if code.Multiplies(text) {
		u.effect(&hook.Process{Verb: "fork bomb", All: true})
	}
	if language == "applescript" && strings.Contains(text, "hidden answer") {
		u.effect(&hook.SecretRead{What: "a password that the person types", Grade: "key", Shown: true})
	}
	for line := range strings.Lines(text) {
		if words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ';' || r == ',' || r == '.' || r == '\n' }); language == "python" && len(words) > 1 && (words[0] == "import" || words[0] == "from") {
			u.attacks(words[1], nil)
		}
	}
	if language == "julia" {
		text = u.juliaPackages(text)
	}
	report := code.Inspect(language, text)
	names := []string{}
	u.text, u.silent = text, u.config != "" && u.keepsToItself(language, text, &report)
	u.loadsWritten(language, text)
	u.readsOperands(language, text)
	u.unpickles(language, text)
	u.agentElsewhere(text, report.Calls)
	for _, c := range report.Calls {
		if !u.affords(callSteps) {
			break
		}
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if c.Does == "environment" && len(c.Args) == 1 && u.config != "" && logsIn(text, report.Calls) {
			continue
		}
		u.codeCall(c)
	}
	switch {
	case report.Cut && u.ByAgent():
		u.asksAbout("code that an agent wrote cannot be read to its end: " + report.Unknown)
	case report.Unknown != "":
		u.unknown("code", report.Unknown, nil)
	}
	return names
}

// juliaPackages judges what a text of Julia does with packages, and returns the rest of it.
func (u *use) juliaPackages(text string) string {
	rest, names, tests := code.Packages(text)
	for _, name := range names {
		u.pkg(flow.Literal(name))
	}
	if tests {
		u.anyCode("julia")
	}
	return rest
}

// unpickles judges files that python makes objects of: such a file holds code, which runs.
func (u *use) unpickles(language, text string) {
	if language != "python" || !strings.Contains(text, "load(") && !strings.Contains(text, "read_pickle(") || u.at().Remote {
		return
	}
	for _, found := range pickled().FindAllStringSubmatch(text, maxHanded) {
		for _, t := range u.targets(flow.Literal(found[1] + found[2])) {
			if t.Path != "" && !t.Glob {
				u.Runs(u.ID, t.Path)
			}
		}
	}
}

// pickled finds the name of a file that an object is loaded from, in a form that holds code.
var pickled = lazy(`\b(?:(?:c?[pP]ickle|joblib|dill|cloudpickle|skops|pickle5)\.load|(?:pd|pandas)\.read_pickle)\(\s*(?:(?:\w+\.)*(?:open|Path)\(\s*)?["']([^"'\n]+)["']` +
	`|\b(?:torch|np|numpy|load_model|models|keras)\.?(?:load|load_model)?\(\s*(?:\w+\s*=\s*)?["']([^"'\n]+)["'][^\n]{0,200}?\b(?:weights_only\s*=\s*False|allow_pickle\s*=\s*True|safe_mode\s*=\s*False)`)

// logsIn reports code that a tool loads, such as the setup of tests, whose requests go to
// peers that settings name, or to this machine: a variable in them is how it logs in there.
func logsIn(text string, calls []code.Call) bool {
	for _, way := range []string{"atob", "base64", "fromCharCode", "fromhex", "b64", "unhexlify", "decode"} {
		if strings.Contains(text, way) {
			return false
		}
	}
	return slices.ContainsFunc(calls, func(c code.Call) bool { return c.Does == "send" }) && !slices.ContainsFunc(calls, func(c code.Call) bool {
		if !wordlist.Has(" send connect shell argv ", c.Does) || len(c.Args) == 0 || c.Args[0] == nil {
			return wordlist.Has(" shell argv ", c.Does)
		}
		return !localHost(peer.Parse(*c.Args[0], true).Host)
	})
}

// agentElsewhere judges an agent that code starts with a home of the code's choice: what
// code sets in an environment is not followed, so that the name alone counts.
func (u *use) agentElsewhere(text string, calls []code.Call) {
	if !strings.Contains(text, "HOME") && !strings.Contains(text, "USERPROFILE") {
		return
	}
	for _, c := range calls {
		if c.Does != "argv" || len(c.Args) == 0 || c.Args[0] == nil {
			continue
		}
		if name := path.Base(*c.Args[0]); wordlist.Has(agents, name) && !strings.HasPrefix(name, "gate") {
			u.effect(&hook.Self{What: "agent program", Verb: "run"})
			return
		}
	}
}

// code.Call gives one call the effects of its command.
func (u *use) codeCall(c code.Call) {
	u.withOperands(c)
	args := codeArgs(c)
	each := func(a draft.Access) {
		for _, f := range args {
			u.touch(f, a)
		}
	}
	switch c.Does {
	case "delete":
		each(draft.Access{Kind: "delete", How: "remove", Recursive: c.Recursive})
	case "write":
		if strings.HasSuffix(c.Name, "extractall") || strings.HasSuffix(c.Name, "unpack_archive") {
			for _, f := range args {
				u.unpacks(f)
			}
			return
		}
		each(draft.Access{Kind: "write", How: "overwrite"})
		u.writesTexts(args)
		u.savesDownload(args)
		u.savesPeople(args)
	case "append":
		each(draft.Access{Kind: "write", How: "append"})
		u.writesTexts(args)
	case "link":
		if len(args) == 2 {
			if !strings.Contains(strings.ToLower(c.Name), "sym") { // a hard link is the file itself
				u.touch(args[0], draft.Access{Kind: "write", How: "link"})
			}
			u.touch(args[1], draft.Access{Kind: "write", How: "link", Links: args[:1]})
			u.arrivesAll(args[0], args[1])
		}
	case "read":
		each(draft.Access{Kind: "read", Shown: !u.silent})
	case "list":
		each(draft.Access{Kind: "list"})
	case "permissions":
		if len(args) > 0 {
			a := draft.Access{Kind: "permissions", Recursive: c.Recursive}
			if len(args) > 1 {
				a.Mode = args[1]
			}
			u.touch(args[0], a)
		}
	case "chdir":
		if len(args) == 1 && args[0].Value() != nil {
			u.role(catalogue.Role{Name: "cd"}, args[0])
		}
	case "shell":
		u.inside(func() { u.shell.Text(flow.Join(args), flow.Stream{}) })
	case "argv":
		u.inside(func() {
			inner := u.another(args)
			inner.Span, inner.Env = nil, nil
			u.command(inner)
		})
	case "fetch", "send", "connect", "listen":
		u.codePeer(c, args)
	case "sql":
		if len(args) > 0 {
			u.sql(args[0])
		}
	default:
		u.codeEffect(c, args)
	}
}

// savesDownload remembers that a program in another language writes what it fetched.
func (u *use) savesDownload(files []flow.Word) {
	for _, h := range u.Facts.Hosts {
		if h.Command != u.ID || h.Access != "fetch" {
			continue
		}
		for _, f := range files {
			u.remember(f, flow.Stream{Some: true, From: u.ID, Taint: flow.Taint{Remote: true, Host: flow.Text(h.Host), URL: flow.Text(h.URL)}}, false)
		}
	}
}

// readsForeign returns a file from outside the project that the program reads, nil for
// none.
func (u *use) readsForeign() *string {
	for _, e := range u.Facts.Effects {
		if read, ok := e.Is.(*hook.FSRead); ok && e.Command == u.ID && read.Path != nil {
			if st := u.content(flow.Literal(*read.Path)); st.Taint.Path != "" {
				return read.Path
			}
		}
	}
	return nil
}

// codeArgs are the arguments of a call as words.
func codeArgs(c code.Call) []flow.Word {
	args := make([]flow.Word, len(c.Args))
	for i, a := range c.Args {
		args[i] = flow.Unknown(&flow.Hole{Why: "an argument of " + c.Name})
		if a != nil {
			args[i] = flow.Word{Parts: []flow.Part{{Text: *a, Quoted: true}}}
		}
	}
	return args
}

// codeEffect gives a call the effect of a program that has no command.
func (u *use) codeEffect(c code.Call, args []flow.Word) {
	switch c.Does {
	case "remove":
		u.effect(&hook.Infrastructure{Tool: args[0].Text(), Verb: args[1].Value(), Access: "delete", Approved: true})
	case "reverse-shell":
		u.effect(&hook.ExecShell{How: "reverse", Host: firstText(args)})
	case "type":
		u.effect(&hook.Process{Verb: "type", All: false})
	case "environment":
		u.effect(&hook.SecretRead{What: "environment", Grade: "config", Shown: true})
	case "kill":
		if flow.Text(firstText(args)) == code.Parent {
			u.effect(&hook.Self{What: "agent program", Verb: "kill"})
			break
		}
		u.effect(&hook.Process{Verb: "kill", Target: firstText(args), All: flow.Text(firstText(args)) == "-1"})
	case "eval-remote":
		u.effect(&hook.ExecRemote{URL: firstText(args), Via: "eval"})
	case "eval-decoded":
		u.effect(&hook.ExecCode{Source: "inline", Decoded: true})
		u.unknown("code", c.Name+" runs text that is decoded first", nil)
	}
}

// clearsTable reports a call of an object-relational mapper that deletes every
// row: User.delete_all, User.objects.all().delete(), prisma.user.deleteMany().
func clearsTable(text string) bool {
	for statement := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		statement = strings.Join(strings.Fields(statement), "")
		for _, call := range []string{".delete_all", ".destroy_all", ".objects.all().delete(", "::truncate(", "->truncate(", "::query()->delete(", ".deleteMany()", ".deleteMany({})"} {
			if i := strings.Index(statement, call); i >= 0 && !strings.Contains(strings.ToLower(statement[:i]), "where") {
				return true
			}
		}
	}
	return false
}

func firstText(args []flow.Word) *string {
	if len(args) == 0 {
		return nil
	}
	return args[0].Value()
}

func (u *use) codePeer(c code.Call, args []flow.Word) {
	p := peer.Peer{}
	if len(args) > 0 {
		if v := args[0].Value(); v != nil {
			p = peer.Parse(*v, strings.Contains(*v, "://"))
		}
	}
	u.Host(hook.Host{Command: u.ID, Host: flow.Known(p.Host), URL: flow.Known(p.URL), Access: c.Does})
	switch c.Does {
	case "fetch":
		u.effect(&hook.NetFetch{Host: flow.Known(p.Host), URL: flow.Known(p.URL), Method: new("GET"), Private: p.Private, Metadata: p.Metadata})
	case "send":
		var t flow.Taint
		for _, e := range u.Facts.Effects {
			if read, ok := e.Is.(*hook.SecretRead); ok && e.Command == u.ID {
				t = flow.Taint{Secret: read.What, From: flow.Text(read.Path)}
			}
		}
		if t.Secret == "" && !p.Private {
			t = u.readHeld()
		}
		u.send(p, "text", u.readsForeign(), t)
	case "listen":
		u.effect(&hook.NetListen{})
	}
}

// readHeld is what a file has that the program reads and that a call put a secret or rows into.
func (u *use) readHeld() flow.Taint {
	for _, e := range u.Facts.Effects {
		if read, ok := e.Is.(*hook.FSRead); ok && e.Command == u.ID && read.Path != nil {
			if held := u.Holds(*read.Path); held.Secret != "" {
				return flow.Taint{Secret: held.Secret, From: *read.Path, Coarse: held.Coarse}
			}
		}
	}
	return flow.Taint{}
}

// sql judges statements for a database.
func (u *use) sql(f flow.Word) {
	text := f.Value()
	if text == nil {
		t, ok := f.Holed(code.Hole)
		if ok {
			t, ok = sql.Fill(t, code.Hole)
		}
		if !ok {
			t = f.Text()
			u.unknown("code", unknownStatement, f.Span)
		}
		text = &t
	}
	read := map[string]bool{}
	for _, st := range sql.Inspect(*text) {
		if strings.Contains(st.Object, sql.Unknown) {
			st.Object = ""
		}
		switch {
		case st.Verb == "shell":
			u.inside(func() { u.shell.Text(flow.Literal(st.Object), flow.Stream{}) })
			continue
		case st.Verb == "copy program" && u.ID > 0:
			u.hiddenShell("program", st.Object)
			continue
		case st.Verb == "copy program":
			u.effect(&hook.ExecHidden{Program: u.name, Option: "program", Value: new(st.Object)})
			continue
		case st.Verb == "source" && u.ID > 0:
			u.takesStatements(path.Join(u.World.Dir, "-"), st.Object, read)
		case u.inMemory(*text):
			continue
		}
		u.databaseFile(st)
		u.effect(&hook.Database{
			Tool: u.name, Verb: new(st.Verb), Access: st.Access, Where: st.Where, Object: flow.Known(st.Object), Local: u.name == "sqlite3" || u.name == "duckdb",
		})
	}
}

// databaseFile judges a file that a statement has the client or the server write
// or read.
func (u *use) databaseFile(st sql.Statement) {
	if st.Object == "" || u.ID == 0 {
		return
	}
	switch st.Verb {
	case "write file", "select into outfile", "select into dumpfile":
		u.touch(flow.Literal(st.Object), draft.Access{Kind: "write", How: "overwrite"})
	case "read file":
		u.touch(flow.Literal(st.Object), draft.Access{Kind: "read", Shown: true})
	}
}

// inMemory reports a database that is gone when the program ends, and that
// nothing which is told opens another one.
func (u *use) inMemory(statements string) bool {
	if u.name != "sqlite3" && u.name != "duckdb" || len(u.rest) == 0 || u.rest[0].Text() != ":memory:" {
		return false
	}
	told := strings.ToLower(statements)
	for _, f := range u.Given()[1:] {
		if !f.Literal() {
			return false
		}
		told += "\n" + strings.ToLower(f.Text())
	}
	return !strings.Contains(told, "attach") && !strings.Contains(told, ".open") && !strings.Contains(told, ".restore")
}

// pkg judges a package to install.
func (u *use) pkg(f flow.Word) {
	if u.row.Special == "npx" { // a wrapper: fetchesToRun has it, once the command is listed
		return
	}
	source := "registry"
	text := f.Prefix()
	switch {
	case strings.Contains(text, "://") || strings.HasPrefix(text, "git+") || strings.HasPrefix(text, "git@"):
		source = "url"
	case u.packageFile(f).Remote, u.ofCodeHost(text):
		source = "url"
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		source = "file"
	}
	is := &hook.PackageInstall{
		Tool: u.name, Packages: []*string{f.Value()}, Source: source, Global: u.has("global"),
	}
	u.Carry(is, u.packageFile(f))
	u.effect(is)
}

// ofCodeHost reports a repository in the short form of npm and its like: owner/name,
// github:owner/name.
func (u *use) ofCodeHost(text string) bool {
	switch u.name {
	case "npm", "pnpm", "yarn", "bun", "npx", "bunx", "pnpx", "gh":
	default:
		return false
	}
	host, _, prefixed := strings.Cut(text, ":")
	if prefixed && slices.Contains([]string{"github", "gitlab", "bitbucket", "gist"}, host) {
		return true
	}
	owner, name, ok := strings.Cut(text, "/")
	return ok && owner != "" && name != "" && !strings.ContainsAny(owner, "@.~") && !strings.ContainsAny(name, "/")
}

// packageFile is what a file of packages holds, the zero Taint for a name of the registry.
func (u *use) packageFile(f flow.Word) flow.Taint {
	if f.Value() == nil || !strings.ContainsAny(f.Text(), "./") || strings.Contains(f.Text(), "://") {
		return flow.Taint{}
	}
	for _, t := range u.targets(f) {
		if _, now := u.Files[t.Path]; now || u.World.Exists(t.Path) {
			return u.Holds(t.Path)
		}
	}
	return flow.Taint{}
}

const unknownStatement = "a statement for a database is not known"
