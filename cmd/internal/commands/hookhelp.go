package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/internal/install"
)

// newHook is gate hook as the command tree shows it. Agents' calls do not come
// this way; see run in main.go.
func newHook(p process) *cobra.Command {
	var dirs dirFlags
	cmd := &cobra.Command{
		Use:   "hook --agent NAME [--event NAME]",
		Short: "answer an agent's event on standard input",
		Long: "Reads one event from standard input and answers in the agent's own form. gate install\n" +
			"puts this command into an agent's configuration. It exits with 0 or 2. If anything goes\n" +
			"wrong, its answer blocks the call.",
		Example: "  gate hook --agent claude < event.json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return exitWith(runHook(cmd.Context(), p)) },
	}
	cmd.Flags().String("agent", "", "who asks: "+strings.Join(adapters.Names(), ", "))
	offer(cmd, "agent", adapters.Names)
	cmd.Flags().Bool("batch", false, "nobody waits: hooks that ask a model are faults and are not run")
	cmd.Flags().String("event", "", "the event that the hook was installed for")
	scopes := append(texts(install.Scopes()), string(install.Plugin))
	cmd.Flags().String("scope", "", "whose settings of the agent start the hook, for events about settings: "+strings.Join(scopes, ", "))
	oneOf(cmd, "scope", scopes...)
	offer(cmd, "event", events)
	cmd.Flags().Duration("timeout", 0, "the agent's time limit (default: the agent's own)")
	addDirFlags(cmd, &dirs)
	return cmd
}
