package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/scopes"
)

// A world is a random set of sources with settings. What a hook answers hangs on
// its name and the input alone: "deny-3" denies calls that hold a 3.
type world struct {
	sources []scopes.Source
	layers  []scopes.Layer
}

var verbs = []string{"deny", "ask", "allow", "warn", "halt", "modify", "fault", "context"}

// source adds a random source of an authority.
func (w *world) source(r *rand.Rand, a hook.Authority) {
	scope := map[hook.Authority]hook.Scope{
		hook.Managed: hook.Policy, hook.User: hook.Session, hook.PluginAuthor: hook.Plugin,
		hook.Project: hook.Session, hook.Local: hook.Session, hook.SkillAuthor: hook.Skill,
	}[a]
	src := scopes.Source{Name: fmt.Sprintf("%s%d", a, len(w.sources)), Scope: scope, Authority: a}
	for i := range 1 + r.IntN(3) {
		verb := verbs[r.IntN(len(verbs))]
		src.Hooks = append(src.Hooks, &hook.Hook{
			ID: fmt.Sprintf("%s.%s-%d.%d", src.Name, verb, r.IntN(4), i), Kind: []hook.Kind{hook.Rego, hook.Inline}[r.IntN(2)],
			Scope: scope, Authority: a, Source: src.Name, File: src.Name, Line: i + 1,
			Events: []hook.Name{hook.PreToolUse}, Priority: r.IntN(3),
			OnFault: []hook.OnFault{"", hook.FaultAsk, hook.FaultContinue, hook.FaultDeny}[r.IntN(4)],
		})
	}
	if r.IntN(12) == 0 {
		src.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "broken")}
	}
	w.sources = append(w.sources, src)
}

// settings adds random settings of an authority, which reach for everything.
func (w *world) settings(r *rand.Rand, a hook.Authority) {
	yes := true
	l := scopes.Layer{Authority: a, File: fmt.Sprint("settings", len(w.layers)), Policies: map[string]scopes.Level{}, Params: map[string]map[string]any{}}
	if r.IntN(6) == 0 {
		l.DisableAllHooks = &yes
	}
	if r.IntN(6) == 0 {
		l.AllowManagedHooksOnly = &yes
	}
	if r.IntN(4) == 0 {
		l.Faults = hook.FaultDeny
	}
	for _, src := range w.sources {
		if r.IntN(2) == 0 {
			l.Policies[src.Name] = setting.Levels()[r.IntN(5)]
		}
		for _, h := range src.Hooks {
			if r.IntN(3) == 0 {
				l.Policies[h.ID] = setting.Levels()[r.IntN(5)]
			}
			if r.IntN(4) == 0 {
				l.Exceptions = append(l.Exceptions, setting.Exception{
					Policy: h.ID, If: []string{"Bash(run:*)"}, Project: home, Until: noon.AddDate(0, 1, 0), Owner: "o", Reason: "r",
				})
			}
		}
	}
	if r.IntN(3) == 0 {
		l.Delegate = []string{"managed0"}
	}
	w.layers = append(w.layers, l)
}

func (w world) decide(t *testing.T, ev hook.Event) hook.Decision {
	t.Helper()
	settings, err := setting.Combine(w.layers...)
	if err != nil {
		t.Fatal(err)
	}
	answer := evalFunc(scripted)
	return newEngine(t, w.sources, settings, engine.WithEvaluator(hook.Rego, answer), engine.WithEvaluator(hook.Inline, answer),
		engine.WithFacts(shellFacts), engine.WithIDs(func() string { return "id" }), engine.WithClock(func() time.Time { return noon })).Decide(t.Context(), ev)
}

func scripted(_ context.Context, h *hook.Hook, ev *hook.Event) engine.Answer {
	_, rest, _ := strings.Cut(h.ID, ".")
	verb, rest, _ := strings.Cut(rest, "-")
	digit, _, _ := strings.Cut(rest, ".")
	command, _ := ev.ToolInput()["command"].(string)
	if !strings.Contains(command, digit) {
		return engine.Answer{}
	}
	var a engine.Answer
	reason := hook.Reason{Reason: h.ID}
	switch verb {
	case "deny", "ask", "allow":
		reason.Effect = map[string]hook.Effect{"deny": hook.Deny, "ask": hook.Ask, "allow": hook.Allow}[verb]
		a.Verdict.Reasons = []hook.Reason{reason}
	case "warn":
		a.Verdict.Warnings = []hook.Reason{reason}
	case "halt":
		a.Verdict.Halt = []hook.Reason{reason}
	case "modify":
		a.Verdict.Rewrites = []hook.Rewrite{{Reason: h.ID, Input: map[string]any{"command": strings.ReplaceAll(command, digit, "")}}}
	case "fault":
		a.Fault = hook.Faultf(hook.FaultEval, "failed")
	case "context":
		a.Verdict.Context = []hook.Context{{Text: h.ID}}
	}
	return a
}

func shellFacts(ev *hook.Event) *hook.Facts {
	command, _ := ev.ToolInput()["command"].(string)
	run, dir := "run", home
	words := []hook.Word{{Value: &run}, {Value: &command}}
	return &hook.Facts{Shell: &hook.Shell{Dialect: "bash", Text: command, Commands: []hook.ShellCommand{
		{ID: 1, Program: &run, Dir: &dir, Words: words, Operands: []*string{&command}},
	}}}
}

func randomCall(r *rand.Rand) hook.Event {
	text := "run "
	for d := range 4 {
		if r.IntN(2) == 0 {
			text += fmt.Sprint(d)
		}
	}
	return probe{0, "Bash", text}.event()
}

// some returns a world of at least a managed or a user source.
func someWorld(r *rand.Rand) world {
	var w world
	w.source(r, hook.Managed)
	for range r.IntN(3) {
		w.source(r, []hook.Authority{hook.Managed, hook.User, hook.PluginAuthor, hook.Project, hook.SkillAuthor}[r.IntN(5)])
	}
	for range r.IntN(3) {
		w.settings(r, []hook.Authority{hook.Managed, hook.User, hook.Project}[r.IntN(3)])
	}
	return w
}

// Adding any source, with any settings of its own, to any set never lowers the
// effect that those above it have: not what they deny, ask or close.
func TestLowerSourcesNeverLoosen(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	lower := []hook.Authority{hook.User, hook.PluginAuthor, hook.Project, hook.Local, hook.SkillAuthor}
	moved := 0
	for i := range 6000 {
		w := someWorld(r)
		a := lower[r.IntN(len(lower))]
		w = w.above(a)
		for j := range w.layers {
			w.layers[j].Delegate = nil // what is delegated to the user is the user's
		}
		ev := randomCall(r)
		before := w.decide(t, ev)
		w.source(r, a)
		w.sources[len(w.sources)-1].Trusted = false
		if slices.Contains([]hook.Authority{hook.User, hook.Project, hook.Local}, a) {
			w.settings(r, a)
		}
		after := w.decide(t, ev)
		if after.Effect < before.Effect && before.Effect > hook.Allow || after.Effect == hook.Allow && before.Effect < hook.Allow && a > hook.User {
			t.Fatalf("world %d: %v became %v with %s\nbefore %s\nafter %s", i, before.Effect, after.Effect, a, describe(&before), describe(&after))
		}
		if a > hook.User && !reflect.DeepEqual(before.Rewrite, after.Rewrite) && after.Result(false) != hook.Reject {
			t.Fatalf("world %d: %s rewrote to %v", i, a, after.Rewrite)
		}
		if after.Effect != before.Effect {
			moved++
		}
	}
	if moved < 100 {
		t.Errorf("the added sources changed only %d decisions", moved)
	}
}

// above leaves the sources and settings that stand above an authority.
func (w world) above(a hook.Authority) world {
	below := func(b hook.Authority) bool { return min(b, hook.Project) >= min(a, hook.Project) || b >= a }
	return world{
		slices.DeleteFunc(slices.Clone(w.sources), func(s scopes.Source) bool { return below(s.Authority) }),
		slices.DeleteFunc(slices.Clone(w.layers), func(l scopes.Layer) bool { return below(l.Authority) }),
	}
}

// Switching lower sources off never changes what higher ones said.
func TestSwitchingOffLowerSources(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	yes := true
	for i := range 3000 {
		w := someWorld(r)
		ev := randomCall(r)
		ev.Fields["tool_input"] = map[string]any{"command": "run 3"}
		for j, src := range w.sources { // rewrites that count would change the input for those above, too
			for _, h := range src.Hooks {
				h.ID = strings.ReplaceAll(h.ID, ".modify-", fmt.Sprintf(".warn-m%d", j))
			}
		}
		a := []hook.Authority{hook.User, hook.Project}[r.IntN(2)]
		with := w.decide(t, ev)
		off := w
		off.layers = append(slices.Clone(w.layers), scopes.Layer{Authority: a, File: "off", DisableAllHooks: &yes})
		without := off.decide(t, ev)
		said := func(d *hook.Decision) (out []string) {
			for _, s := range d.Steps {
				if s.Hook.Authority < a {
					out = append(out, fmt.Sprint(s.Hook.ID, s.Effect, s.Verdict.Reasons, s.Verdict.Warnings, s.Ignored))
				}
			}
			return out
		}
		before, after := said(&with), said(&without)
		if with.Effect == hook.Deny && len(after) > len(before) {
			after = after[:len(before)] // a denial from below stopped the rest
		}
		if !slices.Equal(before, after) {
			t.Fatalf("world %d: %s settings changed what stands above them:\n%q\n%q", i, a, before, after)
		}
	}
}

// The order of sources and settings files changes no byte of a decision.
func TestOrderOfFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for i := range 1500 {
		w := someWorld(r)
		for range 2 {
			w.settings(r, hook.Managed)
		}
		ev := randomCall(r)
		first := w.decide(t, ev)
		want := describe(&first)
		for range 3 {
			r.Shuffle(len(w.sources), func(i, j int) { w.sources[i], w.sources[j] = w.sources[j], w.sources[i] })
			r.Shuffle(len(w.layers), func(i, j int) { w.layers[i], w.layers[j] = w.layers[j], w.layers[i] })
			d := w.decide(t, ev)
			if got := describe(&d); got != want {
				t.Fatalf("world %d:\n%s\n%s", i, got, want)
			}
		}
	}
}

// A settings or policy file that is cut off anywhere is never more permissive
// than the whole one: it closes, or what it says no less strict. JSON shows
// its end; for TOML, YAML and Rego the last good content does.
func TestTruncatedFiles(t *testing.T) {
	whole := machine{
		"managed/settings.json": `{"allowManagedHooksOnly": true, "policies": {"acme": "warn", "acme.push": "deny"},
 "params": {"acme.push": {"branches": ["main", "dev"]}}}` + "\n",
		"managed/settings.d/10.toml": "log = true\n[policies]\n\"acme.publish\" = \"deny\"\n[params.\"acme.push\"]\nbranches = [\"main\", \"dev\"]\n",
		"managed/settings.d/20.yaml": "faults: deny\npolicies:\n  acme.vendor: deny\napprovals:\n  enabled: true\n  minutes: 5\n  keyRequired: true\n  keys: [a]\n",
		"user/settings.yaml":         "policies:\n  mine: warn\n  mine.curl: deny\n",
	}
	m, probes := base(t)
	delete(m, "managed/settings.json")
	m = m.with(whole)
	probes = append(probes, parseProbes(t, "managed Bash git push origin dev\n")...)
	before := m.load(t, asIs)
	cuts := 0
	for name, text := range m {
		if strings.HasPrefix(name, "project/") || strings.HasPrefix(name, "plugin=") {
			continue // loud and inactive when broken
		}
		last := func(dir string, fsys fs.FS) fs.FS {
			return load.Whole(fsys, func(file string) []byte {
				if dir+"/"+file == name {
					return []byte(text)
				}
				return nil
			})
		}
		for i := range len(text) {
			cut := m.with(machine{name: text[:i]})
			if !strings.HasSuffix(name, ".json") && i%7 != 0 {
				continue
			}
			cuts++
			e := cut.load(t, last)
			for _, p := range probes {
				was, is := before.Decide(t.Context(), p.event()), e.Decide(t.Context(), p.event())
				if is.Effect < was.Effect {
					t.Fatalf("%s cut off at %d: %s: %v instead of %v", name, i, p.text, is.Effect, was.Effect)
				}
			}
		}
	}
	if cuts < 300 {
		t.Errorf("only %d cuts", cuts)
	}
}
