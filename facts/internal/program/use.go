package program

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// at is where the program is.
func (u *use) at() *draft.Where { return u.shell.Where() }

// current is what the line has made current.
func (u *use) current() *draft.Current { return u.shell.Current() }

// bare knows of the program only how it was called.
func (u *use) bare() *use {
	return &use{Draft: u.Draft, Invocation: u.Invocation, programs: u.programs, shell: u.shell, row: &catalogue.Row{}}
}

// effect records something that the program does.
//
//go:noinline
func (u *use) effect(is hook.EffectKind) { u.Draft.Effect(u.ID, is) }

// unknown records what of the program gate does not understand.
//
//go:noinline
func (u *use) unknown(kind, why string, span *hook.Span) { u.Draft.Unknown(kind, why, u.ID, span) }

// unknownCode records that the program runs text gate cannot read.
func (u *use) unknownCode(language string, t flow.Taint, source, why string) flow.Stream {
	return u.Draft.UnknownCode(u.ID, language, t, source, why)
}

// touch records what the program does to every path that a word can be.
func (u *use) touch(f flow.Word, a draft.Access) {
	u.UsePath(*u.at(), u.ID, f, a)
	if a.Kind == "delete" {
		for _, one := range u.fromList(f) {
			u.UsePath(*u.at(), u.ID, one, a)
		}
	}
}

// targets are the paths that a word can be.
func (u *use) targets(f flow.Word) []draft.Target { return u.Absolute(*u.at(), f) }

// enter returns the directories that a word leads to.
func (u *use) enter(f flow.Word) []string { return u.Draft.Directories(*u.at(), f) }

// maybePath records a word that may be a path that matters.
func (u *use) maybePath(f flow.Word) {
	option := ""
	if text := f.Prefix(); text != "" && (strings.ContainsAny(text, "/.") || text[0] == 'i') {
		option = u.optionOf(f)
	}
	u.Draft.MaybePath(*u.at(), u.ID, option, f)
}

// maybeValue records a word that its role calls text, behind an option that the row
// does not have and that says which file the program reads or writes: arp -f FILE,
// --pack-destination DIR.
func (u *use) maybeValue(f flow.Word) {
	if !pathLike(f) {
		return
	}
	option := u.optionOf(f)
	if _, known := u.row.Options.Find(option); !known && (strings.HasPrefix(option, "--") && draft.Writes(option) || namesFile(option)) {
		u.maybePath(f)
	}
}

// pathLike reports a word that begins as the path of a file does.
func pathLike(f flow.Word) bool {
	text := f.Prefix()
	return text != "" && (text[0] == '/' || text[0] == '~' || text[0] == '.')
}

// namesFile reports an option by whose name programs take a file to read.
func namesFile(option string) bool {
	name := strings.TrimLeft(option, "-")
	return wordlist.Has(" f F i file input batch source ascii filename from ", name) || strings.HasSuffix(name, "-file") || strings.HasPrefix(name, "file-")
}

// optionOf is the option that may say what the program does to a word: the one before
// it, or one that has the program change all its files.
func (u *use) optionOf(f flow.Word) (option string) {
	before := ""
	for _, w := range u.Given() {
		text := w.Prefix()
		switch {
		case draft.Edits(text):
			return text
		case w.Same(f):
			option = before
		}
		before = ""
		if strings.HasPrefix(text, "-") {
			before = text
		}
	}
	return option
}

// content is what a file holds, as far as the line tells; of a pattern what one of the
// files does that it matches.
func (u *use) content(f flow.Word) flow.Stream {
	st := u.FileStream(*u.at(), f)
	if st.Taint.Secret == "" && f.Matches() {
		for _, s := range u.Sources(*u.at(), f) {
			st.Taint = st.Taint.Merge(s.Taint)
		}
	}
	return st
}

// remember notes what a file holds from here on.
func (u *use) remember(f flow.Word, content flow.Stream, add bool) {
	u.Draft.Remember(*u.at(), f, content, add)
}

// writes records a file that the program writes, and remembers what it holds.
func (u *use) writes(f flow.Word, how string, content flow.Stream) {
	u.OutputTo(*u.at(), u.ID, f, how, content)
}

// listed adds the program to the commands of the line, with what its environment
// makes other programs do.
func (u *use) listed(name *string) {
	u.List(*u.at(), u.Invocation, name, u.row.Output == "fetch")
	if u.programs.uses != nil {
		u.programs.uses[u.ID] = u
	}
	for _, e := range u.Env {
		u.sets(e.Name, e.Value)
		u.elsewhere(e)
	}
	u.Owns(u.Invocation)
}

// another is the same command with other words and no input.
func (u *use) another(words []flow.Word) *draft.Invocation {
	inner := *u.Invocation
	inner.Words, inner.Stdin, inner.Input, inner.Redirects = words, flow.Stream{}, nil, nil
	return &inner
}

// command runs a command that the program names, if it names one.
func (u *use) command(inv *draft.Invocation) {
	if len(inv.Words) > 0 {
		u.shell.Command(inv)
	}
}
