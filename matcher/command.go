package matcher

import (
	"errors"
	"strings"

	"gate/hook"
)

// parseCommand judges the commands of a shell line.
func parseCommand(pattern string) (func(*hook.Event) Truth, error) {
	words, prefix := strings.CutSuffix(pattern, ":*")
	if !prefix {
		words, prefix = strings.CutSuffix(pattern, " *")
	}
	want := strings.Fields(words)
	if len(want) == 0 {
		return nil, errors.New("no command is named")
	}
	exact := !prefix && !strings.Contains(words, "*")
	match := func(have []*string) Truth { return matchWords(want, have, prefix) }
	if strings.Contains(words, "*") {
		text := strings.Join(want, " ")
		if prefix {
			text += " *"
		}
		// Both forms: "npm *" also stands for "npm" alone.
		long, err := newGlob(text)
		if err != nil {
			return nil, err
		}
		short, err := newGlob(strings.TrimSuffix(text, " *"))
		if err != nil {
			return nil, err
		}
		literal, _, _ := strings.Cut(text, "*")
		match = func(have []*string) Truth { return matchText(long, short, literal, have) }
	}
	return func(ev *hook.Event) Truth {
		t := unlessOpaque(ev)
		if ev.Facts == nil || ev.Facts.Shell == nil {
			if ev.Tool() == "Bash" || ev.Tool() == "PowerShell" {
				return Unsure // a shell line that nobody took apart
			}
			return t
		}
		for i := range ev.Facts.Shell.Commands {
			for _, have := range spellings(&ev.Facts.Shell.Commands[i], exact) {
				if t = max(t, match(have)); t == Yes {
					return Yes
				}
			}
		}
		return t
	}, nil
}

// spellings returns the ways in which a command can be looked at: its words as
// they are, with the program's base name first or as it was written, and,
// unless all words are to be exactly the same, its program, subcommand and
// operands without the options between them.
func spellings(c *hook.ShellCommand, exact bool) [][]*string {
	whole := []*string{c.Program}
	for i := 1; i < len(c.Words); i++ {
		whole = append(whole, c.Words[i].Value)
	}
	ways := [][]*string{whole}
	if c.Path != nil {
		ways = append(ways, append([]*string{c.Path}, whole[1:]...))
	}
	if c.Subcommand != nil && !exact {
		core := []*string{c.Program}
		for w := range strings.FieldsSeq(*c.Subcommand) {
			core = append(core, &w)
		}
		ways = append(ways, append(core, c.Operands...))
	}
	return ways
}

func matchWords(want []string, have []*string, prefix bool) Truth {
	t := Yes
	for i, w := range want {
		switch {
		case i == len(have):
			return No
		case have[i] == nil:
			t = Unsure
		case *have[i] != w:
			return No
		}
	}
	if !prefix && len(have) > len(want) {
		return No
	}
	return t
}

// matchText compares a whole command line with a glob. Words that are unknown
// leave a line that could still match Unsure.
func matchText(long, short glob, literal string, have []*string) Truth {
	var known []string
	for _, w := range have {
		if w == nil {
			break
		}
		known = append(known, *w)
	}
	text := strings.Join(known, " ")
	switch {
	case len(text) > 16*MaxValue:
		return Unsure
	case len(known) < len(have):
		return min(Unsure, truth(strings.HasPrefix(text, literal) || strings.HasPrefix(literal, text)))
	}
	return truth(long.matches(text) || short.matches(text))
}
