package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
	"gate/internal/plan/value"
	"gate/internal/verdict"
)

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
func (s *session) check() error { return s.checkAt(time.Now()) }

func (s *session) checkAt(now time.Time) error {
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
	if verdict.InputSchema(h) != nil {
		return engine.Answer{Fault: hook.Faultf(hook.FaultLoad, "%s: %s has a schema, which plans cannot check", h.Pos(), h.ID)}
	}
	if fault := s.prepare(h); fault != nil {
		return engine.Answer{Fault: fault}
	}
	rules, err := s.machine.rules(h.ID)
	if err == nil && rules.Len() == 0 {
		return engine.Answer{Fault: hook.Faultf(hook.FaultLoad, "%s: %s is not in the compiled plan", h.Pos(), h.ID)}
	}
	r, names := verdict.NewReader(h, s.ev.Name), verdict.Rules()
	for i := 0; i < rules.Len() && err == nil; i++ {
		var rule bytecode.Rule
		var v value.Value
		rule, v, err = s.machine.ask(rules, i)
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
	now := time.Now()
	s.until = now.Add(timeout(h))
	s.machine.ctx.Steps, s.machine.ctx.Memory = math.MaxInt64, s.evaluator.memory
	if err := s.checkAt(now); err != nil {
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
