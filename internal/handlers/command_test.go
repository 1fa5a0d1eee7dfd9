//go:build linux

package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// A commandCase is one case of testdata/commands.txt.
type commandCase struct {
	name, run string
	each      []string // EACH is each of these in turn
	below     string   // "supervisor" or "direct": only there
	large     bool     // the event is longer than a pipe holds
	limit     time.Duration
}

// TestCommands runs every kind of command below a supervisor and directly, and
// holds what is made of it, and that nothing of it is left.
func TestCommands(t *testing.T) {
	tab := readTable(t, "testdata/commands.txt")
	found := make([]string, len(tab.rows))
	t.Run("cases", func(t *testing.T) {
		for i, r := range tab.rows {
			c := commandOf(t, r)
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				found[i] = testCommand(t, i, c)
			})
		}
	})
	tab.hold(t, found)
	nobodyOfOurs(t)
}

// testCommand runs a case in every way and returns what it means in all of them.
func testCommand(t *testing.T, n int, c commandCase) (means string) {
	ways := []string{"supervisor", "direct"}
	if c.below != "" {
		ways = []string{c.below}
	}
	first := true
	for _, way := range ways {
		tmp := t.TempDir()
		o := testOptions(t)
		o.Getenv = withTemp(tmp)
		if way == "direct" {
			o.Supervisor = nil
		}
		h := New(o)
		for _, each := range c.each {
			mark := fmt.Sprintf("%d%d%d%s", os.Getpid(), n, len(way), each)
			by := &hook.Hook{ID: "h", Kind: hook.Command, Timeout: c.limit, Config: map[string]any{"command": c.line(mark, each)}}
			got := describe(h.Evaluator(hook.Command).Evaluate(t.Context(), []*hook.Hook{by}, testEvent(t, c.large))[0])
			got = c.normal(got, mark, each)
			if !first && got != means {
				t.Errorf("%s %s: %s, and elsewhere %s", way, each, got, means)
			}
			means, first = got, false
			nobody(t, way, mark)
		}
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("%s: temporary files: %v", way, left)
		}
	}
	return means
}

// line is the command of a case.
func (c commandCase) line(mark, each string) string {
	return strings.NewReplacer("MARK", mark, "EACH", each).Replace(c.run)
}

// normal takes out of what a case means what is different each time.
func (c commandCase) normal(means, mark, each string) string {
	means = strings.ReplaceAll(means, mark, "MARK")
	n, err := strconv.Atoi(each)
	if err != nil {
		return means
	}
	means = strings.Replace(means, "ended with status "+each, "ended with status EACH", 1)
	return strings.Replace(means, "("+syscall.Signal(n).String()+")", "(EACH)", 1)
}

func commandOf(t *testing.T, r row) commandCase {
	t.Helper()
	c := commandCase{name: r.name, each: []string{""}}
	for _, f := range r.fields {
		switch key, value := f[0], f[1]; key {
		case "run":
			c.run = value
		case "each":
			c.each = numbers(t, value)
		case "below":
			c.below = value
		case "large":
			c.large = true
		case "limit":
			var err error
			if c.limit, err = time.ParseDuration(value); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("%s: unknown %q", r.name, key)
		}
	}
	return c
}

// numbers reads a list such as "1 3-255".
func numbers(t *testing.T, text string) (list []string) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		from, to, ok := strings.Cut(word, "-")
		if !ok {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		for n := first; n <= last; n++ {
			list = append(list, strconv.Itoa(n))
		}
	}
	return list
}

// withTemp is the environment with another directory for temporary files.
func withTemp(dir string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == "TMPDIR" {
			return dir, true
		}
		return os.LookupEnv(name)
	}
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

// nobodyOfOurs holds that this process has no children, dead ones included.
func nobodyOfOurs(t *testing.T) {
	t.Helper()
	var left []proc
	for range 500 {
		left = slices.DeleteFunc(processes(), func(p proc) bool { return p.parent != os.Getpid() })
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("children: %+v", left)
}

// TestEnvironment holds what a command sees of the environment.
func TestEnvironment(t *testing.T) {
	o := testOptions(t)
	o.Dirs = map[string]string{"plugin:fmt": "/plugins/fmt"}
	o.Getenv = func(name string) (string, bool) {
		v, ok := map[string]string{
			"PATH": ":/usr/bin:.:node_modules/.bin:/bin:", "HOME": "/home/ana", "ANTHROPIC_API_KEY": "secret", "NAMED": "yes", "CLAUDE_ENV_FILE": "/session/env.sh", "GATE_HOOK": "forged", "LC_ALL": "C",
		}[name]
		return v, ok
	}
	ev := testEvent(t, false)
	ev.Fields["tool_name"] = "Ba\x00sh\xff"
	by := &hook.Hook{ID: "h", Kind: hook.Command, Source: "plugin:fmt", Scope: hook.Plugin,
		Config: map[string]any{"env": []any{"NAMED", "GATE_HOOK", "MISSING", "CLAUDE_ENV_FILE"}}}
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

// TestDescriptors holds that a command gets none of the descriptors that its
// caller left open, and that none is kept open for the caller's sake.
func TestDescriptors(t *testing.T) {
	o := testOptions(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	o.Supervisor = append([]string{"/bin/sh", "-c", `exec 8>"` + pipe + `"; exec "$0" "$@"`}, o.Supervisor...)
	by := &hook.Hook{ID: "h", Kind: hook.Command, Config: map[string]any{
		"command": `for p in $$ $PPID; do for f in /proc/$p/fd/*; do readlink $f; done; done | grep ` + pipe + ` >&2 && exit 2; exit 0`,
	}}
	if got := describe(New(o).command(t.Context(), by, testEvent(t, false))); got != "no opinion" {
		t.Error(got)
	}
}

// TestEnvFile holds who may change the environment of the agent's shell, and
// when: not whoever names the variable.
func TestEnvFile(t *testing.T) {
	for _, c := range []struct {
		event   hook.Name
		dialect hook.Dialect
		may     string
		want    bool
	}{
		{hook.SessionStart, "", "/session/env.sh", true},
		{hook.SessionStart, moment.Claude, "/session/env.sh", true},
		{moment.Setup, "", "/session/env.sh", true},
		{moment.CwdChanged, "", "/session/env.sh", true},
		{moment.FileChanged, "", "/session/env.sh", true},
		{hook.SessionStart, "", "", false},
		{hook.SessionStart, moment.Zeph, "/session/env.sh", false},
		{hook.PreToolUse, "", "/session/env.sh", false},
		{hook.SessionEnd, "", "/session/env.sh", false},
	} {
		h := New(Options{
			Getenv:  func(string) (string, bool) { return "/from/environment", true },
			EnvFile: func(*hook.Hook) string { return c.may },
		})
		by := &hook.Hook{ID: "h", Kind: hook.Command, Dialect: c.dialect, Config: map[string]any{"env": []any{"CLAUDE_ENV_FILE"}}}
		var got []string
		for _, v := range h.environment(by, &hook.Event{Name: c.event}) {
			if strings.HasPrefix(v, "CLAUDE_ENV_FILE=") {
				got = append(got, v)
			}
		}
		if c.want != (len(got) == 1 && got[0] == "CLAUDE_ENV_FILE="+c.may) || !c.want && len(got) > 0 {
			t.Errorf("%+v: %q", c, got)
		}
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
	o.Getenv = func(name string) (string, bool) {
		v, ok := os.LookupEnv(name)
		if name == "PATH" {
			v = ".:" + v + ":"
		}
		return v, ok
	}
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
		{"other.sh 2>/dev/null", nil, "fault eval: h ended with status 127"},
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
