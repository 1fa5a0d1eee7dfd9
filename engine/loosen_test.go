package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/engine"
	callfacts "gate/facts"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/rego"
	"gate/policies"
	"gate/scopes"
)

// TestLoosen is the table of attempts: a source of some authority tries to
// loosen what a higher one says. None succeeds: the effect of each call is
// not lower, no allow appears, nothing is rewritten by who may not, and the
// rules that spoke before still do.
func TestLoosen(t *testing.T) {
	m, probes := base(t)
	before := map[probe]hook.Decision{}
	e := m.load(t, asIs)
	for _, p := range probes {
		d := e.Decide(t.Context(), p.event())
		if d.Fault != nil || p.text == "ls" != (d.Effect == hook.Pass) {
			t.Fatalf("base: %s: %v, fault %v: %s", p.text, d.Effect, d.Fault, d.Reason())
		}
		before[p] = d
	}
	files, err := filepath.Glob("testdata/loosen/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		if filepath.Base(file) == "base.txtar" {
			continue
		}
		attempts, order, comment := readMachines(t, file)
		by := authority(strings.SplitN(comment, ":", 2)[0])
		if by == 0 {
			t.Fatalf("%s: no authority in %q", file, comment)
		}
		for _, name := range order {
			tried++
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+name, func(t *testing.T) {
				attempt := m.with(attempts[name])
				e := attempt.load(t, asIs)
				for _, p := range probes {
					d := e.Decide(t.Context(), p.event())
					if p.text == "ls" || p.by < min(by, hook.Project) { // project and local stand side by side
						if by == hook.User {
							d.Rewrite = nil // the user may rewrite; what asks or denies stays
						}
						notLooser(t, p, before[p], d)
					}
				}
			})
		}
	}
	if tried < 60 {
		t.Errorf("only %d attempts", tried)
	}
}

func notLooser(t *testing.T, p probe, was, is hook.Decision) {
	t.Helper()
	switch {
	case is.Effect < was.Effect:
		t.Errorf("%s %s: %v instead of %v: %s", p.tool, p.text, is.Effect, was.Effect, is.Reason())
	case is.Effect == hook.Allow && was.Effect < hook.Allow:
		t.Errorf("%s %s: allowed", p.tool, p.text)
	case is.Rewrite != nil || is.Output != nil:
		t.Errorf("%s %s: rewritten to %v", p.tool, p.text, is.Rewrite)
	case is.Result(false) != was.Result(false) && is.Result(false) != hook.Reject:
		t.Errorf("%s %s: %v instead of %v", p.tool, p.text, is.Result(false), was.Result(false))
	}
	if is.Fault != nil || slices.ContainsFunc(is.Steps, func(s hook.Step) bool { return s.Fault != nil && s.Effect == hook.Deny }) {
		return // closed: nobody else need speak
	}
	for _, r := range was.Reasons {
		if r.Authority <= p.by && !slices.ContainsFunc(is.Reasons, func(o hook.Reason) bool {
			return o.ID == r.ID && o.Reason == r.Reason && o.Authority == r.Authority && o.Source == r.Source
		}) {
			t.Errorf("%s %s: %s (%s) is silent now", p.tool, p.text, r.ID, r.Source)
		}
	}
}

// registered is a source that a session adds: it only tightens. A hook that claims
// to be another's keeps its claim.
func registered(h *hook.Hook) scopes.Source {
	src := scopes.Source{Name: "registered:1", Scope: hook.Session, Authority: hook.Project, Trusted: true, Tightens: true, Hooks: []*hook.Hook{h}}
	h.Kind, h.Events = hook.Inline, []hook.Name{hook.PreToolUse}
	if h.Source == "" {
		h.Scope, h.Authority, h.Source = src.Scope, src.Authority, src.Name
	}
	return src
}

// Hooks of a source that only tightens, added while a session runs, loosen nothing,
// whatever they claim to be.
func TestLateRegistration(t *testing.T) {
	m, probes := base(t)
	e := m.load(t, asIs)
	for name, h := range map[string]*hook.Hook{
		"allow":            {ID: "allow"},
		"rewrite":          {ID: "rewrite"},
		"consult":          {ID: "consult"},
		"claims authority": {ID: "allow", Authority: hook.Managed, Scope: hook.Policy, Library: true, Source: "managed", Priority: 1_000_000},
		"first":            {ID: "allow", Priority: 1_000_000},
		"closes nothing":   {ID: "panic", OnFault: hook.FaultContinue},
		"id of another":    {ID: "acme.push"},
		"params":           {ID: "acme.push", Params: map[string]hook.Param{"branches": {Type: "array", Default: []any{}}}},
		"bad":              {ID: "bad", Matcher: "("},
	} {
		late := m.load(t, asIs, registered(h))
		for _, p := range probes {
			was, is := e.Decide(t.Context(), p.event()), late.Decide(t.Context(), p.event())
			notLooser(t, p, was, is)
			if t.Failed() {
				t.Fatal(name)
			}
		}
	}
	alone := newEngine(t, []scopes.Source{registered(&hook.Hook{ID: "allow"})}, scopes.Settings{}, engine.WithEvaluator(hook.Inline, inline{}))
	if d := alone.Decide(t.Context(), call("ls")); d.Effect != hook.Deny {
		t.Errorf("a registered hook opened a gate without policies: %v", d.Effect)
	}
	tight := m.load(t, asIs, registered(&hook.Hook{ID: "deny"}))
	if d := tight.Decide(t.Context(), probe{0, "Bash", "ls"}.event()); d.Effect != hook.Deny {
		t.Errorf("a registered denial does not count: %v", d.Effect)
	}
}

// Trust lets the handlers of a source that only tightens run, and nothing more.
func TestTightens(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		src := scopes.Source{Name: "registered:1", Scope: hook.Session, Authority: hook.Project, Trusted: trusted, Tightens: true}
		for _, id := range []string{"allow", "rewrite", "consult"} {
			src.Hooks = append(src.Hooks, &hook.Hook{
				ID: id, Kind: hook.Inline, Scope: src.Scope, Authority: src.Authority, Source: src.Name, Events: []hook.Name{hook.PreToolUse},
			})
		}
		if src.Runs() != trusted || src.Loosens() {
			t.Errorf("trusted %v: runs %v, loosens %v", trusted, src.Runs(), src.Loosens())
		}
		user := scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}
		set, err := scopes.New([]scopes.Source{user, src}, scopes.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.New(set, engine.WithEvaluator(hook.Inline, inline{}), engine.WithFacts(siteFacts))
		if err != nil {
			t.Fatal(err)
		}
		d := e.Decide(t.Context(), call("pwd"))
		if d.Effect != hook.Pass || d.Rewrite != nil {
			t.Errorf("trusted %v: %v, rewritten to %v: %s", trusted, d.Effect, d.Rewrite, d.Reason())
		}
	}
}

// No tool call of the agent sets anything that decides: the lines of
// testdata/loosen/agent.txt are all refused or asked about by the library as
// it is shipped.
func TestLoosenByTheAgent(t *testing.T) {
	lib, faults := load.Lib(policies.FS())
	library := load.Rego(policies.FS(), scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true})
	for _, f := range append(faults, library.Faults...) {
		t.Fatal(f.Error())
	}
	var own []string
	for _, dir := range []string{"/etc/gate", "/home/dev/.config/gate", "/home/dev/.local/state/gate"} {
		own = append(own, dir, dir+"/**")
	}
	reader := callfacts.New(callfacts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: home, Own: func() []callfacts.Place {
		return []callfacts.Place{{Class: "self", What: "gate's own directory", Patterns: own}}
	}})
	e := newEngine(t, []scopes.Source{library}, scopes.Settings{},
		engine.WithEvaluator(hook.Rego, rego.New(lib, []scopes.Source{library})), engine.WithFacts(reader.Of))
	data, err := os.ReadFile("testdata/loosen/agent.txt")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for line := range strings.Lines(string(data)) {
		tool, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || tool == "#" {
			continue
		}
		tried++
		if d := e.Decide(t.Context(), probe{0, tool, text}.event()); d.Effect < hook.Ask {
			t.Errorf("%s %s: %v", tool, text, d.Effect)
		}
	}
	if tried < 40 {
		t.Errorf("only %d lines", tried)
	}
}

// inline answers by the hook's id.
type inline struct{}

func (inline) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		v := &answers[i].Verdict
		switch h.ID {
		case "allow":
			v.Reasons = []hook.Reason{{Effect: hook.Allow, Reason: "fine"}}
		case "deny":
			v.Reasons = []hook.Reason{{Effect: hook.Deny, Reason: "no"}}
		case "rewrite":
			v.Rewrites = []hook.Rewrite{{Input: map[string]any{"command": "ls", "file_path": "/tmp/x"}}}
		case "consult":
			v.Consults = []hook.Consult{{Hook: "allow"}}
		case "panic":
			panic(fmt.Sprint("panic by ", h.ID))
		}
	}
	return answers
}
