package facts

import (
	"strings"
	"unicode/utf8"
)

// Limits on program text of another language. Whatever exceeds one is not
// followed and the report says so.
const (
	maxCodeBytes  = 2 << 20 // of one text
	maxCodeTokens = 1 << 18 // of one text and the texts it evaluates
	maxCodeDepth  = 300     // nested brackets, blocks and interpolations
	maxCodeEval   = 4       // texts that evaluate texts
	maxCodeCalls  = 1000    // calls in one report
	maxCodeArgs   = 4096    // of one call or list
	maxCodeFold   = 1 << 14 // bytes of a folded text
	maxCodeWork   = 4 << 20 // bytes copied while folding
	maxCodeChoice = 32      // values a variable may have
	maxStatements = 5000    // for a database, in one script; further ones are left out, after one that says so
)

// A codeReport lists what program text of another language would do, as far as
// calls with literal arguments tell. The zero report says: nothing that
// matters.
type codeReport struct {
	calls   []codeCall // in the order in which they were met, about that of the text
	unknown string     // why the text could not be followed; "" when nothing is suspicious
}

// A codeCall is one call that touches something outside the program.
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
//	kill                               a process and a signal
//	remove                             the library of a service and the function that removes something there
//	sql                                statements for a database
//	eval-remote, eval-decoded          the URL or the decoded text, where known
type codeCall struct {
	name      string    // as a person would write it: shutil.rmtree
	does      string    // see above
	recursive bool      // a directory with everything in it
	args      []*string // nil: unknown. "~" stands for the home directory
	offset    int       // byte offset in the text
}

// inspectCode lists what text would do when an interpreter of language ran it.
// It runs nothing and takes time linear in the length of the text. It finds
// calls by name, through aliases, simple variables and constant expressions;
// what hides better than that is reported as unknown where it shows.
func inspectCode(language, text string) codeReport {
	lang := codeLanguageOf(language)
	if lang == nil {
		return codeReport{unknown: "no rules for programs in " + quoteCodeName(language)}
	}
	if len(text) > maxCodeBytes {
		return codeReport{unknown: "program text is too long"}
	}
	run := &codeRun{
		lang:   lang,
		table:  lang.table(),
		vars:   map[string]codeValue{},
		work:   maxCodeWork,
		tokens: maxCodeTokens,
		bytes:  maxCodeBytes + len(text),
		socket: -1,
	}
	run.holes = strings.Count(text, string(codeHole))
	run.inspect(text, 0)
	if run.holes != 0 {
		run.suspect("a part of the program is not known")
	}
	run.finish()
	return codeReport{calls: run.calls, unknown: run.unknown}
}

// quoteCodeName keeps a name from outside short and printable.
func quoteCodeName(s string) string {
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

// A codeRun is the state of one inspection.
type codeRun struct {
	lang    *codeLanguage
	table   codeTable
	vars    map[string]codeValue
	opened  []string // modules whose names are used without prefix
	calls   []codeCall
	unknown string
	work    int // bytes that folding may still copy
	tokens  int // tokens that may still be read
	bytes   int // bytes of text that may still be read
	evals   int // depth of evaluated texts

	sites   map[string]*codeSite // what the text's own functions are called with
	defined int                  // functions that the text defines
	again   bool                 // this is the second reading
	seeking bool                 // an argument is read before those in front of it

	holes int // not known parts of the text that were not yet found inside strings

	renamed bool // text may have changed what codeLanguage.itself holds

	socket int  // index of the call that opened a connection; -1 for none
	shell  bool // a shell without a script was started
	dup    bool // standard streams were replaced
}

// inspect reads one text. Calls of evaluated text carry the offset of the call
// that evaluates it.
func (r *codeRun) inspect(text string, at int) {
	if r.bytes -= len(text); r.bytes < 0 || r.evals > maxCodeEval {
		r.suspect("evaluates too much text")
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
		p := &codeParser{codeRun: r, toks: toks, loops: codeLoops(r.lang, toks)}
		p.statements("")
		if r.evals == 1 && r.twice() {
			r.unknown = lexed
			p = &codeParser{codeRun: r, toks: toks, loops: p.loops}
			p.statements("")
		}
	}
	if r.evals > 1 {
		for i := first; i < len(r.calls); i++ {
			r.calls[i].offset = at
		}
	}
}

// suspect notes why the text could not be followed. The first reason stays.
//
//go:noinline
func (r *codeRun) suspect(why string) {
	if r.unknown == "" {
		r.unknown = why
	}
}

// emit adds a call for each combination that a value with choices stands for.
func (r *codeRun) emit(c codeCall, args []codeValue) {
	c.args = make([]*string, len(args))
	choice := -1
	for i, a := range args {
		switch {
		case a.kind == codeKnown:
			c.args[i] = &args[i].text
		case a.kind == codeChoice && choice < 0:
			choice = i
		case codeOnNetwork(c.does) && codeNamesHost(a.text):
			c.args[i] = &args[i].text
		}
	}
	if choice < 0 {
		r.add(c)
		return
	}
	for _, item := range args[choice].items {
		one := c
		one.args = append([]*string(nil), c.args...)
		if item.kind == codeKnown {
			one.args[choice] = &item.text
		}
		r.add(one)
	}
}

func (r *codeRun) add(c codeCall) {
	if len(r.calls) >= maxCodeCalls {
		r.suspect("too many calls")
		return
	}
	switch c.does {
	case "connect", "listen":
		if r.socket < 0 {
			r.socket = len(r.calls)
		}
	case "shell":
		r.shell = r.shell || len(c.args) > 0 && c.args[0] != nil && bareShell(strings.Fields(*c.args[0]))
	case "argv":
		words := make([]string, 0, len(c.args))
		for _, a := range c.args {
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
func (r *codeRun) finish() {
	if r.socket < 0 && r.shell {
		r.suspect("starts a shell and does not say what it is to run")
	}
	if r.socket < 0 || !r.shell && !r.dup {
		return
	}
	c := r.calls[r.socket]
	c.does = "reverse-shell"
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

func codeOnNetwork(does string) bool {
	return does == "fetch" || does == "send" || does == "connect"
}

// codeNamesHost reports whether the beginning of a URL holds its whole host.
func codeNamesHost(prefix string) bool {
	_, rest, ok := strings.Cut(prefix, "://")
	return ok && strings.IndexByte(rest, '/') > 0
}
