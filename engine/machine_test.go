package engine_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/engine"
	callfacts "gate/facts"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/rego"
	"gate/internal/setting"
	"gate/scopes"
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
const home = "/srv/site"

// load is what a program does at its start: it reads everything, and closes
// where something contradicts itself. more are sources that a session adds.
func (m machine) load(t testing.TB, wrap func(dir string, fsys fs.FS) fs.FS, more ...scopes.Source) *engine.Engine {
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
	combined, err := setting.Combine(layers...)
	if err != nil {
		return closed(t, err)
	}
	for _, name := range m.named("plugin=") {
		if combined.PluginEnabled(name) {
			sources = append(sources, load.Plugin(dir("plugin="+name), name, false, false))
		}
	}
	for _, name := range m.named("skill=") {
		sources = append(sources, load.Skill("SKILL.md", []byte(m["skill="+name+"/SKILL.md"]), scopes.Source{
			Name: "skill:" + name, Scope: hook.Skill, Authority: hook.SkillAuthor}, false))
	}
	set, err := scopes.New(append(sources, more...), combined)
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
func siteFacts(ev *hook.Event) *hook.Facts { return site().Of(ev) }

func site() *callfacts.Reader {
	return callfacts.New(callfacts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: home})
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
