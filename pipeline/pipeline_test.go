package pipeline_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"gate"
	"gate/hook"
	"gate/internal/handlers"
	"gate/pipeline"
)

var update = flag.Bool("update", false, "write testdata")

// A rig is a pipeline whose hooks and tools are rows of a test.
type rig struct {
	hooks    map[hook.Name]handlers.Inline
	tool     pipeline.Tool
	options  pipeline.Options
	library  bool
	register []gate.Hook
}

// verdicts that hooks of the tests give.
func deny(reason string) handlers.Inline {
	return says(hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: reason}}})
}

func ask(reason string) handlers.Inline {
	return says(hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Ask, Reason: reason}}})
}

func allow() handlers.Inline {
	return says(hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Allow, Reason: "harmless"}}})
}

func halt(reason string) handlers.Inline {
	return says(hook.Verdict{Halt: []hook.Reason{{Effect: hook.Deny, Reason: reason}}})
}

func rewrite(value any) handlers.Inline {
	return says(hook.Verdict{Rewrites: []hook.Rewrite{{Reason: "safer", Value: value}}})
}

func remark(text string) handlers.Inline {
	return says(hook.Verdict{Context: []hook.Context{{Text: text}}})
}

func says(v hook.Verdict) handlers.Inline {
	return func(context.Context, *hook.Event) (hook.Verdict, error) { return v, nil }
}

func broken(context.Context, *hook.Event) (hook.Verdict, error) {
	return hook.Verdict{}, errors.New("the disk is full")
}

func (r rig) pipeline(t testing.TB) *pipeline.Pipeline {
	t.Helper()
	hooks := []gate.Hook{{ // so that somebody decides
		Hook: hook.Hook{ID: "program.nothing", Events: []hook.Name{"Nothing"}}, Func: says(hook.Verdict{}),
	}}
	for name, f := range r.hooks {
		hooks = append(hooks, gate.Hook{Hook: hook.Hook{ID: "program." + string(name), Events: []hook.Name{name}}, Func: f})
	}
	g, err := gate.New(gate.Options{
		Project: t.TempDir(), Home: "/home/dev", Account: "dev", Hooks: append(hooks, r.register...), WithoutLibrary: !r.library,
	})
	if err != nil {
		t.Fatal(err)
	}
	o := r.options
	o.Tools = append(o.Tools, r.tool)
	o.Dir, o.Session = "/home/dev/project", "s"
	p, err := g.Pipeline(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shell is a tool that says what it would run.
func shell() pipeline.Tool {
	return pipeline.Tool{
		Name: "Bash",
		Schema: []byte(`{"type": "object", "properties": {"command": {"type": "string", "maxLength": 40}},
			"required": ["command"], "additionalProperties": false}`),
		Run: func(_ context.Context, input map[string]any) (any, error) {
			return "ran " + input["command"].(string), nil
		},
	}
}

func (r rig) with(change func(*rig)) rig {
	change(&r)
	return r
}

func on(name hook.Name, f handlers.Inline) map[hook.Name]handlers.Inline {
	return map[hook.Name]handlers.Inline{name: f}
}

func answers(yes bool, err error) func(context.Context, pipeline.Question) (bool, error) {
	return func(context.Context, pipeline.Question) (bool, error) { return yes, err }
}

type row struct {
	name  string
	rig   rig
	input string // "": ls
	tool  string // "": Bash
}

// rows are the ways that a call can go.
func rows() []row {
	base := rig{tool: shell()}
	hooked := func(name hook.Name, f handlers.Inline) rig { return rig{tool: shell(), hooks: on(name, f)} }
	set := func(change func(*rig)) rig { return base.with(change) }
	tool := func(change func(*pipeline.Tool)) rig { return base.with(func(r *rig) { change(&r.tool) }) }
	lists := func(o pipeline.Options) rig { return set(func(r *rig) { r.options = o }) }
	both := func(f handlers.Inline, o pipeline.Options) rig {
		return rig{tool: shell(), hooks: on(hook.PreToolUse, f), options: o}
	}
	fails := func(context.Context, map[string]any) (any, error) { return nil, errors.New("no such file") }
	failing := func(f handlers.Inline) rig {
		return rig{tool: shell(), hooks: on(hook.PostToolUseFailure, f)}.with(func(r *rig) { r.tool.Run = fails })
	}
	return []row{
		{name: "nobody objects", rig: base},
		{name: "no such tool", rig: base, tool: "Bosh"},
		{name: "switched off", rig: tool(func(t *pipeline.Tool) { t.Enabled = func() bool { return false } })},
		{name: "Enabled panics", rig: tool(func(t *pipeline.Tool) { t.Enabled = func() bool { panic("no") } })},
		{name: "no JSON", rig: base, input: `{"command": "ls"`},
		{name: "no object", rig: base, input: `["ls"]`},
		{name: "look-alike keys", rig: base, input: `{"command": "ls", "Command": "rm -rf /"}`},
		{name: "a field is missing", rig: base, input: `{}`},
		{name: "a field too many", rig: base, input: `{"command": "ls", "sudo": true}`},
		{name: "the wrong type", rig: base, input: `{"command": 1}`},
		{name: "Check objects", rig: tool(func(t *pipeline.Tool) {
			t.Check = func(map[string]any) error { return errors.New("only on weekdays") }
		})},
		{name: "Check panics", rig: tool(func(t *pipeline.Tool) { t.Check = func(map[string]any) error { panic("oh") } })},

		{name: "a hook denies", rig: hooked(hook.PreToolUse, deny("not here"))},
		{name: "a hook halts", rig: hooked(hook.PreToolUse, halt("enough"))},
		{name: "a hook fails", rig: hooked(hook.PreToolUse, broken)},
		{name: "a hook that closes fails", rig: set(func(r *rig) {
			r.register = []gate.Hook{{Hook: hook.Hook{ID: "closing", Events: []hook.Name{hook.PreToolUse}, OnFault: hook.FaultDeny}, Func: broken}}
		})},
		{name: "a hook rewrites", rig: hooked(hook.PreToolUse, rewrite(map[string]any{"command": "ls -l"}))},
		{name: "a hook rewrites into what the schema refuses", rig: hooked(hook.PreToolUse, rewrite(map[string]any{"command": "ls", "sudo": true}))},
		{name: "a hook rewrites into nothing", rig: hooked(hook.PreToolUse, rewrite("ls"))},
		{name: "a hook remarks", rig: hooked(hook.PreToolUse, remark("mind the step"))},
		{name: "a hook asks, nobody can be asked", rig: hooked(hook.PreToolUse, ask("sure?"))},
		{name: "a hook asks, yes", rig: both(ask("sure?"), pipeline.Options{Approve: answers(true, nil)})},
		{name: "a hook asks, no", rig: both(ask("sure?"), pipeline.Options{Approve: answers(false, nil)})},
		{name: "a hook asks, the terminal is gone", rig: both(ask("sure?"), pipeline.Options{Approve: answers(true, errors.New("no terminal"))})},
		{name: "a hook asks, Approve panics", rig: both(ask("sure?"), pipeline.Options{
			Approve: func(context.Context, pipeline.Question) (bool, error) { panic("oh") },
		})},
		{name: "a hook asks, a hook of PermissionRequest denies", rig: rig{
			tool: shell(), options: pipeline.Options{Approve: answers(true, nil)},
			hooks: map[hook.Name]handlers.Inline{hook.PreToolUse: ask("sure?"), hook.PermissionRequest: deny("do not bother her")},
		}},
		{name: "a hook asks, a hook of PermissionRequest allows, the person does not", rig: rig{
			tool: shell(), options: pipeline.Options{Approve: answers(false, nil)},
			hooks: map[hook.Name]handlers.Inline{hook.PreToolUse: ask("sure?"), hook.PermissionRequest: allow()},
		}},

		{name: "a rule denies", rig: lists(pipeline.Options{Deny: []string{"Bash(ls:*)"}})},
		{name: "a rule denies what a rule allows", rig: lists(pipeline.Options{Deny: []string{"Bash(ls:*)"}, Allow: []string{"Bash"}})},
		{name: "a rule denies what a hook allows", rig: both(allow(), pipeline.Options{Deny: []string{"Bash(ls:*)"}})},
		{name: "a rule denies what a hook rewrote", rig: both(rewrite(map[string]any{"command": "rm x"}), pipeline.Options{Deny: []string{"Bash(rm:*)"}})},
		{name: "a rule would deny what a hook rewrote into something else", input: `{"command": "rm x"}`,
			rig: both(rewrite(map[string]any{"command": "ls x"}), pipeline.Options{Deny: []string{"Bash(rm:*)"}})},
		{name: "a rule asks, yes", rig: lists(pipeline.Options{Ask: []string{"Bash(ls:*)"}, Approve: answers(true, nil)})},
		{name: "a rule asks, nobody can be asked", rig: lists(pipeline.Options{Ask: []string{"Bash(ls:*)"}})},
		{name: "a rule allows", rig: lists(pipeline.Options{Allow: []string{"Bash(ls:*)"}})},
		{name: "a rule allows half of it", rig: lists(pipeline.Options{Allow: []string{"Bash(ls:*)"}}), input: `{"command": "ls && make"}`},
		{name: "a rule allows what nobody understands", rig: lists(pipeline.Options{Allow: []string{"Bash"}}), input: `{"command": "$X"}`},
		{name: "a rule perhaps denies", rig: lists(pipeline.Options{Deny: []string{"Bash(rm:*)"}}), input: `{"command": "$X y"}`},
		{name: "a rule allows what a hook asks about", rig: both(ask("sure?"), pipeline.Options{Allow: []string{"Bash"}})},
		{name: "no rule allows", rig: lists(pipeline.Options{Allow: []string{"Read"}})},
		{name: "no rule allows, a hook does", rig: both(allow(), pipeline.Options{Allow: []string{"Read"}})},

		{name: "the tool fails", rig: failing(remark("try again"))},
		{name: "the tool panics", rig: tool(func(t *pipeline.Tool) {
			t.Run = func(context.Context, map[string]any) (any, error) { panic("nil map") }
		})},
		{name: "the tool fails, a hook denies", rig: failing(deny("the path is secret"))},
		{name: "the tool fails, a hook halts", rig: failing(halt("enough"))},
		{name: "an output that is no JSON", rig: tool(func(t *pipeline.Tool) {
			t.Run = func(context.Context, map[string]any) (any, error) { return func() {}, nil }
		})},
		{name: "a hook replaces the output", rig: hooked(hook.PostToolUse, rewrite("[secret]"))},
		{name: "a hook remarks on the output", rig: hooked(hook.PostToolUse, remark("3 files"))},
		{name: "a hook denies the output", rig: hooked(hook.PostToolUse, deny("it holds a key"))},
		{name: "a hook halts after the tool", rig: hooked(hook.PostToolUse, halt("enough"))},
		{name: "a hook fails after the tool", rig: hooked(hook.PostToolUse, broken)},
	}
}

// TestStages holds what happens to a call, stage by stage, with how it ends.
func TestStages(t *testing.T) {
	const file = "testdata/stages.txt"
	var b strings.Builder
	for _, row := range rows() {
		var trace []string
		row.rig.options.Trace = func(_ pipeline.Call, s pipeline.Stage) { trace = append(trace, string(s)) }
		p := row.rig.pipeline(t)
		call := pipeline.Call{ID: "1", Tool: "Bash", Input: []byte(`{"command": "ls"}`)}
		if row.tool != "" {
			call.Tool = row.tool
		}
		if row.input != "" {
			call.Input = []byte(row.input)
		}
		result, err := p.Call(t.Context(), call)
		fmt.Fprintf(&b, "%s\n  %s\n", row.name, strings.Join(trace, " → "))
		writeEnd(&b, result, err)
		b.WriteString("\n")
	}
	golden(t, file, b.String())
}

// writeEnd writes how a call ended, without the decisions' ids.
func writeEnd(b *strings.Builder, r *pipeline.Result, err error) {
	text := func(s string) string {
		for _, d := range r.Decisions {
			s = strings.ReplaceAll(s, d.ID, "ID")
		}
		return strings.ReplaceAll(s, "\n", "\n    ")
	}
	if r.Input != nil {
		fmt.Fprintf(b, "  ran with %v\n", r.Input["command"])
	}
	for _, c := range r.Context {
		fmt.Fprintf(b, "  context: %s\n", c.Text)
	}
	for _, line := range r.Person {
		fmt.Fprintf(b, "  for the person: %s\n", text(line))
	}
	if err == nil {
		fmt.Fprintf(b, "  output: %v\n", r.Output)
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if !strings.HasPrefix(fmt.Sprintf("%T", err), "*pipeline.") {
			break
		}
		fmt.Fprintf(b, "  %s%s: %s\n", strings.TrimPrefix(fmt.Sprintf("%T", err), "*pipeline."), where(err), text(err.Error()))
	}
}

func where(err error) string {
	rejected, ok := err.(*pipeline.RejectedError)
	if !ok {
		return ""
	}
	out := " at " + string(rejected.Stage)
	if rejected.Rule != "" {
		out += ", rule " + rejected.Rule
	}
	if rejected.Ran {
		out += ", after it ran"
	}
	return out
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what happens; run: go test ./pipeline -run %s -update\n%s", file, t.Name(), got)
	}
}

// TestSideBySide runs calls at the same time: each gets its own answer, the
// injection comes once, and the session's counter counts them all.
func TestSideBySide(t *testing.T) {
	const calls = 50
	var mu sync.Mutex
	most := 0
	r := rig{tool: shell(), hooks: on(hook.PreToolUse, func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		if n, ok := ev.Memory["calls"].(int); ok {
			most = max(most, n)
		}
		if strings.HasSuffix(ev.ToolInput()["command"].(string), "7") {
			return deny("no sevens")(context.Background(), ev)
		}
		return hook.Verdict{}, nil
	})}
	p := r.pipeline(t)
	if err := p.Inject(injection("mind the gap", "Bash")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	told := 0
	for i := range calls {
		wg.Go(func() {
			line := fmt.Sprintf("echo %d", i)
			result, err := p.Call(t.Context(), pipeline.Call{Tool: "Bash", Input: fmt.Appendf(nil, `{"command": %q}`, line)})
			var rejected *pipeline.RejectedError
			if no := i%10 == 7; no != errors.As(err, &rejected) || !no && result.Output != "ran "+line {
				t.Errorf("%s: %v, %v", line, result.Output, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, c := range result.Context {
				if c.Text == "mind the gap" {
					told++
				}
			}
		})
	}
	wg.Wait()
	if told != 1 || most != calls {
		t.Errorf("told %d times; %d calls counted", told, most)
	}
}
