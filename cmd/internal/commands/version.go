package commands

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"gate/hook"
	"gate/internal/setup"
)

func newVersion(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of gate",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "gate %s (%s %s/%s)\ninput schema %d, facts schema %d\n",
				setup.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, hook.InputSchema, hook.FactsSchema)
			return err
		},
	}
}
