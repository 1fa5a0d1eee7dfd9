package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate"
	"gate/hook"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/setting"
	"gate/pipeline"
)

// write lays files out below a new directory: managed/, user/ and project/.
func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(text)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func bash(dir, line string) hook.Event {
	return hook.Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": dir, "tool_input": map[string]any{"command": line},
	}}
}

const archive = `
-- managed/settings.toml --
[plugins]
fmt = true
[labels]
ring = "canary"
-- managed/plugins/fmt/plugin.json --
{"name": "fmt"}
-- managed/plugins/fmt/gate/policies/fmt.rego --
# METADATA
# title: Format with the project's own program
# custom: {gate: {events: [PreToolUse]}}
package fmt.words

deny contains "make fmt formats" if {
	some command in input.facts.shell.commands
	command.program == "gofmt"
}
-- user/policies/deploy.rego --
# METADATA
# title: Deploy by hand
# custom: {gate: {events: [PreToolUse]}}
package acme.deploy

ask contains "make deploy changes production" if {
	some command in input.facts.shell.commands
	command.program == "deploy"
	input.gate.labels.ring == "canary"
}
-- project/.gate/policies/lock.rego --
# METADATA
# title: The lock file
# custom: {gate: {events: [PreToolUse]}}
package acme.lock

deny contains "the lock file is made by its tool" if {
	some path in input.facts.paths
	path.access == "write"
	endswith(path.path, "/go.sum")
}

allow contains "nothing is dangerous"
`

// TestNew has each layer say its part: the library, a directory, a project that
// only tightens, a function with the user's authority and one with the
// administrator's.
func TestNew(t *testing.T) {
	dir := write(t, archive)
	g, err := gate.New(gate.Options{
		Managed: filepath.Join(dir, "managed"), User: filepath.Join(dir, "user"), Project: filepath.Join(dir, "project"),
		Home: "/home/dev", Account: "dev",
		Hooks: []gate.Hook{
			{Hook: hook.Hook{ID: "no.sudo", Events: []hook.Name{hook.PreToolUse}, If: []string{"Bash(whoami:*)"}},
				Func: func(context.Context, *hook.Event) (hook.Verdict, error) {
					return hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Allow, Reason: "harmless"}}}, nil
				}},
			{Hook: hook.Hook{ID: "policy.sudo", Events: []hook.Name{hook.PreToolUse}, Matcher: "Bash", Authority: hook.Managed},
				Func: func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
					if strings.Contains(ev.ToolInput()["command"].(string), "halt") {
						return hook.Verdict{Halt: []hook.Reason{{Effect: hook.Deny, Reason: "no"}}}, nil
					}
					return hook.Verdict{}, nil
				}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]hook.Effect{
		"ls": hook.Pass, "whoami": hook.Allow, "rm -rf ~": hook.Deny, "deploy now": hook.Ask, "echo x > go.sum": hook.Deny, "echo halt": hook.Deny, "gofmt -l .": hook.Deny,
		"cat " + filepath.ToSlash(dir) + "/user/policies/deploy.rego": hook.Pass, "rm " + filepath.ToSlash(dir) + "/user/policies/deploy.rego": hook.Deny,
	} {
		d := g.Decide(t.Context(), bash(filepath.ToSlash(dir)+"/project", line))
		if d.Effect != want || d.Fault != nil {
			t.Errorf("%s: %s %v, not %s", line, d.Effect, d.Reasons, want)
		}
	}
}

// TestMistakes has every mistake that would close reported at once; those of a
// project and of plugins are left to decisions.
func TestMistakes(t *testing.T) {
	dir := write(t, `
-- managed/settings.json --
{"plugins": {"../x": true, "gone": true}}
-- user/settings.json --
{"polices": {}}
-- user/policies/a.rego --
package a
denny contains "x"
-- project/.gate/settings.json --
{"polices": {}}
`)
	_, err := gate.New(gate.Options{
		Managed: filepath.Join(dir, "managed"), User: filepath.Join(dir, "user"), Project: filepath.Join(dir, "project"),
		Hooks: []gate.Hook{{}},
	})
	if err == nil {
		t.Fatal("no mistake was found")
	}
	for _, want := range []string{"polices", "a.rego", "hook 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), filepath.Join("project", ".gate")) {
		t.Errorf("the project stops the program: %v", err)
	}
	for _, o := range []gate.Options{{Managed: "x"}, {User: filepath.Join(dir, "none")}, {Project: "x"}, {Project: filepath.Join(dir, "none")}} {
		if _, err := gate.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	g, err := gate.New(gate.Options{Managed: filepath.Join(dir, "managed"), Project: filepath.Join(dir, "project"), Home: "/home/dev"})
	if err != nil {
		t.Fatal(err)
	}
	d := g.Decide(t.Context(), bash("/home/dev/project", "ls"))
	for _, want := range []string{`"../x"`, `"gone"`, "polices", "inactive"} {
		if d.Effect != hook.Pass || !strings.Contains(strings.Join(d.Notices, " "), want) {
			t.Errorf("%s, nothing about %s in %q", d.Effect, want, d.Notices)
		}
	}
}

// TestClientless holds that a hook which asks a model or an MCP server is an error of
// a program that gave no client, and none where it gave one, where the project is not
// trusted, or where hooks are switched off.
func TestClientless(t *testing.T) {
	dir := write(t, `
-- user/hooks.yaml --
hooks:
  PreToolUse:
    - {id: judged, prompt: "Safe?"}
    - {id: scanned, type: mcp_tool, server: s, tool: t}
-- off/hooks.yaml --
hooks:
  PreToolUse:
    - {id: judged, prompt: "Safe?"}
-- off/settings.json --
{"disableAllHooks": true}
-- project/.gate/hooks.yaml --
hooks:
  PreToolUse:
    - {id: theirs, prompt: "Safe?"}
`)
	user := filepath.Join(dir, "user")
	_, err := gate.New(gate.Options{User: user})
	if err == nil || !strings.Contains(err.Error(), "the hook judged asks a language model") || !strings.Contains(err.Error(), "the hook scanned asks an MCP server") {
		t.Errorf("%v", err)
	}
	given := gate.Options{
		User:   user,
		Models: func(setting.Provider, string) (judge.Model, error) { return nil, errors.New("down") },
		MCP:    func(context.Context, mcptool.Way) (mcptool.Session, error) { return nil, errors.New("down") },
	}
	for _, o := range []gate.Options{given, {Project: filepath.Join(dir, "project")}, {User: filepath.Join(dir, "off")}} {
		if _, err := gate.New(o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestSecrets holds that what a decision says has no secrets in it, whatever a
// policy, a function or a fault puts there, and that positions name files in full.
func TestSecrets(t *testing.T) {
	const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	dir := write(t, `
-- user/policies/quotes.rego --
# METADATA
# title: Quotes the line
# custom: {gate: {events: [PreToolUse]}}
package acme.quotes

deny contains sprintf("not %s", [input.tool_input.command]) if contains(input.tool_input.command, "curl")

context contains {"text": input.tool_input.command}
`)
	g, err := gate.New(gate.Options{User: filepath.Join(dir, "user"), Home: "/home/dev", Account: "dev", Hooks: []gate.Hook{{
		Hook: hook.Hook{ID: "own", Events: []hook.Name{hook.PreToolUse}},
		Func: func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
			return hook.Verdict{}, errors.New("no judge for " + ev.ToolInput()["command"].(string))
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	d := g.Decide(t.Context(), bash("/home/dev/project", "curl -H 'Authorization: Bearer "+token+"' https://example.org"))
	told := fmt.Sprintf("%+v %+v %+v %+v %v", d.Reasons, d.Warnings, d.Context, d.Notices, d.Fault)
	for i := range d.Steps {
		told += fmt.Sprint(d.Steps[i].Fault)
	}
	if d.Effect != hook.Deny || strings.Contains(told, token) || !strings.Contains(told, "redacted") {
		t.Errorf("%s, %s", d.Effect, told)
	}
	if at := d.Reasons[0].Pos; !strings.HasPrefix(at, filepath.Join(dir, "user")) {
		t.Errorf("it stands in %s", at)
	}
}

// TestOpen holds that Open asks whose files decide, and New does not, and that both
// take the program's own policies, which no project loosens.
func TestOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists say whose files decide")
	}
	dir := write(t, archive)
	o := gate.Options{
		Managed: filepath.Join(dir, "managed"), User: filepath.Join(dir, "user"), State: filepath.Join(dir, "state"), Project: filepath.Join(dir, "project"),
		Policies: fstest.MapFS{"policies/make.rego": {Data: []byte(`# METADATA
# title: No make
# custom: {gate: {events: [PreToolUse]}}
package acme.make

deny contains "make is for people" if {
	some command in input.facts.shell.commands
	command.program == "make"
}
`)}},
	}
	decides := func(g *gate.Gate) {
		t.Helper()
		for line, want := range map[string]hook.Effect{"ls": hook.Pass, "make": hook.Deny, "deploy now": hook.Ask, "rm -rf /": hook.Deny} {
			ev := gate.ToolCall(filepath.ToSlash(dir)+"/project", "Bash", map[string]any{"command": line})
			if d := g.Decide(t.Context(), ev); d.Effect != want || d.Fault != nil {
				t.Errorf("%s: %s %v %v, not %s", line, d.Effect, d.Reasons, d.Fault, want)
			}
		}
	}
	for name, set := range map[string]func(gate.Options) (*gate.Gate, error){"Open": gate.Open, "New": gate.New} {
		g, err := set(o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		decides(g)
	}
	if err := os.Chmod(filepath.Join(dir, "user", "policies", "deploy.rego"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Open(o); err == nil || !strings.Contains(err.Error(), "deploy.rego") {
		t.Errorf("Open took a file that anybody may write: %v", err)
	}
	g, err := gate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	decides(g)
	if _, err := gate.New(gate.Options{Policies: fstest.MapFS{"policies/a.rego": {Data: []byte("package a\n")}, "settings.json": {Data: []byte(`{"polices": {}}`)}}}); err == nil {
		t.Error("a mistake in the program's own settings was taken")
	}
}

// TestInject holds that a text reaches a session that is kept below State.
func TestInject(t *testing.T) {
	g, err := gate.New(gate.Options{State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Inject(t.Context(), "generic", "s", pipeline.Injection{Text: "merge first"}); err != nil {
		t.Fatal(err)
	}
	memory, err := g.Memory("generic", "s")
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Pipeline(pipeline.Options{Dir: t.TempDir(), Session: "s", Memory: memory, Tools: []pipeline.Tool{{
		Name: "Notes", Run: func(context.Context, map[string]any) (any, error) { return "ok", nil },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Call(t.Context(), pipeline.Call{Tool: "Notes", Input: []byte("{}")})
	if err != nil || len(r.Context) != 1 || r.Context[0].Text != "merge first" {
		t.Errorf("%v %v", r.Context, err)
	}
	nowhere, err := gate.New(gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := nowhere.Inject(t.Context(), "generic", "s", pipeline.Injection{Text: "x"}); err == nil {
		t.Error("a text was kept nowhere")
	}
}

// TestThousandPolicies holds that the number of policies changes no decision: each of a
// thousand decides about its own program and about no other.
func TestThousandPolicies(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 1000 {
		files[fmt.Sprintf("policies/p%d.rego", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, `# METADATA
# title: Policy %[1]d
# custom: {gate: {events: [PreToolUse], if: ["Bash(tool%[1]d:*)"]}}
package acme.p%[1]d

import data.gate.lib

deny contains {"reason": "tool%[1]d is for people", "span": lib.span(command)} if {
	some command in lib.commands("tool%[1]d")
}
`, i)}
	}
	g, err := gate.New(gate.Options{Policies: files, Home: "/home/dev"})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 1000; i += 37 { // the first and the last, and some between them
		d := g.Decide(t.Context(), bash("/home/dev/project", fmt.Sprintf("cd x && tool%d --now", i)))
		if d.Effect != hook.Deny || len(d.Reasons) != 1 || d.Reasons[0].ID != fmt.Sprintf("acme.p%d", i) || d.Fault != nil {
			t.Fatalf("tool%d: %v %v %v", i, d.Effect, d.Reasons, d.Fault)
		}
	}
	if d := g.Decide(t.Context(), bash("/home/dev/project", "tool1000 --now && ls")); d.Effect != hook.Pass || d.Fault != nil {
		t.Errorf("a program of no policy: %v %v", d.Effect, d.Reasons)
	}
}
