package artifact_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/setting"
	"gate/matcher"
	"gate/scopes"
)

// TestRouted holds that a set of the hooks that an event may concern answers for
// the event as the set of all hooks does: the same hooks are due in the same
// tiers with the same levels, exceptions and parameters, and settings switch off
// the same.
func TestRouted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	due, left := 0, 0
	for round := range 500 {
		places := randomPlaces(r)
		set := sets(t, places, nil)
		for range 4 {
			ev := randomEvent(r)
			routed := sets(t, places, ev)
			want, got := describe(set, ev), describe(routed, ev)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: %s %v\nall:    %v\nrouted: %v", round, ev.Name, ev.Fields, want, got)
			}
			due += len(want)
			left += count(set) - count(routed)
		}
	}
	if due < 1000 || left < 3000 {
		t.Errorf("%d descriptions, %d hooks left out: too few to prove anything", due, left)
	}
}

func count(s *scopes.Set) (n int) {
	for _, src := range s.Sources() {
		n += len(src.Hooks)
	}
	return n
}

// describe says what a set makes of an event.
func describe(s *scopes.Set, ev *hook.Event) []string {
	list := []string{fmt.Sprintf("memory %t, off %q, empty %t", s.Memory(), s.Off(), s.Empty())}
	for _, tier := range s.For(ev.Name) {
		said := false
		for _, b := range tier {
			truth := b.Match(ev)
			if truth == matcher.No {
				continue
			}
			e, pos, ok := b.Excepted(ev)
			if !said {
				list = append(list, "tier")
			}
			said = true
			list = append(list, fmt.Sprint(b.Source.Name, b.ID, truth, b.Level(), b.LevelPos(), e.Owner, pos, ok, b.OnFault, b.Priority, b.Kind,
				b.Source.Params[b.ID], b.Source.Closes(), b.Source.Runs(), b.Source.Loosens()))
		}
	}
	return list
}

// sets makes the set of places: of the hooks that an event may concern, or of
// all.
func sets(t *testing.T, places []place, ev *hook.Event) *scopes.Set {
	t.Helper()
	var layers []scopes.Layer
	for _, p := range places {
		more, err := p.Artifact.Layers(p.as)
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, more...)
	}
	off, err := setting.Off(layers...)
	if err != nil {
		t.Fatal(err)
	}
	var sources []scopes.Source
	for _, p := range places {
		list, err := p.Artifact.All(p.as)
		if ev != nil {
			p.as.Off = off
			p.as.AllOff = p.kind == artifact.Library && setting.LibraryOff(off, p.as.Managed, layers...)
			list, err = p.Artifact.Sources(ev, p.as)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			sources = append(sources, s.Source)
		}
	}
	settings, err := setting.Combine(layers...)
	if err != nil {
		t.Fatal(err)
	}
	set, err := scopes.New(sources, settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range set.Sources() {
		if len(src.Faults) > 0 {
			t.Fatal(src.Faults[0].Error())
		}
	}
	return set
}

type place struct {
	*artifact.Artifact
	as   artifact.As
	kind artifact.Kind
}

var (
	someEvents = []hook.Name{hook.PreToolUse, hook.PostToolUse, hook.Stop, hook.SessionStart, "message_submit", "shell_env", "never_heard_of"}
	someTools  = []string{"Bash", "Write", "Task", "Agent", "mcp__a__b", "", "startup"}
	matchers   = []string{
		"", "*", "Bash", "Bash|Write", "Bash, Task", "Agent", "Task|mcp__a__b", "B*", "^mcp__", "glob:mcp__*", "contains:as", "Bash|^Wri", "startup", "Edit",
	}
	someLevels = []scopes.Level{setting.LevelOff, setting.LevelRecord, setting.LevelWarn, setting.LevelAsk, setting.LevelDeny}
	somePaths  = []string{"acme", "acme.a", "acme.a.x1", "acme.b.x2", "acme.b", "gate.git", "gate", "acme.a.x3"}
	moment     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// rarely is true once in n times.
func rarely(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func randomPlaces(r *rand.Rand) []place {
	var list []place
	managed := rarely(r, 2)
	for _, k := range []artifact.Kind{artifact.Library, artifact.Managed, artifact.User, artifact.Project} {
		if rarely(r, 4) || !managed && k == artifact.Managed {
			continue
		}
		c := artifact.Content{Kind: k, Maker: maker}
		c.Sources = append(c.Sources, randomPart(r, artifact.Policies))
		if k == artifact.Library {
			for i := range c.Sources[0].Hooks {
				c.Sources[0].Hooks[i].ID = fmt.Sprintf("gate.%s.x%d", pick(r, []string{"git", "net"}), i)
			}
		} else {
			c.Sources = append(c.Sources, randomPart(r, artifact.Settings))
			c.Layers = append(c.Layers, randomLayer(r, k, artifact.Settings))
		}
		if k == artifact.Managed {
			for i := range r.IntN(3) {
				c.Bundles = append(c.Bundles, artifact.Bundle{Bundle: hook.Bundle{Name: fmt.Sprint("acme", i), Trial: rarely(r, 4)}})
				p, l := randomPart(r, artifact.Policies), randomLayer(r, k, artifact.Settings)
				p.In, l.In = i+1, i+1
				c.Sources, c.Layers = append(c.Sources, p), append(c.Layers, l)
			}
		}
		if k == artifact.Project && rarely(r, 2) {
			c.Layers = append(c.Layers, randomLayer(r, k, artifact.LocalSettings))
		}
		data, err := artifact.Encode(&c)
		if err != nil {
			panic(err)
		}
		a, err := artifact.Open(string(data), maker, k)
		if err != nil {
			panic(err)
		}
		list = append(list, place{a, artifact.As{Managed: managed, Trusted: rarely(r, 2)}, k})
	}
	return list
}

func randomPart(r *rand.Rand, role artifact.Role) artifact.Part {
	p := artifact.Part{Role: role}
	for i := range r.IntN(12) {
		h := &hook.Hook{
			ID: fmt.Sprintf("%s.x%d", pick(r, somePaths), i), Kind: hook.Rego, Matcher: pick(r, matchers), Priority: r.IntN(3) - 1,
			Once: rarely(r, 40), Session: rarely(r, 20), Consult: rarely(r, 20),
		}
		if rarely(r, 3) {
			h.Kind = hook.Command
		}
		for range 1 + r.IntN(3) {
			h.Events = append(h.Events, pick(r, someEvents))
		}
		if rarely(r, 4) {
			h.If = []string{pick(r, []string{"Bash(git push:*)", "effect(git.push)", "Write", "agent_id(a)"})}
		}
		if rarely(r, 6) {
			h.WhenSet = []string{"most"}
		}
		h.Params = map[string]hook.Param{"most": {Type: "number"}}
		p.Hooks = append(p.Hooks, artifact.Hook{Hook: h})
	}
	return p
}

func randomLayer(r *rand.Rand, k artifact.Kind, role artifact.Role) artifact.Layer {
	l := scopes.Layer{File: k.String() + ".json", Policies: map[string]scopes.Level{}, Params: map[string]map[string]any{}, Lines: map[string]int{}}
	yes := true
	for range r.IntN(4) {
		key := pick(r, somePaths)
		l.Policies[key], l.Lines["policies."+key] = pick(r, someLevels), 1+r.IntN(9)
		id := fmt.Sprintf("%s.x%d", pick(r, somePaths), r.IntN(12))
		l.Params[id] = map[string]any{"most": int64(r.IntN(3))}
		l.Exceptions = append(l.Exceptions, setting.Exception{
			Policy: fmt.Sprintf("%s.x%d", pick(r, somePaths), r.IntN(12)), If: []string{"Bash(git push:*)"}, Project: "/home/dev", Until: moment.Add(time.Hour),
			Owner: k.String(), Reason: "x",
		})
	}
	if rarely(r, 12) {
		l.DisableAllHooks = &yes
	}
	if rarely(r, 12) {
		l.AllowManagedHooksOnly = &yes
	}
	if rarely(r, 8) {
		l.Faults = hook.FaultDeny
	}
	if rarely(r, 4) {
		l.Delegate = []string{pick(r, somePaths)}
	}
	return artifact.Layer{Role: role, Layer: l}
}

func randomEvent(r *rand.Rand) *hook.Event {
	dir := "/home/dev/x"
	git := hook.ShellCommand{ID: 1, Dir: &dir}
	for _, word := range []string{"git", "push"} {
		git.Words = append(git.Words, hook.Word{Value: &word})
	}
	git.Program = git.Words[0].Value
	ev := &hook.Event{Name: pick(r, someEvents), Fields: map[string]any{"cwd": dir}, Gate: hook.Gate{Now: moment}, Facts: &hook.Facts{
		Opaque: rarely(r, 8), Shell: &hook.Shell{Commands: []hook.ShellCommand{git}}, Effects: []hook.FactEffect{{Command: 1, Is: &hook.GitPush{}}},
	}}
	if !rarely(r, 8) {
		ev.Fields["tool_name"] = pick(r, someTools)
	}
	if rarely(r, 2) {
		ev.Fields["source"] = pick(r, someTools)
	}
	if rarely(r, 20) {
		ev.Fields["tool_name"] = strings.Repeat("x", matcher.MaxValue+1)
	}
	return ev
}

// TestOff holds that a policy that settings switch off is left out, unless another
// reads its parameters, and that handlers, which policies may consult, stay.
func TestOff(t *testing.T) {
	event := []hook.Name{hook.PreToolUse}
	part := artifact.Part{Role: artifact.Policies, Always: []int{1}, Hooks: []artifact.Hook{
		{Hook: &hook.Hook{ID: "acme.off", Kind: hook.Rego, Events: event}},
		{Hook: &hook.Hook{ID: "acme.read", Kind: hook.Rego, Events: event, Params: map[string]hook.Param{"limit": {Type: "number"}}}},
		{Hook: &hook.Hook{ID: "acme.on", Kind: hook.Rego, Events: event, If: []string{"effect(git.push)", "Bash(ls:*)"}}},
		{Hook: &hook.Hook{ID: "acme.run", Kind: hook.Command, Events: event}},
	}}
	a, err := artifact.Open(encode(t, artifact.Content{Kind: artifact.User, Maker: maker, Sources: []artifact.Part{part}}), maker, artifact.User)
	if err != nil {
		t.Fatal(err)
	}
	off, err := setting.Off(scopes.Layer{Authority: hook.User, File: "settings.json", Policies: map[string]scopes.Level{"acme": setting.LevelOff, "acme.on": setting.LevelWarn}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.Sources(&hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash"}}, artifact.As{Off: off})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, h := range list[0].Hooks {
		ids = append(ids, h.ID)
	}
	if got := strings.Join(ids, " "); got != "acme.read acme.on acme.run" {
		t.Errorf("taken: %s", got)
	}
	if on := list[0].Hooks[1]; !reflect.DeepEqual(on.If, part.Hooks[2].If) || !reflect.DeepEqual(on.Events, event) {
		t.Errorf("%+v", on)
	}
	if off, err := setting.Off(scopes.Layer{Authority: hook.User, Policies: map[string]scopes.Level{"acme": setting.LevelWarn}}); off != nil || err != nil {
		t.Errorf("nothing is off: %v", err)
	}
}
