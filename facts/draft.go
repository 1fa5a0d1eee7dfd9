package facts

import (
	"slices"
	"strings"

	"gate/hook"

	"gate/facts/flow"
	"gate/facts/world"
)

// A draft holds the facts of one event while they are worked out, and what the
// event's line has changed up to here: files, links, names of programs.
type draft struct {
	world      world.World
	facts      *hook.Facts
	via        []string               // wrappers around what runs now
	depth      int                    // shells inside shells
	temps      int                    // names that mktemp made up so far
	files      map[string]flow.Stream // written in this line
	links      map[string]string      // symbolic links made in this line
	renamed    map[string]string      // programs that the line gives another name, by their new path
	lastSecret lastSecret             // what secret said of the last path
	full       []string               // limits that were reported
}

// unknown records what was not understood, once.
func (w *draft) unknown(kind, why string, command int, span *hook.Span) {
	w.facts.Opaque = true
	for _, u := range w.facts.Unknown {
		if u.Kind == kind && u.Why == why && u.Command == command {
			return
		}
	}
	w.facts.Unknown = append(w.facts.Unknown, hook.Unknown{Kind: kind, Why: why, Command: command, Span: span})
}

func (w *draft) limit(why string) {
	if slices.Contains(w.full, why) {
		return
	}
	w.full = append(w.full, why)
	w.unknown("limit", why, 0, nil)
}

// effect records one effect, once.
func (w *draft) effect(command int, is hook.EffectKind) {
	w.facts.Effects = append(w.facts.Effects, hook.FactEffect{Command: command, Is: is})
}

// shown marks a secret that was read as going on to the agent or a program.
func (w *draft) shown(what string) {
	for _, e := range w.facts.Effects {
		if read, ok := e.Is.(*hook.SecretRead); ok && what != "" && read.What == what {
			read.Shown = true
		}
	}
}

// unknownCode notes that a shell or interpreter runs text gate cannot read.
func (w *draft) unknownCode(id int, language string, t flow.Taint, source, why string) flow.Stream {
	w.effect(id, &hook.ExecCode{Language: language, Source: source, Decoded: t.Hidden})
	if t.Remote {
		via := map[string]string{"stdin": "pipe", "inline": "substitution", "file": "file"}[source]
		w.effect(id, &hook.ExecRemote{Host: flow.Known(t.Host), URL: flow.Known(t.URL), Via: via})
	}
	w.facts.Code = append(w.facts.Code, hook.Code{Command: id, Language: language, Source: source, Calls: []string{}})
	w.unknown("code", "the text that runs is not known: "+why, id, nil)
	return flow.Stream{Some: true, From: id, Taint: t}
}

// command appends one command and returns its number.
func (w *draft) command(cmd hook.ShellCommand, at where) int {
	cmd.ID = len(w.facts.Shell.Commands) + 1
	if len(at.dirs) == 1 {
		cmd.Dir = &at.dirs[0]
	}
	if cmd.Via == nil {
		cmd.Via = append([]string{}, w.via...)
	}
	w.facts.Shell.Commands = append(w.facts.Shell.Commands, cmd)
	for _, word := range cmd.Words {
		if word.Value == nil {
			w.unknown("word", "an argument is not known", cmd.ID, word.Span)
			break
		}
	}
	return cmd.ID
}

// invisible reports blanks that are no blanks to the shell, zero-width and
// bidirectional characters.
func invisible(r rune) bool {
	switch {
	case r == 0x85, r == 0xA0, r == 0xAD, r == 0x1680, r == 0x180E, r == 0xFEFF, r == 0x3000,
		0x2000 <= r && r <= 0x200F, 0x2028 <= r && r <= 0x202F, 0x205F <= r && r <= 0x206F, 0xE0000 <= r && r <= 0xE007F:
		return true
	}
	return false
}

const maxShown = 4096

// short keeps long texts out of the facts; they are judged in full all the same.
func short(s *string) *string {
	if s == nil || len(*s) <= maxShown {
		return s
	}
	return nil
}

// asKey is a name that stands as the key of an object, where two that are no
// UTF-8 must not become one only when they are written.
func asKey(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// commands are those that were listed so far, none without a shell line.
func (w *draft) commands() []hook.ShellCommand { return w.facts.Shell.Commands }
