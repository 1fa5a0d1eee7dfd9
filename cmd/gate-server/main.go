// Command gate-server is gate with the clients of language models, MCP servers and
// registries of containers. People never start it. gate does so for commands that stay
// up or ask others, and for calls that such hooks judge.
package main

import (
	"gate/cmd/internal/commands"
	"gate/engine/mcpclient"
	"gate/engine/models"
	"gate/internal/audit/otlp"
	"gate/internal/audit/ship"
	"gate/internal/inputschema"
	"gate/internal/source/fetch"
)

func main() {
	commands.Main(&commands.Clients{Models: models.Connect, MCP: mcpclient.Connect, Bundles: fetch.Client{}, Telemetry: telemetry, Schema: inputschema.Compile})
}

func telemetry(t commands.Telemetry) (ship.Form, error) { return otlp.New(otlp.Options(t)) }
