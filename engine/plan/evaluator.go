package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"gate/engine"
	"gate/engine/params"
	"gate/engine/plan/builtin"
	"gate/engine/plan/bytecode"
	"gate/engine/plan/value"
	"gate/engine/verdict"
	"gate/hook"
	"gate/scopes"
)

// A Source is a source and its policies in compiled form.
type Source struct {
	*scopes.Source
	// Section is what engine/plan/build made of the source. It is opened when one
	// of the source's policies is first asked.
	Section string
}

// An Evaluator runs the policies of a fixed set of sources; it is an
// engine.Evaluator for hooks of kind rego. It is immutable from outside and safe
// for concurrent use.
//
// It says what engine/rego says, or has a fault where that may have an answer:
// for a policy that is not in the plan, or when OPA's rule index would have
// spared an error. Who has OPA at hand asks it about an event on any fault.
type Evaluator struct {
	sources map[sourceKey]func() *source
	memory  int64
	now     func() time.Time
}

// sourceKey tells sources apart even if two of different authority share a name.
type sourceKey struct {
	name      string
	scope     hook.Scope
	authority hook.Authority
	library   bool
}

// A source is one that is open.
type source struct {
	program *Program
	params  *params.Params
	data    value.Value
	cache   *builtin.Cache
	broken  error
	idle    sync.Pool // machines
}

const (
	// DefaultTimeout is what a policy gets when its hook names no time-out.
	DefaultTimeout = time.Second
	// DefaultMemory is how many bytes the values that one policy makes may take.
	// What it drops again counts, so it is more than the policy really holds.
	DefaultMemory = 256 << 20
)

var _ engine.Evaluator = (*Evaluator)(nil)

// An Option changes an optional property of an [Evaluator].
type Option func(*Evaluator)

// WithMemory sets what the values of one policy may take in bytes, in place of
// [DefaultMemory].
func WithMemory(bytes int64) Option { return func(e *Evaluator) { e.memory = bytes } }

// WithClock sets the clock that Answer.Took is read from. The default is the
// system's monotonic clock. Policies never see it: for them the time is that of
// the event.
func WithClock(now func() time.Time) Option { return func(e *Evaluator) { e.now = now } }

// NewEvaluator returns an Evaluator for the policies of sources. Nothing is
// opened yet: a section that cannot be used is a fault of each hook that is
// asked.
func NewEvaluator(sources []Source, opts ...Option) *Evaluator {
	e := &Evaluator{sources: make(map[sourceKey]func() *source, len(sources)), memory: DefaultMemory, now: time.Now}
	for _, opt := range opts {
		opt(e)
	}
	for _, s := range sources {
		key := sourceKey{s.Name, s.Scope, s.Authority, s.Library}
		if e.sources[key] != nil {
			e.sources[key] = func() *source { return &source{broken: fmt.Errorf("source %q is given twice", key.name)} }
			continue
		}
		e.sources[key] = sync.OnceValue(func() *source { return open(&s) })
	}
	return e
}

func open(s *Source) *source {
	o := &source{params: params.Of(s.Source), cache: &builtin.Cache{}}
	o.program, o.broken = Open(s.Section)
	if o.broken != nil {
		o.broken = fmt.Errorf("source %q: %w", s.Name, o.broken)
		return o
	}
	all, err := o.params.Document(s.Data)
	if err == nil {
		o.data, err = value.From(all)
	}
	if err != nil {
		o.broken = fmt.Errorf("data of source %q: %w", s.Name, err)
	}
	return o
}

// machine returns a machine for an event.
func (s *source) machine(ctx *builtin.Context, input value.Value) *Machine {
	if m, ok := s.idle.Get().(*Machine); ok {
		m.reset(ctx, input)
		return m
	}
	return NewMachine(s.program, ctx, input, s.data)
}

// Evaluate asks each hook about ev and returns one answer for each, in the same
// order. It always answers: what goes wrong becomes a fault of the hook
// concerned. A fault's verdict holds what is safe to count all the same, and
// never an allow. When ctx ends, the hooks that have not answered have a fault.
func (e *Evaluator) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, 0, len(hooks))
	if len(hooks) == 0 {
		return answers
	}
	input, err := value.From(ev.Document())
	if err != nil {
		return append(answers, faults(len(hooks), hook.FaultInternal, fmt.Errorf("event cannot become input: %w", err))...)
	}
	s := &session{ctx: ctx, evaluator: e, ev: ev, input: input, end: endOf(ctx)}
	for _, h := range hooks {
		start := e.now()
		a := s.ask(h)
		a.Took = e.now().Sub(start)
		answers = append(answers, a)
	}
	s.leave()
	return answers
}

// endOf returns when the answers must be there: a little before ctx ends, since
// whoever set it will not take them afterwards.
func endOf(ctx context.Context) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return deadline.Add(-min(100*time.Millisecond, time.Until(deadline)/10))
}

func faults(n int, kind hook.FaultKind, err error) []engine.Answer {
	answers := make([]engine.Answer, n)
	for i := range answers {
		answers[i].Fault = &hook.Fault{Kind: kind, Err: err}
	}
	return answers
}

// A session is the asking of several hooks about one event.
type session struct {
	ctx       context.Context
	evaluator *Evaluator
	ev        *hook.Event
	input     value.Value
	end       time.Time // zero: none

	key     sourceKey // of the source that is at hand
	source  *source
	machine *Machine  // nil after an error
	until   time.Time // of the hook that is asked
}

var (
	errLate = errors.New("no answer in time")
	errOver = errors.New("no time left")
)

// check is asked by the machine whether to go on.
func (s *session) check() error {
	now := time.Now()
	switch {
	case s.ctx.Err() != nil:
		return fmt.Errorf("%w: %w", errOver, context.Cause(s.ctx))
	case !s.end.IsZero() && now.After(s.end):
		return fmt.Errorf("%w: %w", errOver, context.DeadlineExceeded)
	case now.After(s.until):
		return errLate
	}
	return nil
}

// ask asks one hook.
func (s *session) ask(h *hook.Hook) (a engine.Answer) {
	defer func() {
		if r := recover(); r != nil {
			s.machine = nil
			a = engine.Answer{Fault: hook.Faultf(hook.FaultInternal, "%s: %s: %v", h.Pos(), h.ID, r)}
		}
	}()
	if fault := s.prepare(h); fault != nil {
		return engine.Answer{Fault: fault}
	}
	rules, err := s.machine.policy(h.ID)
	if err == nil && rules == nil {
		return engine.Answer{Fault: hook.Faultf(hook.FaultLoad, "%s: %s is not in the compiled plan", h.Pos(), h.ID)}
	}
	r, names := verdict.NewReader(h, s.ev.Name), verdict.Rules()
	for _, rule := range rules {
		var v value.Value
		if err == nil {
			v, err = s.machine.rule(rule)
		}
		if err == nil && rule.Kind >= len(names) {
			err = bytecode.ErrDamaged
		}
		if err == nil && v != nil {
			r.Rule(names[rule.Kind], rule.Pos, v)
		}
	}
	if err != nil {
		s.machine = nil
		return engine.Answer{Fault: s.faultOf(h, err)}
	}
	a.Verdict, a.Fault = r.Answer()
	return a
}

// prepare readies the machine for a hook.
func (s *session) prepare(h *hook.Hook) *hook.Fault {
	key := sourceKey{h.Source, h.Scope, h.Authority, h.Library}
	if s.source == nil || s.key != key {
		open := s.evaluator.sources[key]
		if open == nil {
			return hook.Faultf(hook.FaultLoad, "%s: no source %q", h.Pos(), h.Source)
		}
		s.leave()
		s.key, s.source = key, open()
	}
	if s.source.broken != nil {
		return &hook.Fault{Kind: hook.FaultLoad, Err: s.source.broken}
	}
	if err := s.source.params.Fault(h.ID); err != nil {
		return &hook.Fault{Kind: hook.FaultLoad, Err: err}
	}
	if s.machine == nil {
		ctx := &builtin.Context{Now: nanoseconds(s.ev), Limited: true, Check: s.check, Cache: s.source.cache}
		s.machine = s.source.machine(ctx, s.input)
	}
	s.until = time.Now().Add(timeout(h))
	s.machine.ctx.Steps, s.machine.ctx.Memory = math.MaxInt64, s.evaluator.memory
	if err := s.check(); err != nil {
		return s.faultOf(h, err)
	}
	return nil
}

// leave gives the machine back, unless it had an error.
func (s *session) leave() {
	if s.machine != nil {
		s.machine.reset(nil, nil)
		s.source.idle.Put(s.machine)
		s.machine = nil
	}
}

func timeout(h *hook.Hook) time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return DefaultTimeout
}

// nanoseconds returns the one time that a call has. An event without a time is
// at the epoch.
func nanoseconds(ev *hook.Event) int64 {
	if ev.Gate.Now.IsZero() {
		return 0
	}
	return ev.Gate.Now.UnixNano()
}

// faultOf returns the fault for an error of a hook's evaluation.
func (s *session) faultOf(h *hook.Hook, err error) *hook.Fault {
	var at *Error
	switch {
	case errors.Is(err, errOver):
		return &hook.Fault{Kind: hook.FaultTimeout, Err: err}
	case errors.Is(err, errLate):
		return hook.Faultf(hook.FaultTimeout, "%s: %s: no answer within %s", h.Pos(), h.ID, timeout(h))
	case errors.Is(err, builtin.ErrSteps):
		return hook.Faultf(hook.FaultTimeout, "%s: %s: there would be no answer within %s", h.Pos(), h.ID, timeout(h))
	case errors.Is(err, builtin.ErrMemory):
		return hook.Faultf(hook.FaultMemory, "%s: %s: used more than %d MiB", h.Pos(), h.ID, s.evaluator.memory>>20)
	case errors.Is(err, errLarge), errors.Is(err, errDeep):
		return hook.Faultf(hook.FaultMemory, "%s: %s: %w", h.Pos(), h.ID, err)
	case errors.As(err, &at):
		return &hook.Fault{Kind: hook.FaultEval, Err: err}
	case errors.Is(err, bytecode.ErrDamaged):
		return hook.Faultf(hook.FaultLoad, "%s: %s: %w", h.Pos(), h.ID, err)
	}
	return hook.Faultf(hook.FaultEval, "%s: %w", h.Pos(), err)
}
