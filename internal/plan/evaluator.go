package plan

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/params"
	"gate/internal/plan/builtin"
	"gate/internal/plan/value"
	"gate/scopes"
)

// A Source is a source and its policies in compiled form.
type Source struct {
	*scopes.Source
	// Section is what internal/plan/build made of the source. It is opened when one
	// of the source's policies is first asked.
	Section string
}

// An Evaluator runs the policies of a fixed set of sources; it is an
// engine.Evaluator for hooks of kind rego. It is immutable from outside and safe
// for concurrent use.
//
// It says what internal/rego says, or has a fault where that may have an answer:
// for a policy that is not in the plan, or when OPA's rule index would have
// spared an error. Who has OPA at hand asks it about an event on any fault.
type Evaluator struct {
	sources map[sourceKey]func() *source
	memory  int64
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

// NewEvaluator returns an Evaluator for the policies of sources. Nothing is
// opened yet: a section that cannot be used is a fault of each hook that is
// asked.
func NewEvaluator(sources []Source, opts ...Option) *Evaluator {
	e := &Evaluator{sources: make(map[sourceKey]func() *source, len(sources)), memory: DefaultMemory}
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
	input, err := inputOf(ev)
	if err != nil {
		return append(answers, faults(len(hooks), hook.FaultInternal, fmt.Errorf("event cannot become input: %w", err))...)
	}
	s := &session{ctx: ctx, evaluator: e, ev: ev, input: input, end: endOf(ctx)}
	start := time.Now() // policies never see it: for them the time is that of the event
	for _, h := range hooks {
		a := s.ask(h)
		end := time.Now()
		a.Took, start = end.Sub(start), end
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
