// Package thin is the program gate-hook, and gate-rego but for OPA: they answer
// only what they can answer exactly as gate hook does, and hand everything else
// over to a program beside them.
//
// It is for agents' calls and nothing else, and links nothing that reads,
// compiles or checks policies: what it needs of them was compiled before. Start
// with [Program.Main].
package thin

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"gate/engine"
	"gate/internal/hookpath"
	"gate/scopes"
)

// A Program is one that answers from compiled forms. The zero value is gate-hook.
type Program struct {
	// OPA asks policies that no plan holds, from what OPA saved of them by the
	// names of their sources; outOfMemory ends the process with an answer. Nil:
	// calls that take it are handed over.
	OPA func(sources []scopes.Source, saved map[string]string, outOfMemory func()) engine.Evaluator

	// HeapLimit is where the collector starts to work, in bytes; 0: at 64 MiB.
	// What policies that are plans need is a fraction of it.
	HeapLimit int64
}

// Main answers the event on standard input and ends the process, with status 0 or
// 2.
func (p Program) Main() {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signal.Ignore(ending...)
	debug.SetGCPercent(-1) // what lives for milliseconds leaves its garbage alone
	debug.SetMemoryLimit(cmp.Or(p.HeapLimit, heapLimit))
	ctx, stop := context.WithCancel(context.Background())
	listening := time.AfterFunc(patience, func() { listen(stop, ending) })
	a := answer{Program: p, next: gate}
	status := hookpath.Run(ctx, hookpath.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: stdout(), Stderr: stderr(), LookupEnv: environ(os.Environ()).lookup, Exit: os.Exit,
		HandOver: a.handOver, OneShot: true,
	}, a.load)
	listening.Stop()
	os.Exit(status)
}

// An answer is to one event.
type answer struct {
	Program
	next string // the program that answers what this one cannot
}

// heapLimit is where the collector starts to work where a program names no limit.
const heapLimit = 64 << 20

// patience is how long a signal that ends programs does nothing: most calls are
// answered by then, and to be ready for one takes a good part of the time that an
// answer takes. To die of it would be no answer, and agents go on without one.
const patience = 20 * time.Millisecond

// listen has signals end the call with an answer.
func listen(stop func(), ending []os.Signal) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ending...)
	<-signals
	stop()
}

// An environ is variables, KEY=VALUE each.
type environ []string

// lookup returns the value of a variable and whether it is set. Of several
// values the last one counts, as it does for the programs that gate guards.
func (env environ) lookup(key string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}
