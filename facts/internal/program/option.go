package program

import (
	"strings"
	"unicode/utf8"

	"gate/facts/internal/flow"
	"gate/internal/catalogue"
)

// An argument is one word after options were told from operands.
type argument struct {
	field  flow.Word
	option *catalogue.Option // nil for an operand
	value  flow.Word         // of the option; the zero field when it has none
	flag   string            // the option as written, without value, where it is not in the spec
}

// tellOptions tells options from operands. It never fails: what the spec does
// not know is an option without a value when it begins with a dash.
func tellOptions(r *catalogue.Row, words []flow.Word) []argument {
	switch r.Style {
	case "cmdlet":
		return parameters(r, words)
	case "slash":
		return slashOptions(r, words)
	case "letters":
		words = lettersFirst(r, words)
	}
	var args []argument
	for i := 0; i < len(words); i++ {
		w := words[i]
		text, ok := w.Prefix(), w.Literal()
		switch {
		case r.Style == "raw" || r.Style == "keyvalue" || text == "-" || text == "+" || !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"),
			strings.HasPrefix(text, "+") && r.Options.Named(text) == nil && r.Options.Named("+o") == nil:
			args = append(args, argument{field: w})
			if r.Stop {
				return append(args, operands(words[i+1:])...)
			}
		case text == "--" && ok:
			return append(args, operands(words[i+1:])...)
		case strings.HasPrefix(text, "--") || r.Style == "go":
			var next int
			args, next = longOption(r, args, words, i)
			i += next
		default:
			var next int
			args, next = shortOptions(r, args, words, i)
			i += next
		}
		if len(args) == 0 {
			continue
		}
		if last := args[len(args)-1].option; last != nil && last.Role.Name == "words" {
			return append(args, operands(words[i+1:])...) // they follow the words of its text
		}
	}
	return args
}

// lettersFirst spells a first word without a dash as options: in tar xCf DIR FILE the
// values follow in the order of the letters.
func lettersFirst(r *catalogue.Row, words []flow.Word) []flow.Word {
	if len(words) == 0 || !words[0].Literal() || strings.HasPrefix(words[0].Text(), "-") {
		return words
	}
	var spelled []flow.Word
	first, rest := words[0].Text(), words[1:]
	for i := range first {
		name := "-" + first[i:i+1]
		spelled = append(spelled, flow.Literal(name))
		if o := r.Options.Named(name); o != nil && o.Takes && !o.Attached && len(rest) > 0 {
			spelled, rest = append(spelled, rest[0]), rest[1:]
		}
	}
	return append(spelled, rest...)
}

func operands(words []flow.Word) []argument {
	args := make([]argument, len(words))
	for i, w := range words {
		args[i] = argument{field: w}
	}
	return args
}

// longOption reads --name, --name=value and --name value; it returns how many
// further words it took.
func longOption(r *catalogue.Row, args []argument, words []flow.Word, i int) ([]argument, int) {
	w := words[i]
	name, value, attached := w.Cut("=")
	o, known := r.Options.Find(name)
	if !known && r.Style == "go" && strings.HasPrefix(name, "--") {
		o, known = r.Options.Find(name[1:])
	}
	if !known && r.Style == "go" && strings.HasPrefix(name, "-") {
		o, known = r.Options.Find("-" + name)
	}
	switch {
	case !known:
		return append(args, argument{field: w, option: &catalogue.Option{Name: strings.TrimLeft(name, "-"), Takes: attached}, value: value, flag: name}), 0
	case attached:
		return append(args, argument{field: w, option: o, value: value}), 0
	case o.Pair && i+2 < len(words):
		return append(args, argument{field: w, option: o, value: words[i+2]}), 2
	case o.Takes && !o.Attached && i+1 < len(words):
		return append(args, argument{field: w, option: o, value: words[i+1]}), 1
	}
	return append(args, argument{field: w, option: o}), 0
}

// shortOptions reads -abc, -ovalue and -o value. A group that is a name of its
// own (find's -delete, tar's old bundles) wins.
func shortOptions(r *catalogue.Row, args []argument, words []flow.Word, i int) ([]argument, int) {
	w := words[i]
	text := w.Prefix()
	if o := r.Options.Named(text); o != nil && w.Literal() && len(text) > 2 {
		if o.Takes && !o.Attached && i+1 < len(words) {
			return append(args, argument{field: w, option: o, value: words[i+1]}), 1
		}
		return append(args, argument{field: w, option: o}), 0
	}
	for j := 1; j < len(text); j++ {
		_, size := utf8.DecodeRuneInString(text[j:])
		name := text[:1] + text[j:j+size]
		j += size - 1
		o := r.Options.Named(name)
		if o == nil {
			args = append(args, argument{field: w, option: &catalogue.Option{Name: name[1:]}, flag: name})
			continue
		}
		if !o.Takes {
			args = append(args, argument{field: w, option: o})
			continue
		}
		if o.Role.Detail == "digits" {
			n := j + 1
			for n < len(text) && strings.IndexByte("0123456789xabcdefABCDEF", text[n]) >= 0 && (text[n] <= '9' || strings.HasPrefix(text[j+1:], "0x")) {
				n++
			}
			args = append(args, argument{field: w, option: o, value: flow.Literal(text[j+1 : n])})
			j = n - 1
			continue
		}
		rest := w.From(j + 1)
		switch {
		case !rest.Empty():
			if rest.Text() != "=" { // cut -d=
				rest = rest.TrimPrefix("=")
			}
			return append(args, argument{field: w, option: o, value: rest}), 0
		case !o.Attached && i+1 < len(words):
			return append(args, argument{field: w, option: o, value: words[i+1]}), 1
		}
		return append(args, argument{field: w, option: o}), 0
	}
	return args, 0
}
