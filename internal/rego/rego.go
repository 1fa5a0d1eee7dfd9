// Package rego runs policies with OPA.
//
// It is the evaluator of hooks of kind rego: the engine asks it, for the hooks
// of one source that apply to an event, what their deny, ask, allow, modify,
// context, warn, halt, consult and remember rules say. Each source is compiled
// on its own with the shared library data.gate.lib, so that none can define or
// override another's packages, and with the builtins that its authority is
// granted. It is not for reading files or METADATA (internal/load does that), nor
// for combining verdicts (the engine does). Start with [New].
package rego

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/engine"
	"gate/hook"
	"gate/scopes"
)

// An Evaluator runs the policies of a fixed set of sources; it is an
// engine.Evaluator for hooks of kind rego. It is immutable
// from outside and safe for concurrent use; it compiles what is asked for when
// it is first asked for, and keeps that.
type Evaluator struct {
	sources  map[sourceKey]func() *source // made when one of their hooks is first asked
	given    map[sourceKey]scopes.Source  // what sources are made of
	lib      []scopes.Module
	earlier  *Evaluator        // while this one is made: whose sources may be taken over
	snapshot *snapshot         // of the library, nil if there is none
	saved    map[string]string // by the name of the source, see WithSaved
	limits   limits
	now      func() time.Time
}

// sourceKey tells sources apart even if two of different authority share a
// name.
type sourceKey struct {
	name      string
	scope     hook.Scope
	authority hook.Authority
	library   bool
}

// limits bound one evaluation.
type limits struct {
	policy time.Duration // one policy, unless its hook says otherwise
	grace  time.Duration // from cancelling an evaluation to leaving it behind
	watch  time.Duration // between two looks at clock and heap
	soft   uint64        // bytes that one policy may add to the heap
	hard   uint64        // bytes of the whole heap
	oom    func()
	least  time.Duration // of compileTime
}

// compileTime is how long a source of n files may take to compile: five times
// what ordinary ones take on a slow machine. A few lines can keep OPA's type
// checker busy for ever, and nothing cancels it.
func (l limits) compileTime(n int) time.Duration {
	return max(l.least, 2*time.Second+time.Duration(n)*5*time.Millisecond)
}

const (
	// DefaultTimeout is what a policy gets when its hook names no time-out.
	DefaultTimeout = time.Second
	// DefaultSoftMemory is how much one policy may add to the heap before it
	// is cancelled.
	DefaultSoftMemory = 256 << 20
	// DefaultHardMemory is the heap at which nothing is waited for any more.
	DefaultHardMemory = 1 << 30
)

var _ engine.Evaluator = (*Evaluator)(nil)

// An Option changes an optional property of an [Evaluator].
type Option func(*Evaluator)

// WithMemory sets the two ceilings of the heap watchdog in bytes: soft is what
// one policy may add before it is cancelled with a fault of kind memory, hard is
// the size of the whole heap at which the function of [WithOutOfMemory] is
// called. Zero keeps a default. A program that switches the garbage collector
// off must set a memory limit (debug.SetMemoryLimit) below soft, since garbage
// counts as heap until it is collected.
func WithMemory(soft, hard uint64) Option {
	return func(e *Evaluator) {
		if soft > 0 {
			e.limits.soft = soft
		}
		if hard > 0 {
			e.limits.hard = hard
		}
	}
}

// WithOutOfMemory sets what happens at the hard ceiling. The one-shot program
// answers deny there and exits; f may therefore never return. The default
// cancels the evaluation and nothing else. f may be called from any goroutine
// and more than once.
func WithOutOfMemory(f func()) Option {
	return func(e *Evaluator) { e.limits.oom = f }
}

// WithCompiled takes over what an earlier evaluator has compiled of sources that
// are still the same. It is for programs that live long and load everything anew
// when a part of it has changed. The other options must be those of the earlier
// one. nil: nothing is taken over.
func WithCompiled(earlier *Evaluator) Option {
	return func(e *Evaluator) { e.earlier = earlier }
}

// WithCompileTime lets each source take at least d to compile, where nobody is
// kept waiting for an answer. The default grows with the number of files and is
// a few seconds.
func WithCompileTime(d time.Duration) Option {
	return func(e *Evaluator) { e.limits.least = d }
}

// WithClock sets the clock that Answer.Took is read from. The default is the
// system's monotonic clock. Policies never see it: for them the time is that of
// the event.
func WithClock(now func() time.Time) Option {
	return func(e *Evaluator) { e.now = now }
}

// New returns an Evaluator for the policies of sources. lib holds the modules
// of data.gate.lib, which every source sees. Nothing is parsed or compiled yet:
// mistakes become faults of the hooks concerned when they are asked, and
// [Check] finds all of them beforehand.
func New(lib []scopes.Module, sources []scopes.Source, opts ...Option) *Evaluator {
	e := &Evaluator{
		sources: make(map[sourceKey]func() *source, len(sources)),
		given:   make(map[sourceKey]scopes.Source, len(sources)),
		lib:     lib,
		now:     time.Now,
		limits: limits{
			policy: DefaultTimeout,
			grace:  50 * time.Millisecond,
			watch:  5 * time.Millisecond,
			soft:   DefaultSoftMemory,
			hard:   DefaultHardMemory,
		},
	}
	for _, opt := range opts {
		opt(e)
	}
	shared := sync.OnceValue(func() *modules { return newModules(lib) })
	for _, s := range sources {
		key := keyOf(&s)
		if e.sources[key] != nil {
			e.sources[key] = func() *source { return &source{broken: fmt.Errorf("source %q is given twice", key.name)} }
			continue
		}
		e.given[key] = s
		if e.sources[key] = e.earlier.same(e, key); e.sources[key] != nil {
			continue
		}
		e.sources[key] = sync.OnceValue(func() *source {
			if data, ok := e.saved[s.Name]; ok {
				return savedSource(s, shared(), data)
			}
			src := newSource(&s, shared())
			if s.Library {
				src.saved = e.snapshot
			}
			return src
		})
	}
	e.earlier = nil
	return e
}

// same returns the source that next has under a key, if e has it, too, and
// nothing about it differs that matters to its policies; else nil.
func (e *Evaluator) same(next *Evaluator, key sourceKey) func() *source {
	if e == nil || e.sources[key] == nil || !reflect.DeepEqual(e.snapshot, next.snapshot) || !slices.Equal(e.lib, next.lib) {
		return nil
	}
	was, is := e.given[key], next.given[key]
	if !slices.Equal(was.Modules, is.Modules) || !reflect.DeepEqual(was.Data, is.Data) || !reflect.DeepEqual(was.Params, is.Params) ||
		!slices.EqualFunc(was.Hooks, is.Hooks, sameParams) {
		return nil
	}
	return e.sources[key]
}

// sameParams reports that two hooks declare the same.
func sameParams(a, b *hook.Hook) bool {
	return a.Kind == b.Kind && a.ID == b.ID && reflect.DeepEqual(a.Params, b.Params)
}

func keyOf(s *scopes.Source) sourceKey {
	return sourceKey{s.Name, s.Scope, s.Authority, s.Library}
}

// Evaluate asks each hook about ev and returns one answer for each, in the same
// order. It always answers: what goes wrong becomes a fault of the hook
// concerned. A fault's verdict holds what is safe to count all the same, such as
// the denial that a malformed member stands for, and never an allow.
// ctx cuts what a hook's time-out leaves: the answers that are there by then are
// returned shortly before its deadline. An evaluation that does not stop when it
// is told to is left behind and the answer given without it.
func (e *Evaluator) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, 0, len(hooks))
	if len(hooks) == 0 {
		return answers
	}
	input, err := inputOf(ev)
	if err != nil {
		return append(answers, faults(len(hooks), hook.FaultInternal, err)...)
	}
	for len(hooks) > 0 {
		n := 1
		for n < len(hooks) && hookKey(hooks[n]) == hookKey(hooks[0]) {
			n++
		}
		answers = append(answers, e.ofSource(ctx, hooks[:n], ev, input)...)
		hooks = hooks[n:]
	}
	return answers
}

func hookKey(h *hook.Hook) sourceKey {
	return sourceKey{h.Source, h.Scope, h.Authority, h.Library}
}

// source returns the source that a hook comes from, nil if there is none.
func (e *Evaluator) source(h *hook.Hook) *source {
	if open := e.sources[hookKey(h)]; open != nil {
		return open()
	}
	return nil
}

// ofSource answers for hooks of one source.
func (e *Evaluator) ofSource(ctx context.Context, hooks []*hook.Hook, ev *hook.Event, input *ast.Term) []engine.Answer {
	src := e.source(hooks[0])
	if src == nil {
		return faults(len(hooks), hook.FaultLoad, fmt.Errorf("%s: no source %q", hooks[0].Pos(), hooks[0].Source))
	}
	if src.broken != nil {
		return faults(len(hooks), hook.FaultLoad, src.broken)
	}
	s := supervisor{limits: e.limits, now: e.now, src: src, hooks: hooks, ev: ev, input: input}
	return s.run(ctx)
}

// inputOf converts the event's document once for all policies.
func inputOf(ev *hook.Event) (term *ast.Term, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("event cannot become input: %v", r)
		}
	}()
	v, err := ast.InterfaceToValue(ev.Document())
	if err != nil {
		return nil, fmt.Errorf("event cannot become input: %w", err)
	}
	return ast.NewTerm(v), nil
}

func faults(n int, kind hook.FaultKind, err error) []engine.Answer {
	answers := make([]engine.Answer, n)
	for i := range answers {
		answers[i].Fault = &hook.Fault{Kind: kind, Err: err}
	}
	return answers
}
