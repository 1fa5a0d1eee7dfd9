//go:build linux

package handlers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
	"gate/scopes"
)

// TestArguments holds that zeph's variable for the arguments is cut at 64 KiB,
// at a whole character, and that the program starts.
func TestArguments(t *testing.T) {
	for pad := range 4 { // wherever the limit falls within a character
		home := t.TempDir()
		long := strings.Repeat("x", pad) + strings.Repeat("…", 40<<10)
		ev, err := testEventOf(hook.PreToolUse, `{"tool_name": "Edit", "tool_input": {"text": "`+long+`"}}`)
		if err != nil {
			t.Fatal(err)
		}
		hooks := []*hook.Hook{{
			ID: "h", Kind: hook.Command, Dialect: moment.Zeph, Source: "own", Scope: hook.Session, Authority: hook.User,
			Events: []hook.Name{hook.PreToolUse}, OnFault: hook.FaultDeny,
			Config: map[string]any{"command": `printf %s "$ZEPH_TOOL_ARGS_JSON" > ` + home + "/args"},
		}}
		if d := decide(t, seedOptions(t, home), hooks, ev); d.Effect != hook.Pass {
			t.Fatal(describeDecision(&d))
		}
		args, err := os.ReadFile(filepath.Join(home, "args"))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(args); n > 64<<10 || n < 64<<10-3 || !utf8.Valid(args) || !strings.HasPrefix(string(args), `{"text":"`) {
			t.Errorf("pad %d: %d bytes, %q…%q", pad, n, args[:12], args[n-6:])
		}
	}
}

// counted answers for the hooks of a kind and counts them.
type counted struct {
	n     int
	fault *hook.Fault
}

func (c *counted) Evaluate(_ context.Context, hooks []*hook.Hook, _ *hook.Event) []engine.Answer {
	c.n += len(hooks)
	return slices.Repeat([]engine.Answer{{Fault: c.fault}}, len(hooks))
}

// TestDispatch is what zeph's own tests hold of hooks that call a tool of an MCP
// server: fire_hooks_mcp_unavailable_fail_open, …_fail_closed and
// fire_hooks_mcp_dispatch_called_when_provided.
func TestDispatch(t *testing.T) {
	unavailable := hook.Faultf(hook.FaultEval, "there is no server srv")
	for _, c := range []struct {
		name    string
		fault   *hook.Fault
		onFault hook.OnFault
		want    hook.Effect
	}{
		{"unavailable, open", unavailable, hook.FaultContinue, hook.Pass},
		{"unavailable, closed", unavailable, hook.FaultDeny, hook.Deny},
		{"called", nil, hook.FaultDeny, hook.Pass},
	} {
		set, err := scopes.New([]scopes.Source{{Name: "own", Scope: hook.Session, Authority: hook.User, Hooks: []*hook.Hook{{
			ID: "h", Kind: hook.MCPTool, Dialect: moment.Zeph, Source: "own", Scope: hook.Session, Authority: hook.User,
			Events: []hook.Name{hook.PreToolUse}, OnFault: c.onFault, Config: map[string]any{"server": "srv", "tool": "t"},
		}}}}, scopes.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		tool := &counted{fault: c.fault}
		e, err := engine.New(set, engine.WithEvaluator(hook.MCPTool, tool))
		if err != nil {
			t.Fatal(err)
		}
		ev, _ := testEventOf(hook.PreToolUse, `{"tool_name": "Edit", "tool_input": {}}`)
		if d := e.Decide(t.Context(), ev); d.Effect != c.want || tool.n != 1 {
			t.Errorf("%s: %d calls, %s", c.name, tool.n, describeDecision(&d))
		}
	}
}

// TestToolOfServer holds that what an MCP tool says to zeph replaces nothing.
func TestToolOfServer(t *testing.T) {
	ev, _ := testEventOf(hook.PostToolUse, `{"tool_name": "Edit", "tool_input": {}, "tool_response": "x"}`)
	by := &hook.Hook{ID: "h", Kind: hook.MCPTool, Dialect: moment.Zeph}
	a := readAnswer(by, &ev, []byte(`{"hookSpecificOutput":{"updatedToolOutput":"replaced"}}`))
	if got := describe(a); got != "no opinion" {
		t.Error(got)
	}
}

// TestObservers holds that hooks which can only observe change nothing, however
// they answer.
func TestObservers(t *testing.T) {
	all := hook.Verdict{
		Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "no"}}, Halt: []hook.Reason{{Reason: "stop"}},
		Context: []hook.Context{{Text: "text"}}, Env: map[string]string{"A": "b"},
		Warnings: []hook.Reason{{Reason: "careful"}}, Rewrites: []hook.Rewrite{{Value: "x"}},
	}
	o := Options{Inline: map[string]Inline{"h": func(context.Context, *hook.Event) (hook.Verdict, error) { return all, nil }}}
	for _, name := range []hook.Name{hook.Stop, hook.SubagentStart, hook.SubagentStop, hook.PreToolUse, hook.UserPromptSubmit} {
		by := &hook.Hook{
			ID: "h", Kind: hook.Inline, Dialect: moment.CodeWhale, Source: "own", Scope: hook.Session, Authority: hook.User,
			Events: []hook.Name{name}, OnFault: hook.FaultDeny, Config: map[string]any{"background": name == hook.UserPromptSubmit},
		}
		ev, _ := testEventOf(name, `{"prompt": "hi", "tool_name": "Bash", "tool_input": {}}`)
		d := decide(t, o, []*hook.Hook{by}, ev)
		if d.Effect != hook.Pass || d.Halt != nil || d.Rewrite != nil || len(d.Env)+len(d.Context) > 0 || len(d.Warnings) != 1 {
			t.Errorf("%s: %s", name, describeDecision(&d))
		}
	}
}

// TestBackground holds what is left of an answer that nobody waited for, by
// dialect: of an observer that it failed, and nothing of what it said.
func TestBackground(t *testing.T) {
	said := `{"text": "changed", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "late"}}`
	for _, c := range []struct {
		dialect hook.Dialect
		result  result
		want    []Late
	}{
		{moment.Claude, result{Stdout: []byte(said)}, []Late{{Hook: "h", Context: []string{"late"}}}},
		{moment.CodeWhale, result{Stdout: []byte(said)}, nil},
		{moment.CodeWhale, result{Stderr: []byte("no"), Status: 2}, []Late{{Hook: "h", Notices: []string{"in the background: h ended with status 2: no"}}}},
	} {
		h := New(Options{LateDir: t.TempDir()})
		by := &hook.Hook{ID: "h", Kind: hook.Command, Dialect: c.dialect, Async: true, Config: map[string]any{"background": true}}
		ev, _ := testEventOf(hook.UserPromptSubmit, `{"prompt": "hi"}`)
		l := h.late(by, &ev)
		l.keep(&c.result, time.Now())
		if got := h.Late(&ev); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, want %+v", c.dialect, got, c.want)
		}
	}
}

// FuzzDialect holds that no dialect reads more into an answer than it can say.
func FuzzDialect(f *testing.F) {
	files, _ := filepath.Glob("testdata/protocol/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		dialect := strings.TrimSuffix(filepath.Base(file), ".txt")
		for line := range strings.Lines(string(data)) {
			from, to := strings.IndexByte(line, '{'), strings.LastIndexByte(line, '}')
			if strings.HasPrefix(line, "run: ") && from >= 0 && to > from {
				f.Add(dialect, "PreToolUse", []byte(line[from:to+1]))
				f.Add(dialect, "PostToolUse", []byte(line[from:to+1]))
				f.Add(dialect, "UserPromptSubmit", []byte(line[from:to+1]))
			}
		}
	}
	f.Add("codewhale", "shell_env", []byte("A=b\n_=\nGATE_X=1"))
	f.Fuzz(func(t *testing.T, dialect, event string, said []byte) {
		h := &hook.Hook{ID: "h", Kind: hook.Command, Dialect: hook.Dialect(dialect), Config: map[string]any{"parse_result": true}}
		ev := &hook.Event{Name: hook.Name(event)}
		a := readAnswer(h, ev, said)
		v := a.Verdict
		for _, r := range v.Reasons {
			granted := h.Dialect == moment.Cocode && ev.Name == hook.PermissionRequest
			own := h.Dialect != moment.Cocode && h.Dialect != moment.Zeph && h.Dialect != moment.MassGen && h.Dialect != moment.CodeWhale
			if r.Effect == hook.Allow && !granted && !own {
				t.Errorf("%s allows %s", dialect, event)
			}
			if r.Effect == hook.Pass || strings.TrimSpace(r.Reason) == "" {
				t.Errorf("a reason without effect or text: %+v", r)
			}
		}
		for _, r := range v.Rewrites {
			if ev.Name.Rewrites() == "" || r.Value == nil {
				t.Errorf("%s rewrites %s: %v", dialect, event, r.Value)
			}
		}
		if len(v.Env) > 0 && (h.Dialect != moment.CodeWhale || ev.Name != moment.ShellEnv) {
			t.Errorf("%s sets variables on %s", dialect, event)
		}
		if h.Observes(ev.Name) && describe(a) != "no opinion" {
			t.Errorf("an observer says %s", describe(a))
		}
	})
}
