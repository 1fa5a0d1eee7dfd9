// Package thin is the program gate-hook: it answers only what it can answer
// exactly as gate hook does, and hands everything else over to the gate beside
// it.
//
// It is for agents' calls and nothing else, and links nothing that reads,
// compiles or checks policies: what it needs of them was compiled before. Start
// with [Main].
package thin

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"gate/cmd/internal/hookpath"
)

// Main answers the event on standard input and ends the process, with status 0 or
// 2.
func Main() {
	brief()
	// A closed stream is an error to answer, not an end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	status := hookpath.Run(ctx, hookpath.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: lookupEnv, Exit: os.Exit, HandOver: handOver,
	}, load)
	stop()
	os.Exit(status)
}

// heapLimit is where the collector starts to work. What this program is for
// needs a fraction of it.
const heapLimit = 64 << 20

// brief leaves the garbage of a process that lives for milliseconds alone, as
// long as there is little of it.
func brief() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapLimit)
}

// lookupEnv returns the value of a variable and whether it is set. Of several
// values the last one counts, as it does for the programs that gate guards.
func lookupEnv(key string) (string, bool) {
	env := os.Environ()
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}
