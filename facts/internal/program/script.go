package program

import (
	"maps"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/hook"
	"gate/internal/wordlist"
)

// looksInto returns what a program surely does that is a small, readable script of a
// shell or of a language with rules: ./scripts/clean.sh. The rest of it is as unknown as what any program
// does, and asking about that would be asking about every build script.
func (u *use) looksInto(file string) (found []hook.FactEffect) {
	if file == "" || u.at().Remote {
		return nil
	}
	text, err := u.World.Read(file, maxScript)
	language := interpreter(text)
	if err != nil || !isShellScript(file, text) && !code.HasRules(language) {
		return nil
	}
	u.looked(file)
	out, full := u.Facts, u.Full
	u.Facts = &hook.Facts{Shell: &hook.Shell{}}
	u.shell.Enter("script "+file, func() {
		back := u.shell.Fork()
		u.shell.Arguments(flow.Literal(file), u.Given())
		if code.HasRules(language) {
			u.bare().code(language, flow.Literal(text), "file")
		} else {
			u.shell.Text(flow.Literal(text), u.Stdin)
		}
		back()
	})
	found = u.Facts.Effects
	late := u.Facts.Unknown
	u.Facts, u.Full = out, full // a limit that is reached later is said then
	_, agents := u.AuthoredText(file)
	for _, one := range late {
		if one.Kind == "code" && (one.Written || agents && one.Why != unknownStatement) { // of what it runs, too
			u.asksAbout(one.Why)
		}
	}
	return slices.DeleteFunc(found, func(e hook.FactEffect) bool { return doubtful(e) && !draft.Decoded(e) })
}

// doubtful reports an effect of a program that may be no such thing. The path of a secret
// that is sent from a pipe, or that a program prints, is not known, but the secret is. A table
// of cron that comes from a pipe has no path.
func doubtful(e hook.FactEffect) bool {
	switch is := e.Is.(type) {
	case *hook.NetSend:
		return is.Secret == nil && is.Path == nil
	case *hook.SecretRead:
		return is.Path == nil && is.Grade != "key"
	case *hook.Persistence:
		return is.Path == nil && is.What != "cron"
	}
	for name, at := range hook.Members(&e) {
		if name == "path" && hook.Plain(at) == nil {
			return true
		}
	}
	return e.Kind() == "exec.code"
}

// asProgram judges the text of a script as the program that it is: by what it
// surely does. What else it may do is as unknown as it is of any program, whether
// a shell is told to run the file or the file is called by its name. Code that is
// hidden in it is no program's, and one that is handed a command may run just that.
func (u *use) asProgram(script flow.Word, judge func()) {
	out := u.Facts
	opaque, unknown, effects, full := out.Opaque, len(out.Unknown), len(out.Effects), u.Full
	judge()
	if slices.ContainsFunc(out.Effects[effects:], draft.Decoded) || len(out.Unknown) > unknown && u.handsCommand(script) {
		return
	}
	out.Opaque, u.Full = opaque, full
	u.ForgetUnknown(unknown)
	out.Effects = append(out.Effects[:effects], slices.DeleteFunc(out.Effects[effects:], doubtful)...)
}

// maxHanded bounds how many arguments are read as the beginning of a command.
const maxHanded = 8

// handsCommand reports whether one of a script's arguments, or those from one on,
// read as a command that does something: run.py 'rm -rf ~'.
func (u *use) handsCommand(script flow.Word) bool {
	args := u.Given()
	at := slices.IndexFunc(args, func(f flow.Word) bool { return f.Text() == script.Text() })
	args = args[at+1:]
	for i := range min(len(args), maxHanded) {
		if acts(u.shell.Try(args[i].Text())) || acts(u.shell.Try(flow.Join(args[i:]).Text())) {
			return true
		}
	}
	return false
}

// acts reports whether something does more than look at and write files.
func acts(found []hook.FactEffect) bool {
	return slices.ContainsFunc(found, func(e hook.FactEffect) bool { return e.Kind() != "fs.read" && e.Kind() != "fs.write" })
}

// runsCompiled judges the compiled programs that a runtime is given, by where their files
// came from.
func (u *use) runsCompiled(runtime string) {
	if !wordlist.Has(" dotnet mono java javaw wasmtime wasmer wine wine64 kotlin scala ", runtime) || u.at().Remote {
		return
	}
	for _, w := range u.Given() {
		if text := w.Prefix(); strings.HasPrefix(text, "-javaagent:") || strings.HasPrefix(text, "-agentpath:") {
			_, w, _ = w.Cut(":")
		}
		if !wordlist.Has(" .dll .exe .jar .war .wasm ", path.Ext(w.Text())) {
			continue
		}
		for _, t := range u.targets(w) {
			if st, now := u.Files[t.Path]; now && st.Taint.Remote {
				u.unknownCode(runtime, st.Taint.In(t.Path), "file", "the file was written by a program")
			} else if t.Path != "" {
				u.Runs(u.ID, t.Path)
			}
		}
	}
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
	if f.Literal() && len(u.rest) > 0 {
		u.attacks(f.Text(), u.rest[1:])
	}
	u.inside(func() {
		if len(u.rest) > 0 && u.rest[0].Text() == f.Text() {
			u.shell.Arguments(f, u.rest[1:])
		} else {
			u.shell.Named(f)
		}
		u.prints(u.runScript(language, f, false))
	})
}

const maxScript = 64 << 10

// runScript follows a script file: written in this line, from a substitution,
// or readable and small.
func (u *use) runScript(language string, f flow.Word, here bool) flow.Stream {
	for _, p := range u.targets(f) {
		if p.Path == "" {
			continue
		}
		if p.Glob || p.Contents { // of what it matches, the line's own files are known
			pattern := p.Path
			if p.Contents {
				pattern += "/*"
			}
			for _, name := range slices.Sorted(maps.Keys(u.Files)) {
				if glob.Compile(pattern, glob.Syntax{}).Match(name) != glob.No {
					u.runScript(language, flow.Literal(name), here)
				}
			}
			continue
		}
		u.Runs(u.ID, p.Path)
		if language == "" || language == "bash" || code.HasRules(language) {
			u.looked(p.Path)
		}
		u.sendsText(p.Path)
		u.runsPieces(language, p.Path)
		st, ok := u.written(language, p.Path)
		if isInput(flow.Literal(p.Path)) {
			st, ok = u.Stdin, true
		}
		whole, known := st.Template()
		if !ok && u.runsAuthored(language, p.Path) {
			continue
		}
		if ok && !known {
			return u.unknownCode(language, st.Taint.In(p.Path), "file", "the file was written by a program")
		}
		if !ok {
			if language != "" && language != "bash" && !code.HasRules(language) {
				continue // what such a program does is as unknown as what any does
			}
			text, err := u.World.Read(p.Path, maxScript)
			if err != nil {
				if u.World.Exists(p.Path) {
					u.unknown("script", "a script that gate could not read", f.Span)
				}
				continue
			}
			whole = flow.Literal(text)
		}
		if whole.Literal() && strings.Contains(whole.Text(), "__") { // the script's own directory
			whole = flow.Literal(placed(p.Path, whole.Text()))
		}
		var out flow.Stream
		if _, agents := u.AuthoredText(p.Path); agents && !here && whole.Literal() && code.RunsFetched(whole.Text()) {
			u.asksAbout("code that an agent wrote runs what it fetches") // which may stand in a file that it writes
		}
		judge := func() { out = u.runText(language, whole, here) }
		if ok {
			judge()
		} else {
			u.asProgram(f, func() {
				if _, agents := u.AuthoredText(p.Path); agents {
					u.OfAgent(judge, unknownStatement) // with variables scripts speak to databases
				} else {
					judge()
				}
			})
		}
		if here || language == "bash" || language == "" || out.Taint.Secret != "" {
			return out
		}
	}
	if f.Value() == nil && !namesScript(f) {
		return u.unknownCode(language, f.Taint(), "file", f.Why())
	}
	return flow.Stream{Some: true, From: u.ID}
}

// addresses reports a text that packs or encodes into an address, and that names a file which
// holds a secret.
func (u *use) addresses(text string) bool {
	if !packsAddress().MatchString(text) || !u.affords(inspectSteps*len(text)) {
		return false
	}
	for _, found := range quotedName().FindAllString(text, maxHanded) {
		for _, t := range u.targets(flow.Literal(found[1 : len(found)-1])) {
			if t.Path == "" || t.Glob {
				continue
			}
			if what, _ := u.Secret(t.Path); what != "" || u.Left(t.Path).Secret != "" {
				return true
			}
		}
	}
	return false
}

// packsAddress finds an address of another machine with a text behind it that a function packs,
// or encodes for an address.
var packsAddress = lazy(`https?://[\w-]+\.[\w.-]+[/?][^\s"'` + "`" + `]*(?:["'` + "`" + `]\s*(?:\+|\.\.|\.|<>|~|&|,)|[$#]?\{|%s)[^\n]{0,200}?(?i:base64|b64|deflate|compress|gzip|pako|zlib|quote|urlencode|encodeURI|escape|hex)` +
	`|(?i:base64|b64|deflate|compress|gzip|pako|zlib|quote|urlencode|encodeURI)[\s\S]{0,600}?https?://[\w-]+\.[\w.-]+[/?][^\s"'` + "`" + `]*(?:["'` + "`" + `]\s*(?:\+|\.\.|\.|<>|~|&)|[$#]?\{|%s)`)

// runsAuthored judges a script in a language other than a shell's that an agent wrote in an
// earlier call, and reports whether one did.
func (u *use) runsAuthored(language, file string) bool {
	if language == "" || language == "bash" || !code.HasRules(language) {
		return false
	}
	st, ok := u.AuthoredText(file)
	if !ok {
		return false
	}
	text, known := st.Template()
	if !known || !text.Literal() {
		return false
	}
	u.asWritten(func() { u.bare().code(language, flow.Literal(placed(file, text.Text())), "file") })
	u.lineageIn(file, text.Text())
	if u.addresses(text.Text()) {
		u.asksAbout("code that an agent wrote puts what a file of secrets holds into an address")
	}
	return true
}

// namesScript reports a file in a directory that only the line's caller knows:
// bash "$D/x.sh" is as unknown as "$D/x.sh" itself.
func namesScript(f flow.Word) bool {
	last := f.Parts[len(f.Parts)-1]
	if last.Hole != nil || !strings.Contains(last.Text, "/") || strings.HasSuffix(last.Text, "/") || len(f.Parts) != 2 {
		return false
	}
	h := f.Parts[0].Hole
	return h != nil && h.Unset && len(h.Alts) == 0 && h.Taint == (flow.Taint{})
}

// runText runs the text of a script, here or in a program of its own.
func (u *use) runText(language string, text flow.Word, here bool) flow.Stream {
	if !here && language != "bash" && language != "" {
		u.bare().code(language, text, "file")
		return flow.Stream{Some: true, From: u.ID, Taint: text.Taint()}
	}
	if !here && text.Literal() {
		defer u.shell.Fork()()
	}
	return u.shell.Text(text, u.Stdin)
}

// runsFile judges a program called by a path: ./x.sh that this line wrote, or
// that is there.
func (u *use) runsFile(name string) {
	f := flow.Literal(name)
	for _, p := range u.targets(f) {
		st, ok := u.Files[p.Path]
		u.Runs(len(u.Commands())+1, p.Path) // it is listed next
		u.runsPieces("", p.Path)
		u.sendsText(p.Path)
		if !ok {
			u.Does = append(u.Does, u.looksInto(p.Path)...)
		} else if text, ok := st.Template(); !ok {
			u.unknownCode("bash", st.Taint.In(p.Path), "file", "the file was written by a program")
		} else {
			u.looked(p.Path)
			u.runsWritten(f, text)
		}
	}
}

// origin is the program that a path stands for, if the line has copied or linked
// one there.
func (u *use) origin(name, base string) string {
	for _, p := range u.targets(flow.Literal(name)) {
		if from, ok := u.Renamed[p.Path]; ok {
			return from
		}
	}
	return base
}
