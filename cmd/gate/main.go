// Command gate decides, before an AI agent's tool call runs, whether it may.
package main

import (
	"gate/bundles/source/fetch"
	"gate/cmd/internal/commands"
	"gate/engine/handlers/judge/models"
	"gate/engine/handlers/mcptool/client"
)

func main() {
	commands.Main(&commands.Clients{Models: models.Connect, MCP: client.Connect, Bundles: fetch.Client{}})
}
