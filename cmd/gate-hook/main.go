// Command gate-hook answers an agent's events like gate hook, with the same
// flags, at the cost of starting a process: from policies that were compiled
// before, and without what reads, compiles and runs others. Package thin has it
// all.
//
// It does not live to see that it has more or fewer processors: for the runtime to
// watch out for that takes a goroutine and a look in each start.
//
//go:debug updatemaxprocs=0
package main

import (
	_ "gate/cmd/internal/early"
	"gate/cmd/internal/thin"
)

func main() { thin.Main() }
