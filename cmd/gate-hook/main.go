// Command gate-hook answers an agent's events like gate hook, with the same
// flags, at the cost of starting a process: from policies that were compiled
// before, and without what reads, compiles and runs others. Package thin has it
// all.
package main

import (
	_ "gate/cmd/internal/early"
	"gate/cmd/internal/thin"
)

func main() { thin.Main() }
