package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var npmProgramsDir = flag.String("npm-programs", "", "a directory with gate's programs, for TestNPMInstalled")

// An npmAccount is an account that installs gate by npm from a registry of its own.
type npmAccount struct {
	t    *testing.T
	home string
	reg  *npmRegistry
}

// TestNPMInstalled has an account with an empty home get gate by npm and by npx, from a
// registry on loopback. It is what .ci/with npm runs.
func TestNPMInstalled(t *testing.T) {
	if *npmProgramsDir == "" {
		t.Skip("no programs are given: -npm-programs DIR, as .ci/with npm does")
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(who.HomeDir)
	if err != nil || len(entries) > 0 {
		t.Fatalf("the home of this account, %s, is not empty (%v): this test writes to it", who.HomeDir, err)
	}
	a := npmAccount{t, who.HomeDir, newNPMRegistry(t)}
	a.publish("v1.0.0", "")
	for _, c := range []struct {
		name string
		do   func(npmAccount)
	}{{"npx", npmAccount.npx}, {"omitted", npmAccount.omitted}, {"tampered", npmAccount.tampered}, {"global", npmAccount.global}} {
		t.Run(c.name, func(t *testing.T) {
			a := a
			a.t = t
			a.empty()
			c.do(a)
		})
	}
}

// publish makes a release of the programs, with a mark at their ends: no program reads it.
func (a npmAccount) publish(version, mark string) {
	a.t.Helper()
	r := npmRelease(a.t, version)
	s := Staged{Platform: Platform{runtime.GOOS, runtime.GOARCH}}
	for _, name := range s.Platform.programs() {
		data, err := os.ReadFile(filepath.Join(*npmProgramsDir, name))
		if err != nil {
			a.t.Fatal(err)
		}
		s.Files = append(s.Files, File{Program, name, 0o755, append(data, mark...)})
	}
	a.reg.publish(a.t, r, npmOf(a.t, r, s))
}

// empty makes the home empty.
func (a npmAccount) empty() {
	a.t.Helper()
	entries, err := os.ReadDir(a.home)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(a.home, e.Name())))
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// run runs a program in the home and returns what it prints, and its status.
func (a npmAccount) run(in, name string, args ...string) (string, int) {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), name, args...)
	cmd.Dir = a.home
	cmd.Env = append(os.Environ(), "npm_config_registry="+a.reg.url, "npm_config_prefix="+filepath.Join(a.home, "prefix"),
		"npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false")
	cmd.Stdin = strings.NewReader(in)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return err.Error(), -1
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// must is run for what succeeds.
func (a npmAccount) must(name string, args ...string) string {
	a.t.Helper()
	out, status := a.run("", name, args...)
	if status != 0 {
		a.t.Fatalf("%s %s: status %d\n%s", name, strings.Join(args, " "), status, out)
	}
	return out
}

const npmName = "@gate-guard/gate"

func (a npmAccount) gate() string { return filepath.Join(a.home, "prefix", "bin", "gate") }

// entry is the command line of Claude Code's settings that judges calls of tools.
func (a npmAccount) entry() []string {
	a.t.Helper()
	data, err := os.ReadFile(filepath.Join(a.home, ".claude", "settings.json"))
	if err != nil {
		a.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		a.t.Fatal(err)
	}
	h := settings.Hooks["PreToolUse"][0].Hooks[0]
	if !filepath.IsAbs(h.Command) || strings.Contains(h.Command, "node_modules") {
		a.t.Errorf("the entry names %s, which an upgrade or a clean-up takes away", h.Command)
	}
	return append([]string{h.Command}, h.Args...)
}

// denies gives an event to the entry, as the agent does.
func (a npmAccount) denies(entry []string) error {
	event := fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "touch x; rm -rf ~"}, "tool_use_id": "t"}`, a.home)
	out, status := a.run(event, entry[0], entry[1:]...)
	if status != 2 && !strings.Contains(out, `"permissionDecision":"deny"`) {
		return fmt.Errorf("%s: status %d, %s", entry[0], status, out)
	}
	return nil
}

func (a npmAccount) mustDeny() {
	a.t.Helper()
	if err := a.denies(a.entry()); err != nil {
		a.t.Error(err)
	}
}

func (a npmAccount) global() {
	start := time.Now()
	a.must("npm", "install", "-g", npmName)
	a.must(a.gate(), "install", "claude")
	a.mustDeny()
	a.t.Logf("from npm install -g to the first denial: %s", time.Since(start).Round(time.Millisecond))

	a.publish("v1.1.0", "1.1.0")
	entry := a.entry()
	calls := a.during(entry, func() { a.must("npm", "update", "-g", npmName) })
	a.t.Logf("%d calls during npm update -g", calls)
	if out := a.must("npm", "ls", "-g", npmName); !strings.Contains(out, npmName+"@1.1.0") {
		a.t.Errorf("the upgrade installed %s", out)
	}
	a.mustDeny()
	a.must(a.gate(), "install", "claude")
	a.mustDeny()
	if data, err := os.ReadFile(a.entry()[0]); err != nil || !bytes.HasSuffix(data, []byte("1.1.0")) {
		a.t.Errorf("after the upgrade, gate install leaves the older program in place (%v)", err)
	}

	a.must("npm", "uninstall", "-g", npmName)
	if _, err := os.Lstat(a.gate()); err == nil {
		a.t.Error("npm uninstall leaves gate in place")
	}
	a.mustDeny()
}

// during makes calls while something is done, and counts them. Each has to be denied.
func (a npmAccount) during(entry []string, do func()) (calls int) {
	done, stop := make(chan error), make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			case <-time.After(20 * time.Millisecond): // npm wants the processor, too
			}
			if err := a.denies(entry); err != nil {
				<-stop
				done <- err
				return
			}
			calls++
		}
	}()
	do()
	close(stop)
	if err := <-done; err != nil {
		a.t.Error("during the upgrade: ", err)
	}
	return calls
}

func (a npmAccount) npx() {
	start := time.Now()
	a.must("npx", "--yes", npmName, "install", "claude")
	a.mustDeny()
	a.t.Logf("from npx to the first denial: %s", time.Since(start).Round(time.Millisecond))
	start = time.Now()
	if err := a.denies([]string{"npx", "--yes", npmName, "hook", "--agent", "claude"}); err != nil {
		a.t.Error(err)
	}
	a.t.Logf("one call by npx: %s", time.Since(start).Round(time.Millisecond))
	if err := os.RemoveAll(filepath.Join(a.home, ".npm")); err != nil {
		a.t.Fatal(err)
	}
	a.mustDeny()
}

// omitted installs into a project: npm installs optional packages globally in any case.
func (a npmAccount) omitted() {
	project := filepath.Join(a.home, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		a.t.Fatal(err)
	}
	a.must("npm", "install", "--prefix", project, "--omit=optional", npmName)
	out, status := a.run("{}", filepath.Join(project, "node_modules", ".bin", "gate"), "hook", "--agent", "claude")
	if status != 2 || !strings.HasPrefix(out, "gate: the package "+npmName+"-") || !strings.Contains(out, "--omit=optional") {
		a.t.Errorf("status %d, %s", status, out)
	}
}

func (a npmAccount) tampered() {
	a.must("npm", "install", "-g", npmName)
	matches, err := filepath.Glob(filepath.Join(a.home, "prefix/lib/node_modules", npmName, "node_modules", npmName+"-*", "bin/gate-hook"))
	if err != nil || len(matches) != 1 {
		a.t.Fatal(matches, err)
	}
	if err := os.WriteFile(matches[0], []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		a.t.Fatal(err)
	}
	out, status := a.run("", a.gate(), "install", "claude")
	if status != 1 || !strings.Contains(out, "gate-hook is not the program of "+npmName) {
		a.t.Errorf("status %d, %s", status, out)
	}
	if _, err := os.Lstat(filepath.Join(a.home, ".claude")); err == nil {
		a.t.Error("a tampered gate was installed")
	}
}
