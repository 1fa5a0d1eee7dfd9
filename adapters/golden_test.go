package adapters_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// known are the events of the table, all of them Claude Code's.
func known() []hook.Name {
	var names []hook.Name
	for _, m := range moment.Moments() {
		names = append(names, m.Name)
	}
	return names
}

const unheard hook.Name = "SomethingNew"

// nobody marks the cases in which no person can be asked.
type golden struct {
	name     string
	nobody   bool
	decision *hook.Decision
}

func decided(e hook.Effect, more func(*hook.Decision)) *hook.Decision {
	d := &hook.Decision{ID: "7k3q9z", Effect: e}
	if e > hook.Pass {
		d.Reasons = []hook.Reason{{ID: "acme.rule", Effect: e, Reason: "the reason to " + e.String(), Hook: "acme.rule"}}
	}
	if more != nil {
		more(d)
	}
	return d
}

func rewritten(d *hook.Decision) {
	d.Rewrite = map[string]any{"command": "ls -l", "description": "d"}
	d.Changes = []hook.Change{{Hook: "acme.safe", Reason: "long listings only"}}
}

// goldens are the decisions that every event is answered for.
func goldens() []golden {
	fault := hook.Faultf(hook.FaultTimeout, "no answer in time")
	ownFault := func(d *hook.Decision) {
		d.Fault = fault
		d.Reasons = []hook.Reason{{Effect: hook.Deny, Reason: "gate could not answer (timeout): no answer in time", Help: "gate doctor --fix", Hook: "gate"}}
		d.Steps = []hook.Step{{Hook: &hook.Hook{ID: "gate"}, Effect: hook.Deny, Fault: fault}}
	}
	hookFault := func(d *hook.Decision) {
		d.Reasons = []hook.Reason{{Effect: hook.Deny, Reason: "acme.slow could not answer (timeout): no answer in time", Help: "gate doctor --fix", Hook: "acme.slow"}}
		d.Steps = []hook.Step{{Hook: &hook.Hook{ID: "acme.slow"}, Effect: hook.Deny, Fault: fault}}
	}
	return []golden{
		{name: "no opinion", decision: decided(hook.Pass, nil)},
		{name: "allow", decision: decided(hook.Allow, nil)},
		{name: "ask", decision: decided(hook.Ask, nil)},
		{name: "ask, nobody there", nobody: true, decision: decided(hook.Ask, nil)},
		{name: "deny", decision: decided(hook.Deny, func(d *hook.Decision) {
			d.Reasons[0].Suggestion = "git push origin HEAD"
			d.Reasons[0].Help = "ask the owner of the branch"
			d.Reasons = append(d.Reasons,
				hook.Reason{Effect: hook.Ask, Reason: "never shown beside a deny"},
				hook.Reason{Effect: hook.Deny, Reason: "a second reason"})
		})},
		{name: "rewrite", decision: decided(hook.Pass, rewritten)},
		{name: "rewrite and allow", decision: decided(hook.Allow, rewritten)},
		{name: "rewrite and ask", decision: decided(hook.Ask, rewritten)},
		{name: "rewrite and deny", decision: decided(hook.Deny, rewritten)},
		{name: "rewritten prompt", decision: decided(hook.Pass, func(d *hook.Decision) { d.Rewrite = "hello ***" })},
		{name: "context", decision: decided(hook.Pass, func(d *hook.Decision) {
			d.Context = []hook.Context{{Text: "the build is red", Strategy: hook.ToolResult}, {Text: "it is Friday", Strategy: hook.UserMessage}}
		})},
		{name: "output", decision: decided(hook.Pass, func(d *hook.Decision) {
			d.Output = map[string]any{"stdout": "***", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false}
			d.Changes = []hook.Change{{Hook: "acme.mask", Reason: "one secret masked"}}
		})},
		{name: "output as text", decision: decided(hook.Pass, func(d *hook.Decision) { d.Output = "***" })},
		{name: "output of another shape", decision: decided(hook.Pass, func(d *hook.Decision) { d.Output = []any{"***"} })},
		{name: "halt", decision: decided(hook.Deny, func(d *hook.Decision) {
			d.Reasons[0].Reason = "enough for today"
			d.Halt = &d.Reasons[0]
		})},
		{name: "warn", decision: decided(hook.Pass, func(d *hook.Decision) {
			d.Warnings = []hook.Reason{{Reason: "this takes long", Help: "run it at night"}}
			d.Notices = []string{"project hooks are inactive until trusted"}
			d.Steps = []hook.Step{{Hook: &hook.Hook{ID: "proj.lint"}, Fault: fault}}
		})},
		{name: "a warning that says the fault", decision: decided(hook.Pass, func(d *hook.Decision) {
			d.Warnings = []hook.Reason{{Hook: "proj.lint", Reason: "proj.lint could not answer (timeout): no answer in time"}}
			d.Steps = []hook.Step{{Hook: &hook.Hook{ID: "proj.lint"}, Fault: fault}}
		})},
		{name: "fault of gate", decision: decided(hook.Deny, ownFault)},
		{name: "fault of a hook", decision: decided(hook.Deny, hookFault)},
		{name: "fault of a source", decision: decided(hook.Deny, func(d *hook.Decision) {
			f := hook.Faultf(hook.FaultLoad, "push.rego:3: rego_parse_error")
			whole := &hook.Hook{ID: "managed", Source: "managed", Title: "the administrator's policies", Whole: "the administrator's policies", Authority: hook.Managed}
			d.Steps = []hook.Step{{Hook: whole, Effect: hook.Deny, Fault: f, Remedy: "the administrator corrects the file, or publishes a corrected release"}}
			d.Reasons = []hook.Reason{{Effect: hook.Deny, Reason: whole.Title + " could not be loaded: push.rego:3: rego_parse_error", Help: d.Steps[0].Remedy, Hook: "managed"}}
		})},
		{name: "deny and fault", decision: decided(hook.Deny, func(d *hook.Decision) {
			deny := d.Reasons[0]
			hookFault(d)
			d.Reasons = append([]hook.Reason{deny}, d.Reasons...)
			d.Steps = append(d.Steps, hook.Step{Effect: hook.Deny, Verdict: hook.Verdict{Reasons: []hook.Reason{deny}}})
		})},
		{name: "unreadable event", decision: &hook.Decision{ID: "7k3q9z", Effect: hook.Deny,
			Fault: &hook.Fault{Kind: hook.FaultEvent, Err: errors.New(`event "PreToolUse": tool_input.command: null where a string is wanted`)}}},
		{name: "no decision"},
	}
}

// eventFor returns a real event of that name, or one made up where none was
// ever captured.
func eventFor(t testing.TB, agent string, n hook.Name) hook.Event {
	t.Helper()
	file := map[hook.Name]string{
		hook.PreToolUse: "PreToolUse.Bash", hook.PostToolUse: "PostToolUse.Bash", hook.PermissionRequest: "PermissionRequest.Bash",
		moment.PermissionDenied: "PermissionDenied.Bash", hook.PostToolUseFailure: "PostToolUseFailure.Bash",
	}[n]
	if file == "" {
		file = string(n)
	}
	files, err := filepath.Glob("testdata/payloads/" + file + ".*")
	if err != nil {
		t.Fatal(err)
	}
	extra := map[hook.Name]string{
		moment.StopFailure: `,"error":"rate_limit"`, moment.TeammateIdle: `,"teammate_name":"t"`,
		moment.DirectoryAdded: `,"directory":"/d","source":"slash_command"`, unheard: ``,
	}
	data := []byte(event(string(n), extra[n]))
	if _, made := extra[n]; !made {
		if len(files) == 0 {
			t.Fatalf("no payload of %s", n)
		}
		slices.Sort(files)
		if data, err = os.ReadFile(files[len(files)-1]); err != nil {
			t.Fatal(err)
		}
	}
	ev, err := adapter(t, agent).Parse(data, "")
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func show(a adapters.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "exit %d\n", a.Status)
	for _, stream := range []struct {
		name string
		data []byte
	}{{"stdout", a.Stdout}, {"stderr", a.Stderr}} {
		if len(stream.data) > 0 {
			text := strings.TrimSuffix(string(stream.data), "\n")
			b.WriteString(stream.name + ": " + strings.ReplaceAll(text, "\n", "\n        ") + "\n")
		}
	}
	return b.String()
}

// TestGoldens holds every answer to every event against testdata/<agent>, one
// file an event, one section a case. The files were reviewed against the
// contract by hand: a difference is a change of protocol.
func TestGoldens(t *testing.T) {
	for _, agent := range []string{"claude", "generic"} {
		names := append(known(), unheard)
		if agent == "generic" {
			names = []hook.Name{hook.PreToolUse, hook.UserPromptSubmit, hook.PostToolUse, hook.Stop, unheard}
		}
		var want []string
		for _, n := range names {
			file := filepath.Join("testdata", agent, string(n)+".golden")
			want = append(want, file)
			t.Run(agent+"/"+string(n), func(t *testing.T) { goldenFile(t, agent, n, file) })
		}
		got, err := filepath.Glob(filepath.Join("testdata", agent, "*.golden"))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("goldens of %s: have %q, want %q", agent, got, want)
		}
	}
}

func goldenFile(t *testing.T, agent string, n hook.Name, file string) {
	a := adapter(t, agent)
	var now txtar.Archive
	for _, g := range goldens() {
		ev := eventFor(t, agent, n)
		ev.Gate.Interactive = !g.nobody
		if g.name == "unreadable event" {
			ev = hook.Event{Name: n}
		}
		now.Files = append(now.Files, txtar.File{Name: g.name, Data: []byte(show(a.Render(&ev, g.decision)))})
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, txtar.Format(&now), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range old.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range now.Files {
		if got := string(f.Data); got != want[f.Name] {
			t.Errorf("%s:\n%s\nwant:\n%s", f.Name, got, want[f.Name])
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("unknown sections %q", slices.Sorted(maps.Keys(want)))
	}
}

// An event without even a name blocks by status, without a form.
func TestNameless(t *testing.T) {
	for _, ev := range []*hook.Event{nil, {}, {Agent: "claude"}} {
		a := adapter(t, "claude").Render(ev, nil)
		if a.Status != 2 || len(a.Stdout) != 0 || !strings.Contains(string(a.Stderr), "gate doctor --fix") {
			t.Errorf("%+v: %s", ev, show(a))
		}
	}
}
