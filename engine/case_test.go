package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/engine"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/mark"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

var update = flag.Bool("update", false, "write what the cases decide into testdata")

// TestCases runs every case in testdata: hooks with scripted answers, one
// event, and the whole decision as text. Time is the bubble's, so a case may
// hang.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runCase(t, name) })
		})
	}
}

func runCase(t *testing.T, name string) {
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]*txtar.File{}
	for i := range ar.Files {
		parts[ar.Files[i].Name] = &ar.Files[i]
	}
	sources, script := parseHooks(t, string(parts["hooks"].Data))
	if of := parts["settings"]; of != nil { // of the administrator
		managed := scopes.Layer{Authority: hook.Managed}
		said, err := strictjson.Decode(of.Data, strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		managed.Take(said.(map[string]any))
		if script.settings, err = setting.Combine(managed); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for line := range strings.Lines(string(parts["event"].Data)) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		d := script.engine(t, sources).Decide(ctx, parseEvent(t, line))
		cancel()
		got += describe(&d)
	}
	close(script.done)
	want := parts["want"]
	if *update {
		want.Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(want.Data) {
		t.Errorf("%s\n--- got ---\n%s--- want ---\n%s", ar.Comment, got, want.Data)
	}
}

// A script says what the hooks answer. Lines of a hook are rules, such as
// "deny TEXT", "when SUBSTRING: modify {…}" or "hang".
type script struct {
	rules    map[string][]string
	settings scopes.Settings
	opts     []engine.Option
	done     chan struct{} // ends what hangs, so that the bubble can end

	mu  sync.Mutex
	met int
	all chan struct{} // closed when all have met
}

func (s *script) engine(t *testing.T, sources []scopes.Source) *engine.Engine {
	t.Helper()
	set, err := scopes.New(sources, s.settings, scopes.WithBacktracking(backtracking.Compile))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	opts := append([]engine.Option{
		engine.WithEvaluator(hook.Rego, s), engine.WithEvaluator(hook.Command, s),
		engine.WithEvaluator(hook.Prompt, s), engine.WithEvaluator(hook.Agent, s),
		engine.WithFacts(facts), engine.WithIDs(func() string { n++; return fmt.Sprint("id", n) }),
		engine.WithValidator(func(tool string, input map[string]any) error {
			if _, bad := input["invalid"]; bad {
				return errors.New(`unknown field "invalid"`)
			}
			return nil
		}),
		engine.WithConfiner(jail{}),
	}, s.opts...)
	e, err := engine.New(set, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (s *script) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		for _, rule := range s.rules[h.ID] {
			s.apply(ctx, &answers[i], rule, ev)
		}
	}
	if hooks[0].ID == "short" {
		return nil
	}
	return answers
}

func (s *script) apply(ctx context.Context, a *engine.Answer, rule string, ev *hook.Event) {
	subject := string(strictjson.Append(nil, ev.Fields[ev.Name.Rewrites()]))
	if ev.Confined != "" {
		subject += " by " + ev.Confined
	}
	if cond, rest, ok := strings.Cut(rule, ": "); ok {
		kind, text, _ := strings.Cut(cond, " ")
		if kind == "when" || kind == "unless" {
			if strings.Contains(subject, text) != (kind == "when") {
				return
			}
			rule = rest
		}
	}
	v := &a.Verdict
	verb, text, _ := strings.Cut(rule, " ")
	effects := map[string]hook.Effect{"deny": hook.Deny, "ask": hook.Ask, "allow": hook.Allow}
	switch verb {
	case "deny", "ask", "allow":
		v.Reasons = append(v.Reasons, hook.Reason{Effect: effects[verb], Reason: text})
	case "warn":
		v.Warnings = append(v.Warnings, hook.Reason{Reason: text})
	case "halt":
		v.Halt = append(v.Halt, hook.Reason{Reason: text})
	case "remember": // NAME JSON
		name, value, _ := strings.Cut(text, " ")
		v.Remember = append(v.Remember, mark.Mark{Name: name, Value: value})
	case "confine": // PROFILE TEXT
		profile, why, _ := strings.Cut(text, " ")
		v.Confine = append(v.Confine, hook.Confinement{Profile: profile, Reason: why})
	case "context":
		v.Context = append(v.Context, hook.Context{Text: text})
	case "env":
		name, value, _ := strings.Cut(text, "=")
		if v.Env == nil {
			v.Env = map[string]string{}
		}
		v.Env[name] = value
	case "consult":
		v.Consults = append(v.Consults, hook.Consult{Hook: text})
	case "modify":
		v.Rewrites = append(v.Rewrites, hook.Rewrite{Reason: "modified", Input: mustJSON(text).(map[string]any)})
	case "value":
		v.Rewrites = append(v.Rewrites, hook.Rewrite{Reason: "replaced", Value: mustJSON(text)})
	case "count":
		n, _ := ev.ToolInput()["n"].(json.Number)
		i, _ := strconv.Atoi(string(n))
		v.Rewrites = append(v.Rewrites, hook.Rewrite{Input: map[string]any{"n": json.Number(strconv.Itoa(i + 1))}})
	case "edit":
		var from, to int
		fmt.Sscan(text, &from, &to)
		word := strings.SplitN(text+"   ", " ", 3)[2]
		v.Rewrites = append(v.Rewrites, hook.Rewrite{
			Reason: "edited", Edits: []hook.Edit{{Span: hook.Span{from, to}, Text: strings.TrimSpace(word)}},
		})
	case "fault":
		kind, why, _ := strings.Cut(text, " ")
		a.Fault = hook.Faultf(hook.FaultKind(kind), "%s", why)
	case "panic":
		panic(text)
	case "meet": // as many hooks as the text says, at one time
		s.meet(text)
	case "hang":
		<-s.done
	case "slow":
		<-ctx.Done()
	default:
		panic("unknown rule " + rule)
	}
}

// A jail confines lines, but for those that say no; what it cannot keep, fails.
type jail struct{}

func (jail) Plan(_ context.Context, ev *hook.Event, profiles []string) (name, why string) {
	if line, _ := ev.ToolInput()["command"].(string); line == "" || strings.Contains(line, "cd ") {
		return "", "it changes the shell"
	}
	return strings.Join(slices.Sorted(slices.Values(profiles)), "+"), ""
}

func (jail) Keep(_ context.Context, ev *hook.Event) (map[string]any, error) {
	line, _ := ev.ToolInput()["command"].(string)
	if strings.Contains(line, "full") {
		return nil, errors.New("the disk is full")
	}
	return map[string]any{"command": "run " + ev.Confined + " " + strconv.Itoa(len(line))}, nil
}

// meet waits until so many hooks wait.
func (s *script) meet(many string) {
	n, _ := strconv.Atoi(many)
	s.mu.Lock()
	if s.met++; s.met == n {
		close(s.all)
	}
	s.mu.Unlock()
	select {
	case <-s.all:
	case <-s.done:
	}
}

func mustJSON(text string) any {
	v, err := strictjson.Decode([]byte(text), strictjson.Limits{})
	if err != nil {
		panic(err)
	}
	return v
}

// parseHooks reads lines of three kinds:
//
//	source NAME SCOPE AUTHORITY [trusted] [library] [broken] [parallel]
//	  ID [kind=…] [events=…] [matcher=…] [if=…] [priority=…] [on_fault=…] [timeout=…] [opaque] [consult] [recheck]
//	    RULE
func parseHooks(t *testing.T, text string) ([]scopes.Source, *script) {
	t.Helper()
	s := &script{rules: map[string][]string{}, done: make(chan struct{}), all: make(chan struct{})}
	var sources []scopes.Source
	var h *hook.Hook
	parallel := false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case len(words) == 0:
		case words[0] == "allsteps":
			s.opts = append(s.opts, engine.WithAllSteps())
		case depth == 0:
			sources = append(sources, parseSource(words[1:]))
			parallel = slices.Contains(words, "parallel")
		case depth == 2:
			src := &sources[len(sources)-1]
			h = parseHook(t, words, src)
			h.Parallel = parallel && h.Kind != hook.Rego
			src.Hooks = append(src.Hooks, h)
		default:
			s.rules[h.ID] = append(s.rules[h.ID], strings.TrimSpace(line))
		}
	}
	return sources, s
}

func parseSource(words []string) scopes.Source {
	src := scopes.Source{Name: words[0]}
	for s := hook.Policy; s <= hook.Skill; s++ {
		if s.String() == words[1] {
			src.Scope = s
		}
	}
	for a := hook.Managed; a.Valid(); a++ {
		if a.String() == words[2] {
			src.Authority = a
		}
	}
	src.Trusted = slices.Contains(words, "trusted")
	src.Tightens = slices.Contains(words, "tightens")
	src.Library = slices.Contains(words, "library")
	if slices.Contains(words, "broken") {
		src.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "a.rego:3: no rule begins here")}
	}
	return src
}

func parseHook(t *testing.T, words []string, src *scopes.Source) *hook.Hook {
	h := &hook.Hook{
		ID: words[0], Kind: hook.Rego, Scope: src.Scope, Authority: src.Authority, Library: src.Library, Source: src.Name,
		File: src.Name + ".rego", Line: 1 + len(src.Hooks), Events: []hook.Name{hook.PreToolUse, hook.PostToolUse, hook.UserPromptSubmit, hook.Stop},
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "kind":
			h.Kind = hook.Kind(value)
		case "events":
			h.Events = nil
			for name := range strings.SplitSeq(value, ",") {
				if name != "" {
					h.Events = append(h.Events, hook.Name(name))
				}
			}
		case "matcher":
			h.Matcher = value
		case "if":
			h.If = append(h.If, strings.ReplaceAll(value, "_", " "))
		case "priority":
			h.Priority, _ = strconv.Atoi(value)
		case "on_fault":
			h.OnFault = hook.OnFault(value)
		case "timeout":
			h.Timeout, _ = time.ParseDuration(value)
		case "opaque":
			h.Opaque = true
		case "consult":
			h.Consult = true
		case "recheck":
			yes := true
			h.Recheck = &yes
		default:
			t.Fatalf("hook %s: unknown %q", words[0], w)
		}
	}
	return h
}

// parseEvent reads "NAME TOOL JSON": the input of the tool, with its output
// under "tool_response" on PostToolUse, or "UserPromptSubmit - "text"".
func parseEvent(t *testing.T, line string) hook.Event {
	t.Helper()
	words := strings.SplitN(strings.TrimSpace(line), " ", 3)
	ev := hook.Event{Name: hook.Name(words[0]), Fields: map[string]any{"hook_event_name": words[0], "cwd": "/work"}}
	if words[1] != "-" {
		ev.Fields["tool_name"] = words[1]
	}
	switch ev.Name.Rewrites() {
	case "":
	case "tool_response":
		ev.Fields["tool_input"] = map[string]any{"command": "cat x"}
		ev.Fields["tool_response"] = mustJSON(words[2])
	default:
		ev.Fields[ev.Name.Rewrites()] = mustJSON(words[2])
	}
	return ev
}

// facts takes a line apart at blanks: enough for spans and conditions. A
// dollar makes it opaque. Its program is known, but for acmectl.
func facts(ev *hook.Event) *hook.Facts {
	f := &hook.Facts{}
	line, ok := ev.ToolInput()["command"].(string)
	if !ok {
		return f
	}
	f.Opaque = strings.Contains(line, "$")
	c := hook.ShellCommand{ID: 1}
	at := 0
	for w := range strings.SplitSeq(line, " ") {
		n := len([]rune(w))
		c.Words = append(c.Words, hook.Word{Value: &w, Span: &hook.Span{at, at + n}})
		at += n + 1
	}
	c.Program = c.Words[0].Value
	c.Known = *c.Program != "acmectl"
	c.Span = &hook.Span{0, at - 1}
	f.Shell = &hook.Shell{Dialect: "bash", Text: line, Commands: []hook.ShellCommand{c}}
	return f
}

// describe writes a decision as text, everything that a case may be about.
func describe(d *hook.Decision) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s %s %s", d.ID, d.Effect, d.Result(true))
	for _, r := range d.Reasons {
		line("  %s by %s (%s, %s): %s", r.Effect, r.ID, r.Scope, r.Authority, r.Reason)
	}
	for _, r := range d.Warnings {
		line("  warn by %s: %s", r.ID, r.Reason)
	}
	if d.Halt != nil {
		line("  halt by %s: %s", d.Halt.ID, d.Halt.Reason)
	}
	for _, c := range d.Context {
		line("  context by %s as %s: %s", c.Hook, c.Strategy, c.Text)
	}
	for _, c := range d.Changes {
		line("  change by %s: %s -> %s", c.Hook, strictjson.Append(nil, c.Before), strictjson.Append(nil, c.After))
	}
	if d.Rewrite != nil {
		line("  rewrite %s", strictjson.Append(nil, d.Rewrite))
	}
	if d.Confined != nil {
		line("  confined by %s: %s", d.Confined.Profile, strictjson.Append(nil, d.Confined.Input))
	}
	if d.Output != nil {
		line("  output %s", strictjson.Append(nil, d.Output))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		line("  env %s=%s", name, d.Env[name])
	}
	for _, n := range d.Notices {
		line("  notice %s", n)
	}
	for _, m := range d.Remember {
		line("  remember %s=%s by %s of %s, shared %v", m.Name, m.Value, m.By, m.Source, m.Shared())
	}
	if d.Fault != nil {
		line("  fault %s: %s", d.Fault.Kind, d.Fault.Error())
	}
	for _, s := range d.Steps {
		text := fmt.Sprintf("  step %d %s %s %s", s.Round, s.Hook.ID, s.Outcome, s.Effect)
		if s.Fault != nil {
			text += fmt.Sprintf(", fault %s: %s", s.Fault.Kind, s.Fault.Error())
		}
		for _, i := range s.Ignored {
			text += ", ignored " + i
		}
		line("%s", text)
	}
	return b.String()
}
