package commands

import (
	"gate/bundles/source"
	"gate/engine/handlers"
	"gate/engine/handlers/judge"
	"gate/engine/handlers/mcptool"
)

// Clients speak to what is not on this machine.
type Clients struct {
	Models  judge.Models
	MCP     mcptool.Client
	Bundles source.Client
}

// handlers are what a Gate's handlers may use, with what this program has of clients.
func (p process) handlers(o handlers.Options) handlers.Options {
	o.Supervisor = p.supervisor()
	if p.clients != nil {
		o.Models, o.MCP = p.clients.Models, p.clients.MCP
	}
	return o
}
