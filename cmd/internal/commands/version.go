package commands

import (
	"fmt"
	"io"
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
			_, err := io.WriteString(p.stdout, versionText())
			return err
		},
	}
}

// versionText names this build of gate.
func versionText() string {
	return fmt.Sprintf("gate %s (%s %s/%s)\ninput schema %d, facts schema %d\n",
		setup.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, hook.InputSchema, hook.FactsSchema)
}
