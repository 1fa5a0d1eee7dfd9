package code

import (
	"regexp"
	"strings"
	"sync"

	"gate/internal/wordlist"
)

// otherLanguage stands for every language without rules of its own. Its text
// is not parsed: it is plain when all it names is known to stay within the
// program, as in println(1 + 1), and else not known.
func otherLanguage() *language {
	return &language{name: "other", table: func() table { return nil }, inspect: inspectOther}
}

// elixirLanguage is Elixir, of which plain texts between double quotes are known to be data
// too: IO.puts("done").
func elixirLanguage() *language {
	return &language{name: "other", table: func() table { return nil }, inspect: func(r *inspection, text string) { inspectOther(r, withoutTexts(text)) }}
}

// withoutTexts takes out texts that stand as an argument between double quotes, up to one
// that may hold code or be a name: "#{x}", :"Elixir.System", "a": b.
func withoutTexts(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, `"`)
		inner, after, closed := strings.Cut(rest, `"`)
		if !ok || !closed || len(text) > maxFold || !strings.ContainsAny(before[max(0, len(before)-1):], "( ,") || strings.TrimRight(inner, plainText) != "" ||
			after != "" && !strings.ContainsAny(after[:1], "),;\n ") || strings.ContainsAny(before, "'~:?#\"") {
			return b.String() + text
		}
		b.WriteString(before)
		text = after
	}
}

// plainText are the signs of a text that nothing can be written in but words.
const plainText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,!-_=/"

// HasRules reports whether there are rules for programs in a language.
func HasRules(language string) bool {
	l := languageOf(language)
	return l != nil && l.name != "other"
}

func inspectOther(r *inspection, text string) {
	if len(text) > maxFold {
		r.over("program text is too long")
		return
	}
	for _, c := range text {
		if c == '`' || c == '\\' || c >= 0x80 {
			r.suspect("names something in a language that gate has no rules for")
			return
		}
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	for _, w := range words {
		if !staysWithin(w) {
			r.suspect("names " + w + " in a language that gate has no rules for")
			return
		}
	}
}

// staysWithin reports a number, a name of one letter, or a word that in none of
// these languages reaches out of the program.
func staysWithin(w string) bool {
	return len(w) == 1 || w[0] >= '0' && w[0] <= '9' || wordlist.Has(innerWords, w)
}

const innerWords = " print println printf print_endline print_string print_int ok puts putstrln inspect show display disp message str string io enum list map filter fold reduce sum length size " +
	"max min abs sqrt sin cos tan exp log pi inv det ones zeros eye let var val def fn end do true false nil null none if else then " +
	"for in while return test const int integer float double long bool using pkg instantiate precompile status version versioninfo emacs hello world "

// Packages takes out of a text of Julia what manages packages, by names that are plain, and
// returns the names or addresses of those that it installs. test reports that it runs tests.
func Packages(text string) (rest string, names []string, test bool) {
	if !strings.Contains(text, "Pkg.") {
		return text, nil, false
	}
	rest = managesPackages().ReplaceAllStringFunc(text, func(call string) string {
		verb, args, _ := strings.Cut(strings.TrimPrefix(call, "Pkg."), "(")
		if verb == "test" || verb == "build" {
			test = true
		}
		if verb == "add" || verb == "develop" {
			for _, found := range plainArgument().FindAllStringSubmatch(args, -1) {
				if found[1] == "" || wordlist.Has(" name url path ", found[1]) {
					names = append(names, found[2])
				}
			}
		}
		return "true"
	})
	return strings.ReplaceAll(rest, "import Pkg", "using Pkg"), names, test
}

var (
	managesPackages = sync.OnceValue(func() *regexp.Regexp {
		argument := `(?:\w+\s*=\s*)?(?:"[\w./:@+~-]*"|true|false|Pkg\.PackageSpec\((?:\w+\s*=\s*"[\w./:@+~-]*"[,;\s]*)*\)|\[(?:\s*"[\w./:@+~-]*"\s*,?)*\s*\])`
		return regexp.MustCompile(`\bPkg\.(?:add|develop|test|build|rm|update|resolve|gc|activate|instantiate|precompile|status|pin|free|why|compat)\(\s*(?:` + argument + `\s*[,;]?\s*)*\)`)
	})
	plainArgument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:(\w+)\s*=\s*)?"([^"]+)"`) })
)
