package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// An npmTree is a directory with the packages of a release below node_modules, as npm
// unpacks them.
type npmTree struct {
	dir      string
	platform string // in Node's words
}

// newNPMTree unpacks a release whose programs are one shell script each.
func newNPMTree(t *testing.T, script string) npmTree {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil || runtime.GOOS == "windows" {
		t.Skip("this needs Node and a shell; .ci/with npm fails without Node")
	}
	r := npmRelease(t, "v1.2.0")
	host := Platform{runtime.GOOS, runtime.GOARCH}
	made := npmOf(t, r, npmStaged(host, "#!/bin/sh\n"+script))
	node, err := npmPlatform(host)
	if err != nil {
		t.Fatal(err)
	}
	tree := npmTree{t.TempDir(), node.String()}
	for i, dir := range []string{tree.programs(), tree.wrapper()} {
		for name, f := range npmUnpacked(t, r, made[i]) {
			path := filepath.Join(tree.dir, dir, strings.TrimPrefix(name, "package/"))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.data, f.mode)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tree
}

func (n npmTree) wrapper() string  { return "node_modules/@gate-guard/gate" }
func (n npmTree) programs() string { return n.wrapper() + "-" + n.platform }

// command starts gate by the wrapper.
func (n npmTree) command(args ...string) *exec.Cmd {
	return exec.Command("node", append([]string{filepath.Join(n.dir, n.wrapper(), "bin", "gate.js")}, args...)...)
}

func TestNPMWrapper(t *testing.T) {
	tree := newNPMTree(t, `printf '%s|' "$0" "$@"; cat; echo told >&2; exit 3`)
	cmd := tree.command("hook", "--agent", "a b", "$(x)", "")
	cmd.Stdin = strings.NewReader("the event")
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	_ = cmd.Run()
	real, err := filepath.EvalSymlinks(tree.dir)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(real, tree.programs(), "bin", "gate") + "|hook|--agent|a b|$(x)||the event"
	if out.String() != want || problem.String() != "told\n" || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("printed %q and %q, status %d, want %q", &out, &problem, cmd.ProcessState.ExitCode(), want)
	}
}

// TestNPMWrapperSignals has a signal reach the program, and the program's end by a signal
// reach whoever started the wrapper.
func TestNPMWrapperSignals(t *testing.T) {
	tree := newNPMTree(t, `trap 'echo got TERM; exit 5' TERM; trap 'echo got INT; exit 6' INT; trap 'echo got HUP; exit 7' HUP
echo ready; while :; do sleep 0.05; done`)
	for _, c := range []struct {
		signal syscall.Signal
		out    string
		status int
	}{{syscall.SIGTERM, "got TERM\n", 5}, {syscall.SIGINT, "got INT\n", 6}, {syscall.SIGHUP, "got HUP\n", 7}} {
		cmd := tree.command()
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ready := make([]byte, len("ready\n"))
		if _, err := io.ReadFull(pipe, ready); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(pipe)
		_ = cmd.Wait()
		if string(out) != c.out || cmd.ProcessState.ExitCode() != c.status {
			t.Errorf("%s: printed %q, status %d", c.signal, out, cmd.ProcessState.ExitCode())
		}
	}
	for _, c := range []struct {
		script, word string
		status       int
	}{
		{"kill -KILL $$", "check", 137}, {"kill -TERM $$", "check", 143}, {"exit 0", "check", 0}, {"exit 2", "check", 2},
		{"kill -KILL $$", "hook", 2}, {"kill -TERM $$", "hook", 2}, {"exit 0", "hook", 0}, // 137 would let the call run
	} {
		cmd := newNPMTree(t, c.script).command(c.word)
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != c.status {
			t.Errorf("%s of %s: status %d, want %d", c.script, c.word, cmd.ProcessState.ExitCode(), c.status)
		}
	}
}

// TestNPMWrapperFails holds that a command fails where a hook closes.
func TestNPMWrapperFails(t *testing.T) {
	tree := newNPMTree(t, "echo started")
	if err := os.Remove(filepath.Join(tree.dir, tree.programs(), "bin", "gate")); err != nil {
		t.Fatal(err)
	}
	cmd := tree.command("version")
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("status %d", cmd.ProcessState.ExitCode())
	}
}

// TestNPMWrapperCloses holds that nothing is started, and that one sentence says why. A
// hook then ends with 2, since 1 would let the agent's call run.
func TestNPMWrapperCloses(t *testing.T) {
	remove := func(path string) func(npmTree) error {
		return func(n npmTree) error {
			return os.RemoveAll(filepath.Join(n.dir, strings.ReplaceAll(path, "PROGRAMS", n.programs())))
		}
	}
	write := func(path, text string) func(npmTree) error {
		return func(n npmTree) error {
			return os.WriteFile(filepath.Join(n.dir, strings.ReplaceAll(path, "PROGRAMS", n.programs())), []byte(text), 0o755)
		}
	}
	const started = "#!/bin/sh\necho started\n"
	for name, c := range map[string]struct {
		damage func(npmTree) error
		want   string
	}{
		"not installed": {remove("PROGRAMS"),
			"gate: the package @gate-guard/gate-PLATFORM, which has the programs, is not installed: install @gate-guard/gate again on this machine, with optional dependencies (without --omit=optional or --no-optional)\n"},
		"tampered": {write("PROGRAMS/bin/gate", started),
			"gate: $DIR/PROGRAMS/bin/gate is not the program of @gate-guard/gate 1.2.0, so nothing was started: its SHA-256 is "},
		"another program tampered": {write("PROGRAMS/bin/gate-server", started),
			"gate: $DIR/PROGRAMS/bin/gate-server is not the program of @gate-guard/gate 1.2.0, so nothing was started: its SHA-256 is "},
		"a program missing": {remove("PROGRAMS/bin/gate-hook"),
			"gate: $DIR/PROGRAMS/bin/gate-hook cannot be read (ENOENT): install @gate-guard/gate again\n"},
		"a directory": {func(n npmTree) error {
			path := filepath.Join(n.dir, n.programs(), "bin/gate")
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
		}, "gate: $DIR/PROGRAMS/bin/gate cannot be read (EISDIR): install @gate-guard/gate again\n"},
		"not executable": {func(n npmTree) error { return os.Chmod(filepath.Join(n.dir, n.programs(), "bin/gate"), 0o644) },
			"gate: $DIR/PROGRAMS/bin/gate is not executable, or its file system forbids programs: install @gate-guard/gate again, elsewhere if need be\n"},
		"another platform": {write("node_modules/@gate-guard/gate/checksums.json", `{"beos-x64": {}, "beos-arm": {}}`),
			"gate: @gate-guard/gate has no programs for PLATFORM, only for beos-x64, beos-arm\n"},
		"no checksums":     {remove("node_modules/@gate-guard/gate/checksums.json"), "gate: Cannot find module '../checksums.json'\n"},
		"broken checksums": {write("node_modules/@gate-guard/gate/checksums.json", "{"), "gate: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := newNPMTree(t, "echo started")
			if err := c.damage(tree); err != nil {
				t.Fatal(err)
			}
			real, err := filepath.EvalSymlinks(tree.dir)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("$DIR", real, "PROGRAMS", tree.programs(), "PLATFORM", tree.platform).Replace(c.want)
			cmd := tree.command("hook")
			var out, problem bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &problem
			_ = cmd.Run()
			if out.Len() > 0 || !strings.HasPrefix(problem.String(), want) || strings.Count(problem.String(), "\n") != 1 || cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("printed %q and %q, status %d, want %q", &out, &problem, cmd.ProcessState.ExitCode(), want)
			}
		})
	}
}
