package facts_test

import (
	"fmt"

	"gate/facts"
	"gate/hook"
)

func ExampleReader_Of() {
	reader := facts.New(facts.World{Home: "/home/dev", Project: "/home/dev/project"})
	seen := reader.Of(&hook.Event{
		Name: hook.PreToolUse,
		Fields: map[string]any{
			"cwd": "/home/dev/project", "tool_name": "Bash",
			"tool_input": map[string]any{"command": `cd .. && sudo sh -c 'rm -rf old'`},
		},
	})
	for _, c := range seen.Shell.Commands {
		fmt.Println("command:", *c.Program, c.Via, "in", *c.Dir)
	}
	for _, e := range seen.Effects {
		fields := hook.Tree(&e)
		fmt.Println("effect:", e.Kind(), fields["path"], fields["area"])
	}
	// Output:
	// command: cd [] in /home/dev/project
	// command: sh [sudo] in /home/dev
	// command: rm [sudo sh] in /home/dev
	// effect: fs.delete /home/dev/old user
}
