// Package thin is the program gate-hook.
//
// It answers the calls that it can answer exactly as gate hook does, and hands all
// others over to the gate beside it. It is for agents' calls only. It links nothing
// that reads, compiles or checks policies, since it runs their compiled form. Start
// with [Main].
package thin

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"gate/cmd/internal/beside"
	"gate/internal/hookpath"
)

// Main answers the event on standard input and ends the process, with status 0 or
// 2.
func Main() {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signal.Ignore(ending...)
	debug.SetGCPercent(-1) // what lives for milliseconds leaves its garbage alone
	debug.SetMemoryLimit(heapLimit)
	ctx, stop := context.WithCancel(context.Background())
	listening := time.AfterFunc(patience, func() { listen(stop, ending) })
	status := hookpath.Run(ctx, hookpath.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: stdout(), Stderr: stderr(), LookupEnv: environ(os.Environ()).lookup, Exit: os.Exit,
		HandOver: handOver, OneShot: true,
	}, load)
	listening.Stop()
	os.Exit(status)
}

// handOver has gate answer in this program's place, with the same flags, and with
// the event on standard input where it was read. It returns only to say why that
// cannot be.
func handOver(event []byte, done hookpath.Handed) error {
	args := append([]string{"hook"}, os.Args[1:]...)
	if event != nil {
		args = append(args, done.Flags()...)
	}
	return beside.Become("gate", args, event)
}

// heapLimit is where the collector starts to work, in bytes: policies that are plans
// need a fraction of it.
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
