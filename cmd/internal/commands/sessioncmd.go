package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/internal/backtracking"
	"gate/internal/hostfs"
	"gate/internal/session"
	"gate/internal/sources"
	"gate/scopes"
)

func newSession(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "tell the story of a session, show and change its hooks",
		Long: "Tells what happened in a session, shows what gate remembers of it, and adds and removes hooks that hold for it\n" +
			"alone. What is added only tightens: it may deny, ask and warn, and is gone when the\n" +
			"session ends.",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionAdd(p), newSessionRemove(p), newSessionList(p), newSessionShow(p))
	return cmd
}

func newSessionAdd(p process) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use:   "add --session ID FILE",
		Short: "add the hooks of a file to a session",
		Long: "Shows the hooks in a file and adds them to a running session when you type the code\n" +
			"that it shows. They are kept as they are now. At a terminal only, and never within\n" +
			"an agent's session; programs give Options.Hooks to the Go package gate.",
		Example: "  gate session add --session 0f3a-77 freeze.yaml",
		Args:    oneArg("the hook file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, store, err := f.target()
			if err != nil {
				return err
			}
			return f.register(cmd.Context(), p, store, key, args[0])
		},
	}
	f.add(p, cmd)
	return cmd
}

func newSessionRemove(p process) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use:     "remove --session ID NUMBER",
		Short:   "remove hooks from a session",
		Long:    "Removes hooks that were added, or that a skill or a sub-agent brought along, by the\nnumber that gate session list shows. At a terminal only, and never within an agent's\nsession.",
		Example: "  gate session remove --session 0f3a-77 2",
		Args:    oneArg("the number of the hooks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := strconv.Atoi(args[0])
			if err != nil {
				return usageError(quoted(args[0]) + " is no number of hooks; gate session list shows them")
			}
			key, store, err := f.target()
			if err != nil {
				return err
			}
			return f.unregister(cmd.Context(), p, store, key, number)
		},
	}
	f.add(p, cmd)
	return cmd
}

// register keeps the hooks of a file for a session, once a person has seen and
// confirmed them.
func (f *sessionFlags) register(ctx context.Context, p process, store session.Store, key session.Key, name string) error {
	if err := p.attended(); err != nil {
		return err
	}
	file, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	text, err := hostfs.Files{}.ReadFile(filepath.ToSlash(file), session.MaxHooks)
	if err != nil {
		return hostfs.At(name, err)
	}
	r := session.Registration{Kind: session.File, Name: filepath.Base(file), File: file, Text: string(text), Trusted: true}
	src := sources.Registered(&r)
	if len(src.Faults) > 0 {
		var errs []error
		for i := range src.Faults {
			errs = append(errs, &src.Faults[i])
		}
		return errors.Join(errs...)
	}
	if err := fits(src); err != nil {
		return err
	}
	if err := f.person(p, f.question(file, src)); err != nil {
		return err
	}
	r.Listen(src.Hooks)
	number := 0
	err = f.change(ctx, store, key, func(m *session.Memory) (err error) {
		number, err = m.Register(r, time.Now())
		return err
	})
	switch {
	case err != nil:
		return err
	case f.json:
		return printJSON(p, map[string]any{"session": f.session, "number": number, "hooks": len(src.Hooks)})
	}
	return printAll(p, fmt.Sprintf("number %d: %d %s for session %s\n", number, len(src.Hooks), screen.Plural(len(src.Hooks), "hook holds", "hooks hold"), visible(f.session)))
}

// fits finds what makes hooks no hooks before they are kept: later it would
// switch them off.
func fits(src scopes.Source) error {
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{}, scopes.WithBacktracking(backtracking.Compile))
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range set.Sources() {
		for i := range s.Faults {
			errs = append(errs, &s.Faults[i])
		}
	}
	return errors.Join(errs...)
}

// question is what a person is shown before hooks are added.
func (f *sessionFlags) question(file string, src scopes.Source) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Add these hooks to the session %s?\n  %s\n", shown(f.session), shown(file))
	for _, h := range src.Hooks {
		fmt.Fprintf(&b, "  %s %s %s\n", h.Kind, shown(h.ID), document.Line(h.Config))
	}
	b.WriteString("Their commands run from now on. They may deny and ask; they cannot allow or rewrite.")
	return b.String()
}

func (f *sessionFlags) unregister(ctx context.Context, p process, store session.Store, key session.Key, number int) error {
	if err := p.attended(); err != nil {
		return err
	}
	if !store.Exists(key) {
		return fmt.Errorf("nothing is remembered of session %s", quoted(f.session))
	}
	if err := f.person(p, fmt.Sprintf("Remove hooks number %d from the session %s?\nWhat they deny and ask about passes then.", number, shown(f.session))); err != nil {
		return err
	}
	err := f.change(ctx, store, key, func(m *session.Memory) error {
		if !m.Unregister(number) {
			return fmt.Errorf("session %s has no hooks with number %d; gate session list shows them", quoted(f.session), number)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case f.json:
		return printJSON(p, map[string]any{"session": f.session, "removed": number})
	}
	return printAll(p, fmt.Sprintf("number %d is gone from session %s\n", number, visible(f.session)))
}

// person has a person agree to what is shown.
func (f *sessionFlags) person(p process, grant string) error {
	d, err := f.dirs.Absolute().ForHook()
	if err == nil {
		_, err = p.person(d, grant)
	}
	return err
}

// memoryLimit bounds the wait for the calls of a session.
const memoryLimit = 5 * time.Second

// change changes a memory, waiting for the calls of the session.
func (f *sessionFlags) change(ctx context.Context, store session.Store, key session.Key, change func(*session.Memory) error) error {
	ctx, cancel := context.WithTimeout(ctx, memoryLimit)
	defer cancel()
	return store.Update(ctx, key, change)
}
