package rego_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// evaluate asks a policy that is the whole source about an ls, and gives it all
// the time that a slow machine takes.
func evaluate(s scopes.Source, text string) engine.Answer {
	m := module("p.rego", "package acme.p\n\n"+text)
	s.Modules, s.Hooks = []scopes.Module{m}, []*hook.Hook{newHook(&s, m)}
	s.Hooks[0].Timeout = time.Minute
	return rego.New(nil, []scopes.Source{s}, rego.WithCompileTime(time.Minute)).Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
}

// TestStrictErrors holds what would be silent in plain OPA: an error of a
// builtin is a fault wherever it happens, indexed by OPA or not.
func TestStrictErrors(t *testing.T) {
	for _, body := range []string{
		`startswith(input.nothing, "a")`,
		`endswith(input.nothing, "a")`,
		`glob.match("*", [], input.nothing)`,
		`strings.any_prefix_match(input.nothing, ["a"])`,
		`strings.any_suffix_match(input.nothing, ["a"])`,
		`contains(input.nothing, "a")`,
		`regex.match("a", input.nothing)`,
		`not startswith(input.nothing, "a")`,
		`count([1 | startswith(input.nothing, "a")]) == 1`,
		`every x in [input.nothing] { startswith(x, "a") }`,
		`f(input.nothing)`,
		`lower(input.nothing) == "a"`,
	} {
		s := newSource("project", hook.Project)
		ev := bash("ls")
		ev.Fields["nothing"] = nil
		m := module("p.rego", "package acme.p\n\ndeny contains \"x\" if "+body+"\n\nf(x) if startswith(x, \"a\")\n")
		s.Modules, s.Hooks = []scopes.Module{m}, []*hook.Hook{newHook(&s, m)}
		a := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, ev)[0]
		if a.Fault == nil || a.Fault.Kind != hook.FaultEval {
			t.Errorf("%s: fault %v", body, a.Fault)
		} else if strings.Contains(a.Fault.Error(), "guarded") {
			t.Errorf("%s: the message shows gate's inside: %v", body, a.Fault)
		}
	}
}

// TestSharedHelperFails has two policies over one failing helper: each must
// fault, not only the first that asks it.
func TestSharedHelperFails(t *testing.T) {
	s := sourceOf("project", hook.Project,
		"package acme.a\n\ndeny contains \"x\" if data.acme.helper.bad\n",
		"package acme.b\n\ndeny contains \"x\" if data.acme.helper.bad\n")
	s.Modules = append(s.Modules, module("helper.rego", "package acme.helper\n\nbad if lower(input.nothing) == \"a\"\n"))
	ev := bash("ls")
	ev.Fields["nothing"] = nil
	for i, a := range rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, ev) {
		if a.Fault == nil {
			t.Errorf("policy %d: no fault", i)
		}
	}
}

// TestSourcesAreApart has two sources with the same packages, and one that tries
// to speak for another.
func TestSourcesAreApart(t *testing.T) {
	managed := sourceOf("managed", hook.Managed, "package acme.rule\n\ndeny contains data.acme.words.no\n")
	managed.Modules = append(managed.Modules, module("words.rego", "package acme.words\n\nno := \"managed says no\"\n"))
	project := sourceOf("project", hook.Project,
		"package acme.rule\n\nallow contains \"project says yes\"\n", "package acme.reach\n\nwarn contains w if w := data.acme.secret.word\n")
	project.Modules = append(project.Modules,
		module("words.rego", "package acme.words\n\nno := \"project's words\"\n"))
	managed.Modules = append(managed.Modules, module("secret.rego", "package acme.secret\n\nword := \"secret\"\n"))
	e := rego.New(nil, []scopes.Source{project, managed})
	a := e.Evaluate(context.Background(), managed.Hooks, bash("ls"))[0]
	if len(a.Verdict.Reasons) != 1 || a.Verdict.Reasons[0].Reason != "managed says no" {
		t.Errorf("managed: %+v %v", a.Verdict, a.Fault)
	}
	b := e.Evaluate(context.Background(), project.Hooks, bash("ls"))
	if b[0].Verdict.Effect() != hook.Allow || len(b[1].Verdict.Warnings) != 0 {
		t.Errorf("project: %+v", b)
	}
}

// TestModuleUnderFalseName has a file whose text defines another package than
// the loader said.
func TestModuleUnderFalseName(t *testing.T) {
	for _, inside := range []string{"gate.lib.words", "gate.params.acme", "acme.other"} {
		s := sourceOf("project", hook.Project, "package acme.p\n\ndeny contains \"x\"\n")
		s.Modules[0].Text = "package " + inside + "\n\ndeny contains \"x\"\n"
		lib := []scopes.Module{module("words.rego", "package gate.lib.words\n\nno := 1\n")}
		a := rego.New(lib, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
		if a.Fault == nil || a.Fault.Kind != hook.FaultLoad {
			t.Errorf("%s: %+v fault %v", inside, a.Verdict, a.Fault)
		}
	}
}

// TestUnknownSource asks a hook of a source that the evaluator was not given.
func TestUnknownSource(t *testing.T) {
	s := sourceOf("project", hook.Project, "package acme.p\n\ndeny contains \"x\"\n")
	forged := *s.Hooks[0]
	forged.Authority = hook.Managed
	a := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), []*hook.Hook{&forged, s.Hooks[0]}, bash("ls"))
	if a[0].Fault == nil || a[0].Fault.Kind != hook.FaultLoad || a[1].Verdict.Effect() != hook.Deny {
		t.Errorf("%+v", a)
	}
}

// TestOrder shuffles files and hooks: the same policy says the same, in the same
// order.
func TestOrder(t *testing.T) {
	var texts []string
	for i := range 12 {
		texts = append(texts, fmt.Sprintf(`package acme.p%02d

import data.acme.helper

deny contains sprintf("%d says %%s", [w]) if some w in helper.words

deny contains {"reason": "first", "id": "z"}

deny contains {"reason": "first", "id": "a"}
`, i, i))
	}
	s := sourceOf("project", hook.Project, texts...)
	s.Modules = append(s.Modules, module("helper.rego", "package acme.helper\n\nwords := {\"b\", \"c\", \"a\"}\n"))
	want := map[string]string{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		r.Shuffle(len(s.Modules), func(i, j int) { s.Modules[i], s.Modules[j] = s.Modules[j], s.Modules[i] })
		r.Shuffle(len(s.Hooks), func(i, j int) { s.Hooks[i], s.Hooks[j] = s.Hooks[j], s.Hooks[i] })
		answers := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, bash("ls"))
		for i, h := range s.Hooks {
			got := render(s.Hooks[i:i+1], answers[i:i+1])
			if want[h.ID] == "" {
				want[h.ID] = got
			}
			if got != want[h.ID] || answers[i].Fault != nil {
				t.Fatalf("got:\n%s\nbefore:\n%s", got, want[h.ID])
			}
		}
	}
}

// TestConcurrent asks changing sets of hooks from many goroutines.
func TestConcurrent(t *testing.T) {
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("package acme.p%d\n\ndeny contains sprintf(\"%d %%s\", [input.tool_input.command])\n", i, i))
	}
	texts[7] = "package acme.p7\n\ndeny contains \"7\" if"
	s := sourceOf("project", hook.Project, texts...)
	e := rego.New(nil, []scopes.Source{s})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0))
			for n := range 20 {
				hooks := s.Hooks[r.IntN(10):][:1+r.IntN(10)]
				line := fmt.Sprintf("echo %d %d", g, n)
				for i, a := range e.Evaluate(context.Background(), hooks, bash(line)) {
					if hooks[i].ID == "acme.p7" {
						if a.Fault == nil || a.Fault.Kind != hook.FaultLoad {
							t.Errorf("broken policy: %+v", a)
						}
						continue
					}
					if want := strings.TrimPrefix(hooks[i].ID, "acme.p") + " " + line; len(a.Verdict.Reasons) != 1 || a.Verdict.Reasons[0].Reason != want {
						t.Errorf("%s: %+v %v", hooks[i].ID, a.Verdict, a.Fault)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestCancelled gives a call that is over, and one that ends in the middle.
func TestCancelled(t *testing.T) {
	s := sourceOf("project", hook.Project,
		"package acme.good\n\ndeny contains \"good\"\n",
		"package acme.endless\n\ndeny contains \"x\" if count([1 | some a in xs; some b in xs; some c in xs; some d in xs]) == 1\n\nxs := split(\""+strings.Repeat("x,", 200)+"\", \",\")\n",
		"package acme.late\n\ndeny contains \"late\"\n")
	for _, h := range s.Hooks {
		h.Timeout = time.Hour
	}
	e := rego.New(nil, []scopes.Source{s}, rego.WithCompileTime(time.Hour))
	answers := e.Evaluate(context.Background(), s.Hooks[:1], bash("ls"))
	for limit := 200 * time.Millisecond; limit < time.Minute; limit *= 2 { // a busy machine takes longer for the first one
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		answers = e.Evaluate(ctx, s.Hooks, bash("ls"))
		cancel()
		if answers[0].Fault == nil {
			break
		}
	}
	if answers[0].Verdict.Effect() != hook.Deny {
		t.Errorf("what was answered in time: %+v", answers[0])
	}
	for _, a := range answers[1:] {
		if a.Fault == nil || a.Fault.Kind != hook.FaultTimeout || !errors.Is(a.Fault, context.DeadlineExceeded) {
			t.Errorf("fault %v", a.Fault)
		}
	}
	over, stop := context.WithCancel(context.Background())
	stop()
	for _, a := range e.Evaluate(over, s.Hooks, bash("ls")) {
		if a.Fault == nil || !errors.Is(a.Fault, context.Canceled) {
			t.Errorf("fault %v", a.Fault)
		}
	}
}

// TestOutOfMemory reaches the hard ceiling.
func TestOutOfMemory(t *testing.T) {
	s := sourceOf("project", hook.Project, "package acme.p\n\ndeny contains s40\n\n"+doubling(40))
	var once sync.Once
	called := make(chan struct{})
	e := rego.New(nil, []scopes.Source{s}, rego.WithMemory(0, 1), rego.WithOutOfMemory(func() { once.Do(func() { close(called) }) }))
	a := e.Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
	if a.Fault == nil {
		t.Errorf("%+v", a)
	}
	select {
	case <-called:
	default:
		t.Errorf("nobody was told; fault %v", a.Fault)
	}
}

// TestClock holds that policies see the event's time and Took another's.
func TestClock(t *testing.T) {
	s := sourceOf("project", hook.Project, "package acme.p\n\ndeny contains sprintf(\"%d\", [time.now_ns()])\n")
	tick := time.Unix(0, 0)
	e := rego.New(nil, []scopes.Source{s}, rego.WithClock(func() time.Time {
		tick = tick.Add(7 * time.Millisecond)
		return tick
	}))
	ev := bash("ls")
	a := e.Evaluate(context.Background(), s.Hooks, ev)[0]
	if want := fmt.Sprint(ev.Gate.Now.UnixNano()); len(a.Verdict.Reasons) != 1 || a.Verdict.Reasons[0].Reason != want {
		t.Errorf("%+v, want %s", a.Verdict, want)
	}
	if a.Took != 7*time.Millisecond {
		t.Errorf("took %s", a.Took)
	}
	ev.Gate.Now = time.Time{}
	if a := e.Evaluate(context.Background(), s.Hooks, ev)[0]; a.Verdict.Reasons[0].Reason != "0" {
		t.Errorf("an event without a time: %+v", a.Verdict)
	}
}

// TestLimitsOfText refuses files that could exhaust the stack.
func TestLimitsOfText(t *testing.T) {
	s := newSource("project", hook.Project)
	for name, text := range map[string]string{
		"brackets": "deny contains \"x\" if x == " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"size":     "deny contains \"x\"\n" + strings.Repeat("# comment\n", 200_000),
	} {
		if a := evaluate(s, text); a.Fault == nil || a.Fault.Kind != hook.FaultLoad {
			t.Errorf("%s: %+v", name, a)
		}
	}
	deep := "deny contains \"x\" if f1000(1) == 1\n\nf0(x) := x\n" + chain(1000, "f%d(x) := f%d(x)\n")
	if a := evaluate(s, deep); a.Fault != nil || a.Verdict.Effect() != hook.Deny {
		t.Errorf("a long chain: %+v %v", a.Verdict, a.Fault)
	}
}

// TestCompiledOnce has an evaluator take over what an earlier one compiled:
// of a source that is the same, and of none that differs in anything that its
// policies see.
func TestCompiledOnce(t *testing.T) {
	const text = "package acme.rule\n\ndeny contains sprintf(\"%v %v\", [data.acme.words.no, data.list])\n"
	build := func(word string, list any) scopes.Source {
		s := sourceOf("user", hook.User, text)
		s.Modules = append(s.Modules, module("words.rego", "package acme.words\n\nno := \""+word+"\"\n"))
		s.Data = map[string]any{"list": list}
		return s
	}
	ask := func(s scopes.Source, opts ...rego.Option) (*rego.Evaluator, string) {
		e := rego.New(nil, []scopes.Source{s}, opts...)
		a := e.Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
		if a.Fault != nil {
			t.Fatal(a.Fault)
		}
		return e, a.Verdict.Reasons[0].Reason
	}
	e, _ := ask(build("no", "a"))
	for want, s := range map[string]scopes.Source{"no a": build("no", "a"), "never a": build("never", "a"), "no b": build("no", "b")} {
		if _, got := ask(s, rego.WithCompiled(e)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	anew := testing.AllocsPerRun(3, func() { ask(build("no", "a")) })
	again := testing.AllocsPerRun(3, func() { ask(build("no", "a"), rego.WithCompiled(e)) })
	if again*5 > anew {
		t.Errorf("%.0f allocations where everything was compiled, %.0f anew", again, anew)
	}
}
