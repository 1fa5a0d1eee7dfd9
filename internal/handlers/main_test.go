package handlers

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"gate/engine/mcpclient"
	"gate/hook"
)

// TestMain lets the tests' program be a supervisor.
func TestMain(m *testing.M) {
	// Whoever runs the tests may have them ignore hang-ups (nohup does), and what is
	// ignored stays so in every program that is started. What is caught does not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM) // as the program does
		defer stop()
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		os.Exit(Supervise(ctx, os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "mcpserver" {
		serveMCP(os.Args[2], os.Args[3])
		os.Exit(0)
	}
	flag.Set("test.parallel", "8") // commands wait more than they work; the command line comes later
	os.Exit(m.Run())
}

func testOptions(t *testing.T) Options {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Supervisor: []string{exe, "supervise"}, Getenv: os.LookupEnv, Project: t.TempDir(), MCP: mcpclient.Connect}
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
