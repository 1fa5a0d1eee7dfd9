package offer

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/confine/profile"
	"gate/internal/confine/record"
)

// machine is one with a launcher that says what can be held, and notes that it was asked.
func machine(t *testing.T, holds string) Machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has what confines")
	}
	dir := t.TempDir()
	for _, name := range []string{"state", "home", "bin", "project/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho asked >>" + filepath.Join(dir, "asked") + "\necho '" + holds + "'\n"
	if err := os.WriteFile(filepath.Join(dir, "bin", "gate-run"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Machine{
		State: filepath.Join(dir, "state"), Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Root: dir,
		Launcher: filepath.Join(dir, "bin", "gate-run"),
	}
}

func event(m Machine, line string) hook.Event {
	return hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s", "cwd": m.Project, "tool_name": "Bash", "tool_use_id": "t",
		"tool_input": map[string]any{"command": line, "description": "d"},
	}}
}

const full = `{"level": "full", "landlock": "7", "missing": ""}`

// TestPlan holds which calls can run confined, and by which profile.
func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		holds    string
		line     string
		profiles []string
		change   func(m *Machine, ev *hook.Event)
		want     string // the profile, or a part of why not
	}{
		"a line":            {want: "project"},
		"several":           {profiles: []string{"project-net", "look", "project-net"}, want: "look+project-net"},
		"unknown":           {profiles: []string{"moon"}, want: `there is no profile "moon"`},
		"no namespaces":     {holds: `{"level": "files", "landlock": "7", "missing": "this account cannot make namespaces"}`, want: "profile project cannot be held here: this account cannot make namespaces, and without that nothing keeps"},
		"no need for them":  {holds: `{"level": "files", "landlock": "7", "missing": "x"}`, profiles: []string{"look"}, want: "look"},
		"nothing":           {holds: `{"level": "none", "landlock": "0", "missing": "this kernel has no Landlock"}`, want: "cannot be held here: this kernel has no Landlock"},
		"a strange answer":  {holds: `{"level": "most"}`, want: "nobody knows what can be held here"},
		"no answer":         {holds: ``, want: "nobody knows what can be held here"},
		"no launcher":       {change: func(m *Machine, _ *hook.Event) { os.Remove(m.Launcher) }, want: "the program gate-run must lie beside gate"},
		"another's":         {change: func(m *Machine, _ *hook.Event) { os.Chmod(m.Launcher, 0o777) }, want: "the program gate-run must lie beside gate"},
		"another tool":      {change: func(_ *Machine, ev *hook.Event) { *ev = ev.With("tool_name", "Write") }, want: "only a line for the shell can"},
		"no line":           {line: " ", want: "only a line for the shell can"},
		"a null":            {line: "a\x00b", want: "no program can be given"},
		"the shell's":       {line: "cd x", want: "cd has to change the agent's own shell"},
		"elsewhere":         {change: func(m *Machine, ev *hook.Event) { *ev = ev.With("cwd", m.State) }, want: "does not let it see"},
		"no project":        {change: func(m *Machine, ev *hook.Event) { m.Project = ""; *ev = ev.With("cwd", "rel") }, want: "not known which directory"},
		"the home":          {change: func(m *Machine, _ *hook.Event) { m.Project = m.Home }, want: "no project but a home directory"},
		"nobody is to call": {holds: "", change: func(m *Machine, _ *hook.Event) { m.Launcher = "" }, want: "project"},
	} {
		if c.holds == "" && name != "no answer" {
			c.holds = full
		}
		m := machine(t, c.holds)
		if c.line == "" {
			c.line = "make"
		}
		if c.profiles == nil {
			c.profiles = []string{"project"}
		}
		ev := event(m, c.line)
		if c.change != nil {
			c.change(&m, &ev)
		}
		got, why := m.Plan(context.Background(), &ev, c.profiles)
		if got != c.want && (why == "" || !strings.Contains(why, c.want)) || got != "" && why != "" {
			t.Errorf("%s: %q %q, want %q", name, got, why, c.want)
		}
	}
}

// TestHolds holds that the launcher is asked once for what does not change, and again for
// what may.
func TestHolds(t *testing.T) {
	asked := func(m Machine) int {
		text, _ := os.ReadFile(filepath.Join(m.Root, "asked"))
		return strings.Count(string(text), "asked")
	}
	m := machine(t, full)
	for range 3 {
		if c, err := m.Holds(); err != nil || c.Level != profile.Full {
			t.Fatalf("%+v %v", c, err)
		}
	}
	if n := asked(m); n != 1 {
		t.Errorf("asked %d times", n)
	}
	kept := filepath.Join(m.State, "confined", probedName)
	if err := os.WriteFile(kept, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Holds(); err != nil || asked(m) != 2 {
		t.Errorf("what is damaged counts: %d %v", asked(m), err)
	}
	newer := time.Now().Add(time.Minute)
	if err := os.Chtimes(m.Launcher, newer, newer); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Holds(); err != nil || asked(m) != 3 {
		t.Errorf("another program is not asked: %d %v", asked(m), err)
	}

	m = machine(t, `{"level": "none", "landlock": "0", "missing": "x"}`)
	m.Holds()
	m.Holds()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(m.State, "confined", probedName), old, old); err != nil {
		t.Fatal(err)
	}
	if c, err := m.Holds(); err != nil || c.Level != profile.None || asked(m) != 2 {
		t.Errorf("%+v %v, asked %d times", c, err, asked(m))
	}
}

// TestKeep holds that the line that is returned starts a record of the very call, and that
// the rest of the input stays.
func TestKeep(t *testing.T) {
	m := machine(t, full)
	ev := event(m, "make 'x'")
	ev.Confined = "look+project"
	input, err := m.Keep(context.Background(), &ev)
	if err != nil {
		t.Fatal(err)
	}
	line, _ := input["command"].(string)
	r, ok := record.OfLine(record.Dir(m.State), line, "claude", "s", "t")
	if !ok || r.Line != "make 'x'" || r.Dir != m.Project || r.Profile.Name != "look+project" || len(r.Profile.Write) > 0 || input["description"] != "d" {
		t.Errorf("%v %+v", input, r)
	}
	if ev.ToolInput()["command"] != "make 'x'" {
		t.Error("the event was changed")
	}
	m.Launcher = ""
	if input, err := m.Keep(context.Background(), &ev); err != nil || input["command"] != "gate run --call ID" {
		t.Errorf("%v %v", input, err)
	}
}
