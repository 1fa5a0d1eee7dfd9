// Package hookpath is the way of one agent's call through gate: the event is
// read, gate is set up, decides, writes the decision down, and gives the one
// answer, by one deadline, whatever goes wrong.
//
// gate hook and gate-hook share it, so it must stay thin. The caller's [Loader] makes a
// Gate, and with it chooses the policies and their evaluator. Start with [Run];
// commands that judge without an agent ask a Gate itself.
package hookpath

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/moment"
	"gate/internal/places"
)

// A Process is what the hook path has of the process it runs in.
type Process struct {
	Args           []string // the flags of gate hook
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	LookupEnv      func(string) (string, bool)
	Exit           func(int) // ends the process at once, when nothing can be waited for

	// Account finds whose process it is; nil: [places.Listed] does.
	Account func() (places.Account, error)

	// OneShot says that the process ends with this call. Then nothing is left
	// behind that goes on when time is up, and the call does without goroutines,
	// which take a good part of the time that it takes.
	OneShot bool

	// HandOver gives the call to a program that can do more than this one; nil:
	// there is none. It returns only to say why it could not. event is what was
	// read of standard input, nil where nothing was. The second argument does not
	// count where the flags were not understood.
	HandOver func(event []byte, done Handed) error

	// HandsOver reports the errors of a [Loader], of flags and of the account for which
	// the call is handed over; nil: all of them are.
	HandsOver func(error) bool

	// Adapter finds the adapter of an agent; nil: [Adapter] does.
	Adapter func(agent string) (adapters.Adapter, error)

	// Environment is what the agent says about where it runs; nil: what it
	// says in the process's environment.
	Environment func(adapters.Adapter) adapters.Environment

	// Told is told what was answered; nil: nobody is.
	Told func(d *hook.Decision, canAsk bool)
}

func (p Process) adapter(agent string) (adapters.Adapter, error) {
	if p.Adapter == nil {
		return Adapter(agent)
	}
	return p.Adapter(agent)
}

func (p Process) account() (places.Account, error) {
	if p.Account == nil {
		return places.Listed()
	}
	return p.Account()
}

// handsOver reports that another program may do better.
func (p Process) handsOver(err error) bool {
	return err != nil && p.HandOver != nil && (p.HandsOver == nil || p.HandsOver(err))
}

func (p Process) environment(a adapters.Adapter) adapters.Environment {
	if p.Environment != nil {
		return p.Environment(a)
	}
	value := func(name string) string {
		value, _ := p.LookupEnv(name)
		return value
	}
	e := a.Environment(value)
	e.Trace = value("TRACEPARENT")
	return e
}

// A Call is one event that is about to be judged, and where.
type Call struct {
	core.Machine
	Event       *hook.Event
	Session     *core.Session
	EnvFile     string // whose lines the agent's shell runs, "" if there is none
	Scope       string // whose settings of the agent started the hook, "" where the event takes nothing of that
	Batch       bool   // nobody waits at a terminal: hooks that ask a model are not run
	RunsHooks   bool   // the agent itself runs the hooks of plugins, skills and sub-agents
	OutOfMemory func() // answers that a policy used more memory than there is, and ends the process
	HandOver    func() // gives the call to the other program at once, or closes it, and ends the process
}

// A Loader sets gate up for one call. An error means that no call may pass, or
// that it is handed over.
type Loader func(*Call) (*core.Gate, error)

// readLimit bounds the wait for the event: agents write it at once.
const readLimit = 10 * time.Second

// usual is room for most events, and to see that they end.
const usual = 4 << 10

// A run is the way of one event.
type run struct {
	Process
	flags
	load  Loader
	desk  desk
	start time.Time
	input []byte // the event as it came

	session *core.Session          // of the event; nil: nobody has looked yet
	failed  bool                   // the event was not judged to its end
	begun   atomic.Pointer[[]byte] // what came first of an event that was not read, or as a whole
}

// Run answers one event of an agent and returns the exit status. Whatever goes
// wrong, that is 0 or 2 and the answer is the agent's blocking form where closing
// stops something: agents read other statuses as "go on".
func Run(ctx context.Context, p Process, load Loader) (status int) {
	r := run{Process: p, load: load, desk: desk{stdout: p.Stdout, stderr: p.Stderr, told: p.Told}, start: time.Now()}
	defer func() {
		if p := recover(); p != nil {
			status = r.desk.close(hook.Faultf(hook.FaultInternal, "gate failed: %v", p))
			r.lose()
		}
	}()
	var err error
	r.flags, err = parseFlags(p.Args)
	adapter, unknown := p.adapter(r.agent)
	if unknown == nil {
		r.desk.expect(adapter, adapter.Named(r.event))
	}
	if err == nil {
		err = unknown
	}
	if p.handsOver(err) {
		return r.handOver()
	}
	if err != nil {
		return r.close(&hook.Fault{Kind: hook.FaultInternal, Err: err})
	}
	ctx, cancel := context.WithDeadline(ctx, r.start.Add(r.limit(adapter, adapter.Named(r.event).Name)))
	defer cancel()

	ev, err := r.read(ctx, adapter)
	r.desk.expect(adapter, ev)
	if err != nil {
		// An event that says it is another than the hook is installed for does not choose
		// a form of answer that stops nothing.
		if there := adapter.Named(r.event); r.event != "" && adapter.Closes(there.Name) && !adapter.Closes(ev.Name) {
			r.desk.expect(adapter, there)
		}
		return r.close(&hook.Fault{Kind: hook.FaultEvent, Err: err})
	}
	if r.event == "" { // only now is it known how long the agent waits
		ctx, cancel = context.WithDeadline(ctx, r.start.Add(r.limit(adapter, ev.Name)))
		defer cancel()
	}
	return r.decide(ctx, ev)
}

// decide decides about the event and answers by the deadline, with the decision
// or without it.
func (r *run) decide(ctx context.Context, ev hook.Event) int {
	var decision hook.Decision
	var err error
	done := r.until(ctx, func() {
		defer func() {
			if p := recover(); p != nil {
				r.failed = true
				decision = core.Closing(ev.Name, hook.Faultf(hook.FaultInternal, "gate failed: %v", p))
			}
		}()
		decision, err = r.judge(ctx, &ev)
	}, stopped)
	switch {
	case done && err == nil && r.failed:
		status := r.desk.answer(&decision)
		r.lose()
		return status
	case done && err == nil:
		return r.desk.answer(&decision)
	case done && ctx.Err() == nil:
		return r.handOver()
	}
	return r.close(stopped(ctx))
}

// until runs f to its end or to that of ctx, and reports whether f ended. One
// that did not is left behind, or ends with the process: then the answer is the
// fault that late makes of ctx, and until does not return.
func (r *run) until(ctx context.Context, f func(), late func(context.Context) *hook.Fault) bool {
	if r.OneShot {
		stop := context.AfterFunc(ctx, func() { r.Exit(r.close(late(ctx))) })
		f()
		if !stop() {
			select {} // the answer is being given
		}
		return true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// handOver has another program answer, or closes where it cannot.
func (r *run) handOver() int {
	done := Handed{Spent: max(0, r.handed.Spent) + time.Since(r.start), Counted: r.handed.Counted || r.session != nil && r.session.Counted}
	err := r.HandOver(r.input, done)
	return r.close(&hook.Fault{Kind: hook.FaultInternal, Err: fmt.Errorf("the call cannot be handed over: %w", err)})
}

// judge sets gate up and asks it. The event gets what gate itself knows, which
// the answer depends on, too. With an error another program is to be asked, and
// the decision is for the case that there is none.
func (r *run) judge(ctx context.Context, ev *hook.Event) (hook.Decision, error) {
	adapter, _ := r.desk.known()
	closed := func(err error) (hook.Decision, error) {
		d := core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
		if !r.handsOver(err) {
			r.failed, err = true, nil
		}
		return d, err
	}
	environment := r.environment(adapter)
	account, unknown := r.account()
	ev.Gate = core.Now(account.Name, environment.Attended)
	ev.Gate.Trace = moment.TraceParent(environment.Trace)
	r.desk.expect(adapter, *ev)
	self := func() (places.Account, error) { return account, unknown }
	dirs, err := r.dirs.ForAccount(self)
	if err == nil && r.handsOver(unknown) {
		err = unknown
	}
	if err != nil {
		return closed(err)
	}
	r.session = core.Recall(dirs, ev)
	r.session.Counted = r.handed.Counted
	c := Call{
		Machine: core.Machine{
			Dirs: dirs, Account: account.Name, Home: places.HomeOf(r.LookupEnv, self),
			Project: places.ProjectRoot(environment.ProjectDir, ev.Dir()), LookupEnv: r.LookupEnv,
		},
		Event: ev, Session: r.session, EnvFile: environment.EnvFile, Scope: r.scope, Batch: r.batch, RunsHooks: adapter.RunsHooks(),
		OutOfMemory: func() {
			status := r.desk.close(hook.Faultf(hook.FaultMemory, "a policy used more memory than there is"))
			r.lose()
			r.Exit(status)
		},
		HandOver: func() { r.Exit(r.handOver()) },
	}
	if c.EnvFile != "" && checkEnvFile(c.EnvFile) != nil {
		c.EnvFile = "" // no hook writes there either
	}
	g, err := r.load(&c)
	if err != nil {
		return closed(err)
	}
	g.Since = r.start.Add(-r.handed.Spent)
	decision, err := g.Answer(ctx, c.Session, ev, func(d *hook.Decision) bool { return d.Result(adapter.CanAsk(ev)) == hook.Reject })
	if err != nil {
		return closed(err)
	}
	if ctx.Err() == nil { // too late it is not the answer any more
		tellShell(environment, &decision)
	}
	return g.Record(ctx, adapter, ev, decision), nil
}

// close answers that gate could not decide, and records that afterwards: the
// answer must not wait.
func (r *run) close(why *hook.Fault) int {
	adapter, ev := r.desk.known()
	d := core.Closing(ev.Name, why)
	status := r.desk.answer(&d)
	if dirs, err := r.dirs.ForAccount(r.account); err == nil && adapter != nil {
		ev.Gate.Now = time.Now()
		core.RecordClosed(dirs, adapter, &ev, &d)
		if data := r.begun.Load(); data != nil {
			begun := adapter.Session(*data, r.event)
			ev.Name, ev.Fields = begun.Name, begun.Fields
		}
		core.Lose(dirs, &ev)
	}
	return status
}

// lose notes, after the answer, that gate failed about what the event shows.
func (r *run) lose() {
	defer func() { recover() }() // the answer was given, and this is all that is left to do
	adapter, ev := r.desk.known()
	if dirs, err := r.dirs.ForAccount(r.account); err == nil && adapter != nil {
		ev.Gate.Now = time.Now()
		core.Lose(dirs, &ev)
	}
}

func stopped(ctx context.Context) *hook.Fault {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return hook.Faultf(hook.FaultTimeout, "no decision in time")
	}
	return hook.Faultf(hook.FaultTimeout, "gate was told to stop before it had decided")
}

// read reads the event, at most a byte more than adapters accept, for at most
// three quarters of the time that there is.
func (r *run) read(ctx context.Context, a adapters.Adapter) (hook.Event, error) {
	ev := a.Named(r.event)
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, min(readLimit, time.Until(deadline)*3/4))
	defer cancel()
	var data []byte
	var err error
	done := r.until(ctx, func() {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("standard input: %v", p)
			}
		}()
		data, err = readAll(r.Stdin, adapters.MaxEvent+1, func(first []byte) { r.begun.Store(&first) })
	}, unread)
	switch {
	case !done:
		return ev, unread(ctx).Err
	case err != nil:
		return ev, fmt.Errorf("event: %w", err)
	}
	r.input = data
	if ev, err = a.Parse(data, r.event); err != nil {
		r.begun.Store(&data)
	} else {
		r.begun.Store(nil)
	}
	return ev, err
}

// readAll reads to the end, or most bytes. Where the room is too small it becomes eight
// times as large, at once: to copy what was read takes time, and so does each page that
// is used, but room that stays empty takes none.
// first gets what came with the first read, which nobody changes any more.
func readAll(in io.Reader, most int, first func([]byte)) ([]byte, error) {
	data := make([]byte, 0, usual)
	for len(data) < most {
		if len(data) == cap(data) {
			data = append(make([]byte, 0, 8*cap(data)), data...)
		}
		n, err := in.Read(data[len(data):min(cap(data), most)])
		if len(data) == 0 {
			first(data[:n])
		}
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
	return data, nil
}

// unread is the fault of an event that had not come when ctx ended.
func unread(ctx context.Context) *hook.Fault {
	var err error = stopped(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errors.New("standard input did not end in time")
	}
	return &hook.Fault{Kind: hook.FaultEvent, Err: fmt.Errorf("event: %w", err)}
}
