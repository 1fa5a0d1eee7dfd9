package gate_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"gate"
	"gate/hook"
	"gate/pipeline"
)

// A program brings a policy of its own, and asks about two calls.
func Example() {
	g, err := gate.New(gate.Options{
		Home: "/home/dev", Account: "dev",
		Policies: fstest.MapFS{"policies/deploy.rego": {Data: []byte(`# METADATA
# title: Deploy by hand
# custom: {gate: {events: [PreToolUse]}}
package acme.deploy

ask contains "deploying changes production" if {
	some command in input.facts.shell.commands
	command.program == "deploy"
}
`)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range []string{"ls", "cd infra && deploy now"} {
		d := g.Decide(context.Background(), gate.ToolCall("/home/dev/project", "Bash", map[string]any{"command": line}))
		fmt.Printf("%s: %s %q\n", line, d.Effect, d.Reason())
	}
	// Output:
	// ls: pass ""
	// cd infra && deploy now: ask "deploying changes production"
}

// A Go function is a hook like any other.
func ExampleHook() {
	g, err := gate.New(gate.Options{Hooks: []gate.Hook{{
		Hook: hook.Hook{ID: "acme.env", Events: []hook.Name{hook.PreToolUse}, If: []string{"Edit(.env)"}},
		Func: func(context.Context, *gate.Event) (hook.Verdict, error) {
			return hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "people edit .env"}}}, nil
		},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := g.Decide(context.Background(), gate.ToolCall("/srv", "Edit", map[string]any{"file_path": "/srv/.env", "old_string": "a", "new_string": "b"}))
	fmt.Println(d.Effect, d.Reason())
	// Output: deny people edit .env
}

// A Pipeline runs a tool only if everything that has a say agrees.
func ExampleGate_Pipeline() {
	g, err := gate.New(gate.Options{Home: "/home/dev", Account: "dev"})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := g.Pipeline(pipeline.Options{Dir: "/home/dev/project", Tools: []pipeline.Tool{{
		Name: "Bash",
		Run:  func(context.Context, map[string]any) (any, error) { return "done", nil },
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := p.Call(context.Background(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "make test"}`)})
	fmt.Println(result.Output, err)
	// Output: done <nil>
}
