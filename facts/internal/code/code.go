// Package code says what the text of a program in another language than a shell's
// would do: which calls it makes that touch something outside it, with their
// arguments as far as these are constant. It runs nothing, looks at no file, and
// does not say what a call means for the machine: package facts does. Start with
// Inspect; scripts for mongo have their own call.
package code

import (
	"strings"
	"unicode/utf8"
)

// Limits on program text of another language. Whatever exceeds one is not
// followed and the report says so.
const (
	maxBytes      = 2 << 20 // of one text
	maxTokens     = 1 << 18 // of one text and the texts it evaluates
	maxDepth      = 300     // nested brackets, blocks and interpolations
	maxEval       = 4       // texts that evaluate texts
	maxCalls      = 1000    // calls in one report
	maxArgs       = 4096    // of one call or list
	maxFold       = 1 << 14 // bytes of a folded text
	maxWork       = 4 << 20 // bytes copied while folding
	maxChoice     = 32      // values a variable may have
	maxStatements = 5000    // for a database, in one script; further ones are left out, after one that says so
)

// Parent stands for the number of the process that started the program, as shells
// write it.
const Parent = "$PPID"

// Hole stands in a text for a part that is not known. No shell word holds
// such a byte.
const Hole = '\x00'

// A Report lists what program text of another language would do, as far as
// calls with literal arguments tell. The zero report says: nothing that
// matters.
type Report struct {
	Calls   []Call // in the order in which they were met, about that of the text
	Unknown string // why the text could not be followed; "" when nothing is suspicious
	Cut     bool   // a limit ended the reading, so that calls behind it are not in the list
}

// A Call is one call that touches something outside the program.
//
// What its arguments are depends on what it does:
//
//	delete, write, append, read, list  one path or more
//	permissions                        a path and the mode in octal digits, or the owner
//	shell                              one line for a shell
//	argv                               the words of a command
//	fetch, send                        a URL or host
//	connect, listen, reverse-shell     a host and a port
//	environment                        the variable; none for all of them
//	kill                               a process and a signal; [Parent] for that which started the program
//	type                               nothing: text goes to a terminal as if it were typed
//	remove                             the library of a service and the function that removes something there
//	sql                                statements for a database
//	eval-remote, eval-decoded          the URL or the decoded text, where known
type Call struct {
	Name      string    // as a person would write it: shutil.rmtree
	Does      string    // see above
	Recursive bool      // a directory with everything in it
	Args      []*string // nil: unknown. "~" stands for the home directory
	Offset    int       // byte offset in the text
}

// Inspect lists what text would do when an interpreter of language ran it.
// It runs nothing and takes time linear in the length of the text. It finds
// calls by name, through aliases, simple variables and constant expressions;
// what hides better than that is reported as unknown where it shows.
func Inspect(language, text string) Report {
	lang := languageOf(language)
	if lang == nil {
		return Report{Unknown: "no rules for programs in " + quoteName(language)}
	}
	if len(text) > maxBytes {
		return Report{Unknown: "program text is too long", Cut: true}
	}
	run := &inspection{
		lang:   lang,
		table:  lang.table(),
		vars:   map[string]value{},
		work:   maxWork,
		tokens: maxTokens,
		bytes:  maxBytes + len(text),
		socket: -1,
	}
	for name, text := range lang.texts {
		run.vars[name] = textValue(text)
	}
	run.holes = strings.Count(text, string(Hole))
	run.inspect(text, 0)
	if run.holes != 0 {
		run.suspect("a part of the program is not known")
	}
	run.finish()
	return Report{Calls: run.calls, Unknown: run.unknown, Cut: run.cut}
}

// quoteName keeps a name from outside short and printable.
func quoteName(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	return `"` + s + `"`
}

// An inspection is the state of one inspection.
type inspection struct {
	lang    *language
	table   table
	vars    map[string]value
	opened  []string // modules whose names are used without prefix
	calls   []Call
	unknown string
	cut     bool
	work    int // bytes that folding may still copy
	tokens  int // tokens that may still be read
	bytes   int // bytes of text that may still be read
	evals   int // depth of evaluated texts

	sites   map[string]*site // what the text's own functions are called with
	defined int              // functions that the text defines
	again   bool             // this is the second reading
	seeking bool             // an argument is read before those in front of it

	holes int // not known parts of the text that were not yet found inside strings

	renamed bool // text may have changed what language.itself holds

	socket int  // index of the call that opened a connection; -1 for none
	shell  bool // a shell without a script was started
	dup    bool // standard streams were replaced
}

// inspect reads one text. Calls of evaluated text carry the offset of the call
// that evaluates it.
func (r *inspection) inspect(text string, at int) {
	if r.bytes -= len(text); r.bytes < 0 || r.evals > maxEval {
		r.over("evaluates too much text")
		return
	}
	r.evals++
	defer func() { r.evals-- }()
	r.renamed = r.renamed || r.lang.itself != "" && renames(text, r.lang.itself)
	first := len(r.calls)
	if r.lang.inspect != nil {
		r.lang.inspect(r, text)
	} else {
		toks := r.lex(text)
		lexed := r.unknown
		p := &parser{inspection: r, toks: toks, loops: loopsIn(r.lang, toks)}
		p.statements("")
		if r.evals == 1 && r.twice() {
			r.unknown = lexed
			p = &parser{inspection: r, toks: toks, loops: p.loops}
			p.statements("")
		}
	}
	if r.evals > 1 {
		for i := first; i < len(r.calls); i++ {
			r.calls[i].Offset = at
		}
	}
}

// suspect notes why the text could not be followed. The first reason stays. Some hundred
// places call it: inlined, it costs the size of the program more than it saves.
//
//go:noinline
func (r *inspection) suspect(why string) {
	if r.unknown == "" {
		r.unknown = why
	}
}

// over notes a limit that ended the reading.
//
//go:noinline
func (r *inspection) over(why string) {
	r.cut = true
	r.suspect(why)
}

// emit adds a call for each combination that a value with choices stands for.
func (r *inspection) emit(c Call, args []value) {
	c.Args = make([]*string, len(args))
	choice := -1
	for i, a := range args {
		switch {
		case a.kind == knownValue:
			c.Args[i] = &args[i].text
		case a.kind == choiceValue && choice < 0:
			choice = i
		case onNetwork(c.Does) && namesHost(a.text):
			c.Args[i] = &args[i].text
		}
	}
	if choice < 0 {
		r.add(c)
		return
	}
	for _, item := range args[choice].items {
		one := c
		one.Args = append([]*string(nil), c.Args...)
		if item.kind == knownValue {
			one.Args[choice] = &item.text
		}
		r.add(one)
	}
}

func (r *inspection) add(c Call) {
	if len(r.calls) >= maxCalls {
		r.over("too many calls")
		return
	}
	switch c.Does {
	case "connect", "listen":
		if r.socket < 0 {
			r.socket = len(r.calls)
		}
	case "shell":
		r.shell = r.shell || len(c.Args) > 0 && c.Args[0] != nil && bareShell(strings.Fields(*c.Args[0]))
	case "argv":
		words := make([]string, 0, len(c.Args))
		for _, a := range c.Args {
			if a == nil {
				break
			}
			words = append(words, *a)
		}
		r.shell = r.shell || bareShell(words)
	}
	r.calls = append(r.calls, c)
}

// finish adds what only the whole text tells: a connection together with a
// shell that waits for input.
func (r *inspection) finish() {
	if r.socket < 0 && r.shell {
		r.suspect("starts a shell and does not say what it is to run")
	}
	if r.socket < 0 || !r.shell && !r.dup {
		return
	}
	c := r.calls[r.socket]
	c.Does = "reverse-shell"
	r.calls = append(r.calls, c)
}

// bareShell reports whether words start a shell that reads what to do from its
// input.
func bareShell(words []string) bool {
	if len(words) == 0 {
		return false
	}
	base := words[0][strings.LastIndexAny(words[0], `/\`)+1:]
	switch strings.TrimSuffix(strings.ToLower(base), ".exe") {
	case "sh", "bash", "zsh", "dash", "ash", "ksh", "csh", "tcsh", "fish", "cmd", "powershell", "pwsh":
	default:
		return false
	}
	for _, w := range words[1:] {
		if strings.ContainsAny(w, "<>&") {
			return true
		}
		switch w {
		case "-i", "-il", "-li", "-l", "--login", "--noprofile", "--norc", "-p":
		default:
			return false
		}
	}
	return true
}

func onNetwork(does string) bool {
	return does == "fetch" || does == "send" || does == "connect"
}

// namesHost reports whether the beginning of a URL holds its whole host.
func namesHost(prefix string) bool {
	_, rest, ok := strings.Cut(prefix, "://")
	return ok && strings.IndexByte(rest, '/') > 0
}
