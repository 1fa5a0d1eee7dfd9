package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"gate/adapters"
	"gate/audit"
	"gate/engine"
	"gate/engine/rego"
	"gate/hook"
)

// readLimit bounds the wait for the event: agents write it at once.
const readLimit = 10 * time.Second

// hookFlags are the flags of gate hook.
type hookFlags struct {
	agent   string
	event   string
	timeout time.Duration
	batch   bool
	dirs    dirFlags
}

// runHook answers one event of an agent. Whatever goes wrong, the status is 0
// or 2 and the answer is the agent's blocking form where closing stops
// something: agents read other statuses as "go on".
func runHook(ctx context.Context, p process) (status int) {
	k := &desk{stdout: p.stdout, stderr: p.stderr}
	defer func() {
		if r := recover(); r != nil {
			status = k.close(hook.Faultf(hook.FaultInternal, "gate failed: %v", r))
		}
	}()
	if p.brief != nil {
		p.brief()
	}
	start := time.Now()
	f, err := parseHookFlags(p.args[1:])
	adapter, unknown := adapterFor(f.agent)
	if unknown == nil {
		k.expect(adapter, hook.Event{Agent: adapter.Name(), Name: f.name()})
	}
	if err == nil {
		err = unknown
	}
	if err != nil {
		return f.close(k, &hook.Fault{Kind: hook.FaultInternal, Err: err})
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(f.limit(adapter, f.name())))
	defer cancel()

	ev, err := f.read(ctx, adapter, p.stdin)
	k.expect(adapter, ev)
	if err != nil {
		return f.close(k, &hook.Fault{Kind: hook.FaultEvent, Err: err})
	}
	if f.event == "" { // only now is it known how long the agent waits
		ctx, cancel = context.WithDeadline(ctx, start.Add(f.limit(adapter, ev.Name)))
		defer cancel()
	}
	return f.decide(ctx, p, k, ev)
}

// decide decides about the event and answers by the deadline, with the decision
// or without it.
func (f hookFlags) decide(ctx context.Context, p process, k *desk, ev hook.Event) int {
	done := make(chan hook.Decision, 1)
	go func() {
		var d hook.Decision
		defer func() {
			if r := recover(); r != nil {
				d = closing(ev.Name, hook.Faultf(hook.FaultInternal, "gate failed: %v", r))
			}
			done <- d
		}()
		d = f.judge(ctx, p, k, &ev)
	}()
	select {
	case d := <-done:
		return k.answer(&d)
	case <-ctx.Done():
		return f.close(k, stopped(ctx))
	}
}

// judge sets gate up and asks it. The event gets what gate itself knows, which
// the answer depends on, too.
func (f hookFlags) judge(ctx context.Context, p process, k *desk, ev *hook.Event) hook.Decision {
	adapter, _ := k.known()
	closed := func(err error) hook.Decision {
		return closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	environment := adapter.Environment(p.getenv)
	ev.Gate = gateNow(environment.Attended)
	k.expect(adapter, *ev)
	d, err := f.dirs.forHook()
	if err != nil {
		return closed(err)
	}
	s := setting{
		dirs: d, home: p.home(), project: projectRoot(environment.ProjectDir, ev.Dir()), env: p.lookupEnv, live: true, batch: f.batch, supervisor: p.supervisor(),
		foreign: !adapter.RunsHooks(), session: recall(d, ev), event: ev, envFile: environment.EnvFile,
		rego: []rego.Option{rego.WithOutOfMemory(func() {
			p.exit(k.close(hook.Faultf(hook.FaultMemory, "a policy used more memory than there is")))
		})},
	}
	if s.envFile != "" && checkEnvFile(s.envFile) != nil {
		s.envFile = "" // no hook writes there either
	}
	g, err := newGuard(s)
	if err != nil {
		return closed(err)
	}
	decision := g.remember(ctx, s, adapter, ev)
	if ctx.Err() == nil { // too late it is not the answer any more
		tellShell(environment, &decision)
	}
	if !g.set.Settings().NoLog {
		return g.logbook(d.state).record(ctx, decision, func() audit.Record { return g.recordOf(adapter, ev, &decision) })
	}
	return decision
}

// close answers that gate could not decide, and records that afterwards: the
// answer must not wait.
func (f hookFlags) close(k *desk, why *hook.Fault) int {
	adapter, ev := k.known()
	d := closing(ev.Name, why)
	status := k.answer(&d)
	if dirs, err := f.dirs.forHook(); err == nil && adapter != nil {
		ev.Gate.Now = time.Now()
		logbook{dir: dirs.state}.record(context.Background(), d, func() audit.Record {
			return audit.Of(&ev, &d, d.Result(adapter.CanAsk(&ev)))
		})
	}
	return status
}

func stopped(ctx context.Context) *hook.Fault {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return hook.Faultf(hook.FaultTimeout, "no decision in time")
	}
	return hook.Faultf(hook.FaultTimeout, "gate was told to stop before it had decided")
}

// parseHookFlags reads the command line. What could be read of agent and event
// comes with an error, so that it can be answered in their form.
func parseHookFlags(args []string) (hookFlags, error) {
	var f hookFlags
	set := flag.NewFlagSet("gate hook", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.agent, "agent", "", "")
	set.StringVar(&f.event, "event", "", "")
	set.DurationVar(&f.timeout, "timeout", 0, "")
	set.BoolVar(&f.batch, "batch", false, "")
	set.StringVar(&f.dirs.managed, "managed-dir", "", "")
	set.StringVar(&f.dirs.user, "user-dir", "", "")
	set.StringVar(&f.dirs.state, "state-dir", "", "")
	err := set.Parse(args)
	switch {
	case err != nil:
		scavenge(args, "agent", &f.agent)
		scavenge(args, "event", &f.event)
		return f, usageError(err.Error())
	case set.NArg() > 0:
		return f, usageError("unexpected argument " + quoted(set.Arg(0)))
	case f.timeout < 0:
		return f, usageError("--timeout must not be negative")
	}
	return f, nil
}

// scavenge finds a flag's value on a command line that is not to be understood
// as a whole.
func scavenge(args []string, name string, into *string) {
	for i, arg := range args {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(arg, "-"), "-"+name)
		switch {
		case *into != "" || !ok:
		case strings.HasPrefix(rest, "="):
			*into = rest[1:]
		case rest == "" && i+1 < len(args):
			*into = args[i+1]
		}
	}
}

func (f hookFlags) name() hook.Name { return hook.Name(f.event) }

// limit is the one deadline for the whole call: the agent's, less a fifth, and
// never more than the engine's own.
func (f hookFlags) limit(a adapters.Adapter, n hook.Name) time.Duration {
	wait := a.Deadline(n)
	if f.timeout > 0 {
		wait = f.timeout
	}
	return min(engine.Limit, wait*4/5)
}

// read reads the event, at most a byte more than adapters accept, for at most
// three quarters of the time that there is.
func (f hookFlags) read(ctx context.Context, a adapters.Adapter, stdin io.Reader) (hook.Event, error) {
	ev := hook.Event{Agent: a.Name(), Name: f.name()}
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, min(readLimit, time.Until(deadline)*3/4))
	defer cancel()
	type input struct {
		data []byte
		err  error
	}
	got := make(chan input, 1)
	go func() {
		var in input
		defer func() {
			if r := recover(); r != nil {
				in.err = fmt.Errorf("standard input: %v", r)
			}
			got <- in
		}()
		in.data, in.err = io.ReadAll(io.LimitReader(stdin, adapters.MaxEvent+1))
	}()
	var in input
	select {
	case in = <-got:
	case <-ctx.Done():
		in.err = errors.New("standard input did not end in time")
		if errors.Is(ctx.Err(), context.Canceled) {
			in.err = stopped(ctx)
		}
	}
	if in.err != nil {
		return ev, fmt.Errorf("event: %w", in.err)
	}
	parsed, err := a.Parse(in.data)
	if parsed.Name == "" {
		parsed.Name = ev.Name
	}
	if err == nil && f.event != "" && parsed.Name.Canonical() != f.name().Canonical() {
		err = fmt.Errorf("event: it is %s, but this hook was installed for %s", quoted(string(parsed.Name)), quoted(f.event))
		parsed = hook.Event{Agent: parsed.Agent, Name: parsed.Name}
	}
	return parsed, err
}
