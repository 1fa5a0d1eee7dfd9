package commands

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	sandboxes "gate/internal/confine/emit"
	"gate/internal/confine/profile"
)

func newSandbox(p process) *cobra.Command {
	cmd := &cobra.Command{Use: "sandbox", Short: "write profiles of confinement down for other sandboxes", Args: subcommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newSandboxEmit(p))
	return cmd
}

func newSandboxEmit(p process) *cobra.Command {
	var place placeFlags
	var to, name string
	cmd := &cobra.Command{
		Use:   "emit --for " + strings.Join(sandboxes.Names(), "|"),
		Short: "print a profile in the words of another sandbox",
		Long: "Prints a profile, as settings make it, for the sandbox of Claude Code (settings.json), of Codex\n" +
			"(config.toml), for bubblewrap (a script), or for macOS (seatbelt, which nobody has tried). Standard\n" +
			"error says which part of the profile that sandbox cannot hold.",
		Example: "  gate sandbox emit --for bwrap --profile look >look.sh",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			g, err := place.gate(p)
			if err != nil {
				return err
			}
			may, err := g.Profile(name, g.Project)
			if err != nil {
				return err
			}
			text, err := sandboxes.For(to, may, profile.Place{Home: g.Home, Project: g.Project}, func(name string) (there, dir bool) {
				info, err := os.Stat(name)
				return err == nil, err == nil && info.IsDir()
			})
			if err != nil {
				return err
			}
			for _, lack := range text.Lacks {
				fmt.Fprintf(p.stderr, "gate: not held: %s\n", visible(lack))
			}
			return printAll(p, text.Body)
		},
	}
	place.add(cmd)
	cmd.Flags().StringVar(&to, "for", "", "the sandbox: "+strings.Join(sandboxes.Names(), ", "))
	cmd.Flags().StringVar(&name, "profile", "project", "the profile: "+strings.Join(profile.Names(), ", ")+", or one of settings")
	offer(cmd, "for", sandboxes.Names)
	offer(cmd, "profile", profile.Names)
	cmd.MarkFlagRequired("for")
	return cmd
}
