// Package engine is the pipeline: one event in, one decision out. It runs the hooks of
// a [scopes.Set] in order, combines their verdicts, and judges a rewritten call anew.
//
// It knows no policy language, no agent and no file. Evaluators, facts and schema
// validation are values it is given. It never returns an error: each failure becomes a
// fault inside the decision, and faults close by rule 2 of docs/architecture.md. Start
// with [New], then [Engine.Decide].
package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"gate/hook"
	"gate/scopes"
)

// An Evaluator runs hooks of one kind. For Rego the hooks all belong to one
// source and one priority; of other kinds it gets one hook at a time. It
// returns one Answer per hook, in the same order, and keeps to ctx; when it
// does not, the engine goes on without it. It must be safe for concurrent use
// and must not change the event.
type Evaluator interface {
	Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []Answer
}

// An Answer is what one hook had to say. With a Fault, only what tightens of
// the Verdict counts.
type Answer struct {
	Verdict hook.Verdict
	Fault   *hook.Fault   // nil if the hook answered
	Usage   *hook.Usage   // what a language model was asked for; else nil
	Took    time.Duration // zero: the engine's own measure
}

// An Engine decides about events. It is immutable and safe for concurrent use.
type Engine struct {
	set         *scopes.Set
	evaluators  map[hook.Kind]Evaluator
	facts       func(*hook.Event) *hook.Facts
	spell       func(*hook.Event, *hook.CommandEdit) ([]hook.Edit, error)
	validate    func(tool string, input map[string]any) error
	approvals   func(context.Context, *hook.Event, *hook.Decision) (grant string, ok bool)
	done        func(*hook.Event, *hook.Hook) bool
	confinement confinement // nil: a call that is to be confined is asked about
	allSteps    bool
	inline      bool
	now         func() time.Time
	newID       func() string
}

// An Option configures [New].
type Option func(*Engine) error

// WithEvaluator gives the evaluator for one kind of hook. Hooks of a kind
// without one fault when they are due.
func WithEvaluator(kind hook.Kind, e Evaluator) Option {
	return func(en *Engine) error {
		if e == nil {
			return fmt.Errorf("evaluator for %q is nil", kind)
		}
		if _, twice := en.evaluators[kind]; twice {
			return fmt.Errorf("two evaluators for %q", kind)
		}
		en.evaluators[kind] = e
		return nil
	}
}

// WithFacts gives the function that works out facts: for events that come
// without, and anew after each rewrite. Without it such events count as opaque.
func WithFacts(f func(*hook.Event) *hook.Facts) Option {
	return func(e *Engine) error { e.facts = f; return nil }
}

// WithSpelling gives the function that tells which words of a command line give a
// command what an edit asks for: one edit a word, in the order of the words where
// several go to one place. Without it such edits are a Reject.
func WithSpelling(f func(*hook.Event, *hook.CommandEdit) ([]hook.Edit, error)) Option {
	return func(e *Engine) error { e.spell = f; return nil }
}

// WithValidator gives the check of a rewritten tool input against the tool's
// schema. It returns nil for tools whose schema is not known.
func WithValidator(v func(tool string, input map[string]any) error) Option {
	return func(e *Engine) error { e.validate = v; return nil }
}

// WithApprovals gives the function that looks for a person's approval of an
// ask, such as the Use of a consent.Store, or waits for one. It is called at most once a decision,
// at its end, and only if the effect is ask: an approval never satisfies a deny.
// It gets the event as it came and the whole decision; it must
// compare input, rewrite, facts and directory with what the person saw, and a
// grant that it reports is used up. The grant is a text for people, such as who
// gave it. Both arguments are the function's own. A panic or no answer in time
// is no approval.
func WithApprovals(f func(context.Context, *hook.Event, *hook.Decision) (grant string, ok bool)) Option {
	return func(e *Engine) error { e.approvals = f; return nil }
}

// WithDone gives the function that reports whether a hook with Once set had its
// first success in the session of an event, such as the Done of a
// session.Memory. Such a hook is left out. Who remembers successes finds them in
// the decision's steps. Without it such hooks run each time.
func WithDone(f func(*hook.Event, *hook.Hook) bool) Option {
	return func(e *Engine) error { e.done = f; return nil }
}

// WithAllSteps keeps running after a Reject, for explanations. The effect of
// the decision is the same.
func WithAllSteps() Option {
	return func(e *Engine) error { e.allSteps = true; return nil }
}

// WithInline runs everything on the goroutine of Decide, which saves the time
// that goroutines take. By default what does not end with its context is
// abandoned; Decide waits for it then, and whoever calls it must be able to do
// without its answer, as a process can that ends when time is up. It is not for
// hooks that run side by side.
func WithInline() Option {
	return func(e *Engine) error { e.inline = true; return nil }
}

// WithClock replaces time.Now for the times in a decision. Deadlines are the
// context's.
func WithClock(now func() time.Time) Option {
	return func(e *Engine) error { e.now = now; return nil }
}

// WithIDs replaces the random generator of decision ids. It must be safe for
// concurrent use.
func WithIDs(next func() string) Option {
	return func(e *Engine) error { e.newID = next; return nil }
}

// New returns an Engine for the hooks of set.
func New(set *scopes.Set, opts ...Option) (*Engine, error) {
	if set == nil {
		return nil, errors.New("engine without a set of hooks")
	}
	e := &Engine{set: set, evaluators: map[hook.Kind]Evaluator{}, now: time.Now, newID: randomID}
	return e.apply(opts)
}

// With returns an Engine that differs from e in what the options give. An
// evaluator of a kind that e has one for is an error.
func (e *Engine) With(opts ...Option) (*Engine, error) {
	next := *e
	next.evaluators = maps.Clone(e.evaluators)
	return next.apply(opts)
}

func (e *Engine) apply(opts []Option) (*Engine, error) {
	var errs []error
	for _, o := range opts {
		errs = append(errs, o(e))
	}
	if e.now == nil || e.newID == nil {
		errs = append(errs, errors.New("clock and ids must not be nil"))
	}
	return e, errors.Join(errs...)
}

// maxRounds is how often rewritten input is judged again before gate gives up
// on rules that keep rewriting each other's work.
const maxRounds = 4

// Decide answers ev, always, and by the deadline of ctx (without one: within
// [Limit]) or of the settings. Whatever goes wrong on the way is a fault inside the decision.
func (e *Engine) Decide(ctx context.Context, ev hook.Event) (d hook.Decision) {
	var id string
	start := e.now()
	defer func() {
		if p := recover(); p != nil {
			d = closed(hook.Faultf(hook.FaultInternal, "gate failed while it decided: %v", p))
		}
		d.ID, d.Event, d.Tool, d.Took = id, ev.Name, ev.Tool(), e.now().Sub(start)
	}()
	id = e.newID()
	if e.set.Empty() {
		return closed(hook.Faultf(hook.FaultLoad, "no policy source is loaded"))
	}
	ctx, cancel := limit(ctx, e.set.Settings().Deadline)
	defer cancel()

	c := e.call(ctx, ev)
	c.id = id
	c.brokenSources()
	for {
		for _, tier := range e.set.For(ev.Name) {
			c.run(tier)
		}
		if c.settled() && !c.confine() {
			break
		}
		if c.round++; c.round > maxRounds {
			c.round = maxRounds
			c.reject(fmt.Sprintf("the rules keep rewriting this call; it did not settle in %d rounds", maxRounds))
			break
		}
	}
	c.judgeParts()
	if c.confinement != nil {
		c.confinement.conclude(c)
	}
	return c.decision()
}

// closed is the decision of a gate that could not decide at all.
func closed(f *hook.Fault) hook.Decision {
	h := own("gate")
	d := Combine([]hook.Step{{Hook: h, Effect: hook.Deny, Outcome: hook.Blocking, Fault: f}})
	d.Fault = f
	return d
}

// own is the hook that gate's own steps are recorded under.
func own(id string) *hook.Hook {
	return &hook.Hook{
		ID: id, Kind: hook.Inline, Scope: hook.Policy, Authority: hook.Managed, Source: "gate", OnFault: hook.FaultDeny,
	}
}

// randomID returns six characters of Crockford's alphabet, which has no letters
// that people mistake for digits: 30 bits, enough to quote within a day. It names
// a decision and guards nothing.
func randomID() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	var b [6]byte
	for i, bits := 0, rand.Uint32(); i < len(b); i, bits = i+1, bits>>5 {
		b[i] = alphabet[bits&31]
	}
	return string(b[:])
}
