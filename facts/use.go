package facts

import (
	"gate/facts/catalogue"
	"gate/facts/flow"
	"gate/hook"
)

// at is where the program is.
func (u *use) at() *where { return u.shell.Where() }

// current is what the line has made current.
func (u *use) current() *current { return u.shell.Current() }

// bare knows of the program only how it was called.
func (u *use) bare() *use {
	return &use{draft: u.draft, invocation: u.invocation, programs: u.programs, shell: u.shell, row: &catalogue.Row{}}
}

// effect records something that the program does.
func (u *use) effect(is hook.EffectKind) { u.draft.effect(u.id, is) }

// unknown records what of the program gate does not understand.
func (u *use) unknown(kind, why string, span *hook.Span) { u.draft.unknown(kind, why, u.id, span) }

// unknownCode records that the program runs text gate cannot read.
func (u *use) unknownCode(language string, t flow.Taint, source, why string) flow.Stream {
	return u.draft.unknownCode(u.id, language, t, source, why)
}

// touch records what the program does to every path that a word can be.
func (u *use) touch(f flow.Word, a access) { u.usePath(*u.at(), u.id, f, a) }

// targets are the paths that a word can be.
func (u *use) targets(f flow.Word) []target { return u.absolute(*u.at(), f) }

// enter returns the directories that a word leads to.
func (u *use) enter(f flow.Word) []string { return u.draft.enter(*u.at(), f) }

// maybePath records a word that may be a path that matters.
func (u *use) maybePath(f flow.Word) { u.draft.maybePath(*u.at(), u.id, f) }

// content is what a file holds, as far as the line tells.
func (u *use) content(f flow.Word) flow.Stream { return u.fileStream(*u.at(), f) }

// remember notes what a file holds from here on.
func (u *use) remember(f flow.Word, content flow.Stream, add bool) {
	u.draft.remember(*u.at(), f, content, add)
}

// writes records a file that the program writes, and remembers what it holds.
func (u *use) writes(f flow.Word, how string, content flow.Stream) {
	u.outputTo(*u.at(), u.id, f, how, content)
}

// listed adds the program to the commands of the line, with what its environment
// makes other programs do.
func (u *use) listed(name *string) {
	u.list(*u.at(), u.invocation, name, u.row.Output == "fetch")
	for _, e := range u.env {
		u.sets(e.name, e.value)
	}
	u.owns(u.invocation)
}

// another is the same command with other words and no input.
func (u *use) another(words []flow.Word) *invocation {
	inner := *u.invocation
	inner.words, inner.stdin, inner.input, inner.redirects = words, flow.Stream{}, nil, nil
	return &inner
}

// command runs a command that the program names, if it names one.
func (u *use) command(inv *invocation) {
	if len(inv.words) > 0 {
		u.shell.Command(inv)
	}
}
