package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// loaderRows are interpreters, the options whose values are modules that they run
// first, the language, and what a module's name becomes a file by.
const loaderRows = `node nodejs bun tsx ts-node ts-node-esm esr swc-node babel-node electron mocha | r require import loader experimental-loader preload | node | .js .mjs .cjs .ts /index.js
ruby jruby irb | r | ruby | .rb
perl perl5 | M m | perl | .pm .pl
lua luajit texlua | l | lua | .lua /init.lua
`

// loads judges the modules that an interpreter's options have it run first, where this
// line has written them or the option holds the text.
func (u *use) loads() {
	if len(u.args) == 0 || !strings.Contains(loaderRows, u.name) { // most programs, at no cost
		return
	}
	for line := range strings.Lines(loaderRows) {
		tools, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !wordlist.Has(" "+tools+" ", u.name) {
			continue
		}
		options, rest, _ := strings.Cut(rest, " | ")
		language, endings, _ := strings.Cut(rest, " | ")
		for option := range strings.FieldsSeq(options) {
			for _, f := range u.opts[option] {
				u.loadsModule(language, f, endings)
			}
		}
	}
}

// loadsModule judges one module by its name: a file of this line, or text in a data URL.
func (u *use) loadsModule(language string, f flow.Word, endings string) {
	if _, text, ok := f.Cut(","); ok && strings.HasPrefix(f.Prefix(), "data:") {
		u.code(language, text, "inline")
		return
	}
	name := f.Text()
	if language == "perl" {
		name, _, _ = strings.Cut(name, "=")
		name = strings.ReplaceAll(name, "::", "/")
	}
	for _, file := range u.moduleFiles(name, endings) {
		u.runScript(language, flow.Literal(file), false)
	}
}

// moduleFiles are the files that agents wrote and that a module's name may stand for: the name
// itself, or with one of the endings, from here or from a directory of modules.
func (u *use) moduleFiles(name, endings string) (files []string) {
	if name == "" {
		return nil
	}
	name = strings.TrimPrefix(path.Clean(name), "./")
	for _, file := range u.Authored() {
		for ending := range strings.FieldsSeq(endings + " .") {
			if ending == "." {
				ending = ""
			}
			if want := name + ending; file == want || strings.HasSuffix(file, "/"+want) || name == "." && ending != "" && file == path.Join(u.World.Dir, ending) {
				files = append(files, file)
				break
			}
		}
	}
	return files
}

// standsFor are what a directory or a name without suffix stands for to an interpreter.
func standsFor(language string) string {
	switch language {
	case "python":
		return "/__main__.py"
	case "node":
		return ".js .mjs .cjs .ts .json /index.js /index.mjs /index.ts"
	}
	return ""
}

// written is the file of this line that a script's path stands for.
func (u *use) written(language, p string) (st flow.Stream, ok bool) {
	if st, ok = u.Files[p]; ok {
		return st, true
	}
	if len(u.Files) > 0 {
		for ending := range strings.FieldsSeq(standsFor(language)) {
			if st, ok = u.Files[p+ending]; ok {
				return st, true
			}
		}
	}
	return st, false
}

// phpSettings judges php -d NAME=VALUE where it has php run a file or load a library.
func (u *use) phpSettings() {
	for _, f := range u.opts["define"] {
		name, value, _ := f.Cut("=")
		switch strings.TrimSpace(name) {
		case "auto_prepend_file", "auto_append_file":
			u.runScript("php", value, false)
		case "extension", "zend_extension", "opcache.preload", "ffi.preload":
		default:
			continue
		}
		if text := value.Text(); !value.Literal() || strings.Contains(text, "://") || strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "/usr/") && !strings.HasPrefix(text, u.World.Project+"/") {
			u.effect(&hook.ExecHidden{Program: "php", Option: strings.TrimSpace(name), Value: value.Value()})
		}
	}
}

// module judges python -m NAME where this line has written the module.
func (u *use) module() {
	if !u.has("m") || len(u.inner) == 0 {
		return
	}
	name := strings.ReplaceAll(u.inner[0].Text(), ".", "/")
	files := u.moduleFiles(name, ".py /__main__.py")
	if len(files) == 0 && len(u.at().Dirs) == 1 && len(u.Authored()) > 0 { // the owner's, which may load one of an agent
		for _, ending := range []string{".py", "/__main__.py"} {
			if file := path.Join(u.at().Dirs[0], name+ending); u.World.Exists(file) {
				files = append(files, file)
			}
		}
	}
	for _, file := range files {
		u.runScript("python", flow.Literal(file), false)
	}
}

// m4 judges what the macros syscmd and esyscmd run.
func (u *use) m4() {
	texts := u.rest
	if len(texts) == 0 {
		texts = []flow.Word{flow.Literal("-")}
	}
	for _, f := range texts {
		text := u.textOf(f)
		if text == nil {
			continue
		}
		for _, found := range m4Command().FindAllStringSubmatch(*text, -1) {
			u.hiddenShell("syscmd", strings.Trim(found[1], "`' "))
		}
	}
}

var m4Command = lazy(`\be?syscmd\(\s*([^\n]*?)\s*\)\s*(?:$|\n|dnl)`)

// envEscapes undoes the escapes of env -S that a shell does not have.
func envEscapes(text flow.Word) flow.Word {
	if !strings.Contains(text.Text(), `\`) {
		return text
	}
	return flow.Map(text, func(s string) string {
		s, _, _ = strings.Cut(s, `\c`)
		return strings.NewReplacer(`\_`, " ", `\t`, " ", `\n`, " ", `\v`, " ", `\f`, " ", `\r`, " ", `\#`, "#", "\t", " ").Replace(s)
	})
}

// firstLine is the command that the first line of a script makes of calling it: the
// program, at most one argument, and the script.
func (u *use) firstLine(text string, script flow.Word) []flow.Word {
	line, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	program, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	words := []flow.Word{flow.Literal(program)}
	if rest = strings.TrimSpace(rest); rest != "" {
		words = append(words, flow.Literal(rest))
	}
	return append(append(words, script), u.Given()...)
}

// runsWritten judges a file of this line that is called by its path: by its first line,
// or as a shell's script without one.
func (u *use) runsWritten(script flow.Word, text flow.Word) {
	words := u.firstLine(text.Prefix(), script)
	switch interpreter(text.Prefix()) {
	case "", "sh", "bash", "dash", "ksh", "zsh", "ash", "mksh":
		u.shell.Text(text, u.Stdin)
		return
	}
	u.shell.Enter("script "+script.Text(), func() {
		inner := u.another(words)
		inner.ID, inner.Span = 0, nil
		u.inside(func() { u.command(inner) })
	})
}

// suffixes are the endings of files that a language loads by their names.
func suffixes(language string) string {
	switch language {
	case "python":
		return " .py "
	case "node":
		return " .js .mjs .cjs .ts .mts .cts .tsx .jsx "
	case "ruby":
		return " .rb "
	case "perl":
		return " .pl .pm "
	case "php":
		return " .php .inc "
	case "lua":
		return " .lua "
	}
	return ""
}

var loadsFile = lazy(`\b(?:import|from|require(?:_relative|_once)?|include(?:_once)?|load|do|dofile|use|runpy|run_path|run_module|exec|Worker|fork|autoload|globalSetup|globalTeardown|setupFiles|setupFilesAfterEnv|testEnvironment|reporters|runner|plugins|pytest_plugins|presets|transform|extends)\b`)

// loadsWritten judges the files that agents wrote and that a text in the same language names
// where it loads one: import x, require("./x"), new Worker("./x.js").
func (u *use) loadsWritten(language, text string) {
	endings := suffixes(language)
	if endings == "" || !loadsFile().MatchString(text) {
		return
	}
	list := u.Authored()
	if !u.affords(nameSteps*len(list) + len(text)) {
		return
	}
	for _, file := range list {
		ending := path.Ext(file)
		name := strings.TrimSuffix(path.Base(file), ending)
		if name == "__init__" || name == "index" {
			name = path.Base(path.Dir(file))
		}
		if ending == "" || !wordlist.Has(endings, ending) {
			continue
		}
		if !u.affords(len(text) / searchedBytes) {
			return
		}
		if !namesWord(text, name) {
			continue
		}
		st, _ := u.AuthoredText(file)
		if whole, known := st.Template(); known && whole.Value() != nil && *whole.Value() != text {
			u.sendsText(file)
			u.shell.Enter("code "+file, func() {
				u.surely(func() { u.bare().code(language, whole, "file") })
				u.lineage(*whole.Value())
			})
		}
	}
}

// searchedBytes of a text are gone through in a step, in search of one word.
const searchedBytes = 8

// namedFiles judges the files that agents wrote and that a text of settings names by a path,
// from any directory, with its ending or without, as a module or as a class.
func (u *use) namedFiles(text string) {
	text = strings.NewReplacer(`\`, "/", ".", "/").Replace(text)
	list := u.Authored()
	if !u.affords((nameSteps + len(text)/searchedBytes) * len(list)) {
		return
	}
	for _, file := range list {
		_, language, ok := strings.Cut(endingsOf, " "+path.Ext(file)+" ")
		if !ok {
			continue
		}
		language, _, _ = strings.Cut(language, " ")
		names := strings.Split(strings.ReplaceAll(file, ".", "/"), "/") // its directory, its name and its ending stand last
		if n := len(names); n > 2 && (namesWord(text, strings.Join(names[n-3:n-1], "/")) || namesWord(text, strings.Join(names[n-2:], "/"))) {
			u.judgesText(language, file)
		}
	}
}

// endingsOf are endings of files that settings have tools load, and their languages.
const endingsOf = " .py python .rb ruby .php php .inc php .js node .cjs node .mjs node .ts node .sh shell .bash shell "

// namesWord reports a name that stands in a text as a word of its own.
func namesWord(text, name string) bool {
	for rest := text; name != ""; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		if after := rest[i+len(name):]; (i == 0 || !letter(rest[i-1])) && (after == "" || !letter(after[0])) {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

var argumentsOfCode = lazy(`\b(?:argv|ARGV|ARGF)\b|(?:^|\W)arg\[|\bshift\b|\bparse_args\(|\$_SERVER`)

// withOperands judges a call whose argument is not known with each operand of the
// program in its place, where the text takes its arguments: python -c '…argv[1]…' FILE.
func (u *use) withOperands(c code.Call) {
	if len(u.rest) == 0 || !slices.Contains(c.Args, nil) || !argumentsOfCode().MatchString(u.text) {
		return
	}
	for _, f := range u.rest[:min(len(u.rest), maxHanded)] {
		v := f.Value()
		if v == nil || *v == "-" || *v == u.text {
			continue
		}
		one := c
		one.Args = slices.Clone(c.Args)
		for i, a := range one.Args {
			if a == nil {
				one.Args[i] = v
			}
		}
		u.codeCall(one)
	}
}

// readsOperands judges perl's <> and what is like it, which read the files that the
// program is given.
func (u *use) readsOperands(language, text string) {
	if language == "perl" && strings.Contains(text, "<>") || language == "ruby" && (namesWord(text, "ARGF") || namesWord(text, "gets") || strings.Contains(text, "$<")) {
		for _, f := range u.rest {
			if f.Text() != text {
				u.touch(f, draft.Access{Kind: "read", Shown: true})
			}
		}
	}
}
