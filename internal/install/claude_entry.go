package install

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/adapters"
	"gate/engine"
)

// A claudeEntry is one handler in a settings file.
type claudeEntry struct {
	jsonEntry
	shell string // the shell's program that starts the words; "" if the client does
}

// entries returns gate's entries in the order of the text. parse has accepted d.
func (c claude) entries(d *document) []claudeEntry {
	var out []claudeEntry
	c.handlers(d, func(x claudeEntry) {
		if x.shell, x.words = withoutShell(argv(x.handler)); c.isGate(x.words) {
			out = append(out, x)
		}
	})
	return out
}

// handlers visits every handler of a file, in the order of the text.
func (claude) handlers(d *document, visit func(claudeEntry)) {
	visitHandlers(d, "hooks", false, func(x jsonEntry) { visit(claudeEntry{jsonEntry: x}) })
}

// words returns what a command handler starts in the end, without a shell of gate's
// before it; nil if that is not to be understood.
func (claude) words(handler *node) []string {
	_, words := withoutShell(argv(handler))
	return words
}

// argv returns the program of a command handler and its arguments.
func argv(handler *node) []string {
	command := handler.member("command")
	if !command.is('"') {
		return nil
	}
	args := handler.member("args")
	if args == nil {
		return shellWords(command.str)
	}
	rest, ok := args.strings()
	if !ok {
		return nil
	}
	return append([]string{command.str}, rest...)
}

// isGate recognises a command line of gate's, whatever version wrote it:
// gate hook … --agent claude …, or gate-hook … --agent claude ….
func (claude) isGate(words []string) bool { return gateFor(words, "claude") }

// gateFor recognises a command line of gate's for an agent.
func gateFor(words []string, agent string) bool {
	return len(starts(words)) > 0 && flag(words, "agent") == agent
}

// starts is the part of a command line that starts gate's hook program, nil if
// it starts anything else: also another command of gate's, whatever else it says.
func starts(words []string) []string {
	switch {
	case len(words) == 0:
	case baseName(words[0]) == "gate-hook":
		return words[:1]
	case baseName(words[0]) == "gate" && len(words) > 1 && words[1] == "hook":
		return words[:2]
	}
	return nil
}

// stray is the first flag of gate's command line that decides something and that no
// installation writes, such as --managed-dir; "" if there is none.
func stray(words []string) string {
	for words = words[len(starts(words)):]; len(words) > 0; {
		name, _, joined := strings.Cut(strings.TrimPrefix(words[0], "-"), "=")
		if !slices.Contains([]string{"-agent", "-event", "-scope", "-user-dir", "-state-dir", "-timeout"}, name) {
			return words[0]
		}
		if !joined && len(words) > 1 {
			words = words[1:] // its value
		}
		words = words[1:]
	}
	return ""
}

// current reports whether the entry does what an installation would write. A
// longer timeout and fields that do not matter may stay.
func (x claudeEntry) current(d *document, want []string, e claudeEvent) bool {
	return slices.Equal(argv(x.handler), want) && x.handler.member("args") != nil && len(x.faults(d, e)) == 0
}

// An entryFault is one way in which an entry falls short.
type entryFault struct {
	id       string
	severity Severity
	at       *node
	message  string
}

// faults lists what keeps an entry from doing its work, apart from its command
// line.
func (x claudeEntry) faults(d *document, e claudeEvent) []entryFault {
	var out []entryFault
	report := func(id string, severity Severity, at *node, format string, args ...any) {
		out = append(out, entryFault{id, severity, at, fmt.Sprintf(format, args...)})
	}
	h := x.handler
	if h.member("type").text() != "command" {
		report("gate.type", Error, h, "gate's entry has no type \"command\"")
	}
	if m := x.item.member("matcher"); m != nil && m.text() != "" && m.text() != "*" {
		report("gate.matcher", Error, m, "gate is asked about %q only", m.str)
	}
	if n := h.member("if"); n != nil {
		report("gate.matcher", Error, n, "gate is asked on a condition only")
	}
	for _, key := range []string{"async", "asyncRewake"} {
		if n := h.member(key); n.is('t') {
			report("gate.async", Error, n, "gate is started with %q: it cannot stop anything", key)
		}
	}
	if word := stray(x.words); word != "" {
		report("gate.command", Error, h, "gate is started with %q; no installation writes that", word)
	}
	if x.shell != "" && (x.shell != elseTell || e.block) {
		report("gate.command", Error, h, "gate is started from a line of sh that no installation writes for this event")
	}
	x.timeFault(d, e, report)
	failure := h.member("onFailure")
	switch {
	case e.block && failure.text() != "block":
		report("gate.onfailure", Error, h, "without onFailure \"block\" the call goes on when gate is missing or late")
	case !e.block && failure.text() == "block":
		report("gate.onfailure", Warning, failure, "onFailure \"block\" locks the person out while gate is broken")
	}
	return out
}

func (x claudeEntry) timeFault(d *document, e claudeEvent, report func(string, Severity, *node, string, ...any)) {
	timeout := x.handler.member("timeout")
	seconds, ok := d.number(timeout)
	switch {
	case timeout == nil:
		report("gate.timeout", Notice, x.handler, "no timeout is set: the client waits as long as its version likes")
	case !ok:
		report("gate.timeout", Error, timeout, "the timeout is %s where seconds are wanted", timeout.typeName())
	case seconds <= x.deadline(e):
		report("gate.timeout", Error, timeout, "the client waits %g s, gate may take up to %g s for its answer", seconds, x.deadline(e))
	}
}

// deadline is how long gate may take for its answer, in seconds: what gate hook
// makes of its command line.
func (x claudeEntry) deadline(e claudeEvent) float64 {
	wait := 600 * time.Second
	if adapter, ok := adapters.Lookup("claude"); ok {
		wait = adapter.Deadline(e.name)
	}
	if given, err := time.ParseDuration(flag(x.words, "timeout")); err == nil && given > 0 {
		wait = given
	}
	return min(engine.Limit, wait*4/5).Seconds()
}

// flag returns the value of a long flag on a command line, "" for none.
func flag(words []string, name string) string {
	for i, word := range words {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(word, "-"), "-"+name)
		switch {
		case !ok:
		case strings.HasPrefix(rest, "="):
			return rest[1:]
		case rest == "" && i+1 < len(words):
			return words[i+1]
		}
	}
	return ""
}

// baseName returns a program's name without directory and .exe, whatever the
// system that wrote it.
func baseName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if n := len(name) - 4; n > 0 && strings.EqualFold(name[n:], ".exe") {
		name = name[:n]
	}
	return name
}

// shellWords splits a command line as a POSIX shell would where it is only
// words and quotes; nil where it is more than that.
func shellWords(text string) []string {
	var words []string
	var word strings.Builder
	started, quote := false, rune(0)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote == '\'' && r != '\'':
			word.WriteRune(r)
		case quote != 0 && r == quote:
			quote = 0
		case r == '\\' && i+1 < len(runes) && (quote == 0 || strings.ContainsRune("\"\\$`", runes[i+1])):
			i++
			started = true
			word.WriteRune(runes[i])
		case strings.ContainsRune("$`", r), quote == 0 && strings.ContainsRune(";&|<>()\n", r):
			return nil
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t':
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
		default:
			started = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil
	}
	if started {
		words = append(words, word.String())
	}
	return words
}
