package rego_test

import (
	"context"
	"fmt"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

func Example() {
	source := scopes.Source{
		Name: "project", Scope: hook.Session, Authority: hook.Project,
		Hooks: []*hook.Hook{{
			ID: "acme.no_push", Kind: hook.Rego, File: "no_push.rego",
			Source: "project", Scope: hook.Session, Authority: hook.Project,
		}},
		Modules: []scopes.Module{{
			File: "no_push.rego", Package: "acme.no_push",
			Text: `package acme.no_push

deny contains "open a pull request instead" if contains(input.tool_input.command, "git push")
`,
		}},
	}
	if err := rego.Check(nil, source); err != nil {
		fmt.Println(err)
		return
	}
	evaluator := rego.New(nil, []scopes.Source{source})
	answers := evaluator.Evaluate(context.Background(), source.Hooks, &hook.Event{
		Name:   hook.PreToolUse,
		Fields: map[string]any{"tool_input": map[string]any{"command": "git push"}},
	})
	for _, r := range answers[0].Verdict.Reasons {
		fmt.Printf("%s: %s: %s\n", r.Pos, r.Effect, r.Reason)
	}
	// Output: no_push.rego:3: deny: open a pull request instead
}
