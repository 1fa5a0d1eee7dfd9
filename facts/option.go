package facts

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An optionSpec knows the options of one program.
type optionSpec struct {
	names []optionName // of equal ones the last counts
}

// An optionName is one name of an option, with dashes.
type optionName struct {
	name   string
	option *option
}

// An option is one of them under all its names.
type option struct {
	name     string // canonical: the last name, without dashes
	role     role   // of its value
	takes    bool   // has a value
	pair     bool   // has two values, of which the last is kept
	attached bool   // only as --name=value or -nvalue
}

// parseOptions reads the spec of a row: blank-separated groups of
// comma-separated names, then =role for a value, ==role for two, or [=role] for
// an attached one.
// The last name is the canonical one.
func parseOptions(spec string) (*optionSpec, error) {
	groups := strings.Fields(spec)
	options := make([]option, len(groups))
	s := &optionSpec{names: make([]optionName, 0, len(groups)+strings.Count(spec, ","))}
	for i, group := range groups {
		o := &options[i]
		names, value, hasValue := strings.Cut(group, "=")
		if hasValue {
			o.takes = true
			value, o.pair = strings.CutPrefix(value, "=")
			if n, ok := strings.CutSuffix(names, "["); ok {
				names, o.attached = n, true
				value = strings.TrimSuffix(value, "]")
			}
			var err error
			if o.role, err = parseRole(value); err != nil {
				return nil, fmt.Errorf("option %s: %w", group, err)
			}
		}
		for n := range strings.SplitSeq(names, ",") {
			if !strings.HasPrefix(n, "-") && !strings.HasPrefix(n, "+") || len(n) < 2 {
				return nil, fmt.Errorf("option %q", n)
			}
			o.name = strings.TrimLeft(n, "-")
			s.names = append(s.names, optionName{n, o})
		}
	}
	return s, nil
}

// named returns the option with exactly this name, nil if there is none.
func (s *optionSpec) named(name string) *option {
	for i := len(s.names) - 1; i >= 0; i-- {
		if s.names[i].name == name {
			return s.names[i].option
		}
	}
	return nil
}

// find returns the option with this name, or the only one it abbreviates.
func (s *optionSpec) find(name string) (*option, bool) {
	if o := s.named(name); o != nil {
		return o, true
	}
	if !strings.HasPrefix(name, "--") || len(name) < 4 {
		return nil, false
	}
	var found *option
	for _, n := range s.names {
		if strings.HasPrefix(n.name, name) {
			o := s.named(n.name)
			if found != nil && found != o {
				return nil, false
			}
			found = o
		}
	}
	return found, found != nil
}

// merge adds the options of a parent row: git's own before git push's.
func (s *optionSpec) merge(parent *optionSpec) *optionSpec {
	if len(parent.names) == 0 {
		return s
	}
	return &optionSpec{names: slices.Concat(parent.names, s.names)}
}

// An argument is one word after options were told from operands.
type argument struct {
	field  field
	option *option // nil for an operand
	value  field   // of the option; the zero field when it has none
	flag   string  // the option as written, without value, where it is not in the spec
}

// arguments tells options from operands. It never fails: what the spec does
// not know is an option without a value when it begins with a dash.
func (r *row) arguments(words []field) []argument {
	var args []argument
	for i := 0; i < len(words); i++ {
		w := words[i]
		text, ok := w.prefix(), w.literal()
		switch {
		case r.style == "raw" || r.style == "keyvalue" || text == "-" || text == "+" || !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"),
			strings.HasPrefix(text, "+") && r.options.named(text) == nil && r.options.named("+o") == nil:
			args = append(args, argument{field: w})
			if r.stop {
				return append(args, operands(words[i+1:])...)
			}
		case text == "--" && ok:
			return append(args, operands(words[i+1:])...)
		case strings.HasPrefix(text, "--") || r.style == "go":
			var next int
			args, next = r.longOption(args, words, i)
			i += next
		default:
			var next int
			args, next = r.shortOptions(args, words, i)
			i += next
		}
		if len(args) == 0 {
			continue
		}
		if last := args[len(args)-1].option; last != nil && last.role.name == "words" {
			return append(args, operands(words[i+1:])...) // they follow the words of its text
		}
	}
	return args
}

func operands(words []field) []argument {
	args := make([]argument, len(words))
	for i, w := range words {
		args[i] = argument{field: w}
	}
	return args
}

// longOption reads --name, --name=value and --name value; it returns how many
// further words it took.
func (r *row) longOption(args []argument, words []field, i int) ([]argument, int) {
	w := words[i]
	name, value, attached := w.cut("=")
	o, known := r.options.find(name)
	if !known && r.style == "go" && strings.HasPrefix(name, "--") {
		o, known = r.options.find(name[1:])
	}
	if !known && r.style == "go" && strings.HasPrefix(name, "-") {
		o, known = r.options.find("-" + name)
	}
	switch {
	case !known:
		return append(args, argument{field: w, option: &option{name: strings.TrimLeft(name, "-"), takes: attached}, value: value, flag: name}), 0
	case attached:
		return append(args, argument{field: w, option: o, value: value}), 0
	case o.pair && i+2 < len(words):
		return append(args, argument{field: w, option: o, value: words[i+2]}), 2
	case o.takes && !o.attached && i+1 < len(words):
		return append(args, argument{field: w, option: o, value: words[i+1]}), 1
	}
	return append(args, argument{field: w, option: o}), 0
}

// shortOptions reads -abc, -ovalue and -o value. A group that is a name of its
// own (find's -delete, tar's old bundles) wins.
func (r *row) shortOptions(args []argument, words []field, i int) ([]argument, int) {
	w := words[i]
	text := w.prefix()
	if o := r.options.named(text); o != nil && w.literal() && len(text) > 2 {
		if o.takes && !o.attached && i+1 < len(words) {
			return append(args, argument{field: w, option: o, value: words[i+1]}), 1
		}
		return append(args, argument{field: w, option: o}), 0
	}
	for j := 1; j < len(text); j++ {
		_, size := utf8.DecodeRuneInString(text[j:])
		name := text[:1] + text[j:j+size]
		j += size - 1
		o := r.options.named(name)
		if o == nil {
			args = append(args, argument{field: w, option: &option{name: name[1:]}, flag: name})
			continue
		}
		if !o.takes {
			args = append(args, argument{field: w, option: o})
			continue
		}
		if o.role.detail == "digits" {
			n := j + 1
			for n < len(text) && strings.IndexByte("0123456789xabcdefABCDEF", text[n]) >= 0 && (text[n] <= '9' || strings.HasPrefix(text[j+1:], "0x")) {
				n++
			}
			args = append(args, argument{field: w, option: o, value: literalField(text[j+1 : n])})
			j = n - 1
			continue
		}
		rest := w.from(j + 1)
		switch {
		case !rest.empty():
			if rest.text() != "=" { // cut -d=
				rest = rest.trimPrefix("=")
			}
			return append(args, argument{field: w, option: o, value: rest}), 0
		case !o.attached && i+1 < len(words):
			return append(args, argument{field: w, option: o, value: words[i+1]}), 1
		}
		return append(args, argument{field: w, option: o}), 0
	}
	return args, 0
}
