// Command gate decides, before an AI agent's tool call runs, whether it may.
//
// It links what agents' calls need that gate-hook hands over, OPA among it, and no
// client of what is not on this machine: gate-server has those.
package main

import "gate/cmd/internal/commands"

func main() { commands.Main(nil) }
