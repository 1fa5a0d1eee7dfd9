package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// floors are programs that decide nothing.
func (l *lab) floors() []candidate {
	in := l.file("harmless.json")
	return []candidate{
		{name: floorName, args: []string{l.tool("floor")}, stdin: in},
		{name: "Go hello", args: []string{l.tool("hello")}, stdin: in},
	}
}

// calls are gate-hook and gate hook with the three calls, in a machine of their
// own.
func (l *lab) calls(machine string) []candidate {
	flags := append([]string{"--agent", "claude", "--event", "PreToolUse"}, directories(machine)...)
	var list []candidate
	for _, p := range []struct {
		name string
		args []string
	}{
		{"gate-hook", append([]string{l.tool("gate-hook")}, flags...)},
		{"gate hook", append([]string{l.tool("gate"), "hook"}, flags...)},
	} {
		list = append(list,
			candidate{name: p.name + ", denied Bash call", args: p.args, stdin: l.file("harmful.json"), status: 2, stdout: "deny"},
			candidate{name: p.name + ", harmless Bash call", args: p.args, stdin: l.file("harmless.json")},
			candidate{name: p.name + ", call that no policy concerns", args: p.args, stdin: l.file("unrelated.json")},
		)
	}
	return list
}

// directories are the flags that name a machine's directories.
func directories(machine string) []string {
	return []string{"--managed-dir", filepath.Join(machine, "managed"), "--user-dir", filepath.Join(machine, "user"), "--state-dir", filepath.Join(machine, "state")}
}

// library is gate as it is when it was just installed.
func (l *lab) library() []candidate {
	return l.calls(filepath.Join(l.dir, "fresh"))
}

// A set is a number of policies, as gate and OPA take them.
type set struct {
	lab    *lab
	n      int
	dir    string
	server *exec.Cmd
	url    string
}

// prepare writes n policies, builds what gate and OPA make of them, and starts
// OPA's server. The library is off: its cost is in the table of its own.
func (l *lab) prepare(ctx context.Context, n int) (*set, error) {
	s := &set{lab: l, n: n, dir: filepath.Join(l.dir, fmt.Sprint(n))}
	for _, machine := range []string{s.dir, s.mixed()} {
		if err := writePolicies(filepath.Join(machine, "user", "policies"), n); err != nil {
			return nil, err
		}
	}
	err := files(s.dir, map[string]string{
		"user/settings.json":            withoutLibrary,
		"mixed/managed/settings.json":   withoutLibrary, // there only the administrator switches it off
		"mixed/managed/policies/x.rego": beyond,
		"decider/all.rego":              decider,
	})
	if err != nil {
		return nil, err
	}
	steps := [][]string{
		append([]string{l.tool("gate"), "build"}, directories(s.dir)...),
		append([]string{l.tool("gate"), "build"}, directories(s.mixed())...),
		{l.tool("opa"), "build", "-o", s.bundle(), filepath.Join(s.dir, "user", "policies"), filepath.Join(s.dir, "decider")},
	}
	for _, args := range steps {
		fmt.Fprintf(l.log, "%d policies: %s %s\n", n, filepath.Base(args[0]), args[1])
		if text, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", args, err, text)
		}
	}
	if err := s.bundled(ctx); err != nil {
		return nil, err
	}
	return s, s.serve(ctx)
}

// withoutLibrary are settings under which only the policies of a set run.
const withoutLibrary = `{"policies": {"gate": "off"}}`

// mixed is a machine that has a policy besides which only OPA can run.
func (s *set) mixed() string { return filepath.Join(s.dir, "mixed") }

func (s *set) bundle() string { return filepath.Join(s.dir, "bundle.tar.gz") }

// serve starts OPA's server with the policies, and waits until it answers.
func (s *set) serve(ctx context.Context) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	free.Close()
	s.url = "http://" + address
	s.server = exec.CommandContext(ctx, s.lab.tool("opa"), "run", "--server", "--disable-telemetry", "--log-level", "error", "--addr", address, "--bundle", s.bundle())
	if err := s.server.Start(); err != nil {
		return err
	}
	for range 600 {
		if answer, err := http.Get(s.url + "/health?bundles"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.close()
	return fmt.Errorf("opa run does not answer at %s", s.url)
}

func (s *set) close() {
	s.server.Process.Kill()
	s.server.Wait()
}

// candidates are those that run this set.
func (s *set) candidates() []candidate {
	l, in := s.lab, s.lab.file("harmful.json")
	list := append(l.calls(s.dir), s.governed()...)
	if s.n <= 100 {
		handsOver := l.calls(s.mixed())[1] // a denial is certain without what only OPA can run
		handsOver.name = "gate-hook, harmless Bash call, handed over to gate"
		list = append(list, handsOver)
	}
	list = append(list,
		candidate{name: "opa eval -b", args: []string{l.tool("opa"), "eval", "-b", s.bundle(), "-I", "data.bench_all.deny"}, stdin: in, stdout: "deletes everything"},
		candidate{name: "opa exec -b", args: []string{l.tool("opa"), "exec", "--log-level", "error", "-b", s.bundle(), "--decision", "bench_all/deny", in}, stdin: in, stdout: "deletes everything"},
	)
	if curl, err := exec.LookPath("curl"); err == nil {
		list = append(list, candidate{name: "opa run + curl (server running)", args: []string{curl, "-s", "-d", "@" + l.file("request.json"), s.url + "/v1/data/bench_all/deny"}, stdin: in, stdout: "deletes everything"})
	}
	if conftest, err := exec.LookPath("conftest"); err == nil {
		list = append(list, candidate{name: "conftest test", args: []string{conftest, "test", "--all-namespaces", "-p", filepath.Join(s.dir, "user", "policies"), in}, stdin: in})
	}
	return list
}

// python is a hook as people write it: one expression, one answer.
const python = `import json, re, sys
event = json.load(sys.stdin)
if re.search(r"\brm\s+-rf\s+/", event.get("tool_input", {}).get("command", "")):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}))
`

// bash is the same with jq.
const bash = `command=$(jq -r '.tool_input.command // empty')
if [[ $command =~ rm\ +-rf\ +/ ]]; then
	jq -n '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no"}}'
fi
`

// peers are hooks of other kinds, as far as this machine has what they run on.
func (l *lab) peers(ctx context.Context) []candidate {
	in := l.file("harmful.json")
	var list []candidate
	if jq, err := exec.LookPath("jq"); err == nil && jq != "" {
		if shell, err := exec.LookPath("bash"); err == nil {
			list = append(list, candidate{name: "bash and jq, one expression", args: []string{shell, l.file("hook.sh")}, stdin: in, stdout: "deny"})
		}
	}
	if python3 := interpreter(ctx); python3 != "" {
		script := l.file("hook.py")
		list = append(list,
			candidate{name: "python3, one expression", args: []string{python3, script}, stdin: in, stdout: "deny"},
			candidate{name: "python3 -I -S, one expression", args: []string{python3, "-I", "-S", script}, stdin: in, stdout: "deny"})
	}
	if l.npm {
		if c, err := l.safetyNet(ctx, in); err != nil {
			fmt.Fprintf(l.log, "cc-safety-net is left out: %v\n", err)
		} else {
			list = append(list, c)
		}
	}
	return list
}

// interpreter is the real python3, without the shim of a version manager.
func interpreter(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// safetyNet installs cc-safety-net into the lab.
func (l *lab) safetyNet(ctx context.Context, in string) (candidate, error) {
	dir := filepath.Join(l.dir, "npm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return candidate{}, err
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix", dir, "cc-safety-net")
	if text, err := cmd.CombinedOutput(); err != nil {
		return candidate{}, fmt.Errorf("%w: %s", err, text)
	}
	return candidate{
		name: "cc-safety-net (node)", args: []string{filepath.Join(dir, "node_modules", ".bin", "cc-safety-net"), "hook", "--claude-code"},
		stdin: in, stdout: "deny",
	}, nil
}
