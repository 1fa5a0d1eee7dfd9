// Command gate-server is gate with the clients of language models, MCP servers and
// registries of containers. Nobody needs to start it: gate does for commands that stay
// up or ask others, and for calls that such hooks are to judge.
package main

import (
	"gate/cmd/internal/commands"
	"gate/engine/mcpclient"
	"gate/engine/models"
	"gate/internal/source/fetch"
)

func main() {
	commands.Main(&commands.Clients{Models: models.Connect, MCP: mcpclient.Connect, Bundles: fetch.Client{}})
}
