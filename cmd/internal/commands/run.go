package commands

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/beside"
	"gate/cmd/internal/confined"
	"gate/internal/confine/profile"
)

// launcher is the program that confined calls are started by.
const launcher = "gate-run"

// newRun hands over to the launcher, which is a small program of its own: what is
// confined waits for its start.
func newRun(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:                "run [--profile NAME] [--project DIR] {--line 'LINE' | -- PROGRAM [ARG...]}",
		Short:              "run a program so that it can do no more than a profile lets it",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantsHelp(args) {
				return cmd.Help()
			}
			if p.handOver == nil {
				return exitWith(confined.Run(confined.Process{Args: args, Env: p.env, Now: time.Now, Stdout: p.stdout, Stderr: p.stderr}))
			}
			return hintedError{beside.Become(launcher, args, nil), "build all programs into one directory, or install them again"}
		},
	}
	f := cmd.Flags() // which the launcher reads
	f.String("profile", "project", "what the program can do: "+strings.Join(profile.Names(), ", "))
	offer(cmd, "profile", profile.Names)
	f.String("project", "", "the directory that is the project")
	f.String("line", "", "a line for bash, in the place of a program")
	f.String("state-dir", "", "gate's directory of state")
	f.String("call", "", "the record of a call that a decision has run confined")
	f.Bool("probe", false, "say what this machine can hold")
	return cmd
}
