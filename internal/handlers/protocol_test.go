//go:build linux

package handlers

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A dialogue is one case of testdata/protocol: hooks of one dialect, an event,
// and what becomes of it.
type dialogue struct {
	event hook.Event
	hooks []*hook.Hook
}

// TestProtocols runs the tables of all dialects: real processes through the
// engine.
func TestProtocols(t *testing.T) {
	files, _ := filepath.Glob("testdata/protocol/*.txt")
	if len(files) < 5 {
		t.Fatalf("only %d tables", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tab := readTable(t, file)
			found := make([]string, len(tab.rows))
			t.Run("cases", func(t *testing.T) {
				for i, r := range tab.rows {
					found[i] = r.means
					t.Run(r.name, func(t *testing.T) {
						t.Parallel()
						found[i] = dialogueOf(t, hook.Dialect(strings.TrimSuffix(filepath.Base(file), ".txt")), r).run(t)
					})
				}
			})
			tab.hold(t, found)
		})
	}
}

func dialogueOf(t *testing.T, dialect hook.Dialect, r row) *dialogue {
	t.Helper()
	var c dialogue
	for _, f := range r.fields {
		if f[0] == "python" || strings.HasPrefix(f[1], "python3 ") {
			needPython(t)
		}
		if err := c.set(dialect, f[0], f[1]); err != nil {
			t.Fatalf("%s: %s: %v", f[0], f[1], err)
		}
	}
	return &c
}

func (c *dialogue) set(dialect hook.Dialect, key, value string) error {
	var last *hook.Hook
	if n := len(c.hooks); n > 0 {
		last = c.hooks[n-1]
	}
	add := func(config map[string]any) {
		c.hooks = append(c.hooks, &hook.Hook{
			ID: fmt.Sprintf("h%d", len(c.hooks)+1), Kind: hook.Command, Dialect: dialect, Config: config, Source: "own",
			Scope: hook.Session, Authority: hook.User, Events: []hook.Name{c.event.Name},
		})
	}
	var err error
	switch key {
	case "event":
		name, fields, _ := strings.Cut(value, " ")
		c.event, err = testEventOf(hook.Name(name), fields)
	case "run":
		add(map[string]any{"command": value})
	case "python":
		add(map[string]any{"python": value})
	case "with":
		var more map[string]any
		more, err = strictjson.Object([]byte(value), strictjson.Limits{})
		maps.Copy(last.Config, more)
	case "fails":
		last.OnFault = hook.OnFault(value)
	case "limit":
		last.Timeout, err = time.ParseDuration(value)
	case "matcher":
		last.Matcher = value
	default:
		err = fmt.Errorf("unknown %q", key)
	}
	return err
}

// testEventOf is an event with the fields that each has.
func testEventOf(name hook.Name, fields string) (hook.Event, error) {
	ev := hook.Event{Agent: "generic", Name: name, Fields: map[string]any{}}
	if fields != "" {
		var err error
		if ev.Fields, err = strictjson.Object([]byte(fields), strictjson.Limits{}); err != nil {
			return ev, err
		}
	}
	for key, v := range map[string]any{"hook_event_name": string(name), "session_id": "s1"} {
		if _, given := ev.Fields[key]; !given {
			ev.Fields[key] = v
		}
	}
	return ev, nil
}

// run decides about the event and describes what came of it. TMP in a command
// is a directory of the case's own; what stands in TMP/given is described, too.
func (c *dialogue) run(t *testing.T) string {
	tmp := t.TempDir()
	o := seedOptions(t, tmp)
	for _, h := range c.hooks {
		for key, v := range h.Config {
			if s, ok := v.(string); ok {
				h.Config[key] = strings.ReplaceAll(s, "TMP", tmp)
			}
		}
	}
	ev := c.event
	if ev.Fields["cwd"] == nil {
		ev = ev.With("cwd", tmp)
	}
	d := decide(t, o, c.hooks, ev)
	out := describeDecision(&d)
	if given, err := os.ReadFile(filepath.Join(tmp, "given")); err == nil {
		out += "given:\n  " + strings.ReplaceAll(strings.TrimRight(string(given), "\n"), "\n", "\n  ") + "\n"
	}
	out = strings.ReplaceAll(out, filepath.Join(tmp, "bin")+":"+os.Getenv("PATH"), "$PATH")
	out = regexp.MustCompile(`GATE_RUN=[0-9a-f]+`).ReplaceAllString(out, "GATE_RUN=…")
	out = strings.ReplaceAll(out, o.Dirs["own"], "SOURCE")
	return strings.TrimSpace(strings.ReplaceAll(out, tmp, "TMP"))
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here")
	}
}

// seedOptions are options of a machine with a home directory, a secret and a
// search path.
func seedOptions(t *testing.T, home string) Options {
	t.Helper()
	dir, err := filepath.Abs("testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"PATH": filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "HOME": home, "API_KEY": "secret", "TEAM": "core", "HOOK_API_KEY": "k1",
	}
	return Options{
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Dirs:   map[string]string{"own": dir}, Project: home,
	}
}

// decide asks an engine that has nothing but these hooks.
func decide(t *testing.T, o Options, hooks []*hook.Hook, ev hook.Event) hook.Decision {
	t.Helper()
	h := New(o)
	set, err := scopes.New([]scopes.Source{{Name: "own", Scope: hook.Session, Authority: hook.User, Hooks: hooks}}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	opts := []engine.Option{
		engine.WithFacts(func(*hook.Event) *hook.Facts { return &hook.Facts{} }),
		engine.WithEvaluator(hook.Inline, h.Evaluator(hook.Inline)),
		engine.WithEvaluator(hook.Command, h.Evaluator(hook.Command)),
	}
	e, err := engine.New(set, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e.Decide(context.Background(), ev)
}

// describeDecision is a decision in lines: the result, then what is not empty.
func describeDecision(d *hook.Decision) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	value := func(v any) []byte { return strictjson.Append(nil, v) }
	line("%s, %s", d.Effect, d.Result(false))
	for _, r := range d.Reasons {
		line("  %s %q", r.Effect, r.Reason)
	}
	if d.Halt != nil {
		line("  halt %q", d.Halt.Reason)
	}
	for _, w := range d.Warnings {
		line("  warn %q", w.Reason)
	}
	if d.Rewrite != nil {
		line("  rewrite %s", value(d.Rewrite))
	}
	if d.Output != nil {
		line("  output %s", value(d.Output))
	}
	for _, c := range d.Context {
		line("  context %s %q", c.Strategy, c.Text)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		line("  env %s=%s", name, d.Env[name])
	}
	for _, s := range d.Steps {
		fault := ""
		if s.Fault != nil {
			fault = ", " + string(s.Fault.Kind) + ": " + strings.ReplaceAll(s.Fault.Error(), "\n", "; ")
		}
		line("  %s %s%s", s.Hook.ID, s.Outcome, fault)
	}
	// The command's supervisor may look at its clock before the engine does.
	return regexp.MustCompile(`\bh\d did not end in time`).ReplaceAllString(b.String(), "no answer in time")
}

// TestStatuses holds what each exit status and signal means in each dialect.
func TestStatuses(t *testing.T) {
	const file = "testdata/statuses.txt"
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	h := New(seedOptions(t, t.TempDir()))
	var out strings.Builder
	for line := range strings.Lines(string(want)) {
		if strings.HasPrefix(line, "#") {
			out.WriteString(line)
		}
	}
	for _, row := range []struct {
		dialect hook.Dialect
		event   hook.Name
		config  map[string]any // with one, no process is run
	}{
		{"", hook.PreToolUse, nil}, {moment.Claude, hook.PreToolUse, nil}, {moment.Cocode, hook.PreToolUse, nil},
		{moment.Zeph, hook.PreToolUse, nil}, {moment.Zeph, hook.PostToolUse, map[string]any{}}, {moment.MassGen, hook.PreToolUse, nil},
		{moment.MassGen, hook.PreToolUse, map[string]any{"python": "m.f"}},
		{moment.CodeWhale, hook.UserPromptSubmit, nil}, {moment.CodeWhale, hook.UserPromptSubmit, map[string]any{"background": true}},
		{moment.CodeWhale, hook.Stop, map[string]any{}}, {moment.CodeWhale, "shell_env", map[string]any{}},
	} {
		ev, _ := testEventOf(row.event, `{"tool_name": "Bash", "tool_input": {}, "prompt": "hi"}`)
		ways := make([]string, 0, 262)
		by := &hook.Hook{ID: "h", Kind: hook.Command, Dialect: row.dialect, Config: row.config}
		for status := range 256 {
			a := commandAnswer(by, &ev, &result{Status: status})
			if row.config == nil && slices.Contains([]int{0, 1, 2, 71, 255}, status) { // of a real process
				by.Config = map[string]any{"command": "/bin/sh", "args": []any{"-c", fmt.Sprint("exit ", status)}}
				a = h.command(t.Context(), by, &ev)
			}
			ways = append(ways, short(a))
		}
		if row.config == nil {
			for _, signal := range []string{"HUP", "INT", "KILL", "SEGV", "TERM"} {
				by.Config = map[string]any{"command": "kill -" + signal + " $$"}
				a := h.command(t.Context(), by, &ev)
				ways = append(ways, short(a))
			}
		}
		fmt.Fprintf(&out, "%s %s", nameOf(row.dialect), row.event)
		for key := range row.config {
			fmt.Fprintf(&out, ", %s", key)
		}
		out.WriteString("\n")
		for from := 0; from < len(ways); {
			to := from
			for to+1 < len(ways) && to != 255 && ways[to+1] == ways[from] {
				to++
			}
			span := fmt.Sprintf("%d-%d", from, to)
			switch {
			case from > 255:
				span = "signals"
			case from == to:
				span = fmt.Sprint(from)
			}
			fmt.Fprintf(&out, "  %-8s %s\n", span, ways[from])
			from = to + 1
		}
	}
	if *update {
		err = os.WriteFile(file, []byte(out.String()), 0o644)
	} else if out.String() != string(want) {
		t.Errorf("got\n%s", out.String())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func nameOf(d hook.Dialect) string {
	if d == "" {
		return "own"
	}
	return string(d)
}

// short is an answer in a word.
func short(a engine.Answer) string {
	switch {
	case a.Fault != nil:
		return "fault " + string(a.Fault.Kind)
	case a.Verdict.Effect() > hook.Pass:
		return a.Verdict.Effect().String()
	case len(a.Verdict.Warnings) > 0:
		return "warn"
	}
	return "no opinion"
}
