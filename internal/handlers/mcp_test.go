//go:build linux

package handlers

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
)

// TestMCPTools holds what is made of each thing that an MCP server may do,
// below a supervisor and directly, and that nothing of it is left.
func TestMCPTools(t *testing.T) {
	tab := readTable(t, "testdata/mcp.txt")
	found := make([]string, len(tab.rows))
	t.Run("cases", func(t *testing.T) {
		for i, r := range tab.rows {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				found[i] = testMCPTool(t, i, r)
			})
		}
	})
	tab.hold(t, found)
	if len(tab.rows) < 35 {
		t.Errorf("only %d cases", len(tab.rows))
	}
}

func testMCPTool(t *testing.T, n int, r row) (found string) {
	c := map[string]string{"serve": "text", "tool": "check", "limit": "1m"}
	for _, f := range r.fields {
		c[f[0]] = f[1]
	}
	limit, err := time.ParseDuration(c["limit"])
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"directly", "supervised"} {
		o := testOptions(t)
		exe := o.Supervisor[0]
		if way == "directly" {
			o.Supervisor = nil
		}
		mark := fmt.Sprintf("mcp%d.%d.%s", os.Getpid(), n, way)
		o.MCPServers = map[string]setting.MCPServer{"scanner": {Command: exe, Args: []string{"mcpserver", c["serve"], c["text"], mark}}}
		by := &hook.Hook{ID: "h", Kind: hook.MCPTool, Config: map[string]any{"server": "scanner", "tool": c["tool"]}}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		a := New(o).Evaluator(hook.MCPTool).Evaluate(ctx, []*hook.Hook{by}, testEvent(t, false))[0]
		cancel()
		got := describe(a)
		if found != "" && got != found {
			t.Errorf("directly   %s\nsupervised %s", found, got)
		}
		found = got
		nobody(t, way, mark)
	}
	return found
}

// TestMCPLeaks holds that talks leave no goroutine, descriptor or process.
func TestMCPLeaks(t *testing.T) {
	o := testOptions(t)
	exe := o.Supervisor[0]
	mark := fmt.Sprintf("mcpleaks%d", os.Getpid())
	run := func(serve string, supervisor []string) {
		o := o
		o.Supervisor = supervisor
		o.MCPServers = map[string]setting.MCPServer{"scanner": {Command: exe, Args: []string{"mcpserver", serve, "", mark}}}
		by := &hook.Hook{ID: "h", Kind: hook.MCPTool, Config: map[string]any{"server": "scanner", "tool": "check"}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		New(o).mcpTool(ctx, by, testEvent(t, false))
	}
	run("text", nil)
	before, files := runtime.NumGoroutine(), descriptors(t)
	var wg sync.WaitGroup
	for _, serve := range []string{"text", "dies 3", "floods", "silent", "endless", "exit 0", "leaves", "stays"} {
		for _, supervisor := range [][]string{nil, o.Supervisor} {
			wg.Go(func() { run(serve, supervisor) })
		}
	}
	wg.Wait()
	for range 1000 {
		if runtime.NumGoroutine() <= before && descriptors(t) <= files {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if runtime.NumGoroutine() > before || descriptors(t) > files {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, before %d; %d descriptors, before %d\n%s", runtime.NumGoroutine(), before, descriptors(t), files, stacks[:runtime.Stack(stacks, true)])
	}
	nobody(t, "talks", mark)
}
