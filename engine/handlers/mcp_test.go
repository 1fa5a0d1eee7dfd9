//go:build linux

package handlers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gate/hook"
	"gate/scopes"
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
		o.MCPServers = map[string]scopes.MCPServer{"scanner": {Command: exe, Args: []string{"mcpserver", c["serve"], c["text"], mark}}}
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

// serveMCP is a server that does what a case says.
func serveMCP(serve, text string) {
	what, rest, _ := strings.Cut(serve, " ")
	number, _ := strconv.Atoi(rest)
	in := bufio.NewReader(os.Stdin)
	switch what {
	case "silent":
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(number)
	case "raw":
		for id := 1; ; id++ {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
			fmt.Println(strings.ReplaceAll(rest, "ID", strconv.Itoa(id)))
		}
	case "endless":
		for {
			os.Stdout.Write(bytes.Repeat([]byte{'x'}, 1<<16))
		}
	case "shouts":
		for {
			os.Stderr.Write(bytes.Repeat([]byte{'x'}, 1<<16))
		}
	case "closes":
		os.Stdout.Close()
		select {}
	case "stays":
		signal.Ignore(syscall.SIGTERM)
		defer func() { select {} }()
	case "leaves":
		exec.Command("setsid", "sh", "-c", "trap '' TERM; sleep 1000; : "+os.Args[4]).Start()
	}
	var options mcp.ServerOptions
	if strings.HasPrefix(rest, "20") {
		options.SupportedProtocolVersions = []string{rest}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "scanner", Version: "1"}, &options)
	s.AddTool(&mcp.Tool{Name: "check", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return called(ctx, req, what, number, text)
	})
	s.Run(context.Background(), &mcp.StdioTransport{})
}

func called(ctx context.Context, req *mcp.CallToolRequest, what string, number int, text string) (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{}
	say := func(text string) { result.Content = append(result.Content, &mcp.TextContent{Text: text}) }
	switch what {
	case "hangs":
		select {}
	case "dies":
		fmt.Fprintln(os.Stderr, "out of licences")
		os.Exit(number)
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "floods":
		for {
			fmt.Println(`{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "` + strings.Repeat("x", 1<<10) + `"}}`)
		}
	case "sampling":
		_, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1})
		return nil, err
	case "elicitation":
		_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "May I?"})
		return nil, err
	case "roots":
		_, err := req.Session.ListRoots(ctx, nil)
		return nil, err
	case "large":
		say(strings.Repeat("x", number))
	case "echo":
		command := strings.Contains(string(req.Params.Arguments), `"event":{`) && strings.Contains(string(req.Params.Arguments), `"tool_name":"Bash"`)
		say(fmt.Sprintf(`{"decision": "block", "reason": "the event: %v"}`, command))
	case "two":
		say(text)
		say(text)
	case "image":
		result.Content = append(result.Content, &mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"})
		say(text)
	case "structured":
		result.StructuredContent = map[string]any{"decision": "block", "reason": "no"}
		say(text)
	case "error":
		result.IsError = true
		say(text)
	default:
		say(text)
	}
	return result, nil
}

// TestMCPLeaks holds that talks leave no goroutine, descriptor or process.
func TestMCPLeaks(t *testing.T) {
	o := testOptions(t)
	exe := o.Supervisor[0]
	mark := fmt.Sprintf("mcpleaks%d", os.Getpid())
	run := func(serve string, supervisor []string) {
		o := o
		o.Supervisor = supervisor
		o.MCPServers = map[string]scopes.MCPServer{"scanner": {Command: exe, Args: []string{"mcpserver", serve, "", mark}}}
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
