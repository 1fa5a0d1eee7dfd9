package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/scopes"
)

// An evalFunc is an Evaluator that answers each hook alone.
type evalFunc func(ctx context.Context, h *hook.Hook, ev *hook.Event) engine.Answer

func (f evalFunc) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	var answers []engine.Answer
	for _, h := range hooks {
		answers = append(answers, f(ctx, h, ev))
	}
	return answers
}

func denies(reason string) evalFunc {
	return func(context.Context, *hook.Hook, *hook.Event) engine.Answer {
		return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: reason}}}}
	}
}

func passes(context.Context, *hook.Hook, *hook.Event) engine.Answer { return engine.Answer{} }

// source is a source with one policy on PreToolUse.
func source(name string, s hook.Scope, a hook.Authority) scopes.Source {
	return scopes.Source{Name: name, Scope: s, Authority: a, Hooks: []*hook.Hook{{
		ID: name + ".policy", Kind: hook.Rego, Scope: s, Authority: a, Source: name, Events: []hook.Name{hook.PreToolUse},
	}}}
}

// nobody is a user who wrote no policy: without user, library or
// administrator there would be nothing to decide by.
var nobody = scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}

func newEngine(t testing.TB, sources []scopes.Source, settings scopes.Settings, opts ...engine.Option) *engine.Engine {
	t.Helper()
	set, err := scopes.New(sources, settings)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func call(command string) hook.Event {
	return hook.Event{Name: hook.PreToolUse, Facts: &hook.Facts{}, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": command},
	}}
}

func TestNothingLoadedCloses(t *testing.T) {
	managedOnly := scopes.Settings{ManagedHooksOnly: true}
	user := []scopes.Source{source("user", hook.Session, hook.User)}
	projectOff := scopes.Settings{DisableAllHooks: map[hook.Authority]bool{hook.Project: true}}
	for name, e := range map[string]*engine.Engine{
		"no source":                  newEngine(t, nil, scopes.Settings{}),
		"no source, disabled below":  newEngine(t, nil, projectOff),
		"managed only, none managed": newEngine(t, user, managedOnly),
	} {
		d := e.Decide(t.Context(), call("ls"))
		if d.Effect != hook.Deny || d.Fault == nil || d.Fault.Kind != hook.FaultLoad || d.Reason() == "" {
			t.Errorf("%s: %v, fault %v", name, d.Effect, d.Fault)
		}
	}
}

func TestDisabledPassesAloud(t *testing.T) {
	off := scopes.Settings{DisableAllHooks: map[hook.Authority]bool{hook.Managed: true}}
	e := newEngine(t, []scopes.Source{source("managed", hook.Policy, hook.Managed)}, off, engine.WithEvaluator(hook.Rego, denies("no")))
	d := e.Decide(t.Context(), call("ls"))
	if d.Effect != hook.Pass || len(d.Steps) != 0 || len(d.Notices) != 1 {
		t.Errorf("%v, %d steps, notices %q", d.Effect, len(d.Steps), d.Notices)
	}
}

// A caller that gives up gets an answer all the same, and not a yes.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := newEngine(t, []scopes.Source{nobody, source("project", hook.Session, hook.Project)}, scopes.Settings{}, engine.WithEvaluator(hook.Rego, evalFunc(
		func(ctx context.Context, _ *hook.Hook, _ *hook.Event) engine.Answer {
			cancel()
			<-ctx.Done()
			return engine.Answer{Fault: &hook.Fault{Kind: hook.FaultTimeout, Err: ctx.Err()}}
		})))
	d := e.Decide(ctx, call("ls"))
	if d.Effect != hook.Deny || d.Steps[0].Outcome != hook.Cancelled {
		t.Errorf("%v, first step %v", d.Effect, d.Steps[0].Outcome)
	}
}

// An expired deadline is no reason to skip the answer, nor to let a call pass
// that nobody judged, whoever's hooks there are.
func TestNoTimeAtAll(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	e := newEngine(t, []scopes.Source{nobody, source("project", hook.Session, hook.Project)}, scopes.Settings{},
		engine.WithEvaluator(hook.Rego, evalFunc(passes)))
	if d := e.Decide(ctx, call("ls")); d.Effect != hook.Deny || d.Fault == nil || d.Fault.Kind != hook.FaultTimeout {
		t.Errorf("%v, fault %v", d.Effect, d.Fault)
	}
}

// The answer comes before the deadline, not at it.
func TestAnswersBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		hang := evalFunc(func(context.Context, *hook.Hook, *hook.Event) engine.Answer { <-done; return engine.Answer{} })
		e := newEngine(t, []scopes.Source{source("managed", hook.Policy, hook.Managed)}, scopes.Settings{}, engine.WithEvaluator(hook.Rego, hang))
		for _, limit := range []time.Duration{time.Millisecond, time.Second, time.Hour, 0} {
			ctx, start, within := t.Context(), time.Now(), engine.Limit
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
				within = limit
			}
			d := e.Decide(ctx, call("ls"))
			if took := time.Since(start); d.Effect != hook.Deny || took >= within {
				t.Errorf("limit %v: %v after %v", limit, d.Effect, took)
			}
		}
	})
}

func TestGateItselfFails(t *testing.T) {
	sources := []scopes.Source{nobody, source("project", hook.Session, hook.Project)}
	pass := engine.WithEvaluator(hook.Rego, evalFunc(passes))
	ev := call("ls")
	ev.Facts = nil
	for name, opt := range map[string]engine.Option{
		"facts panic": engine.WithFacts(func(*hook.Event) *hook.Facts { panic("facts") }),
		"ids panic":   engine.WithIDs(func() string { panic("ids") }),
	} {
		d := newEngine(t, sources, scopes.Settings{}, pass, opt).Decide(t.Context(), ev)
		if d.Effect != hook.Deny || d.Fault == nil || d.Fault.Kind != hook.FaultInternal {
			t.Errorf("%s: %v, fault %v", name, d.Effect, d.Fault)
		}
	}
}

// Facts that nobody worked out are opaque ones, so nothing is allowed on them.
func TestMissingFactsAreOpaque(t *testing.T) {
	allow := evalFunc(func(_ context.Context, _ *hook.Hook, ev *hook.Event) engine.Answer {
		return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Allow, Reason: "fine"}}}}
	})
	none := engine.WithFacts(func(*hook.Event) *hook.Facts { return nil })
	for _, opts := range [][]engine.Option{nil, {none}} {
		e := newEngine(t, []scopes.Source{source("user", hook.Session, hook.User)}, scopes.Settings{},
			append(opts, engine.WithEvaluator(hook.Rego, allow))...)
		ev := call("ls")
		if d := e.Decide(t.Context(), ev); d.Effect != hook.Allow {
			t.Errorf("known facts: %v", d.Effect)
		}
		ev.Facts = nil
		if d := e.Decide(t.Context(), ev); d.Effect != hook.Pass || !d.Facts.Opaque {
			t.Errorf("no facts: %v", d.Effect)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	set, err := scopes.New(nil, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	pass := engine.WithEvaluator(hook.Rego, evalFunc(passes))
	for name, opts := range map[string][]engine.Option{
		"two evaluators": {pass, pass}, "nil evaluator": {engine.WithEvaluator(hook.Rego, nil)},
		"nil clock": {engine.WithClock(nil)}, "nil ids": {engine.WithIDs(nil)},
	} {
		if _, err := engine.New(set, opts...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := engine.New(nil); err == nil {
		t.Error("nil set: no error")
	}
}

// TestParallel decides 200 calls at once, half of which are rewritten. The
// race detector is the judge of what is not compared here.
func TestParallel(t *testing.T) {
	rewrite := evalFunc(func(_ context.Context, h *hook.Hook, ev *hook.Event) engine.Answer {
		var v hook.Verdict
		if ev.ToolInput()["command"] == "old" {
			v.Rewrites = []hook.Rewrite{{Input: map[string]any{"command": "new"}}}
		}
		return engine.Answer{Verdict: v}
	})
	sources := []scopes.Source{source("managed", hook.Policy, hook.Managed), source("user", hook.Session, hook.User)}
	e := newEngine(t, sources, scopes.Settings{}, engine.WithEvaluator(hook.Rego, rewrite),
		engine.WithFacts(func(*hook.Event) *hook.Facts { return &hook.Facts{} }))
	shared := call("old")
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]bool{}
	for i := range 200 {
		wg.Go(func() {
			ev, want := shared, hook.ModifyInput
			if i%2 == 0 {
				ev, want = call("other"), hook.Continue
			}
			d := e.Decide(t.Context(), ev)
			if got := d.Result(true); got != want || len(d.ID) != 6 {
				t.Errorf("call %d: %v, id %q", i, got, d.ID)
			}
			mu.Lock()
			ids[d.ID] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(ids) < 199 {
		t.Errorf("only %d different ids", len(ids))
	}
	if shared.ToolInput()["command"] != "old" {
		t.Error("the event was changed")
	}
}

// The same hooks give the same decision, whatever order their sources are
// given in.
func TestOrderOfSourcesDoesNotMatter(t *testing.T) {
	a, b, c := source("a", hook.Policy, hook.Managed), source("b", hook.Policy, hook.Managed), source("u", hook.Session, hook.User)
	ask := evalFunc(func(_ context.Context, h *hook.Hook, _ *hook.Event) engine.Answer {
		return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Ask, Reason: "by " + h.ID}}}}
	})
	want := ""
	for _, sources := range [][]scopes.Source{{a, b, c}, {c, b, a}, {b, c, a}} {
		d := newEngine(t, sources, scopes.Settings{}, engine.WithEvaluator(hook.Rego, ask)).Decide(t.Context(), call("ls"))
		if want == "" {
			want = d.Reason()
		}
		if got := d.Reason(); got != want || !strings.HasPrefix(got, "by a.policy\n") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func ExampleEngine_Decide() {
	set, err := scopes.New([]scopes.Source{source("managed", hook.Policy, hook.Managed)}, scopes.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := engine.New(set,
		engine.WithEvaluator(hook.Rego, denies("open a pull request instead")),
		engine.WithIDs(func() string { return "7k2m9x" }))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := e.Decide(context.Background(), call("git push --force"))
	fmt.Println(d.ID, d.Effect, d.Result(false))
	fmt.Println(d.Reason())
	// Output:
	// 7k2m9x deny reject
	// open a pull request instead
}

// BenchmarkDecide is the engine's own part: nothing is evaluated.
func BenchmarkDecide(b *testing.B) {
	for _, tool := range []string{"Bash", "Unrelated"} {
		b.Run("1000 policies, "+tool, func(b *testing.B) {
			src := scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed}
			for i := range 1000 {
				src.Hooks = append(src.Hooks, &hook.Hook{
					ID: fmt.Sprint("acme.p", i), Kind: hook.Rego, Scope: src.Scope, Authority: src.Authority, Source: src.Name,
					Events: []hook.Name{hook.PreToolUse}, Matcher: "Bash|Write",
				})
			}
			e := newEngine(b, []scopes.Source{src}, scopes.Settings{}, engine.WithEvaluator(hook.Rego, evalFunc(passes)))
			ev := call("ls")
			ev.Fields["tool_name"] = tool
			for b.Loop() {
				e.Decide(b.Context(), ev)
			}
		})
	}
}

// A policy that the deadline of the whole call cut was not heard: of the user it
// closes, as a policy's own time-out does not. A project's is left out.
func TestUnheard(t *testing.T) {
	late := &hook.Fault{Kind: hook.FaultTimeout, Err: fmt.Errorf("no time left: %w", context.DeadlineExceeded)}
	slow := hook.Faultf(hook.FaultTimeout, "no answer within 1s")
	for _, test := range []struct {
		by    hook.Authority
		fault *hook.Fault
		want  hook.Effect
	}{
		{hook.User, late, hook.Deny},
		{hook.User, slow, hook.Pass},
		{hook.Project, late, hook.Pass},
		{hook.Project, slow, hook.Pass},
	} {
		sources := []scopes.Source{source("x", hook.Session, test.by), nobody}
		e := newEngine(t, sources, scopes.Settings{}, engine.WithEvaluator(hook.Rego,
			evalFunc(func(context.Context, *hook.Hook, *hook.Event) engine.Answer { return engine.Answer{Fault: test.fault} })))
		d := e.Decide(t.Context(), call("ls"))
		if d.Effect != test.want || (d.Fault != nil) != (test.want == hook.Deny) {
			t.Errorf("%s, %v: %v, fault %v", test.by, test.fault, d.Effect, d.Fault)
		}
	}
}

// An engine made with further options leaves the first as it was.
func TestWith(t *testing.T) {
	src := scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User, Hooks: []*hook.Hook{{
		ID: "x", Kind: hook.Inline, Scope: hook.Session, Authority: hook.User, Source: "user", Events: []hook.Name{hook.PreToolUse},
	}}}
	first := newEngine(t, []scopes.Source{src}, scopes.Settings{}, engine.WithIDs(func() string { return "first" }))
	silent := evalFunc(func(context.Context, *hook.Hook, *hook.Event) engine.Answer { return engine.Answer{} })
	second, err := first.With(engine.WithEvaluator(hook.Inline, silent), engine.WithIDs(func() string { return "second" }))
	if err != nil {
		t.Fatal(err)
	}
	a, b := first.Decide(t.Context(), call("ls")), second.Decide(t.Context(), call("ls"))
	if a.ID != "first" || a.Steps[0].Fault == nil || b.ID != "second" || b.Steps[0].Fault != nil {
		t.Errorf("%s: %v; %s: %v", a.ID, a.Steps[0].Fault, b.ID, b.Steps[0].Fault)
	}
	if _, err := second.With(engine.WithEvaluator(hook.Inline, silent)); err == nil {
		t.Error("a second evaluator of a kind was taken")
	}
}
