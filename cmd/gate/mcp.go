package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/audit"
	"gate/hook"
	"gate/mcpproxy"
)

// mcpFlags are the flags of gate mcp.
type mcpFlags struct {
	dirs dirFlags
	name string
}

func newMCP(p process) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp -- SERVER [ARG...]",
		Short: "stands before an MCP server and decides about every tool call",
		Long: "Starts an MCP server and hands on what it and the client on standard input and\n" +
			"output say to each other. Calls of tools are decided about before the server gets\n" +
			"them, and their results before the client does; everything else passes as it is.\n" +
			"For agents without hooks: put \"gate mcp --\" before the server's command line.",
		Example: "  gate mcp -- npx -y @modelcontextprotocol/server-filesystem /home/dev\n  gate mcp --name github -- github-mcp-server stdio",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("give the server's command line, behind --")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args) },
	}
	cmd.Flags().SetInterspersed(false) // what follows the server's name is the server's
	cmd.Flags().StringVar(&f.name, "name", "", "the server's name in the names of tools, mcp__NAME__TOOL (default: what it calls itself)")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

func (f mcpFlags) run(ctx context.Context, p process, args []string) error {
	d, err := f.dirs.forHook() // the client chose the working directory
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	told := &teller{p: p}
	w := &watch{
		setting: setting{dirs: d, home: p.home(), project: projectRoot("", here), env: p.lookupEnv, live: true, supervisor: p.supervisor()},
	}
	if _, err := w.guard(); err != nil {
		return err // before the server is there
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stderr = p.env, p.stderr
	server, err := mcpproxy.Start(cmd)
	if err != nil {
		return fmt.Errorf("the server cannot be started: %w", err)
	}
	return mcpproxy.Run(ctx, mcpproxy.Stream{In: p.stdin, Out: p.stdout}, server, mcpproxy.Options{
		Server: f.name, Session: "mcp-" + newID(), Dir: filepath.ToSlash(here), Decide: w.decide, Tell: told.tell,
	})
}

// guardAge is how long a guard may be used: policies that changed count then.
const guardAge = 10 * time.Second

// A watch decides for a process that lives long, always by the policies of the
// last seconds.
type watch struct {
	setting
	mu     sync.Mutex
	newest *guard
	since  time.Time
}

// guard returns gate as it is set up now.
func (w *watch) guard() (*guard, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.newest != nil && time.Since(w.since) < guardAge {
		return w.newest, nil
	}
	w.newest = nil // one that does not load must not leave the last one in force
	now := time.Now()
	g, err := newGuard(w.setting)
	if err == nil {
		w.newest, w.since = g, now
	}
	return g, err
}

// decide decides about an event and records that.
func (w *watch) decide(ctx context.Context, ev hook.Event) hook.Decision {
	ev.Gate = gateNow(false)
	g, err := w.guard()
	if err != nil {
		return closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	d := g.decide(ctx, ev)
	if ctx.Err() == nil && !g.set.Settings().NoLog {
		adapter, _ := adapters.Lookup(ev.Agent)
		record(ctx, w.state, &d, func() audit.Record { return g.recordOf(adapter, &ev, &d) })
	}
	return d
}

// A teller tells the person what they should know, the same thing once.
type teller struct {
	p    process
	mu   sync.Mutex
	last []string
}

// mostTold is how many texts are compared with a new one.
const mostTold = 64

func (t *teller) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.last {
		if l == text {
			return
		}
	}
	if len(t.last) == mostTold {
		t.last = t.last[1:]
	}
	t.last = append(t.last, text)
	fmt.Fprintf(t.p.stderr, "gate: %s\n", indentRest(visible(text)))
}
