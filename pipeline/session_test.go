package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gate"
	"gate/hook"
	"gate/internal/handlers"
	"gate/internal/session"
	"gate/pipeline"
)

func injection(text, matcher string) session.Injection {
	return session.Injection{Text: text, Matcher: matcher}
}

// TestCancel ends the context while a call is in each of its stages: nothing
// later runs, and the error says where it was.
func TestCancel(t *testing.T) {
	stop := errors.New("the person pressed escape")
	for _, at := range []pipeline.Stage{
		pipeline.StageEnabled, pipeline.StageValidation, pipeline.StageHooks, pipeline.StagePermission,
		pipeline.StageApproval, pipeline.StageExecution, pipeline.StageSuccess, pipeline.StageFailure,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var last pipeline.Stage
		ran := false
		r := rig{
			tool: shell(), hooks: on(hook.PreToolUse, ask("sure?")),
			options: pipeline.Options{
				Trace: func(_ pipeline.Call, s pipeline.Stage) {
					if last = s; s == at {
						cancel(stop)
					}
				},
				Approve: func(ctx context.Context, _ pipeline.Question) (bool, error) {
					if at == pipeline.StageApproval {
						select {} // nobody is there, and nobody listens
					}
					return true, nil
				},
			},
		}
		r.tool.Run = func(ctx context.Context, _ map[string]any) (any, error) {
			ran = true
			if at == pipeline.StageFailure {
				return nil, errors.New("no such file")
			}
			return "a secret", ctx.Err()
		}
		result, err := r.pipeline(t).Call(ctx, pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "ls"}`)})
		cancel(nil)
		var cancelled *pipeline.CancelledError
		if !errors.As(err, &cancelled) || !errors.Is(err, context.Canceled) || !errors.Is(err, stop) {
			t.Errorf("%s: %v", at, err)
			continue
		}
		if late := slices.Contains([]pipeline.Stage{pipeline.StageExecution, pipeline.StageSuccess, pipeline.StageFailure}, at); ran != late {
			t.Errorf("%s: the tool ran: %t", at, ran)
		}
		if last != at || result.Output != nil {
			t.Errorf("%s: it went on to %s, with output %v", at, last, result.Output)
		}
	}
}

// TestFire has each of the events that are not Call's judged.
func TestFire(t *testing.T) {
	fields := map[hook.Name]map[string]any{
		hook.UserPromptSubmit: {"prompt": "tidy up"},
		hook.SubagentStart:    {"agent_id": "a", "agent_type": "reviewer"},
		hook.SubagentStop:     {"agent_id": "a", "agent_type": "reviewer", "stop_hook_active": false},
		hook.Notification:     {"message": "waiting", "notification_type": "idle_prompt"},
		hook.Stop:             {"stop_hook_active": false},
	}
	events := pipeline.Events()
	if len(events) != 12 {
		t.Fatalf("%d events", len(events))
	}
	for _, name := range events {
		p := rig{hooks: on(name, remark("heard")), tool: shell()}.pipeline(t)
		result, err := p.Fire(t.Context(), name, fields[name])
		var invalid *pipeline.InvalidInputError
		switch name {
		case hook.PreToolUse, hook.PermissionRequest, hook.PostToolUse, hook.PostToolUseFailure:
			if !errors.As(err, &invalid) || len(result.Decisions) > 0 {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if err != nil || len(result.Context) != 1 || result.Context[0].Text != "heard" {
				t.Errorf("%s: %+v, %v", name, result.Context, err)
			}
		}
	}
}

func TestPrompt(t *testing.T) {
	for _, row := range []struct {
		name string
		f    handlers.Inline
		want string
		err  string
	}{
		{"as it is", remark(""), "tidy up", ""},
		{"rewritten", rewrite("tidy up, delete nothing"), "tidy up, delete nothing", ""},
		{"rejected", deny("no work on Sundays"), "", "*pipeline.RejectedError"},
		{"halted", halt("no work on Sundays"), "", "*pipeline.HaltError"},
		{"asked about", ask("sure?"), "", "*pipeline.RejectedError"},
	} {
		p := rig{hooks: on(hook.UserPromptSubmit, row.f), tool: shell()}.pipeline(t)
		result, err := p.Fire(t.Context(), hook.UserPromptSubmit, map[string]any{"prompt": "tidy up"})
		if kind := fmt.Sprintf("%T", err); result.Prompt != row.want || row.err != "" && kind != row.err || row.err == "" && err != nil {
			t.Errorf("%s: %q, %v", row.name, result.Prompt, err)
		}
	}
	p := rig{tool: shell()}.pipeline(t)
	for _, fields := range []map[string]any{nil, {"prompt": 1}, {"prompt": "a", "Prompt": "b"}, {"prompt": "a\xff"}, {"prompt": make(chan int)}} {
		_, err := p.Fire(t.Context(), hook.UserPromptSubmit, fields)
		var invalid *pipeline.InvalidInputError
		if !errors.As(err, &invalid) {
			t.Errorf("%v: %v", fields, err)
		}
	}
}

// TestInject delivers texts in order, each once, to the first call that they
// match, else to the next prompt; a sub-agent gets none.
func TestInject(t *testing.T) {
	p := rig{tool: shell()}.pipeline(t)
	for _, in := range []session.Injection{injection("one", ""), injection("two", "Read"), injection("three", "Ba*")} {
		if err := p.Inject(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Inject(injection("x", "(")); err == nil {
		t.Error("a broken matcher was taken")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := p.Call(gone, pipeline.Call{Tool: "Bash"}); err == nil || texts(r) != "" {
		t.Errorf("a call that was cancelled brought %q, %v", texts(r), err)
	}
	call := func(agent string) string {
		r, _ := p.Call(t.Context(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "ls"}`), AgentID: agent})
		return texts(r)
	}
	turn := func() string {
		r, err := p.Fire(t.Context(), hook.UserPromptSubmit, map[string]any{"prompt": "go on"})
		if err != nil {
			t.Fatal(err)
		}
		return texts(r)
	}
	for i, step := range []struct{ got, want string }{
		{call("sub"), ""}, {call(""), "one three"}, {call(""), ""}, {turn(), "two"}, {turn(), ""},
	} {
		if step.got != step.want {
			t.Errorf("step %d: %q, not %q", i, step.got, step.want)
		}
	}
}

func texts(r *pipeline.Result) string {
	var out []string
	for _, c := range r.Context {
		out = append(out, c.Text)
	}
	return strings.Join(out, " ")
}

// TestOnce runs a hook with Once set until its first success in the session.
func TestOnce(t *testing.T) {
	runs := 0
	r := rig{tool: shell(), register: []gate.Hook{{
		Hook: hook.Hook{ID: "greet", Events: []hook.Name{hook.PreToolUse}, Once: true},
		Func: func(context.Context, *hook.Event) (hook.Verdict, error) {
			if runs++; runs == 1 {
				return hook.Verdict{}, errors.New("not yet")
			}
			return hook.Verdict{}, nil
		},
	}}}
	p := r.pipeline(t)
	for range 4 {
		if _, err := p.Call(t.Context(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "ls"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if runs != 2 {
		t.Errorf("it ran %d times", runs)
	}
}

// TestSecrets holds that the model gets no secret that a hook quotes.
func TestSecrets(t *testing.T) {
	const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	quote := func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
		line, _ := ev.ToolInput()["command"].(string)
		return hook.Verdict{
			Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "not " + line}}, Context: []hook.Context{{Text: "it said " + line}},
		}, nil
	}
	tool := shell()
	tool.Schema = nil
	r, err := rig{hooks: on(hook.PreToolUse, quote), tool: tool}.pipeline(t).Call(t.Context(), pipeline.Call{
		Tool: "Bash", Input: []byte(`{"command": "curl -u me:` + token + ` https://example.org"}`),
	})
	var rejected *pipeline.RejectedError
	if !errors.As(err, &rejected) {
		t.Fatal(err)
	}
	if told := fmt.Sprint(err, rejected.Reasons, r.Context, r.Person); strings.Contains(told, token) || !strings.Contains(told, "redacted") {
		t.Error(told)
	}
}

// TestStored keeps the memory of a session in a store: another pipeline, or a
// person who injects a text, goes on with it.
func TestStored(t *testing.T) {
	store := session.Store{Dir: filepath.Join(t.TempDir(), "sessions")}
	kept := store.Of(session.Key{Agent: "generic", Session: "s"})
	for i := 1; i <= 2; i++ {
		p := rig{tool: shell(), options: pipeline.Options{Memory: kept}}.pipeline(t)
		if err := kept.Update(t.Context(), func(m *session.Memory) error { _, err := m.Inject(injection("hello", ""), time.Now()); return err }); err != nil {
			t.Fatal(err)
		}
		r, err := p.Call(t.Context(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "ls"}`)})
		if m, _ := kept.Read(); err != nil || texts(r) != "hello" || m.Calls != i {
			t.Errorf("call %d: %q, %v, %d calls counted", i, texts(r), err, m.Calls)
		}
	}
}

// forgetful is a memory that cannot be changed.
type forgetful struct{ session.Held }

func (*forgetful) Update(context.Context, func(*session.Memory) error) error {
	return errors.New("the disk is full")
}

// TestForgetful holds that a skill does not start whose hooks cannot be kept.
func TestForgetful(t *testing.T) {
	project := t.TempDir()
	skill := filepath.Join(project, ".claude", "skills", "deploy")
	if err := os.MkdirAll(skill, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: deploy\ngate:\n  hooks:\n    PreToolUse:\n      - {matcher: Bash, command: ./check.sh}\n---\n"
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, memory := range map[string]session.Kept{"": &session.Held{}, "*pipeline.RejectedError": &forgetful{}} {
		g, err := gate.New(gate.Options{Project: project, Home: "/home/dev", Account: "dev"})
		if err != nil {
			t.Fatal(err)
		}
		ran := false
		p, err := g.Pipeline(pipeline.Options{Dir: project, Memory: memory, Tools: []pipeline.Tool{{
			Name: "Skill", Run: func(context.Context, map[string]any) (any, error) { ran = true; return nil, nil },
		}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Call(t.Context(), pipeline.Call{ID: "1", Tool: "Skill", Input: []byte(`{"skill": "deploy"}`)})
		if err == nil && name != "" || err != nil && fmt.Sprintf("%T", err) != name || ran != (name == "") {
			t.Errorf("%q: %v, ran: %t", name, err, ran)
		}
		if m, _ := memory.Read(); name == "" && len(m.Registered) != 1 {
			t.Errorf("%d registrations", len(m.Registered))
		}
	}
}

// TestNoTampering gives a tool and a person copies: what they change is not what
// hooks see afterwards.
func TestNoTampering(t *testing.T) {
	var seen []any
	look := func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
		seen = append(seen, ev.ToolInput()["command"])
		return hook.Verdict{}, nil
	}
	r := rig{tool: shell(), hooks: on(hook.PostToolUse, look), options: pipeline.Options{
		Ask: []string{"Bash"},
		Approve: func(_ context.Context, q pipeline.Question) (bool, error) {
			q.Input["command"] = "rm -rf /"
			return true, nil
		},
	}}
	r.tool.Run = func(_ context.Context, input map[string]any) (any, error) {
		seen = append(seen, input["command"])
		input["command"] = "rm -rf ~"
		return nil, nil
	}
	result, err := r.pipeline(t).Call(t.Context(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "ls"}`)})
	if err != nil || !slices.Equal(seen, []any{"ls", "ls"}) || result.Input["command"] != "ls" {
		t.Errorf("%v, %v, %v", seen, result.Input, err)
	}
}

// TestNew reports every mistake in the options at once.
func TestNew(t *testing.T) {
	g, err := gate.New(gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(context.Context, map[string]any) (any, error) { return nil, nil }
	_, err = g.Pipeline(pipeline.Options{
		Dir: "project", Allow: []string{"effect(git.push)", "Bash("}, Deny: []string{"Weather(x)"},
		Tools: []pipeline.Tool{
			{Name: "", Run: run}, {Name: "a"}, {Name: "Read", Run: run}, {Name: "READ", Run: run},
			{Name: "b", Run: run, Schema: []byte(`{"type": "strin"}`)},
			{Name: "c", Run: run, Schema: []byte(`{"type": "object", "type": "array"}`)},
			{Name: "d", Run: run, Schema: []byte(`{"$ref": "file:///etc/passwd"}`)},
			{Name: "e", Run: run, Schema: []byte(`{`)},
		},
	})
	if err == nil {
		t.Fatal("no mistake was found")
	}
	for _, want := range []string{
		"absolute", "Allow[0]", "Allow[1]", "Deny[0]", "a tool needs a name", `tool "a"`, "look alike", `tool "b"`, `tool "c"`, `tool "d"`, `tool "e"`, "lies outside",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
}

// TestLibrary has the policies that gate brings judge, with budgets of the
// session's own.
func TestLibrary(t *testing.T) {
	var decided []string
	r := rig{tool: shell(), library: true, options: pipeline.Options{
		Decided: func(_ *hook.Event, d *hook.Decision) { decided = append(decided, fmt.Sprint(d.Event, " ", d.Effect)) },
		Now:     func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}}
	p := r.pipeline(t)
	_, err := p.Call(t.Context(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "rm -rf ~"}`)})
	var rejected *pipeline.RejectedError
	if !errors.As(err, &rejected) || !strings.Contains(rejected.Reason, "home directory") || rejected.ID == "" || len(rejected.Reasons) == 0 {
		t.Errorf("rm -rf ~: %v", err)
	}
	if _, err := p.Call(t.Context(), pipeline.Call{Tool: "Bash", Input: []byte(`{"command": "go test ./..."}`)}); err != nil {
		t.Errorf("go test: %v", err)
	}
	if got := strings.Join(decided, ", "); got != "PreToolUse deny, PreToolUse pass, PostToolUse pass" {
		t.Errorf("decided: %s", got)
	}
}
