package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/engine"
	"gate/engine/rego"
	callfacts "gate/facts"
	"gate/hook"
	"gate/policies"
	"gate/scopes"
	"gate/scopes/load"
)

// A machine is everything that decides on one machine, as files: managed/,
// user/, project/ (with .gate/), plugin=NAME/ and skill=NAME/.
type machine map[string]string

func (m machine) with(over machine) machine {
	out := maps.Clone(m)
	maps.Copy(out, over)
	return out
}

func (m machine) tree() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range m {
		if text != "(removed)\n" {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return tree
}

// home is where the machine's project lies.
const home = "/work/site"

// load is what a program does at its start: it reads everything, and closes
// where something contradicts itself.
func (m machine) load(t testing.TB, wrap func(dir string, fsys fs.FS) fs.FS) *engine.Engine {
	t.Helper()
	tree := m.tree()
	dir := func(name string) fs.FS {
		sub, err := fs.Sub(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		return wrap(name, sub)
	}
	var layers []scopes.Layer
	var sources []scopes.Source
	settings := func(name string, a hook.Authority) {
		c := load.Settings(dir(name), name, a)
		layers = append(layers, c.Layers...)
		if c.Source != nil {
			sources = append(sources, *c.Source)
		}
	}
	settings("managed", hook.Managed)
	settings("user", hook.User)
	settings("project/.gate", hook.Project)
	settings("project/.gate", hook.Local)
	sources = append(sources,
		load.Dir(dir("managed"), scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed}),
		load.Dir(dir("user"), scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}),
		load.Dir(dir("project/.gate"), scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project}),
	)
	combined, err := scopes.Combine(layers...)
	if err != nil {
		return closed(t, err)
	}
	for _, name := range m.named("plugin=") {
		if combined.PluginEnabled(name) {
			sources = append(sources, load.Plugin(dir("plugin="+name), name, false))
		}
	}
	for _, name := range m.named("skill=") {
		sources = append(sources, load.Skill("SKILL.md", []byte(m["skill="+name+"/SKILL.md"]), name, false))
	}
	set, err := scopes.New(sources, combined)
	if err != nil {
		return closed(t, err)
	}
	var compiled []scopes.Source
	for _, src := range set.Sources() {
		compiled = append(compiled, *src)
	}
	e, err := engine.New(set, engine.WithEvaluator(hook.Rego, rego.New(nil, compiled)), engine.WithFacts(siteFacts),
		engine.WithEvaluator(hook.Inline, inline{}), engine.WithIDs(func() string { return "id" }))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// siteFacts are the facts of the machine's project.
func siteFacts(ev *hook.Event) *hook.Facts {
	return callfacts.New(callfacts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: home}).Of(ev)
}

// closed is the engine of a machine whose sources contradict each other: the
// program does not get as far as one with policies, and lets nothing pass.
func closed(t testing.TB, why error) *engine.Engine {
	t.Helper()
	broken := scopes.Source{
		Name: "gate", Scope: hook.Policy, Authority: hook.Managed,
		Faults: []hook.Fault{{Kind: hook.FaultLoad, Err: why}},
	}
	return newEngine(t, []scopes.Source{broken}, scopes.Settings{})
}

func (m machine) named(prefix string) []string {
	var names []string
	for file := range m {
		if rest, ok := strings.CutPrefix(file, prefix); ok {
			name, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func asIs(_ string, fsys fs.FS) fs.FS { return fsys }

// A probe is a call and who forbids or asks about it on the base machine.
type probe struct {
	by   hook.Authority
	tool string
	text string
}

func (p probe) event() hook.Event {
	key := map[string]string{"Bash": "command", "Write": "file_path", "Read": "file_path"}[p.tool]
	return hook.Event{Agent: "claude", Name: hook.PreToolUse, Gate: hook.Gate{Now: noon}, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s", "cwd": home, "tool_name": p.tool,
		"tool_input": map[string]any{key: p.text},
	}}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func parseProbes(t testing.TB, text string) []probe {
	t.Helper()
	var out []probe
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) != 3 || authority(words[0]) == 0 {
			t.Fatalf("probe %q", line)
		}
		out = append(out, probe{authority(words[0]), words[1], words[2]})
	}
	return out
}

func authority(name string) hook.Authority {
	for a := hook.Managed; a.Valid(); a++ {
		if a.String() == name {
			return a
		}
	}
	return 0
}

// readMachine reads files named attempt/place/path; the base has no attempts.
func readMachines(t testing.TB, file string) (attempts map[string]machine, order []string, comment string) {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	attempts = map[string]machine{}
	for _, f := range ar.Files {
		attempt, path, ok := strings.Cut(f.Name, "/")
		if !ok {
			t.Fatalf("%s: file %s", file, f.Name)
		}
		if attempts[attempt] == nil {
			attempts[attempt] = machine{}
			order = append(order, attempt)
		}
		attempts[attempt][path] = string(f.Data)
	}
	return attempts, order, string(ar.Comment)
}

// base is the machine that the attempts are made on.
func base(t testing.TB) (machine, []probe) {
	t.Helper()
	attempts, _, _ := readMachines(t, "testdata/loosen/base.txtar")
	m := attempts["base"]
	probes := parseProbes(t, m["probes"])
	delete(m, "probes")
	return m, probes
}

// TestLoosen is the table of attempts: a source of some authority tries to
// loosen what a higher one says. None succeeds: the effect of each call is not
// lower, no allow appears, nothing is rewritten by who may not, and the rules that spoke before
// still do (threat model 55-58).
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

// Hooks that are registered while a session runs only tighten, whatever they
// claim to be.
func TestLateRegistration(t *testing.T) {
	m, probes := base(t)
	e := m.load(t, asIs)
	for name, h := range map[string]*hook.Hook{
		"allow":            {ID: "allow"},
		"rewrite":          {ID: "rewrite"},
		"consult":          {ID: "consult"},
		"claims authority": {ID: "allow", Authority: hook.Managed, Scope: hook.Policy, Library: true, Source: "managed", Priority: 1_000_000},
		"closes nothing":   {ID: "panic", OnFault: hook.FaultContinue},
		"id of another":    {ID: "acme.push"},
		"params":           {ID: "acme.push", Params: map[string]hook.Param{"branches": {Type: "array", Default: []any{}}}},
	} {
		h.Kind, h.Events = hook.Inline, []hook.Name{hook.PreToolUse}
		late, err := e.Register(h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, p := range probes {
			notLooser(t, p, e.Decide(t.Context(), p.event()), late.Decide(t.Context(), p.event()))
		}
	}
	if _, err := e.Register(&hook.Hook{ID: "bad", Matcher: "("}); err == nil {
		t.Error("a hook with a bad matcher was registered")
	}
	if late, err := newEngine(t, nil, scopes.Settings{}).Register(&hook.Hook{ID: "allow", Kind: hook.Inline, Events: []hook.Name{hook.PreToolUse}}); err != nil {
		t.Error(err)
	} else if d := late.Decide(t.Context(), call("ls")); d.Effect != hook.Deny {
		t.Errorf("a registered hook opened a gate without policies: %v", d.Effect)
	}
	tight, err := e.Register(&hook.Hook{ID: "deny", Kind: hook.Inline, Events: []hook.Name{hook.PreToolUse}})
	if err != nil {
		t.Fatal(err)
	}
	if d := tight.Decide(t.Context(), probe{0, "Bash", "ls"}.event()); d.Effect != hook.Deny {
		t.Errorf("a registered denial does not count: %v", d.Effect)
	}
}

// No tool call of the agent sets anything that decides: the lines of
// testdata/loosen/agent.txt are all refused or asked about by the library as it
// is shipped (threat model 48-54).
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
	reader := callfacts.New(callfacts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: home, Own: []callfacts.Place{
		{Class: "self", What: "gate's own directory", Patterns: own},
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
