package rego_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/engine"
	"gate/hook"
	"gate/internal/rego"
	"gate/internal/strictjson"
	"gate/scopes"
)

var update = flag.Bool("update", false, "rewrite the expectations of testdata")

// TestCases runs testdata/cases. Each is a source: Rego files, of which those
// not called helper*.rego are hooks, lib/*.rego for the library, params.json,
// and event.json. Lines "key: value" before the files set the authority.
func TestCases(t *testing.T) {
	eachCase(t, func(t *testing.T, file string, ar *txtar.Archive, c testCase) {
		e := rego.New(c.lib, []scopes.Source{c.source})
		got := render(c.source.Hooks, e.Evaluate(context.Background(), c.source.Hooks, &c.event))
		if err := rego.Check(c.lib, c.source); err != nil {
			got += "\ncheck:\n" + err.Error() + "\n"
		}
		i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
		if i < 0 {
			t.Fatal("no file named want")
		}
		if *update {
			ar.Files[i].Data = []byte(got)
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if want := string(ar.Files[i].Data); want != got {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

func eachCase(t *testing.T, test func(t *testing.T, file string, ar *txtar.Archive, c testCase)) {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			test(t, file, ar, readCase(t, ar))
		})
	}
}

type testCase struct {
	lib    []scopes.Module
	source scopes.Source
	event  hook.Event
}

func readCase(t *testing.T, ar *txtar.Archive) testCase {
	t.Helper()
	c := testCase{source: newSource("case", hook.Project)}
	for line := range strings.Lines(string(ar.Comment)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case ok && key == "authority" && value == "managed":
			c.source.Authority, c.source.Scope = hook.Managed, hook.Policy
		case ok && key == "authority" && value == "library":
			c.source.Authority, c.source.Scope, c.source.Library = hook.User, hook.Policy, true
		}
	}
	params := map[string]struct {
		Declared map[string]hook.Param
		Given    map[string]any
	}{}
	for _, f := range ar.Files {
		switch {
		case strings.HasPrefix(f.Name, "lib/"):
			c.lib = append(c.lib, module(f.Name, string(f.Data)))
		case strings.HasSuffix(f.Name, ".rego"):
			c.source.Modules = append(c.source.Modules, module(f.Name, string(f.Data)))
		case f.Name == "params.json":
			decode(t, f.Data, &params)
		case f.Name == "event.json":
			decode(t, f.Data, &c.event.Fields)
		}
	}
	name, _ := c.event.Fields["hook_event_name"].(string)
	c.event.Name = hook.Name(name)
	c.source.Params = map[string]map[string]any{}
	for _, m := range c.source.Modules {
		if strings.HasPrefix(filepath.Base(m.File), "helper") {
			continue
		}
		h := newHook(&c.source, m)
		h.Params = params[h.ID].Declared
		c.source.Params[h.ID] = params[h.ID].Given
		c.source.Hooks = append(c.source.Hooks, h)
	}
	return c
}

func decodeAny(text string) (any, error) {
	return strictjson.Decode([]byte(text), strictjson.Limits{})
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatal(err)
	}
}

var packageLine = regexp.MustCompile(`(?m)^package (\S+)$`)

func module(file, text string) scopes.Module {
	pkg := "unknown"
	if m := packageLine.FindStringSubmatch(text); m != nil {
		pkg = m[1]
	}
	return scopes.Module{File: file, Package: pkg, Text: text}
}

func newSource(name string, authority hook.Authority) scopes.Source {
	return scopes.Source{Name: name, Scope: hook.Session, Authority: authority}
}

func newHook(s *scopes.Source, m scopes.Module) *hook.Hook {
	return &hook.Hook{
		ID: m.Package, Kind: hook.Rego, File: m.File, Line: 1,
		Source: s.Name, Scope: s.Scope, Authority: s.Authority, Library: s.Library,
	}
}

// sourceOf makes a source of policies, each a hook.
func sourceOf(name string, authority hook.Authority, texts ...string) scopes.Source {
	s := newSource(name, authority)
	for i, text := range texts {
		m := module(fmt.Sprintf("p%d.rego", i), text)
		s.Modules = append(s.Modules, m)
		s.Hooks = append(s.Hooks, newHook(&s, m))
	}
	return s
}

func bash(command string) *hook.Event {
	return &hook.Event{
		Agent: "claude", Name: hook.PreToolUse,
		Fields: map[string]any{
			"hook_event_name": "PreToolUse", "tool_name": "Bash",
			"tool_input": map[string]any{"command": command},
		},
		Gate: hook.Gate{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
}

// written lists edits, those of commands as they were read.
func written(edits []hook.Edit) []string {
	list := make([]string, len(edits))
	for i, e := range edits {
		list[i] = fmt.Sprintf("{%v %s}", e.Span, e.Text)
		if c := e.Command; c != nil {
			env := map[string]any{}
			for name, value := range c.Env {
				if env[name] = nil; value != nil {
					env[name] = *value
				}
			}
			list[i] = fmt.Sprintf("{%d program=%q env=%v options=%v add=%q remove=%q}", c.Command, c.Program, env, c.Options, c.Add, c.Remove)
		}
	}
	return list
}

// render writes answers one thing a line.
func render(hooks []*hook.Hook, answers []engine.Answer) string {
	var b strings.Builder
	for i, a := range answers {
		fmt.Fprintf(&b, "%s: %s\n", hooks[i].ID, a.Verdict.Effect())
		for _, r := range a.Verdict.Halt {
			renderReason(&b, "halt", r)
		}
		for _, r := range a.Verdict.Reasons {
			renderReason(&b, r.Effect.String(), r)
		}
		for _, r := range a.Verdict.Warnings {
			renderReason(&b, "warn", r)
		}
		for _, r := range a.Verdict.Rewrites {
			fmt.Fprintf(&b, "\tmodify %q edits=%v input=%v value=%v\n", r.Reason, written(r.Edits), r.Input, r.Value)
		}
		for _, c := range a.Verdict.Context {
			fmt.Fprintf(&b, "\tcontext %q %s\n", c.Text, c.Strategy)
		}
		for _, c := range a.Verdict.Consults {
			fmt.Fprintf(&b, "\tconsult %s %q\n", c.Hook, c.Reason)
		}
		for _, m := range a.Verdict.Remember {
			fmt.Fprintf(&b, "\tremember %q %s round=%v\n", m.Name, m.Value, m.Round)
		}
		if a.Fault != nil {
			fmt.Fprintf(&b, "\tfault %s: %s\n", a.Fault.Kind, strings.ReplaceAll(a.Fault.Error(), "\n", "\n\t\t"))
		}
	}
	return b.String()
}

func renderReason(b *strings.Builder, effect string, r hook.Reason) {
	fmt.Fprintf(b, "\t%s %s %s %q", effect, r.Pos, r.ID, r.Reason)
	if r.Help != "" {
		fmt.Fprintf(b, " help=%q", r.Help)
	}
	if r.Suggestion != "" {
		fmt.Fprintf(b, " suggestion=%q", r.Suggestion)
	}
	if r.Span != nil {
		fmt.Fprintf(b, " span=%v", *r.Span)
	}
	b.WriteByte('\n')
}
