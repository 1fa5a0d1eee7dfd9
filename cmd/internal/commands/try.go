package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/tell"
)

func newTry(p process) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "try 'LINE'",
		Short: "predict the decision about a call",
		Long: "Decides about a call as if an agent made it. It never runs the call, and it runs hooks\n" +
			"that are programs only with --run-handlers. The exit status tells the decision; see\n" +
			"gate help exit-codes.",
		Example: "  gate try 'git push --force origin main'\n  gate try --tool Write /etc/hosts\n" +
			"  gate try --event UserPromptSubmit 'deploy it to production'\n  gate try --event event.yaml",
		Args: f.args("one shell line, or the input of --tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ev, err := f.asked(p, args)
			if err != nil {
				return err
			}
			g, d, err := f.decide(cmd.Context(), p, ev)
			if err != nil {
				return err
			}
			if f.json {
				err = printJSON(p, document.Decision(&d, true))
			} else {
				err = printAll(p, tell.Decision(p.page(), &ev, &d, f.again("explain", args))+unloadedLines(g))
			}
			if err != nil {
				return err
			}
			return exitWith(statusOf(&d))
		},
	}
	f.add(cmd)
	return cmd
}

// again is the command line of another command about the same call.
func (f *callFlags) again(command string, args []string) string {
	const most = 60
	if len(args) != 1 || f.about != "" {
		return "gate " + command + " with the same arguments"
	}
	arg := args[0]
	switch {
	case f.tool != "Bash", f.cwd != "", len(arg) > most, visible(arg) != arg, strings.Contains(arg, "\n"):
		return "gate " + command + " with the same arguments"
	}
	return "gate " + command + " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
