package seen

import (
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// Clipboard is what a call hands over that pastes after a secret was copied.
const Clipboard = "clipboard with a secret"

// clipped stands before the mark that a call put a secret into the clipboard.
const clipped = "clipped "

// copiesSecret reports a call that puts a secret into the clipboard.
func copiesSecret(f *hook.Facts) bool {
	if f == nil || f.Shell == nil {
		return false
	}
	clips := 0
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if wordlist.Has(" xclip xsel wl-copy pbcopy clip clip.exe set-clipboard termux-clipboard-set lemonade copyq ", strings.ToLower(text(c.Program))) && c.Options["o"] == nil && c.Options["output"] == nil && c.Options["out"] == nil {
			clips = c.ID
		}
	}
	if clips == 0 {
		return false
	}
	for i := range f.Effects {
		e := &f.Effects[i]
		switch is := e.Is.(type) {
		case *hook.SecretRead:
			if feeds(f, e.Command, clips) {
				return true
			}
		case *hook.FSRead:
			for k := range f.Flow {
				if flow := &f.Flow[k]; flow.Origin == Secret && flow.Path != nil && is.Path != nil && *flow.Path == *is.Path {
					return true
				}
			}
		}
	}
	return false
}

// feeds reports a command whose output a later one gets, by pipes, or that is the same.
func feeds(f *hook.Facts, from, to int) bool {
	for range len(f.Shell.Commands) + 1 {
		if from == to {
			return true
		}
		if to < 1 || to > len(f.Shell.Commands) || f.Shell.Commands[to-1].Stdin == nil || f.Shell.Commands[to-1].Stdin.Command == 0 {
			return false
		}
		to = f.Shell.Commands[to-1].Stdin.Command
	}
	return false
}

// pastes reports a call that pastes: a tool that presses the keys for it or is named after it,
// or a program that types for a person.
func pastes(ev *hook.Event) bool {
	shell := ev.Facts != nil && ev.Facts.Shell != nil
	if !shell && wordlist.HasAny(" paste ", wordlist.OfName(ev.Tool())) {
		return true
	}
	found := false
	if !shell {
		keys := wordlist.HasAny(" key keys keyboard press type shortcut hotkey computer input act ", wordlist.OfName(ev.Tool()))
		texts("", any(ev.ToolInput()), func(_, text string) { found = found || keys && len(text) <= maxChord && chord(text) })
		return found
	}
	for i := range ev.Facts.Shell.Commands {
		c := &ev.Facts.Shell.Commands[i]
		if !wordlist.Has(" xdotool ydotool wtype osascript cliclick dotool ", text(c.Program)) {
			continue
		}
		for _, w := range c.Words {
			word := text(w.Value)
			found = found || len(word) <= maxChord && chord(word) || strings.Contains(word, `keystroke "v"`)
		}
	}
	return found
}

// maxChord is how long the name of keys that are pressed together is, in bytes.
const maxChord = 32

// chord reports the keys by which people paste.
func chord(text string) bool {
	return wordlist.Has(" controlv ctrlv metav cmdv commandv superv controlormetav controlshiftv ctrlshiftv metashiftv shiftinsert shiftins paste ", plainOf(text))
}

// Pastes is the hit of a call that pastes after a secret was copied, nil for another one.
func (s *Seen) Pastes(ev *hook.Event) *Hit {
	if !pastes(ev) {
		return nil
	}
	if kept, err := s.open(); err == nil && kept.named([]string{clipped}, Clipboard) {
		return &Hit{Origin: Secret, What: Clipboard, How: Known}
	}
	return nil
}
