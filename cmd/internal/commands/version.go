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
		Long: "Prints what this program says of itself: its version, Go, the platform and its schemas.\n" +
			"Whether it is genuine, no program can say of itself: docs/releases.md has how OpenSSH\n" +
			"checks a release.",
		Args: noArgs,
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
