// Command gate decides, before an AI agent's tool call runs, whether it may.
package main

import "gate/cmd/internal/commands"

func main() { commands.Main() }
