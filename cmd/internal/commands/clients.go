package commands

import (
	"context"

	"github.com/spf13/cobra"

	"gate/internal/audit/ship"
	"gate/internal/handlers"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/replay"
	"gate/internal/source"
)

// Clients speak to what is not on this machine, or stays up. They begin before main, and
// take as long for it as all else that gate links: only gate-server has them.
type Clients struct {
	Models    judge.Models
	MCP       mcptool.Client
	Bundles   source.Client
	Telemetry func(Telemetry) (ship.Form, error)                    // of OpenTelemetry, for collectors of it
	Collect   func(context.Context, Collect) error                  // the collector of a fleet, and its databases
	Past      func(context.Context, FleetPast) (replay.Past, error) // records of a fleet, to be decided again
	Archive   func(context.Context, FleetArchive) error             // days of the collector's, in files

	// Schema compiles the JSON Schema of a tool's arguments, and returns what holds
	// arguments against it. It speaks to nobody, but is as slow to begin.
	Schema func(text []byte) (fits func(input any) error, err error)
}

// Telemetry says what of the decision log a collector of OpenTelemetry gets.
type Telemetry struct {
	Version string            // gate's
	Labels  map[string]string // of the machine
	Signals []string          // logs, traces, metrics; none: all three
	Text    bool              // the text of calls, too
}

// server is the program that has them.
const server = "gate-server"

// handlers are what a Gate's handlers may use, with what this program has of clients.
func (p process) handlers(o handlers.Options) handlers.Options {
	o.Supervisor = p.supervisor()
	if p.clients != nil {
		o.Models, o.MCP = p.clients.Models, p.clients.MCP
	}
	return o
}

// byServer has gate-server run a command, where this program has no clients.
func byServer(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{server: "always"}
	return cmd
}

// serverMissing is why gate-server could not go on.
func serverMissing(err error) error {
	return hintedError{err, "this command takes " + server + "; build all programs into one directory, or install them again"}
}

// takesServer reports a command that gate-server runs: one that needs its clients, or
// runs handlers.
func takesServer(cmd *cobra.Command) bool {
	run := cmd.Flags().Lookup("run-handlers")
	return cmd.Annotations[server] != "" || run != nil && run.Changed
}
