package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"gate/hook"
)

func newVersion(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "what this program is",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "gate %s (%s %s/%s)\ninput schema %d, facts schema %d\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, hook.InputSchema, hook.FactsSchema)
			return err
		},
	}
}

// version is the module's version, with the revision where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
