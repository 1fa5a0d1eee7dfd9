package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"gate"
	"gate/facts"
	"gate/hook"
	"gate/internal/strictjson"
	"gate/matcher"
	"gate/pipeline"
)

// Words of the property test.
var (
	permissionRules = []string{
		"Bash", "Bash(git:*)", "Bash(git push:*)", "Bash(ls:*)", "Bash(make test)", "Read", "Read(src/**)", "Read(.env)", "Edit(src/**)",
		"WebFetch(domain:x.org)", "weather", "mcp__*", "mcp__db__drop",
	}
	permissionCalls = []pipeline.Call{
		bash("ls"), bash("git status"), bash("git push"), bash("git push && ls"), bash("ls; make test"), bash("make test"), bash("cat src/a"),
		bash("sh src/a"), bash("$X"), bash("cd src && ls"), bash("FOO=1 ls"), bash("ls > out"), bash("curl https://x.org"), bash("git ${A} main"),
		{Tool: "Read", Input: []byte(`{"file_path": "src/a"}`)},
		{Tool: "Read", Input: []byte(`{"file_path": ".env"}`)},
		{Tool: "Write", Input: []byte(`{"file_path": "src/a", "content": "x"}`)},
		{Tool: "WebFetch", Input: []byte(`{"url": "https://x.org/a", "prompt": "p"}`)},
		{Tool: "weather", Input: []byte(`{"city": "Ulm"}`)},
		{Tool: "weather", Input: []byte(`{"command": "git push"}`)},
		{Tool: "mcp__db__drop", Input: []byte(`{"path": "src/a"}`)},
	}
)

func bash(line string) pipeline.Call {
	return pipeline.Call{Tool: "Bash", Input: strictjson.Append(nil, map[string]any{"command": line})}
}

// TestPermissionOrder holds deny before ask before allow for many lists: what
// the lists say is the severest that any of their rules says, an allow needs a
// call that was understood, and one more rule of a stricter list never loosens.
func TestPermissionOrder(t *testing.T) {
	g, err := gate.New(gate.Options{Home: "/home/dev", Account: "dev", WithoutLibrary: true, Hooks: []gate.Hook{{
		Hook: hook.Hook{ID: "nothing", Events: []hook.Name{"Nothing"}}, Func: says(hook.Verdict{}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var tools []pipeline.Tool
	for _, name := range []string{"Bash", "Read", "Write", "WebFetch", "weather", "mcp__db__drop"} {
		tools = append(tools, pipeline.Tool{Name: name, Run: func(context.Context, map[string]any) (any, error) { return nil, nil }})
	}
	with := func(allow, ask, deny []string) *pipeline.Pipeline {
		p, err := g.Pipeline(pipeline.Options{Tools: tools, Dir: "/home/dev/project", Allow: allow, Ask: ask, Deny: deny})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	random := rand.New(rand.NewPCG(1, 2))
	some := func() (list []string) {
		for range random.IntN(4) {
			list = append(list, permissionRules[random.IntN(len(permissionRules))])
		}
		return list
	}
	seen := map[hook.Effect]int{}
	for range 150 {
		allow, ask, deny := some(), some(), some()
		more := permissionRules[random.IntN(len(permissionRules))]
		now, denied, asked := with(allow, ask, deny), with(allow, ask, append(deny, more)), with(allow, append(ask, more), deny)
		allowed := with(append(allow, more), ask, deny)
		for _, call := range permissionCalls {
			got := permitted(t, now, call)
			seen[got]++
			about := fmt.Sprintf("%s %s: allow %q, ask %q, deny %q", call.Tool, call.Input, allow, ask, deny)
			if want := said(call, allow, ask, deny); got != want {
				t.Fatalf("%s: %s, not %s", about, got, want)
			}
			for name, p := range map[string]*pipeline.Pipeline{"deny": denied, "ask": asked} {
				if after := permitted(t, p, call); after < got {
					t.Fatalf("%s: with %q in the list %s it is %s instead of %s", about, more, name, after, got)
				}
			}
			if after := permitted(t, allowed, call); after < got && (got == hook.Deny || len(allow) == 0 || said(call, nil, ask, nil) == hook.Ask) {
				t.Fatalf("%s: with %q allowed it is %s instead of %s", about, more, after, got)
			}
		}
	}
	for _, e := range []hook.Effect{hook.Pass, hook.Ask, hook.Deny} {
		if seen[e] < 100 {
			t.Errorf("only %d calls were %s", seen[e], e)
		}
	}
}

// permitted is what lists made of a call: pass, ask or deny.
func permitted(t *testing.T, p *pipeline.Pipeline, call pipeline.Call) hook.Effect {
	t.Helper()
	_, err := p.Call(t.Context(), call)
	var rejected *pipeline.RejectedError
	switch {
	case err == nil:
		return hook.Pass
	case !errors.As(err, &rejected):
		t.Fatal(err)
	case rejected.Stage == pipeline.StageApproval:
		return hook.Ask
	}
	return hook.Deny
}

// understood says of each call whether the rules that name it, by themselves,
// cover all of it: written down, not computed.
func understood(call pipeline.Call, rules []string) bool {
	whole := map[string][]string{"weather": {"weather"}, "mcp__db__drop": {"mcp__*", "mcp__db__drop"}, "Read": {"Read"}}
	parts := map[string][][]string{ // each of these needs one of its rules
		"ls": {{"Bash(ls:*)"}}, "cd src && ls": {{"Bash(ls:*)"}}, "git status": {{"Bash(git:*)"}},
		"git push": {{"Bash(git:*)", "Bash(git push:*)"}}, "git push && ls": {{"Bash(git:*)", "Bash(git push:*)"}, {"Bash(ls:*)"}},
		"ls; make test": {{"Bash(ls:*)"}, {"Bash(make test)"}}, "make test": {{"Bash(make test)"}},
		"src/a": {{"Read(src/**)"}}, ".env": {{"Read(.env)"}},
	}
	has := func(names []string) bool {
		for _, r := range rules {
			for _, n := range names {
				if r == n {
					return true
				}
			}
		}
		return false
	}
	if has(whole[call.Tool]) {
		return true
	}
	input, _ := strictjson.Object(call.Input, strictjson.Limits{})
	switch call.Tool {
	case "Bash":
		line := input["command"].(string)
		if has([]string{"Bash"}) {
			return line != "$X" && line != "git ${A} main"
		}
		return all(parts[line], has)
	case "Read":
		return all(parts[input["file_path"].(string)], has)
	case "Write":
		return has([]string{"Edit(src/**)"})
	case "WebFetch":
		return has([]string{"WebFetch(domain:x.org)"})
	}
	return false
}

func all(parts [][]string, has func([]string) bool) bool {
	for _, names := range parts {
		if !has(names) {
			return false
		}
	}
	return len(parts) > 0
}

// said is what the lists should make of a call.
func said(call pipeline.Call, allow, ask, deny []string) hook.Effect {
	input, _ := strictjson.Object(call.Input, strictjson.Limits{})
	ev := hook.Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
		"tool_name": call.Tool, "cwd": "/home/dev/project", "tool_input": input,
	}}
	ev.Facts = facts.New(facts.World{Home: "/home/dev", OS: "linux"}).Of(&ev)
	if call.Tool == "weather" { // what gate does not know about it is the tool itself
		ev.Facts.Opaque, ev.Facts.Unknown = false, nil
	}
	perhaps := func(rules []string) bool {
		for _, r := range rules {
			if c, err := matcher.ParseCondition(r); err != nil || c.Match(&ev) != matcher.No {
				return true
			}
		}
		return false
	}
	switch {
	case perhaps(deny):
		return hook.Deny
	case perhaps(ask), len(allow) > 0 && !understood(call, allow):
		return hook.Ask
	}
	return hook.Pass
}
