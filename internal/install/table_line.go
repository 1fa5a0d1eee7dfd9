package install

import (
	"strings"

	"gate/adapters"
	"gate/hook"
)

// noAnswer is what agent and person read where gate ended without an answer to a
// call.
const noAnswer = "gate gave no answer, so this call does not run. A person can repair this with: gate doctor --fix"

// elseRefuse is a shell's program: what follows it is started, and whatever ends
// without an answer of gate's (because it is not there, cannot be executed, was
// killed) becomes the status that stops a call, and what say prints. An empty file
// is a program to sh, which succeeds, and it is what a full disk leaves. No person's
// shell reads it but sh, whatever they have chosen. There is no name behind a $ that
// an agent would replace.
func elseRefuse(say string) string {
	return `"$@" && [ -s "$1" ] || { [ $? = 2 ] || ` + say + `; exit 2; }`
}

const (
	// elseTell is such a program before a prompt: the person reads why no call will
	// run, and can talk.
	elseTell = `"$@" && [ -s "$1" ] || { [ $? != 2 ] || exit 2; echo '{"systemMessage":"gate gave no answer, so tools are not called. Repair this with: gate doctor --fix"}'; }`
	// elseOpen is one where there is nothing left to stop, as after a call and at the
	// end of a turn.
	elseOpen = `"$@" || [ $? != 2 ] || exit 2`
)

// line is the command line of the hook for an event. Before a call it is one that
// cannot fail open.
func (t *table) line(m Machine, s Scope, event string) string {
	words := t.words(m, s, event)
	if program := t.program(event); program != "" && m.OS != "windows" {
		words = behindShell(program, words)
	}
	return commandLine(m.OS, words)
}

// program is the shell's program that starts gate for an event, "" where the agent
// starts gate itself.
func (t *table) program(event string) string {
	switch name := t.gateName(event); {
	case t.shut && name == hook.PreToolUse && t.deny != "":
		return elseRefuse("echo '" + t.deny + "'")
	case t.shut && name == hook.PreToolUse:
		return elseRefuse("echo " + noAnswer + " >&2")
	case t.bars && name == hook.UserPromptSubmit:
		return elseTell
	case t.bars && name != hook.PreToolUse:
		return elseOpen
	}
	return ""
}

// lineWords are the words of a command line of gate's, without the shell before
// them.
func lineWords(text string) []string {
	_, words := withoutShell(shellWords(text))
	return words
}

// behindShell are the words that have a shell's program start words.
func behindShell(program string, words []string) []string {
	return append([]string{"/bin/sh", "-c", program, "gate"}, words...)
}

// withoutShell takes them apart again. program is "" if there is no shell.
func withoutShell(words []string) (program string, started []string) {
	if len(words) > 4 && words[0] == "/bin/sh" && words[1] == "-c" && strings.HasPrefix(words[2], `"$@" `) {
		return words[2], words[4:]
	}
	return "", words
}

// ownDirs are the words of a scope's command lines that say where gate's own
// directories are.
func (m Machine) ownDirs(s Scope) (words []string) {
	if (s == Project || s == Managed) && !m.DirsNamed {
		return nil
	}
	if m.UserDir != "" {
		words = append(words, "--user-dir", m.UserDir)
	}
	if m.StateDir != "" {
		words = append(words, "--state-dir", m.StateDir)
	}
	return words
}

// commandLine is a command line as the agents' shells read it.
func commandLine(os string, words []string) string {
	var out []string
	for _, w := range words {
		if os == "windows" {
			if strings.ContainsAny(w, " &()^%!;,=") || w == "" {
				w = `"` + w + `"`
			}
		} else {
			w = shellQuote(w)
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// stops reports an event whose answer can stop a call.
func (t *table) stops(event string) bool { return t.gateName(event) == hook.PreToolUse }

// gateName is gate's name for an event.
func (t *table) gateName(event string) hook.Name {
	a, ok := adapters.Lookup(t.id)
	if !ok {
		return ""
	}
	return a.Named(event).Name
}
