package handlers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/handlers"
)

// answers are inline functions: one that passes, one that denies, one that
// fails, and one that waits until it is cancelled.
var answers = map[string]handlers.Inline{
	"passes": func(context.Context, *hook.Event) (hook.Verdict, error) { return hook.Verdict{}, nil },
	"denies": func(context.Context, *hook.Event) (hook.Verdict, error) {
		return hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "no"}}}, nil
	},
	"fails": func(context.Context, *hook.Event) (hook.Verdict, error) { return hook.Verdict{}, fmt.Errorf("no") },
	"waits": func(ctx context.Context, _ *hook.Event) (hook.Verdict, error) {
		<-ctx.Done()
		return hook.Verdict{}, ctx.Err()
	},
}

// evaluate has hooks answer one after the other.
func evaluate(h *handlers.Handlers, ids ...string) (decide func(context.Context), got *[]engine.Answer) {
	var list []*hook.Hook
	for _, id := range ids {
		list = append(list, &hook.Hook{ID: id, Kind: hook.Inline})
	}
	got = new([]engine.Answer)
	return func(ctx context.Context) {
		*got = h.Evaluator(hook.Inline).Evaluate(ctx, list, &hook.Event{Name: hook.PreToolUse})
	}, got
}

func ExampleWatch() {
	h := handlers.New(handlers.Options{Inline: answers})
	decide, _ := evaluate(h, "passes", "denies", "fails")
	for p := range handlers.Watch(context.Background(), decide) {
		if p.Done {
			fmt.Println(p.Hook.ID, "ended:", p.Outcome)
		} else {
			fmt.Println(p.Hook.ID, "starts")
		}
	}
	// Output:
	// passes starts
	// passes ended: success
	// denies starts
	// denies ended: blocking
	// fails starts
	// fails ended: non_blocking_error
}

// TestWatchCancels holds that who stops looking ends what runs, that nothing is
// left then, and that two who look see only their own.
func TestWatchCancels(t *testing.T) {
	h := handlers.New(handlers.Options{Inline: answers})
	decide, got := evaluate(h, "waits", "passes")
	for p := range handlers.Watch(t.Context(), decide) {
		if p.Hook.ID != "waits" || p.Done {
			t.Errorf("%+v", p)
		}
		break
	}
	if len(*got) != 2 || (*got)[0].Fault == nil {
		t.Fatalf("%+v", *got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	decide, _ = evaluate(h, "waits")
	other, _ := evaluate(h, "denies")
	var seen, others []hook.Outcome
	for p := range handlers.Watch(ctx, decide) {
		if seen = append(seen, p.Outcome); !p.Done {
			for q := range handlers.Watch(t.Context(), other) {
				others = append(others, q.Outcome)
			}
			cancel()
		}
	}
	if want := []hook.Outcome{"", hook.Cancelled}; !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	if want := []hook.Outcome{"", hook.Blocking}; !slices.Equal(others, want) {
		t.Errorf("%q", others)
	}
}

// TestWatchLeft holds that a handler has an end, too, if decide goes on without it.
func TestWatchLeft(t *testing.T) {
	starts, ends, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := handlers.New(handlers.Options{Inline: map[string]handlers.Inline{
		"passes": answers["passes"],
		"stuck": func(context.Context, *hook.Event) (hook.Verdict, error) {
			close(starts)
			<-ends
			return hook.Verdict{}, nil
		},
	}})
	first, _ := evaluate(h, "passes")
	second, _ := evaluate(h, "stuck")
	var seen []string
	for p := range handlers.Watch(t.Context(), func(ctx context.Context) {
		first(ctx)
		go func() {
			defer close(gone)
			second(ctx)
		}()
		<-starts
	}) {
		seen = append(seen, fmt.Sprint(p.Hook.ID, " ", p.Done, " ", p.Outcome))
	}
	close(ends)
	<-gone
	if want := []string{"passes false ", "passes true success", "stuck false ", "stuck true cancelled"}; !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
}

// TestBatch holds which hooks batch runs leave out.
func TestBatch(t *testing.T) {
	h := handlers.New(handlers.Options{Batch: true, Inline: answers})
	for _, kind := range []hook.Kind{hook.Command, hook.Prompt, hook.Agent, hook.Webhook, hook.MCPTool, hook.Inline} {
		by := &hook.Hook{ID: "denies", Kind: kind, Config: map[string]any{"prompt": "?"}}
		a := h.Evaluator(kind).Evaluate(t.Context(), []*hook.Hook{by}, &hook.Event{Name: hook.PreToolUse})[0]
		out := a.Fault != nil && a.Fault.Kind == hook.FaultBatch
		if asks := kind == hook.Prompt || kind == hook.Agent; out != asks {
			t.Errorf("%s: %v", kind, a.Fault)
		}
	}
}
