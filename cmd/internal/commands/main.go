// Package commands is the command line of gate: the program gate, and gate-server,
// which has the clients of what is not on this machine as well.
//
// A command's file has its flags, calls what does the work, and prints. Commands are
// built by functions, and every one of them gets the process it may use as a value.
// The work is in packages: internal/setup sets gate up from what
// internal/sources loads, and cmd/internal/tell and cmd/internal/document say
// what came of it. hook.go is the path that agents wait for: it goes past the
// command tree. Start with [Main].
package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"gate/cmd/internal/beside"
	"gate/cmd/internal/early"
	"gate/internal/consent"
	"gate/internal/handlers"
	"gate/internal/places"
)

// A process is all that commands have of the process they run in.
type process struct {
	args   []string // without the program's name
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    []string  // KEY=VALUE
	exit   func(int) // ends the process at once, when nothing can be waited for
	self   []string  // how this program is started again; nil: it cannot be
	brief  func()    // prepares the process for one short answer; nil: the process goes on afterwards

	clients *Clients // nil: this program has none, and handOver has gate-server go on
	// handOver has gate-server run a command in the place of this process, with the
	// event on standard input where it was read; it returns only with an error. nil: it cannot be.
	handOver func(args []string, event []byte) error

	// isTerminal reports that standard input and standard error are a
	// person's terminal; nil: they are not.
	isTerminal func() bool
	// above returns the processes above this one; nil: none can be seen.
	above func() []consent.Ancestor
	// farEnd looks who has the other end of the terminal; nil: nobody is looked for.
	farEnd func() consent.FarEnd
	// accounts lists those of the machine; nil: this process may not become another's.
	accounts func() ([]places.Numbered, error)
	// pause waits for a time, or until the context is done and returns why;
	// nil: by the clock.
	pause func(context.Context, time.Duration) error
	// root stands in front of the system's own directories of agents; "" but in
	// tests.
	root string
	// filesOnly has calls decided from the files that hooks and settings come from,
	// and never from compiled forms; false but in tests, which compare the two.
	filesOnly bool
}

// getenv returns the value of a variable, "" if it is not set.
func (p process) getenv(key string) string {
	v, _ := p.lookupEnv(key)
	return v
}

// lookupEnv returns the value of a variable and whether it is set. Of several
// values the last one counts, as it does for the programs that gate guards.
func (p process) lookupEnv(key string) (string, bool) {
	for i := len(p.env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(p.env[i], "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}

// Main runs the command of this process and ends it. A program without clients, nil,
// hands over to gate-server what needs them.
func Main(c *Clients) {
	p := host()
	p.clients = c
	start(p)
}

// host is the process that this is.
func host() process {
	p := process{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.Environ(), exit: os.Exit, self: selfCommand(), brief: brief,
		isTerminal: atTerminal, above: consent.Ancestors, farEnd: farEnd,
		handOver: func(args []string, event []byte) error { return beside.Become(server, args, event) },
	}
	if os.Geteuid() == 0 {
		p.accounts = places.Accounts
	}
	return p
}

// start runs the command of a process and ends it.
func start(p process) {
	// A closed stream is an error to answer, not an end. To ignore the signal
	// would have every program ignore it that gate starts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	status := run(ctx, p)
	stop()
	os.Exit(status)
}

// endings are the signals that end a command.
func endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} }

func atTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// heapLimit is where the collector starts to work in a process that answers one
// event. It lies below what internal/rego lets one policy use.
const heapLimit = 192 << 20

// brief leaves the garbage of a process that lives for milliseconds alone, as
// long as there is little of it.
func brief() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapLimit)
}

// run runs one command and returns the exit status, which is one of the table
// in exit.go. An agent's hook goes straight to its answer: building the command
// tree costs more than deciding about many an event.
func run(ctx context.Context, p process) int {
	if len(p.args) > 0 && p.args[0] == "hook" && !wantsHelp(p.args[1:]) {
		return runHook(ctx, p)
	}
	early.Processors()
	if len(p.args) == 1 && p.args[0] == superviseCommand {
		return handlers.Supervise(ctx, p.stdin, p.stdout, p.stderr)
	}
	if len(p.args) > 0 && p.args[0] == sendCommand {
		return sendLog(p)
	}
	if len(p.args) == 0 && (p.isTerminal == nil || !p.isTerminal()) {
		// An agent that does not know the exec form of hooks starts gate
		// without its arguments. That must not read as a yes.
		fmt.Fprintln(p.stderr, "gate: started without a command and without a terminal; an agent's hook needs: gate hook --agent NAME")
		return exitReject
	}
	// A second signal ends a command of a person's that does not heed the first. An
	// agent's hook heeds it, and never ends without an answer.
	defer context.AfterFunc(ctx, func() { signal.Reset(endings()...) })()
	return runTree(ctx, p)
}

func wantsHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "-h" || args[0] == "--help")
}
