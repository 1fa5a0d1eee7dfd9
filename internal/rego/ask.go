package rego

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"gate/engine"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/verdict"
)

// caches are shared by the policies that are asked about one event, so that a
// helper they have in common is evaluated once. They belong to one compiled set.
type caches struct {
	of      *ast.Compiler
	virtual topdown.VirtualCache
}

// use gives the caches to a query.
func (c *caches) use(q *topdown.Query, compiler *ast.Compiler) {
	if c.of != compiler {
		*c = caches{of: compiler, virtual: topdown.NewVirtualCache()}
	}
	q.WithVirtualCache(c.virtual)
}

// drop forgets everything: after an error a helper may be remembered as
// undefined that really failed.
func (c *caches) drop() { *c = caches{} }

// prepareSafely compiles what is missing, and turns a panic into an error.
func (s *source) prepareSafely(stop <-chan struct{}, pkgs []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("compiling source %q: %v", s.name, r)
		}
	}()
	s.prepare(stop, pkgs)
	return nil
}

// ask evaluates one policy.
func (s *supervisor) ask(ctx context.Context, h *hook.Hook, cancel topdown.Cancel, shared *caches) (a engine.Answer) {
	defer func() {
		if r := recover(); r != nil {
			shared.drop()
			kind := hook.FaultInternal
			if r == errNested {
				kind = hook.FaultMemory
			}
			a = engine.Answer{Fault: hook.Faultf(kind, "%s: %s: %v", h.Pos(), h.ID, r)}
		}
	}()
	p := s.src.policy(h.ID)
	switch {
	case p == nil:
		return engine.Answer{Fault: hook.Faultf(hook.FaultLoad, "%s: %s was not compiled", h.Pos(), h.ID)}
	case p.err != nil:
		return engine.Answer{Fault: &hook.Fault{Kind: hook.FaultLoad, Err: p.err}}
	}
	var result topdown.QueryResult
	if len(p.rules) > 0 {
		var err error
		if result, err = s.query(ctx, p, cancel, shared); err != nil {
			shared.drop()
			return engine.Answer{Fault: &hook.Fault{Kind: hook.FaultEval, Err: evalError(h.Pos(), err)}}
		}
	}
	r, values := verdict.NewReader(h, s.ev.Name), converter{}
	for _, ru := range p.rules {
		if set := result[ru.v]; set != nil {
			r.Rule(ru.name, ru.pos, values.value(set.Value))
		}
	}
	a.Verdict, a.Fault = r.Answer()
	if schema := verdict.InputSchema(h); schema != nil {
		if why := load.InputMistakes(schema, s.ev.Tool(), s.ev.Fields["tool_input"]); why != "" {
			a.Verdict.Reasons = append(a.Verdict.Reasons, hook.Reason{
				ID: h.ID, Effect: hook.Deny, Reason: fmt.Sprintf("the input of %s does not fit its schema: %s", s.ev.Tool(), why), Pos: h.Pos(),
			})
		}
	}
	return a
}

var errNoResult = errors.New("query has no single result")

// query runs the policy's query once.
func (s *supervisor) query(ctx context.Context, p *policy, cancel topdown.Cancel, shared *caches) (topdown.QueryResult, error) {
	txn, err := s.src.store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, err
	}
	defer s.src.store.Abort(ctx, txn)
	q := topdown.NewQuery(p.query).
		WithCompiler(p.compiler).
		WithStore(s.src.store).
		WithTransaction(txn).
		WithInput(s.input).
		WithCancel(cancel).
		WithMetrics(metrics.NoOp()).
		WithBuiltins(s.src.guards.builtins).
		WithTime(clockOf(s.ev)).
		WithStrictBuiltinErrors(true).
		WithInterQueryBuiltinValueCache(s.src.values)
	if s.src.fused {
		q.WithQueryTracer(&fuse{cancel: cancel})
	}
	shared.use(q, p.compiler)
	results, err := q.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(results) != 1 {
		return nil, errNoResult
	}
	return results[0], nil
}

// clockOf returns the one time that a call has. An event without a time is at
// the epoch, so that nothing falls back to the real clock.
func clockOf(ev *hook.Event) time.Time {
	if ev.Gate.Now.IsZero() {
		return time.Unix(0, 0)
	}
	return ev.Gate.Now
}

// newValueCache holds compiled regexes and globs. It is one for each source: a
// key does not always tell two patterns apart, so sources must not share. OPA's
// own cache of 100 entries makes larger rule sets compile anew at every call.
func newValueCache(g grant) cache.InterQueryValueCache {
	size := 1024
	if g == grantManaged {
		size = 16384
	}
	return cache.NewInterQueryValueCache(context.Background(), &cache.Config{
		InterQueryBuiltinValueCache: cache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &size},
	})
}
