package handlers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
		}
		select {}
	case "floods":
		for {
			fmt.Println(`{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "` + strings.Repeat("x", 1<<10) + `"}}`)
		}
	case "sampling":
		//lint:ignore SA1019 servers of today still ask
		_, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1})
		return nil, err
	case "elicitation":
		_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "May I?"})
		return nil, err
	case "roots":
		//lint:ignore SA1019 servers of today still ask
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
