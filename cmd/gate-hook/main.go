// Command gate-hook answers an agent's events like gate hook, with the same flags, at
// the cost of starting a process. It answers from compiled policies and cannot read or
// compile others. Package thin holds all of it.
package main

import (
	_ "gate/cmd/internal/early"
	"gate/cmd/internal/thin"
)

func main() { thin.Main() }
