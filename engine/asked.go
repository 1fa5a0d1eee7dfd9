package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// kept reports, by the facts of the edited line, what edits by meaning did not do
// and what they did besides. Nobody who asks for an option of one command has
// looked at the others.
func (p *plan) kept(was, is *hook.Facts) error {
	if len(p.asked) == 0 {
		return nil
	}
	if is.Shell == nil {
		return errors.New("the edited line is not understood")
	}
	before, after := inLine(was.Shell), inLine(is.Shell)
	if len(before) != len(after) {
		return fmt.Errorf("the edited line would have %d commands, and not %d", len(after), len(before))
	}
	for i := range before {
		want, is := before[i], after[i]
		asked := 0
		for _, e := range p.asked {
			if e.Command == want.ID {
				give(&want, e)
				asked++
			}
		}
		if p.bySpan && asked == 0 {
			continue
		}
		switch what := difference(&want, &is); {
		case what == "":
		case asked > 0:
			return fmt.Errorf("command %d would become %q, and %s would not be what was asked for", want.ID, lineOf(&is), what)
		default:
			return fmt.Errorf("command %d would change, too: %s of %q", want.ID, what, lineOf(&is))
		}
	}
	return nil
}

// inLine are the commands of the line itself. What those run in turn follows from
// them.
func inLine(shell *hook.Shell) []hook.ShellCommand {
	return slices.DeleteFunc(slices.Clone(shell.Commands), func(c hook.ShellCommand) bool { return c.Span == nil })
}

// lineOf is a command as people read it.
func lineOf(c *hook.ShellCommand) string {
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		if words[i] = "…"; w.Value != nil {
			words[i] = *w.Value
		}
	}
	return strings.Join(words, " ")
}

// give changes a command of the facts as an edit asks for it.
func give(c *hook.ShellCommand, e *hook.CommandEdit) {
	if e.Program != "" {
		c.Words = slices.Clone(c.Words)
		c.Words[0].Value, c.Program = &e.Program, nil
	}
	c.Env = maps.Clone(c.Env)
	for name, value := range e.Env {
		if c.Env[name] = value; value == nil {
			delete(c.Env, name)
		}
	}
	c.Options = maps.Clone(c.Options)
	for name, value := range e.Options {
		if c.Options[name] = []any{value}; value == nil {
			delete(c.Options, name)
		}
	}
	has := func(text string) func(*string) bool {
		return func(o *string) bool { return o != nil && *o == text }
	}
	c.Operands = slices.Clone(c.Operands)
	for _, text := range e.Remove {
		c.Operands = slices.DeleteFunc(c.Operands, has(text))
	}
	for _, text := range e.Add {
		if !slices.ContainsFunc(c.Operands, has(text)) {
			c.Operands = append(c.Operands, &text)
		}
	}
}

// difference names the first thing in which a command is not as it should be. Of
// another program only the words count: its options are its own.
func difference(want, is *hook.ShellCommand) string {
	switch {
	case !maps.EqualFunc(want.Env, is.Env, same):
		return "the environment"
	case !slices.Equal(want.Via, is.Via) && !handed(want, is):
		return "the wrappers"
	case len(want.Redirects) != len(is.Redirects) || (want.Stdin == nil) != (is.Stdin == nil) || (want.PipeTo == 0) != (is.PipeTo == 0):
		return "the input and output"
	case want.Program == nil:
		if !slices.EqualFunc(want.Words, is.Words, func(a, b hook.Word) bool { return same(a.Value, b.Value) }) {
			return "the words"
		}
		return ""
	case !same(want.Program, is.Program):
		return "the program"
	case !same(want.Subcommand, is.Subcommand):
		return "the subcommand"
	case !slices.EqualFunc(want.Operands, is.Operands, same):
		return "the operands"
	}
	names := maps.Clone(want.Options)
	maps.Copy(names, is.Options)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Equal(want.Options[name], is.Options[name]) {
			return "the option " + name
		}
	}
	return ""
}

// handed reports that only env came between a command and its wrappers, to hand it
// variables.
func handed(want, is *hook.ShellCommand) bool {
	n := len(want.Via)
	return n > 0 && len(is.Via) > n && slices.Equal(want.Via, is.Via[:n]) &&
		!slices.ContainsFunc(is.Via[n:], func(via string) bool { return via != "env" })
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
