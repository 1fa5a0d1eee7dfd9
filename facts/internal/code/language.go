package code

import (
	"strings"

	"gate/internal/wordlist"
)

// A language holds what the parser must know about one language.
type language struct {
	name      string
	syntax    syntax
	table     func() table
	concat    string            // operators that join texts, between blanks
	members   string            // operators before a member, between blanks
	prefixes  string            // words that stand before an operand and mean nothing here, between blanks
	reserved  string            // words that begin no argument, between blanks
	env       []string          // names of the environment
	texts     map[string]string // what names stand for from the beginning
	itself    string            // what code calls the program that runs it
	modules   string            // names whose members are picked by computed names only to hide, between blanks
	strip     []string          // prefixes of names that mean nothing: "globalThis."
	statement func(p *parser, t token) bool
	word      func(p *parser, t token) (value, bool)
	operator  func(p *parser, v *value, t token) bool
	inspect   func(r *inspection, text string) // instead of the parser

	adjacent       bool // "a" "b" is one text
	arrowAssign    bool // x <- 1
	arrows         bool // (x) => y
	as             bool // with x as y
	blocks         bool // each { |x| … }
	colonArgs      bool // f(name: x)
	commands       bool // f "x" without parentheses
	comprehensions bool // [f(x) for x in y]
	curlyIndex     bool // $x{y}
	inStops        bool // "in" ends an expression
	juxtapose      bool // "a" b joins texts
	keywordArgs    bool // f(name=x)
	listOperators  bool // f or g, eq, x (Perl)
	nameCalls      bool // a text is called as the function it names
	pathDivide     bool // Path / "x"
	percentFormat  bool // "%s" % x
	redirects      bool // > ends an expression
	textCalls      bool // f"x" and f{} (Lua)
	tuples         bool // a, b = x, y
}

// A syntax says what the lexer must know about one language.
type syntax struct {
	lineComments  []string
	blockComments [][2]string
	double        quoting
	single        quoting
	back          quoting
	openers       string // words after which a value begins, between blanks
	sigils        string // bytes before the names of variables
	heredoc       string // what opens a here-document
	wordBytes     string // what names may hold besides letters and digits
	podEnd        string // ends a block of documentation

	bang       bool // names may end in ? or !
	braceValue bool // } ends a value
	braces     bool // {} holds no statements
	classes    bool // a slash inside [] does not end a regular expression
	colons     bool // names may hold ::
	commands   bool // f /x/ is a call
	decimals   bool // \065 is decimal
	dots       bool // a line that begins with .x continues
	foldWords  bool // names in any case
	lines      bool // the end of a line means something
	long       bool // [[text]]
	oneLine    bool // strings end with the line
	percent    bool // %w[]
	perl       bool // q(), m//, $#x
	pod        bool // =begin … =end at the start of a line
	prefixes   bool // f"", rb""
	rawStrings bool // r"(text)"
	regex      bool // /x/
	symbols    bool // :x
	tags       bool // <?php ?>
	triple     bool // """text"""
}

func (l *language) isPrefix(w string) bool   { return wordlist.Has(l.prefixes, w) }
func (l *language) isReserved(w string) bool { return wordlist.Has(l.reserved, w) }
func (l *language) isMember(op string) bool  { return wordlist.Has(l.members, op) }

// languageOf returns the language of an interpreter by its name or that of
// the language, with or without a version; nil when there are no rules for it.
func languageOf(name string) *language {
	name = strings.ToLower(name)
	if name != "python2" {
		name = strings.TrimRight(name, "0123456789.-")
	}
	switch name {
	case "python", "python2", "pypy", "py", "ipython", "bpython", "pythonw":
		return pythonLanguage()
	case "node", "nodejs", "javascript", "js", "jsx", "mjs", "deno", "bun", "typescript", "ts", "tsx", "ts-node", "jxa":
		return nodeLanguage()
	case "perl":
		return perlLanguage()
	case "ruby", "irb", "jruby", "erb":
		return rubyLanguage()
	case "php":
		return phpLanguage()
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return awkLanguage()
	case "lua", "luajit", "texlua":
		return luaLanguage()
	case "applescript", "osascript":
		return applescriptLanguage()
	case "r", "rscript", "littler":
		return rLanguage()
	case "tcl", "tclsh", "expect", "wish":
		return tclLanguage()
	case "elixir":
		return elixirLanguage()
	case "julia", "erlang", "elisp", "haskell", "script":
		return otherLanguage()
	case "compiled":
		return compiledLanguage()
	}
	return nil
}

// A table maps names of functions to what they do: the actions of a row.
type table map[string]string

// parseTable reads rows "name name … = action; action". A name "*.x" is
// the method x of anything. An action is one of
//
//	does[+r|+option] selector…   a call that is reported; +r: recursive, +option: if that option is on
//	=fold selector…              what the call returns; =is text: that text
//	!special words               a function of the parser decides: parser.special
//
// and a selector is N (an argument), N/name (or by name), N.. (that and all
// after it), * (all), self (what the method is called on) or 'text'.
func parseTable(rows string) table {
	t := make(table, 256)
	for line := range strings.Lines(rows) {
		names, action, ok := strings.Cut(line, " = ")
		if !ok {
			continue
		}
		action = strings.TrimSpace(action)
		for name := range strings.FieldsSeq(names) {
			t[name] = action
		}
	}
	return t
}
