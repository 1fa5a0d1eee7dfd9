// Command gate-run runs a program confined: it can do no more than a profile lets it.
// "gate run" becomes it. It is a program of its own because confined programs wait for
// its start, and because one of its processes has a copy of its memory.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"gate/cmd/internal/confined"
	_ "gate/cmd/internal/early"
)

func main() {
	debug.SetGCPercent(-1) // what it makes is little, and most of it is needed to the end
	debug.SetMemoryLimit(heapLimit)
	os.Exit(confined.Run(confined.Process{Args: os.Args[1:], Env: os.Environ(), Now: time.Now, Stdout: os.Stdout, Stderr: os.Stderr}))
}

// heapLimit is where the collector starts to work, in bytes.
const heapLimit = 64 << 20
