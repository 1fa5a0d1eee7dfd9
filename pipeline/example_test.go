package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"gate"
	"gate/hook"
	"gate/pipeline"
)

// An agent with one tool: what the library denies does not run, what the Allow
// list does not mean is put to a person.
func Example() {
	g, err := gate.New(gate.Options{Home: "/home/dev", Account: "dev"})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := g.Pipeline(pipeline.Options{
		Dir: "/home/dev/project", Allow: []string{"Bash(git status:*)"},
		Approve: func(_ context.Context, q pipeline.Question) (bool, error) {
			fmt.Println("may it run?", q.Input["command"])
			return true, nil
		},
		Tools: []pipeline.Tool{{
			Name:   "Bash",
			Schema: []byte(`{"type": "object", "required": ["command"], "properties": {"command": {"type": "string"}}}`),
			Run: func(_ context.Context, input map[string]any) (any, error) {
				return fmt.Sprintf("ran %s", input["command"]), nil
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"command": "git status"}`, `{"command": "make"}`, `{"command": "rm -rf ~"}`, `{"line": "ls"}`} {
		result, err := p.Call(context.Background(), pipeline.Call{Tool: "Bash", Input: []byte(input)})
		var rejected *pipeline.RejectedError
		switch {
		case errors.As(err, &rejected):
			fmt.Println("rejected by", rejected.Reasons[0].Hook)
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(result.Output)
		}
	}
	// Output:
	// ran git status
	// may it run? make
	// ran make
	// rejected by gate.filesystem.delete
	// invalid input of Bash: missing properties: 'command'
}

// A function changes what a tool gets; what it makes of it is validated and
// judged like any other input.
func ExamplePipeline_Call_rewrite() {
	g, err := gate.New(gate.Options{Hooks: []gate.Hook{{
		Hook: hook.Hook{ID: "units", Events: []hook.Name{hook.PreToolUse}, Matcher: "weather"},
		Func: func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
			units := any("metric")
			if ev.ToolInput()["city"] == "Springfield" {
				units = 7 // a mistake
			}
			return hook.Verdict{Rewrites: []hook.Rewrite{{Reason: "we are in Europe", Input: map[string]any{"units": units}}}}, nil
		},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := g.Pipeline(pipeline.Options{Dir: "/srv", Tools: []pipeline.Tool{{
		Name:   "weather",
		Schema: []byte(`{"properties": {"units": {"enum": ["metric", "imperial"]}}}`),
		Run: func(_ context.Context, input map[string]any) (any, error) {
			return fmt.Sprint(input["city"], ", ", input["units"]), nil
		},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, city := range []string{"Ulm", "Springfield"} {
		result, err := p.Call(context.Background(), pipeline.Call{Tool: "weather", Input: fmt.Appendf(nil, `{"city": %q}`, city)})
		if err != nil {
			fmt.Println(regexp.MustCompile(`\(gate \w+\)`).ReplaceAllString(err.Error(), "(gate …)"))
			continue
		}
		fmt.Println(result.Output)
	}
	// Output:
	// Ulm, metric
	// the rewrite by units: not a valid input of weather: /units: value must be one of "metric", "imperial" (gate …)
}

func ExamplePipeline_Fire() {
	g, err := gate.New(gate.Options{Hooks: []gate.Hook{{
		Hook: hook.Hook{ID: "polite", Events: []hook.Name{hook.UserPromptSubmit}},
		Func: func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
			return hook.Verdict{Rewrites: []hook.Rewrite{{Value: ev.Text("prompt") + ", please"}}}, nil
		},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := g.Pipeline(pipeline.Options{Dir: "/srv"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := p.Fire(context.Background(), hook.UserPromptSubmit, map[string]any{"prompt": "tidy up"})
	fmt.Println(result.Prompt, err)
	// Output: tidy up, please <nil>
}
