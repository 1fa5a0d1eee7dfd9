package rego

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/lineage"

	"gate/hook"
)

// maxTrace is how many events of an evaluation a trace holds.
const maxTrace = 200_000

// Trace evaluates a policy and returns what OPA prints about that: mode is full,
// notes or fails, as for opa eval --explain. It is for people who wait.
func (e *Evaluator) Trace(ctx context.Context, h *hook.Hook, ev *hook.Event, mode string) (text string, err error) {
	filter, ok := traces()[mode]
	if !ok {
		return "", fmt.Errorf("no trace %q; there are %s", mode, strings.Join(Traces(), ", "))
	}
	defer func() {
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("%s: cannot be traced: %v", h.Pos(), r)
		}
	}()
	a, done, err := e.account(ctx, h, ev)
	if err != nil {
		return "", err
	}
	defer done()
	p := a.src.ask(a.compiler, h.ID)
	if p.err != nil {
		return "", p.err
	}
	t := &tracer{cancel: a.cancel}
	// The index passes rules over without a word about what they lack.
	query := a.query(p.query).WithQueryTracer(t).WithIndexing(false)
	if _, err := query.Run(ctx); err != nil && !t.full() {
		return "", evalError(h.Pos(), err)
	}
	var b strings.Builder
	topdown.PrettyTraceWithLocation(&b, filter(t.events))
	if t.full() {
		fmt.Fprintf(&b, "… the first %d events\n", maxTrace)
	}
	return b.String(), nil
}

// A tracer keeps the events of an evaluation, and ends it when they are too
// many.
type tracer struct {
	cancel topdown.Cancel
	events []*topdown.Event
}

func (t *tracer) full() bool                  { return len(t.events) >= maxTrace }
func (t *tracer) Enabled() bool               { return true }
func (t *tracer) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

func (t *tracer) TraceEvent(e topdown.Event) {
	if t.full() {
		t.cancel.Cancel()
		return
	}
	t.events = append(t.events, &e)
}

// Traces are the modes of [Evaluator.Trace].
func Traces() []string { return slices.Sorted(maps.Keys(traces())) }

// traces are what each mode leaves of a trace.
func traces() map[string]func([]*topdown.Event) []*topdown.Event {
	return map[string]func([]*topdown.Event) []*topdown.Event{"full": lineage.Full, "notes": lineage.Notes, "fails": lineage.Fails}
}
