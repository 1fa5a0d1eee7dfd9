package commands

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
)

// newBundleInstall is gate sync --now --from FILE by the word that people look
// for.
func newBundleInstall(p process) *cobra.Command {
	f := syncFlags{now: true, every: time.Hour}
	cmd := &cobra.Command{
		Use:   "install FILE",
		Short: "install a bundle file on this machine",
		Long: "Verifies a bundle and the envelope beside it, runs its tests and puts it in force: the\n" +
			"same as gate sync --now --from FILE, with the same exit status. docs/sync.md has more.",
		Example: "  gate bundle install company.tar.gz",
		Args:    oneArg("a bundle's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.feed.URL = args[0]
			return f.run(cmd.Context(), p)
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().StringVar(&f.feed.Name, "name", "", "the bundle's name")
	cmd.Flags().StringVar(&f.feed.Pin, "pin", "", "take this digest without metadata.gate, as the bundle of --name")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	return cmd
}

// errNoRollback is what there is in the place of a way back.
var errNoRollback = errors.New("a machine takes no older version; to go back, publish the old content as the next one: gate bundle republish OLD.tar.gz --as NEXT -o NEW.tar.gz, then sign and install it")

// newBundleRollback says why there is none: whoever could take a machine back
// could bring back every hole that was closed since.
func newBundleRollback() *cobra.Command {
	return &cobra.Command{
		Use:    "rollback",
		Hidden: true, // people look for the word, and are told the one that there is
		Short:  "not available: use gate bundle republish, which makes old content the next version",
		Long: "Changes nothing, and says how to go back. Whoever could take a machine to an older\n" +
			"version could bring back every hole that was closed since.",
		Example: "  gate bundle republish company-7.tar.gz --as 9 -o company-9.tar.gz",
		RunE:    func(*cobra.Command, []string) error { return errNoRollback },
	}
}
