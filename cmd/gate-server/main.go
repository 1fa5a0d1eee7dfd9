// Command gate-server is gate with the clients of language models, MCP servers and
// registries of containers, and the collector of a fleet. People never start it. gate does so for commands that stay
// up or ask others, and for calls that such hooks judge.
package main

import (
	"context"

	"gate/cmd/internal/commands"
	"gate/engine/mcpclient"
	"gate/engine/models"
	"gate/internal/audit/otlp"
	"gate/internal/audit/ship"
	"gate/internal/collect/admin"
	"gate/internal/inputschema"
	"gate/internal/source/fetch"
)

func main() {
	commands.Main(&commands.Clients{Models: models.Connect, MCP: mcpclient.Connect, Bundles: fetch.Client{}, Telemetry: telemetry, Collect: collect, Past: past, Archive: moveDays, Schema: inputschema.Compile})
}

func telemetry(t commands.Telemetry) (ship.Form, error) { return otlp.New(otlp.Options(t)) }

func collect(ctx context.Context, c commands.Collect) error { return admin.Run(ctx, admin.Options(c)) }
