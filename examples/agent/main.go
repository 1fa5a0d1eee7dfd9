// Command agent is a tiny agent behind gate: a scripted model, three tools, and
// a person at the terminal who is asked where a rule asks. It shows package
// pipeline; the tools really read, write and run, in a directory of their own.
//
//	go run ./examples/agent
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"gate"
	"gate/hook"
	"gate/pipeline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "agent")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(ctx, dir, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		stop()
		os.Exit(1)
	}
}

// run is one session: a prompt, the model's calls one after another, the end.
func run(ctx context.Context, dir string, terminal io.Reader, out io.Writer) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	p, err := setUp(dir, tools(root), &person{bufio.NewScanner(terminal), out})
	if err != nil {
		return err
	}
	prompt, err := p.Fire(ctx, hook.UserPromptSubmit, map[string]any{"prompt": "Write the notes and tidy up."})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "person: %s\n", prompt.Prompt)
	for call := range script() {
		fmt.Fprintf(out, "\nmodel: %s %s\n", call.Tool, call.Input)
		result, err := p.Call(ctx, call)
		for _, c := range result.Context {
			fmt.Fprintf(out, "  note: %s\n", c.Text)
		}
		var halt *pipeline.HaltError
		var cancelled *pipeline.CancelledError
		switch {
		case err == nil:
			answer, err := json.Marshal(result.Output)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "  %s\n", answer)
		case errors.As(err, &halt), errors.As(err, &cancelled):
			return err
		default: // whatever it is, the model reads it and goes on
			fmt.Fprintf(out, "  %s: %s\n", kind(err), strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
	}
	_, err = p.Fire(ctx, hook.SessionEnd, map[string]any{"reason": "other"})
	return err
}

// setUp puts gate before the tools: the policies that it brings, a function of
// the program's own, and permission rules.
func setUp(dir string, tools []pipeline.Tool, who *person) (*pipeline.Pipeline, error) {
	g, err := gate.New(gate.Options{
		Project: dir, Home: "/home/dev", Account: "dev",
		Hooks: []gate.Hook{{
			Hook: hook.Hook{ID: "agent.short", Events: []hook.Name{hook.PreToolUse}, Matcher: "Write"},
			Func: shorten,
		}},
	})
	if err != nil {
		return nil, err
	}
	return g.Pipeline(pipeline.Options{
		Tools: tools, Dir: dir, Approve: who.approve,
		Allow: []string{"Read", "Write(**)", "Bash(ls:*)"},
		Deny:  []string{"Bash(git push:*)"},
	})
}

// shorten rewrites what would be written: notes are one line.
func shorten(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
	text, _ := ev.ToolInput()["content"].(string)
	line, rest, _ := strings.Cut(text, "\n")
	if rest == "" {
		return hook.Verdict{}, nil
	}
	return hook.Verdict{
		Rewrites: []hook.Rewrite{{Reason: "notes are one line", Input: map[string]any{"content": line + "\n"}}},
		Context:  []hook.Context{{Text: "only the first line is kept"}},
	}, nil
}

// kind names an error for the trace.
func kind(err error) string {
	var rejected *pipeline.RejectedError
	var invalid *pipeline.InvalidInputError
	switch {
	case errors.As(err, &rejected):
		return "rejected"
	case errors.As(err, &invalid):
		return "invalid"
	}
	return "failed"
}

// A person answers at the terminal.
type person struct {
	in  *bufio.Scanner
	out io.Writer
}

// approve asks; anything but yes is no.
func (p *person) approve(_ context.Context, q pipeline.Question) (bool, error) {
	input, err := json.Marshal(q.Input)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(p.out, "  %s\n  run %s %s? [yes/no] ", q.Reason, q.Call.Tool, input)
	if !p.in.Scan() {
		return false, errors.New("nobody answered")
	}
	fmt.Fprintln(p.out, p.in.Text())
	return strings.TrimSpace(p.in.Text()) == "yes", nil
}
