package facts

import (
	"strings"

	"gate/facts/flow"
	"gate/hook"
)

// An invocation is one command as a shell runs it: the words are expanded, the
// redirections open.
type invocation struct {
	words     []flow.Word // program and arguments
	env       []setting
	redirects []hook.Redirect
	stdin     flow.Stream
	input     *hook.Stdin // of stdin, what the facts say
	span      *hook.Span
	id        int               // of its command, once it is listed
	out       flow.Stream       // what texts inside it have written
	does      []hook.FactEffect // what the script does that it is, until it is listed
	plain     bool              // functions and aliases are passed over: command rm
}

// A setting is an assignment before a command.
type setting struct {
	name  string
	value flow.Word
}

// given are the words after the program.
func (i *invocation) given() []flow.Word { return i.words[1:] }

// list adds a command to the facts. One that fetches may be handed a secret: where
// it goes is for net.send to say.
func (w *draft) list(at where, inv *invocation, program *string, fetches bool) {
	cmd := hook.ShellCommand{
		Program: program, Path: nil, Operands: []*string{}, Options: map[string][]any{},
		Env: map[string]*string{}, Via: append([]string{}, w.via...), Depth: w.depth - 1, Span: inv.span, Stdin: inv.input,
		Redirects: inv.redirects,
	}
	if v := inv.words[0].Value(); v != nil && strings.Contains(*v, "/") {
		cmd.Path = v
	}
	for _, f := range inv.words {
		cmd.Words = append(cmd.Words, hook.Word{Value: short(f.Value()), Span: f.Span})
		if f.Value() == nil {
			w.facts.Opaque = true
			if !fetches {
				w.shown(f.Taint().Secret) // a program is handed it: gh issue create --body "$(cat KEY)"
			}
		}
	}
	for _, e := range inv.env {
		cmd.Env[asKey(e.name)] = e.value.Value()
	}
	inv.id = w.command(cmd, at)
}

// owns adds what the script does that a listed command is.
func (w *draft) owns(inv *invocation) {
	for _, e := range inv.does {
		w.effect(inv.id, e.Is)
		if decoded(e) {
			w.unknown("code", "a script runs text that is decoded first", inv.id, nil)
		}
	}
	inv.does = nil
}

// decoded reports code that somebody made unreadable.
func decoded(e hook.FactEffect) bool {
	code, ok := e.Is.(*hook.ExecCode)
	return ok && code.Decoded
}

// A held is a variable as a program sees it.
type held struct {
	value    flow.Word
	exported bool
	unset    bool // the line has removed it
}
