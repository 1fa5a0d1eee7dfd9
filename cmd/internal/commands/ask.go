package commands

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/hookpath"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
)

// callFlags say which call a person asks about.
type callFlags struct {
	dirs  dirFlags
	tool  string
	cwd   string
	about string // --event: another event than a tool's call
	json  bool
	run   bool // handlers
}

func (f *callFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tool, "tool", "Bash", "the tool; for others than a shell the argument is its path, address or JSON input")
	cmd.Flags().StringVar(&f.about, "event", "", "another `EVENT`: its name, with the field that matters as argument; a file, or -;\nor what an event case says happens, such as 'prompt: deploy it'")
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "the agent's working directory `DIR` (default: this one)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	cmd.Flags().BoolVar(&f.run, "run-handlers", false, "run commands and other handlers, too; they really act")
	offer(cmd, "tool", shortTools)
	cmd.RegisterFlagCompletionFunc("event", orFiles(each(events))) // an event's name, or a file
	addDirFlags(cmd, &f.dirs)
}

// dir is the directory that the call is made in.
func (f *callFlags) dir() (string, error) {
	if f.cwd == "" {
		return os.Getwd()
	}
	return filepath.Abs(f.cwd)
}

// event makes the event of a tool call from one argument.
func (f *callFlags) event(line string) (hook.Event, error) {
	dir, err := f.dir()
	if err != nil {
		return hook.Event{}, err
	}
	input, err := toolInput(f.tool, line)
	if err != nil {
		return hook.Event{}, err
	}
	return hook.Event{
		Agent: "claude",
		Name:  hook.PreToolUse,
		Fields: map[string]any{
			"hook_event_name": string(hook.PreToolUse),
			"session_id":      "gate-try",
			"cwd":             filepath.ToSlash(dir),
			"tool_name":       f.tool,
			"tool_input":      input,
		},
		Gate: core.Now(places.AccountName(), true),
	}, nil
}

// toolInput makes a tool's input of an argument: its JSON, or its first field.
func toolInput(tool, arg string) (map[string]any, error) {
	if input, err := strictjson.Object([]byte(arg), strictjson.Limits{}); err == nil {
		return input, nil
	}
	if input := shortInputs(arg)[tool]; input != nil {
		return input, nil
	}
	return nil, usageError("give the input of " + quoted(tool) + ` as JSON, such as '{"path": "x"}'`)
}

// shortInputs are the inputs of the tools that take one argument for their first field.
func shortInputs(arg string) map[string]map[string]any {
	return map[string]map[string]any{
		"Bash":         {"command": arg},
		"WebFetch":     {"url": arg, "prompt": "read it"},
		"WebSearch":    {"query": arg},
		"Read":         {"file_path": arg},
		"Write":        {"file_path": arg, "content": ""},
		"Edit":         {"file_path": arg, "old_string": "a", "new_string": "b"},
		"NotebookEdit": {"notebook_path": arg, "new_source": ""},
		"Glob":         {"pattern": arg},
		"Grep":         {"pattern": arg},
	}
}

// shortTools are their names.
func shortTools() []string { return slices.Collect(maps.Keys(shortInputs(""))) }

// gate sets gate up as it would answer this person's agent in dir.
func (f *callFlags) gate(p process, dir string, options ...engine.Option) (*setup.Gate, error) {
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, err
	}
	return setup.New(setup.Options{
		For: sources.For{Machine: p.machine(d, places.ProjectRoot("", dir))},
		Run: f.run, Handlers: p.handlers(handlers.Options{Progress: p.waits(false)}),
		Engine: options,
	})
}

// decide answers one call as a person asked about it.
func (f *callFlags) decide(ctx context.Context, p process, ev hook.Event, options ...engine.Option) (*setup.Gate, hook.Decision, error) {
	g, err := f.gate(p, ev.Dir(), options...)
	if err != nil {
		return nil, hook.Decision{}, err
	}
	return g, g.Decide(ctx, ev), nil
}

// statusOf is the exit status that stands for a decision.
func statusOf(d *hook.Decision) int {
	switch d.Effect {
	case hook.Pass, hook.Allow:
		return exitOK
	case hook.Ask:
		return exitAsk
	}
	return exitReject
}

// printJSON writes a document for programs.
func printJSON(p process, doc any) error {
	return emit(p, []byte(strictjson.Indent(doc)+"\n"))
}

// adapterFor finds an agent's adapter.
func adapterFor(agent string) (adapters.Adapter, error) {
	a, err := hookpath.Adapter(agent)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return a, nil
}
