package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gate/internal/spelling"
)

// runTree runs a command that people type.
func runTree(ctx context.Context, p process) int {
	root := newRoot(p)
	root.SetArgs(askedForHelp(root, p.args))
	refuseShells(root, p.args)
	cmd, err := root.ExecuteContextC(ctx)
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
	if hint := hintAbout(cmd, err); hint != "" {
		fmt.Fprintf(p.stderr, "gate: hint: %s\n", visible(hint))
	}
	return exitFailed
}

// refuseShells has gate completion, which is cobra's, refuse a shell that it has no
// script for, and not explain itself as if all were well.
func refuseShells(root *cobra.Command, args []string) {
	root.InitDefaultCompletionCmd(args...)
	if c, _, err := root.Find([]string{"completion"}); err == nil && c.HasParent() {
		c.Args = subcommand
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

// askedForHelp returns the arguments, or those that ask for help on the command where
// --help stands in the place of a flag's value: nobody means a file of that name.
func askedForHelp(root *cobra.Command, args []string) []string {
	own := args
	if i := slices.Index(args, "--"); i >= 0 {
		own = args[:i]
	}
	i := slices.Index(own, "--help")
	if i < 1 || !strings.HasPrefix(own[i-1], "-") {
		return args
	}
	cmd, _, err := root.Find(own[:i])
	if err != nil {
		return args
	}
	name := strings.TrimLeft(own[i-1], "-")
	flag := cmd.Flags().Lookup(name)
	if len(name) == 1 {
		flag = cmd.Flags().ShorthandLookup(name)
	}
	if flag == nil || flag.NoOptDefVal != "" {
		return args
	}
	return append(strings.Fields(cmd.CommandPath())[1:], "--help")
}

// hintAbout says what to do about an error of a command, "" where the error says
// it itself.
func hintAbout(cmd *cobra.Command, err error) string {
	var hinted hintedError
	var usage usageError
	switch {
	case errors.As(err, &hinted):
		return hinted.hint
	case !errors.As(err, &usage):
		return ""
	case !cmd.HasParent() || cmd.Name() == "help":
		return `"gate help" lists the commands`
	}
	return fmt.Sprintf("%q shows its arguments", strings.Replace(cmd.CommandPath(), "gate", "gate help", 1))
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

// Tree returns the commands as a release describes them: manual pages and completions
// are made of it. It is not to be run.
func Tree() *cobra.Command { return newRoot(process{stdout: io.Discard, stderr: io.Discard}) }

func newRoot(p process) *cobra.Command {
	root := &cobra.Command{
		Use:   "gate",
		Short: "decides before an AI agent's tool call runs",
		Long: "gate decides before an AI agent's tool call runs: the call continues, is rejected,\n" +
			"runs with changed input, or waits for a person.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
		Args:          subcommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if p.clients == nil && p.handOver != nil && takesServer(cmd) {
				return serverMissing(p.handOver(p.args, nil))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print the version of gate")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Guard an agent:", []*cobra.Command{
			newInstall(p), newUninstall(p), newStatus(p), newDoctor(p), newHook(p), byServer(newServe(p)), byServer(newUI(p)), byServer(newMCP(p)), newRun(p), newSandbox(p), newStatusLine(p), newSuggest(p)}},
		{"Ask about a call:", []*cobra.Command{
			newTry(p), newExplain(p), newFacts(p), newEval(p), newConformance(p)}},
		{"Policies and settings:", []*cobra.Command{
			newNew(p), newCheck(p), newFmt(p), newTest(p), newLSP(p), newAttack(p), newBuild(p), newPolicies(p), newLib(p), newSettings(p), newSet(p), newTrust(p), newDistrust(p), newImport(p)}},
		{"Decisions so far, and running sessions:", []*cobra.Command{
			newLog(p), newReplay(p), newLearn(p), newApprove(p), newApproval(p), newExcept(p), newSession(p), newInject(p)}},
		{"Many machines:", []*cobra.Command{
			newFleet(p), newEnroll(p), byServer(newCollect(p)), newBundle(p), newKeys(p), byServer(newSync(p))}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(newVersion(p), newExitCodes())
	bothSpellings(root)
	completes(root)
	return root
}

// newHelp shows the help of a command, or of all.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "describe a command and its flags",
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return subcommand(about, rest)
			}
			return about.Help()
		},
	}
}

// subcommand refuses what is no command below a command.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	path := func(name string) string { return strings.TrimPrefix(cmd.CommandPath()+" "+name, "gate ") }
	return usageError("unknown command " + quoted(path(args[0])) + didYouMean(args[0], known, path))
}

// flagError says of a flag that there is none which one was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		flag := "--" + bad.GetFlag().Name + " "
		var wrong choiceError
		if what := valueWanted(bad.GetFlag().Value.Type()); what != "" {
			text = flag + quoted(bad.GetValue()) + ": " + what + " is wanted"
		} else if errors.As(err, &wrong) {
			text = flag + wrong.Error()
		}
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		hint := didYouMean(unknown.GetSpecifiedName(), known, func(name string) string { return "--" + name })
		if hint == "" && cmd.Flags().NArg() > 0 && strings.Contains(cmd.Use, "'LINE'") {
			hint = "; if it is part of the line, put quotes around the whole line"
		}
		text += hint
	}
	return usageError(text)
}

// valueWanted says what a flag of a type takes, "" if its own message does.
func valueWanted(kind string) string {
	switch kind {
	case "int", "int64", "uint", "uint16":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a time, such as 30s or 5m,"
	case "bool":
		return "true or false"
	}
	return ""
}

// didYouMean ends a message about a word with the known one that was probably
// meant, as it is written.
func didYouMean(word string, known []string, written func(string) string) string {
	if right := spelling.Nearest(word, known); right != "" {
		return "; did you mean " + written(right) + "?"
	}
	return ""
}

// noArgs refuses arguments.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("unexpected argument " + quoted(args[0]))
	}
	return nil
}

// upToOneArg takes one argument or none.
func upToOneArg(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError("unexpected argument " + quoted(args[1]))
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
	cmd.Flags().StringVar(&f.User, "user-dir", "", "the `DIR` of your policies (default ~/.config/gate)")
	cmd.Flags().StringVar(&f.State, "state-dir", "", "the `DIR` of the decision log (default ~/.local/state/gate)")
	cmd.Flags().StringVar(&f.Managed, "managed-dir", "", "for tests: the administrator's `DIR`")
}
