package attack

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/internal/catalogue"
)

// A spelling writes a simple command of plain words in another way that runs the
// same. It returns "" where the words have no such form.
type spelling struct {
	name  string
	write func(program string, rest []string) string
}

// spellings are the ways in which a shell can be told the same words.
func spellings() []spelling {
	each := func(name string, f func(string) string) spelling {
		return spelling{name, func(program string, rest []string) string {
			return f(program) + " " + strings.Join(mapped(rest, f), " ")
		}}
	}
	program := func(name string, f func(string) string) spelling {
		return spelling{name, func(program string, rest []string) string {
			return strings.Join(append([]string{f(program)}, mapped(rest, bare)...), " ")
		}}
	}
	return []spelling{
		each("every word in double quotes", func(w string) string { return `"` + inDouble(w) + `"` }),
		each("quotes within every word", halved),
		each("every word as numbers in $'…'", ansi),
		each("every word printed by a substitution", func(w string) string { return `"$(printf %s ` + single(w) + `)"` }),
		each("every word as a default", func(w string) string { return "${unset:-" + single(w) + "}" }),
		program("a backslash before the program", func(w string) string { return `\` + w }),
		program("the program in quotes", single),
		program("the program by command", func(w string) string { return "command " + w }),
		program("the program by env", func(w string) string { return "/usr/bin/env " + w }),
		program("a variable before the program", func(w string) string { return "LC_ALL=C " + w }),
		program("a redirection before the program", func(w string) string { return "2>/dev/null " + w }),
		program("the program by its path", func(w string) string {
			if strings.ContainsAny(w, "/.") {
				return ""
			}
			return "/usr/bin/" + w
		}),
		{"the program in a variable", func(program string, rest []string) string {
			return "p=" + single(program) + "; $p " + strings.Join(mapped(rest, bare), " ")
		}},
		{"the operands in variables", func(program string, rest []string) string {
			var set, use strings.Builder
			for i, w := range rest {
				name := string(rune('a' + i%26))
				if i >= 26 || len(rest) == 0 {
					return ""
				}
				set.WriteString(name + "=" + single(w) + "; ")
				use.WriteString(` "$` + name + `"`)
			}
			return set.String() + program + use.String()
		}},
		{"the words in an array", func(program string, rest []string) string {
			return "a=(" + strings.Join(mapped(append([]string{program}, rest...), bare), " ") + `); "${a[@]}"`
		}},
		{"the words as parameters", func(program string, rest []string) string {
			return "set -- " + strings.Join(mapped(append([]string{program}, rest...), bare), " ") + `; "$@"`
		}},
		{"the last word read from text", func(program string, rest []string) string {
			if len(rest) == 0 {
				return ""
			}
			last := rest[len(rest)-1]
			return "read -r w <<< " + single(last) + "; " + strings.Join(append([]string{program}, mapped(rest[:len(rest)-1], bare)...), " ") + ` "$w"`
		}},
		{"lines joined by backslashes", func(program string, rest []string) string {
			return strings.Join(append([]string{program}, mapped(rest, bare)...), " \\\n  ")
		}},
		{"the words in braces", func(program string, rest []string) string {
			words := append([]string{program}, rest...)
			if len(rest) == 0 || strings.ContainsAny(strings.Join(words, ""), " \t\n,{}'\"\\$`*?[]~=;&|<>()#!") {
				return ""
			}
			return "{" + strings.Join(words, ",") + "}"
		}},
		{"$IFS for the blanks", func(program string, rest []string) string {
			return strings.Join(append([]string{program}, mapped(rest, bare)...), "${IFS}")
		}},
	}
}

func mapped(words []string, f func(string) string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = f(w)
	}
	return out
}

// bare writes a word without quotes where it needs none.
func bare(w string) string {
	if w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return w
	}
	quoted, err := syntax.Quote(w, syntax.LangBash)
	if err != nil {
		return single(w)
	}
	return quoted
}

// halved puts an empty pair of quotes into the middle of a word.
func halved(w string) string {
	if len(w) < 2 || bare(w) != w {
		return bare(w)
	}
	return w[:1] + "''" + w[1:]
}

// plainWords returns the words of a line that is one simple command whose words
// mean the same wherever they stand.
func plainWords(line string) []string {
	f, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) != 1 {
		return nil
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background {
		return nil
	}
	var words []string
	for _, arg := range call.Args {
		w, ok := plain(arg)
		if !ok {
			return nil
		}
		words = append(words, w)
	}
	return words
}

// plain returns the value of a word that a shell only takes quotes from.
func plain(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\*?[]{}~$`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, `\`) {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// respelt returns the same command with its options written in other ways that
// its row in the catalogue knows.
func respelt(words []string) map[string]string {
	row := rowOf(words)
	if row == nil || row.Style != "" || row.Options == nil {
		return nil
	}
	forms := map[string]string{}
	note := func(name string, words []string) { forms[name] = strings.Join(mapped(words, bare), " ") }
	for i := 1; i < len(words); i++ {
		w := words[i]
		if w == "--" {
			break
		}
		name, value, attached := strings.Cut(w, "=")
		option := row.Options.Named(name)
		if !strings.HasPrefix(w, "-") || option == nil {
			continue
		}
		if other := alias(row.Options, option, name); other != "" && !attached {
			note("an option under its other name", replaced(words, i, 1, other))
		}
		switch {
		case attached && option.Takes && !option.Attached && strings.HasPrefix(w, "--"):
			note("an option's value in a word of its own", replaced(words, i, 1, name, value))
		case !attached && option.Takes && !option.Attached && !option.Pair && strings.HasPrefix(w, "--") && i+1 < len(words):
			note("an option's value in the same word", replaced(words, i, 2, name+"="+words[i+1]))
		}
		if !option.Takes && !row.Stop && !row.Verbs && i < len(words)-1 {
			note("an option at the end", append(replaced(words, i, 1), w))
		}
	}
	return forms
}

// replaced returns words with n of them exchanged for others.
func replaced(words []string, at, n int, others ...string) []string {
	out := append([]string{}, words[:at]...)
	return append(append(out, others...), words[at+n:]...)
}

// alias returns another name of an option, "" if the catalogue has none.
func alias(all *catalogue.Options, option *catalogue.Option, name string) string {
	if strings.HasPrefix(name, "--") {
		for c := 'A'; c <= 'z'; c++ {
			if short := "-" + string(c); all.Named(short) == option {
				return short
			}
		}
		return ""
	}
	if long := "--" + option.Name; long != name && all.Named(long) == option {
		return long
	}
	return ""
}

// rowOf returns the row of a command, of its verb if it has one.
func rowOf(words []string) *catalogue.Row {
	rows := catalogue.New(nil)
	row, ok := rows.Lookup(words[0])
	if !ok {
		return nil
	}
	name := words[0]
	for _, w := range words[1:] {
		if !row.Verbs {
			break
		}
		if strings.HasPrefix(w, "-") {
			return nil // options before the verb: leave them where they are
		}
		verb, ok := rows.Lookup(name + " " + w)
		if !ok {
			return nil
		}
		merged := *verb
		merged.Options = verb.Options.Merge(row.Options)
		name, row = name+" "+w, &merged
	}
	return row
}
