package matcher

import (
	"errors"
	"strings"

	"gate/hook"
	"gate/internal/paths"
)

// A command is what a condition about the commands of a shell line names.
type command struct {
	words  string
	prefix bool // more words may follow
}

func commandOf(pattern string) command {
	words, prefix := strings.CutSuffix(pattern, ":*")
	if !prefix {
		words, prefix = strings.CutSuffix(pattern, " *")
	}
	return command{words, prefix}
}

func (c command) check() error {
	if strings.TrimSpace(c.words) == "" {
		return errors.New("no command is named")
	}
	if !c.wild() {
		return nil
	}
	long, short := c.globs()
	_, err := paths.NewSegment(long)
	if err == nil {
		_, err = paths.NewSegment(short)
	}
	return err
}

// wild reports that * stands for text between the words.
func (c command) wild() bool { return strings.Contains(c.words, "*") }

// globs returns the two forms of a whole line: "npm *" also stands for "npm"
// alone.
func (c command) globs() (long, short string) {
	long = strings.Join(strings.Fields(c.words), " ")
	if c.prefix {
		long += " *"
	}
	return long, strings.TrimSuffix(long, " *")
}

// match judges the commands of a shell line.
func (c command) match(ev *hook.Event) Truth {
	t := unlessOpaque(ev)
	if ev.Facts == nil || ev.Facts.Shell == nil {
		if ev.Tool() == "Bash" || ev.Tool() == "PowerShell" {
			return Unsure // a shell line that nobody took apart
		}
		return t
	}
	for i := range ev.Facts.Shell.Commands {
		if t = max(t, c.matchOne(&ev.Facts.Shell.Commands[i])); t == Yes {
			break
		}
	}
	return t
}

func (c command) matchOne(have *hook.ShellCommand) Truth {
	if c.wild() {
		t := No
		for _, words := range spellings(have, false) {
			t = max(t, c.matchText(words))
		}
		return t
	}
	if !c.mayRun(have) {
		return No
	}
	t := No
	want := strings.Fields(c.words)
	for _, words := range spellings(have, !c.prefix) {
		t = max(t, matchWords(want, words, c.prefix))
	}
	return t
}

// mayRun reports that the program of a command may be the one that is named: most
// are not, and need no look at their other words.
func (c command) mayRun(have *hook.ShellCommand) bool {
	if have.Program == nil {
		return true
	}
	for first := range strings.FieldsSeq(c.words) {
		return *have.Program == first || have.Path != nil && *have.Path == first
	}
	return true
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

// matchText compares a whole command line with the globs. Words that are unknown
// leave a line that could still match Unsure.
func (c command) matchText(have []*string) Truth {
	var known []string
	for _, w := range have {
		if w == nil {
			break
		}
		known = append(known, *w)
	}
	text := strings.Join(known, " ")
	long, short := c.globs()
	switch {
	case len(text) > 16*MaxValue:
		return Unsure
	case len(known) < len(have):
		literal, _, _ := strings.Cut(long, "*")
		return min(Unsure, truth(strings.HasPrefix(text, literal) || strings.HasPrefix(literal, text)))
	}
	return truth(paths.Segment(long).Matches(text) || paths.Segment(short).Matches(text))
}
