package policytest_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"gate/hook"
	"gate/internal/policytest"
)

func ExampleRun() {
	files := fstest.MapFS{
		"push.rego": {Data: []byte(`# METADATA
# custom:
#   gate:
#     events: [PreToolUse]
package acme.push

deny contains "no forced pushes" if {
	some push in input.facts.effects
	push.kind == "git.push"
	push.force
}
`)},
		"push_test.rego": {Data: []byte(`package acme.push_test

import data.acme.push

test_stops_force if push.deny == {"no forced pushes"} with input as gate.event("git push -f")

test_passes_the_rest if count(push.deny) == 0 with input as gate.event("git push")
`)},
	}
	results, err := policytest.Run(context.Background(), policytest.Options{
		Files: files,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Println(r.File, r.Name, r.Passed())
	}
	// Output:
	// push_test.rego acme.push_test.test_passes_the_rest true
	// push_test.rego acme.push_test.test_stops_force true
}

func ExampleFormatCases() {
	denied := hook.Deny
	text, err := policytest.FormatCases(policytest.Case{
		Name:   "a forced push is denied",
		Event:  map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "git push -f"}},
		World:  policytest.CaseWorld{Head: "main"},
		Expect: policytest.Expectation{Effect: &denied, IDs: []string{"acme.push"}},
	})
	fmt.Print(string(text), err)
	// Output:
	// cases:
	//   - name: a forced push is denied
	//     bash: git push -f
	//     world: {head: main}
	//     expect: {effect: deny, ids: [acme.push]}
	// <nil>
}
