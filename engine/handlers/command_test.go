//go:build linux

package handlers

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
)

// TestMain lets the tests' program be a supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(Supervise(context.Background(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// A commandCase is one case of testdata/commands.txt.
type commandCase struct {
	name, text, run, below, want string
	large                        bool
	limit                        time.Duration
}

// TestCommands runs every kind of command below a supervisor and directly, and
// holds what is made of it, and that nothing of it is left.
func TestCommands(t *testing.T) {
	const file = "testdata/commands.txt"
	head, cases := readCommands(t, file)
	var out strings.Builder
	out.WriteString(head)
	got := make([]string, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				got[i] = testCommand(t, i, c)
			})
		}
	})
	for i, c := range cases {
		fmt.Fprintf(&out, "== %s\n%smeans: %s\n", c.name, c.text, got[i])
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func testCommand(t *testing.T, n int, c commandCase) (got string) {
	ways := map[string]*Handlers{"supervisor": New(testOptions(t)), "direct": nil}
	if c.below == "" {
		o := testOptions(t)
		o.Supervisor = nil
		ways["direct"] = New(o)
	}
	for way, h := range ways {
		if h == nil {
			continue
		}
		mark := fmt.Sprintf("%d%d%d", os.Getpid(), n, len(way))
		by := &hook.Hook{ID: "h", Kind: hook.Command, Timeout: c.limit, Config: map[string]any{"command": strings.ReplaceAll(c.run, "MARK", mark)}}
		got = describe(h.Evaluator(hook.Command).Evaluate(t.Context(), []*hook.Hook{by}, testEvent(t, c.large))[0])
		got = strings.ReplaceAll(got, mark, "MARK")
		if got != c.want && !*update {
			t.Errorf("%s: got  %s\nwant %s", way, got, c.want)
		}
		nobody(t, way, mark)
	}
	return got
}

func testOptions(t *testing.T) Options {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Supervisor: []string{exe, "supervise"}, Getenv: os.LookupEnv, Project: t.TempDir()}
}

func testEvent(t *testing.T, large bool) *hook.Event {
	command := "ls"
	if large {
		command = strings.Repeat("x", 2<<20)
	}
	return &hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": t.Name(), "cwd": t.TempDir(), "tool_name": "Bash",
		"tool_input": map[string]any{"command": command},
	}}
}

// nobody holds that no process has the mark on its command line.
func nobody(t *testing.T, way, mark string) {
	t.Helper()
	left := withMark(mark)
	for range 500 { // what was ended may be about to go
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
		left = withMark(mark)
	}
	t.Errorf("%s: left: %q", way, left)
}

func withMark(mark string) (lines []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && bytes.Contains(line, []byte(mark)) {
			lines = append(lines, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return lines
}

func readCommands(t *testing.T, file string) (head string, cases []commandCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), "== ")
	for block := range strings.SplitSeq("\n== "+rest, "\n== ") {
		name, body, _ := strings.Cut(block, "\n")
		if name == "" {
			continue
		}
		c := commandCase{name: name}
		for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch key {
			case "run":
				c.run = value
			case "below":
				c.below = value
			case "large":
				c.large = true
			case "limit":
				if c.limit, err = time.ParseDuration(value); err != nil {
					t.Fatal(err)
				}
			case "means":
				c.want = value
				continue
			default:
				t.Fatalf("%s: unknown %q", name, key)
			}
			c.text += line + "\n"
		}
		cases = append(cases, c)
	}
	return head, cases
}

// TestStatus holds what each exit status means.
func TestStatus(t *testing.T) {
	o := testOptions(t)
	o.Supervisor = nil
	h := New(o)
	for status := range 256 {
		by := &hook.Hook{ID: "h", Kind: hook.Command, Config: map[string]any{
			"command": "/bin/sh", "args": []any{"-c", "exit " + strconv.Itoa(status)},
		}}
		a := h.command(t.Context(), by, testEvent(t, false))
		switch {
		case status == 0:
			if d := describe(a); d != "no opinion" {
				t.Errorf("status 0: %s", d)
			}
		case status == 2:
			if a.Fault != nil || a.Verdict.Effect() != hook.Deny {
				t.Errorf("status 2: %s", describe(a))
			}
		case a.Fault == nil || a.Fault.Kind != hook.FaultEval || a.Verdict.Effect() != hook.Pass:
			t.Errorf("status %d: %s", status, describe(a))
		}
	}
}

var runs = flag.Int("runs", 1, "how often TestLeaks runs every case")

// TestLeaks holds that runs leave no goroutine, descriptor or file, and no
// process of this program's.
func TestLeaks(t *testing.T) {
	_, cases := readCommands(t, "testdata/commands.txt")
	tmp := t.TempDir()
	o := testOptions(t)
	o.Getenv = func(name string) (string, bool) {
		if name == "TMPDIR" {
			return tmp, true
		}
		return os.LookupEnv(name)
	}
	h := New(o)
	ev := testEvent(t, false)
	mark := fmt.Sprintf("%d000", os.Getpid())
	one := func(c commandCase) engine.Answer {
		by := &hook.Hook{ID: "h", Kind: hook.Command, Timeout: 200 * time.Millisecond, Config: map[string]any{
			"command": strings.ReplaceAll(c.run, "MARK", mark),
		}}
		return h.command(t.Context(), by, ev)
	}
	one(cases[0])
	before, files := runtime.NumGoroutine(), descriptors(t)
	todo := make(chan commandCase)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for c := range todo {
				one(c)
			}
		})
	}
	n := 0
	for range *runs {
		for _, c := range cases {
			if !strings.Contains(c.name, "while it is ended") {
				todo <- c
				n++
			}
		}
	}
	close(todo)
	wg.Wait()
	t.Logf("%d runs", n)
	settled := func() bool { return runtime.NumGoroutine() <= before && descriptors(t) <= files }
	for range 1000 {
		if settled() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !settled() {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, before %d; %d descriptors, before %d\n%s", runtime.NumGoroutine(), before, descriptors(t), files,
			stacks[:runtime.Stack(stacks, true)])
	}
	nobody(t, "runs", mark)
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("temporary files: %v", left)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestEnvironment holds what a command sees of the environment.
func TestEnvironment(t *testing.T) {
	o := testOptions(t)
	o.Dirs = map[string]string{"plugin:fmt": "/plugins/fmt"}
	o.Getenv = func(name string) (string, bool) {
		v, ok := map[string]string{
			"PATH": "/usr/bin:/bin", "HOME": "/home/ana", "ANTHROPIC_API_KEY": "secret", "NAMED": "yes", "GATE_HOOK": "forged", "LC_ALL": "C",
		}[name]
		return v, ok
	}
	ev := testEvent(t, false)
	ev.Fields["tool_name"] = "Ba\x00sh\xff"
	by := &hook.Hook{ID: "h", Kind: hook.Command, Source: "plugin:fmt", Scope: hook.Plugin,
		Config: map[string]any{"env": []any{"NAMED", "GATE_HOOK", "MISSING"}}}
	got := New(o).environment(by, ev)
	want := []string{
		"HOME=/home/ana", "LC_ALL=C", "NAMED=yes", "PATH=/usr/bin:/bin", "HOOK_EVENT=PreToolUse", "HOOK_TOOL_NAME=Bash",
		"HOOK_SESSION_ID=" + t.Name(), "CLAUDE_PROJECT_DIR=" + o.Project, "CLAUDE_PLUGIN_ROOT=/plugins/fmt",
		"GATE_AGENT=claude", "GATE_HOOK=h", "GATE_SOURCE_DIR=/plugins/fmt",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestPrograms holds which program runs: what is relative is the source's, never
// one of the directory that the agent works in.
func TestPrograms(t *testing.T) {
	source, cwd := t.TempDir(), t.TempDir()
	for dir, says := range map[string]string{source: "of the source", cwd: "of the agent"} {
		script := "#!/bin/sh\necho '{\"decision\": \"block\", \"reason\": \"" + says + "\"}'\n"
		for _, name := range []string{"check.sh", "bin/check.sh"} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(cwd, "other.sh"), []byte("#!/bin/sh\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := testOptions(t)
	o.Dirs = map[string]string{"user": source}
	h := New(o)
	ev := testEvent(t, false)
	ev.Fields["cwd"] = cwd
	for _, c := range []struct {
		command string
		args    []any
		want    string
	}{
		{"./check.sh", nil, `deny "of the source"`},
		{"check.sh", nil, `deny "of the source"`},
		{"bin/check.sh | cat", nil, `deny "of the source"`},
		{"bin/check.sh", []any{}, `deny "of the source"`},
		{"check.sh", []any{"-x"}, `deny "of the source"`},
		{"./other.sh 2>/dev/null", nil, "fault eval: h ended with status 127"},
		{"./other.sh", []any{}, "fault eval: h cannot be run: there is no ./other.sh in the directory of user"},
		{"../x", []any{}, "fault eval: h cannot be run: there is no ../x in the directory of user"},
		{"gate-test-no-such-program", []any{}, "fault eval: h cannot be run: there is no program gate-test-no-such-program in PATH"},
		{"printf", []any{"%s", "$(exit 2); -rf"}, "no opinion"},
	} {
		by := &hook.Hook{ID: "h", Kind: hook.Command, Source: "user", Config: map[string]any{"command": c.command}}
		if c.args != nil {
			by.Config["args"] = c.args
		}
		if got := describe(h.command(t.Context(), by, ev)); got != c.want {
			t.Errorf("%s %v: got %s, want %s", c.command, c.args, got, c.want)
		}
	}
}
