package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// runTree runs a command that people type.
func runTree(ctx context.Context, p process) int {
	root := newRoot(p)
	root.SetArgs(p.args)
	err := root.ExecuteContext(ctx)
	var status statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	case readerGone(err):
		return exitFailed
	}
	fmt.Fprintf(p.stderr, "gate: %s\n", visible(err.Error()))
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(p.stderr, `gate: hint: "gate help" lists the commands, "gate help COMMAND" their flags`)
	}
	return exitFailed
}

// readerGone reports that whoever read standard output wants no more of it, as
// head does, and needs not be told.
func readerGone(err error) bool {
	var output *outputError
	return errors.As(err, &output) && errors.Is(output, syscall.EPIPE)
}

// A statusError ends a command with a status of its own; everything has been
// said by then.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// exitWith returns what ends a command with a status.
func exitWith(status int) error {
	if status == exitOK {
		return nil
	}
	return statusError(status)
}

func newRoot(p process) *cobra.Command {
	root := &cobra.Command{
		Use:   "gate",
		Short: "decides, before an AI agent's tool call runs, whether it may",
		Long: "gate decides, before an AI agent's tool call runs, whether it may continue, is\n" +
			"rejected, runs with changed input, or is put to a person.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("unknown command " + quoted(args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err.Error()) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newBundle(p), newKeys(p), newSync(p),
		newHook(p), newTry(p), newFacts(p), newEval(p), newExplain(p),
		newPolicies(p), newCheck(p), newFmt(p), newSettings(p), newSet(p), newTrust(p), newDistrust(p), newApprove(p), newInject(p), newSession(p), newLog(p), newReplay(p), newNew(p), newTest(p), newBuild(p),
		newInstall(p), newUninstall(p), newStatus(p), newDoctor(p), newMCP(p), newServe(p),
		newStatusLine(p), newSuggest(p), newImport(p), newVersion(p), newExitCodes(),
	)
	return root
}

// newHelp shows the help of a command, or of all.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "what a command does, and its flags",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError("unknown command " + quoted(strings.Join(args, " ")))
			}
			return about.Help()
		},
	}
}

// noArgs refuses arguments.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("unexpected argument " + quoted(args[0]))
	}
	return nil
}

// oneArg takes exactly one argument, which what names.
func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return usageError("give " + what)
		}
		return usageError("one argument only: " + what + "; put quotes around it")
	}
}

// addDirFlags adds the flags that say where gate's own directories are.
func addDirFlags(cmd *cobra.Command, f *dirFlags) {
	cmd.Flags().StringVar(&f.User, "user-dir", "", "your policies' directory (default ~/.config/gate)")
	cmd.Flags().StringVar(&f.State, "state-dir", "", "the directory of the decision log (default ~/.local/state/gate)")
	cmd.Flags().StringVar(&f.Managed, "managed-dir", "", "for tests: the administrator's directory")
}
