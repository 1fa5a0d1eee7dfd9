package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gate/cmd/internal/confined"
	"gate/cmd/internal/early"
	"gate/cmd/internal/thin"
	mcpclient "gate/engine/mcpclient"
	"gate/engine/models"
	"gate/internal/audit"
	"gate/internal/audit/otlp"
	"gate/internal/audit/ship"
	"gate/internal/collect/admin"
	"gate/internal/confine"
	"gate/internal/inputschema"
	"gate/internal/source/fetch"
)

var update = flag.Bool("update", false, "rewrite what scripts expect")

// TestMain gives scripts a gate that does not look at the processes above the
// tests: an agent may well be among them.
func TestMain(m *testing.M) {
	early.Processors() // as main does
	// A shell has what it starts with & ignore interrupts, and so does all that is started by that.
	// A script ends its programs by an interrupt, so the tests take interrupts, do nothing, and start programs with the default.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	testscript.Main(m, map[string]func(){
		"gate": played(nil), "xterm": playTerminal, "gate-server": played(clients()), "gate-run": launch,
		"gate-files": func() { // reads files, whatever else there is
			p := host()
			p.above, p.filesOnly = nil, true
			start(p)
		},
		"gate-hook": thin.Main, "mcpserver": serveMCP, "mcpshop": serveShop, "webhookserver": serveWebhooks, "receiver": serveReceivers, "collector": serveCollector, "codex": serveCodex,
	})
}

// launch is the main function of gate-run.
func launch() {
	os.Exit(confined.Run(confined.Process{Args: os.Args[1:], Env: os.Environ(), Now: time.Now, Stdout: os.Stdout, Stderr: os.Stderr}))
}

// clients are those of gate-server.
func clients() *Clients {
	return &Clients{Models: models.Connect, MCP: mcpclient.Connect, Bundles: fetch.Client{},
		Telemetry: func(t Telemetry) (ship.Form, error) { return otlp.New(otlp.Options(t)) },
		Collect:   func(ctx context.Context, c Collect) error { return admin.Run(ctx, admin.Options(c)) },
		Schema:    inputschema.Compile}
}

// played is the main function of gate or gate-server for scripts.
func played(c *Clients) func() {
	return func() {
		p := host()
		p.clients, p.root = c, p.getenv("TEST_ROOT")
		if p.getenv("TEST_LOOKS") == "" { // the tests have the other end themselves
			p.above, p.farEnd = nil, nil
		}
		if dir := p.getenv("TEST_PAUSES"); dir != "" {
			p.pause = pausing(dir)
		}
		if p.getenv("TEST_TYPES") != "" { // somebody at a terminal types the code that it shows
			at := &typist{no: p.getenv("TEST_TYPES") == "no"}
			p.stdin, at.keys = io.Pipe()
			p.stderr, p.isTerminal = io.MultiWriter(at, p.stderr), func() bool { return true }
		}
		start(p)
	}
}

// TestScript runs the scripts, one behaviour each. The home directory, the
// environment and gate's own directories are the script's.
func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	runScripts(t, "gate", files)
}

// TestScriptThin runs the scripts in which agents call, and has gate-hook answer
// them: the same, whatever happens.
func TestScriptThin(t *testing.T) {
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^exits [0-9] hook `).Match(text) {
			files = append(files, name)
		}
	}
	if len(files) < 20 {
		t.Fatalf("agents call in %d scripts only", len(files))
	}
	runScripts(t, "gate-hook", files)
}

// runScripts runs scripts with a program that answers agents.
func runScripts(t *testing.T, hook string, files []string) {
	enrol, err := filepath.Abs(filepath.Join(root, "docs", "mdm", "enrol.sh"))
	if err != nil {
		t.Fatal(err)
	}
	setUp, err := filepath.Abs(filepath.Join(root, "packaging", "cloud", "setup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("USERPROFILE", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TEST_HOOK", hook)
			e.Setenv("ENROL", enrol)
			e.Setenv("SETUP", setUp)
			e.Setenv("TEST_ROOT", filepath.Join(e.WorkDir, "root")) // of what agents' settings of the machine are below
			for _, dir := range []string{"home", "project/.git", "state"} {
				if err := os.MkdirAll(filepath.Join(e.WorkDir, dir), 0o700); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "confines": // this machine can hold every profile
				return confine.Probe().Level == confine.Full, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "person": person, "expand": expand, "idof": idOf, "cmpcases": compareCases, "model": startModel, "activate": activate, "damage": damage, "opatest": opatest, "serve": startServer, "publish": publish, "pack": pack, "answers": startServe, "ask": askServe, "stops": stopServe, "client": client, "refuses": refuses, "shows": shows, "pauses": pauses, "serve-tls": startTLS, "runs": runs, "alone": alone, "collects": startCollect, "fetches": fetchCollect,
			"machines": onMachines, "names": nameMachines, "away": moveAway},
	})
}

// alone leaves the programs of the tests in PATH and no others: alone. Agents that are
// installed on the machine that runs the tests are no agents of the script's.
func alone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: alone")
	}
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		for _, name := range []string{"gate-files", "gate-files.exe"} { // nobody else has it
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				ts.Setenv("PATH", dir)
				return
			}
		}
	}
	ts.Fatalf("no gate in PATH")
}

// exits runs "gate COMMAND" with the directories of the script, and checks the
// exit status: exits 2 hook --agent claude.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = withDirs(ts, args[1:])
	status, program := 0, "gate"
	if args[0] == "hook" && ts.Getenv("TEST_HOOK") == "gate-hook" {
		program, args = "gate-hook", args[1:]
	}
	if err := ts.Exec(program, args...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("gate: %v", err)
		}
		status = exit.ExitCode()
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}

// person runs "gate COMMAND" as somebody at a terminal who agrees to what is
// shown, and checks the exit status: person 0 trust dir. What it prints is
// logged.
func person(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: person status command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	in, keys := io.Pipe()
	defer keys.Close()
	display := &typist{keys: keys}
	status := run(context.Background(), process{
		args: withDirs(ts, args[1:]), stdin: in, stdout: ts.Stdout(), stderr: display, env: []string{"HOME=" + ts.Getenv("HOME")},
		exit:       func(status int) { ts.Fatalf("the process would exit with %d", status) },
		isTerminal: func() bool { return true },
	})
	fmt.Fprint(ts.Stderr(), display)
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}

// withDirs gives a command that takes them the directories of the script.
func withDirs(ts *testscript.TestScript, args []string) []string {
	work, n := ts.Getenv("WORK"), 1
	if (args[0] == "session" || args[0] == "approval") && len(args) > 1 {
		n = 2
	}
	switch args[0] {
	case "hook", "try", "facts", "eval", "explain", "install", "uninstall", "status", "doctor", "enroll",
		"mcp", "serve", "ui", "statusline", "suggest", "policies", "settings", "set", "trust", "distrust", "approve", "approval", "except", "inject", "session", "log", "learn", "test", "replay", "check", "fmt", "sync", "build":
		args = append(args[:n:n], append([]string{
			"--managed-dir=" + filepath.Join(work, "managed"), "--user-dir=" + filepath.Join(work, "user"),
			"--state-dir=" + filepath.Join(work, "state"),
		}, args[n:]...)...)
	}
	return args
}

// expand puts the script's directory in the place of $WORK in files, and the
// addresses of its servers in the place of $MODEL, $HOST and $REGISTRY, and the digests that
// publish set in the place of $V1 and $V2.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand file...")
	}
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "$WORK", filepath.ToSlash(ts.Getenv("WORK")))
		text = strings.ReplaceAll(text, "$MODEL", ts.Getenv("MODEL"))
		for _, name := range []string{"HOST", "REGISTRY", "V1", "V2", "V3"} {
			text = strings.ReplaceAll(text, "$"+name, ts.Getenv(name))
		}
		for _, name := range []string{"DIGEST1", "DIGEST2", "DIGEST3", "DIGEST4"} {
			if digest := ts.Getenv(name); digest != "" { // else it is a word
				text = strings.ReplaceAll(text, name, digest)
			}
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// idOf sets a variable to the id of the decision in a log about a call that
// contains a text: idof NAME LOG TEXT.
func idOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: idof name log text")
	}
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if r, err := audit.Parse([]byte(line)); err == nil && strings.Contains(line, args[2]) {
			ts.Setenv(args[0], r.ID)
			return
		}
	}
	ts.Fatalf("no decision about %s", args[2])
}

// compareCases is cmp for cases made of decisions, whose ids are random.
func compareCases(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmpcases file want")
	}
	got := regexp.MustCompile(`decided in [0-9a-z]{6}`).ReplaceAllString(ts.ReadFile(args[0]), "decided in ID")
	if want := ts.ReadFile(args[1]); got != want {
		ts.Fatalf("%s:\n%s\nwant:\n%s", args[0], got, want)
	}
}
