package commands

import (
	"github.com/spf13/cobra"

	"gate/internal/handlers"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/source"
)

// Clients speak to what is not on this machine, or stays up. They begin before main, and
// take as long for it as all else that gate links: only gate-server has them.
type Clients struct {
	Models  judge.Models
	MCP     mcptool.Client
	Bundles source.Client
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

// takesServer reports a command that gate-server runs: one that needs its clients, or
// runs handlers.
func takesServer(cmd *cobra.Command) bool {
	run := cmd.Flags().Lookup("run-handlers")
	return cmd.Annotations[server] != "" || run != nil && run.Changed
}
