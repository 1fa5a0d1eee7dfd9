package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gate/internal/pins"
)

// A shop is what the server of these tests has: a file of its argument says it.
type shop struct {
	Name    string         `json:"name"`
	Tells   string         `json:"instructions"`
	Tools   []*mcp.Tool    `json:"tools"`
	Prompts []*mcp.Prompt  `json:"prompts"`
	Goods   []mcp.Resource `json:"resources"`

	Says map[string]string `json:"says"` // the texts of resources, by their addresses
}

// serveShop is an MCP server, made with the official SDK, that has what the file says. A
// call of its tool "restock" has it read the file again; every other answers its name.
func serveShop() {
	var has shop
	read := func() {
		data, err := os.ReadFile(os.Args[1])
		if err == nil {
			has = shop{}
			err = json.Unmarshal(data, &has)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	read()
	s := mcp.NewServer(&mcp.Implementation{Name: has.Name, Version: "1"}, &mcp.ServerOptions{Instructions: has.Tells, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}, PageSize: 100})
	var stock func()
	stock = func() {
		for _, t := range has.Tools {
			if t.InputSchema == nil {
				t.InputSchema = map[string]any{"type": "object"}
			}
			s.AddTool(t, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if r.Params.Name == "restock" {
					read()
					stock()
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "served " + r.Params.Name}}}, nil
			})
		}
		for _, p := range has.Prompts {
			s.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Description: "prompt " + r.Params.Name}, nil
			})
		}
		for _, g := range has.Goods {
			s.AddResource(&g, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: cmp.Or(has.Says[r.Params.URI], "read")}}}, nil
			})
		}
	}
	stock()
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (w mcpWorld) shop(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(w.dir, "shop.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// names are the tools that the client gets, in order.
func toolNames(t testing.TB, s *mcp.ClientSession) string {
	t.Helper()
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// TestMCPRugPull has a server change a tool and add one while a client is there: both are
// left out of the list, and their calls do not reach the server.
func TestMCPRugPull(t *testing.T) {
	w := newMCPWorld(t)
	file := w.shop(t, `{"name":"shop","tools":[{"name":"restock"},{"name":"weigh","description":"weighs a parcel"},{"name":"pack"}]}`)
	cmd := w.command("mcpshop", file)
	var told bytes.Buffer
	cmd.Stderr = &told
	changed := make(chan struct{}, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := toolNames(t, s); got != "pack restock weigh" {
		t.Fatalf("at the first use: %s", got)
	}
	w.shop(t, `{"name":"shop","tools":[{"name":"restock"},{"name":"weigh","description":"weighs a parcel. token=ghp_abcdefghijklmnopqrstuvwxyz0123456789"},{"name":"pack"},{"name":"ship"}]}`)
	if text, isError := callTool(t, s, "restock", nil); isError {
		t.Fatal(text)
	}
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Fatal("the server does not say that its tools changed")
	}
	// The client has not listed again: gate asks by itself.
	for tool, want := range map[string]string{
		"weigh": `the tool "weigh" has changed since the first use of the MCP server "shop", and waits for a person`,
		"ship":  `the tool "ship" is new since the first use`,
		"none":  "the server does not list this tool",
	} {
		if text, isError := callTool(t, s, tool, nil); !isError || !strings.Contains(text, want) {
			t.Errorf("%s: error %v, %q", tool, isError, text)
		}
	}
	if text, isError := callTool(t, s, "pack", nil); isError || text != "served pack\n" {
		t.Errorf("pack: error %v, %q", isError, text)
	}
	if got := toolNames(t, s); got != "pack restock" {
		t.Errorf("after the change: %s", got)
	}
	s.Close()
	for _, want := range []string{"-  \"description\": \"weighs a parcel\"", "+  \"description\": \"weighs a parcel. token=[redacted]\"", "gate mcp accept \"shop\""} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("standard error lacks %s:\n%s", want, told.String())
		}
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, "user", pins.FileName)); err != nil || bytes.Contains(text, []byte("ghp_")) {
		t.Errorf("the file has the secret: %v", err)
	}
}

// TestMCPManyTools has an honest server of 2 000 tools, in many parts.
func TestMCPManyTools(t *testing.T) {
	w := newMCPWorld(t)
	has := shop{Name: "shop"}
	for i := range 2000 {
		has.Tools = append(has.Tools, &mcp.Tool{Name: fmt.Sprintf("tool%04d", i), Description: strings.Repeat("it counts ", 30)})
	}
	text, err := json.Marshal(has)
	if err != nil {
		t.Fatal(err)
	}
	file := w.shop(t, string(text))
	for run := range 2 {
		s := connect(t, w.command("mcpshop", file))
		if got := len(strings.Fields(toolNames(t, s))); got != 2000 {
			t.Errorf("run %d: %d tools", run, got)
		}
		if text, isError := callTool(t, s, "tool1999", nil); isError {
			t.Errorf("run %d: %s", run, text)
		}
		s.Close()
	}
}

// raw has a server answer lines without gate and with it, and returns both. Its input
// stays open until each request has its answer: the SDK's server drops them at its end.
func (w mcpWorld) raw(t *testing.T, in string, server ...string) (without, with string) {
	t.Helper()
	run := func(cmd *exec.Cmd) (all string) {
		cmd.Env = w.env
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			_, err = io.WriteString(stdin, in)
		}
		out := bufio.NewReader(stdout)
		for range strings.Count(in, `"id"`) {
			var line string
			if err == nil {
				line, err = out.ReadString('\n')
			}
			all += line
		}
		stdin.Close()
		rest, _ := io.ReadAll(out)
		cmd.Wait()
		if err != nil {
			t.Fatal(err)
		}
		return all + string(rest)
	}
	return run(exec.Command(server[0], server[1:]...)), run(w.command(server...))
}

const (
	hello    = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	listTool = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
)

// TestMCPHonest holds that the lists of an honest server pass byte for byte.
func TestMCPHonest(t *testing.T) {
	w := newMCPWorld(t)
	file := w.shop(t, `{"name":"shop","tools":[{"name":"weigh","description":"weighs <a> parcel","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1e2}}}}],
		"prompts":[{"name":"p","description":"a prompt"}],"resources":[{"name":"r","uri":"shop:r"}]}`)
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		for run := range 2 {
			without, with := w.raw(t, hello+strings.Replace(listTool, "tools/list", method, 1), "mcpshop", file)
			if without != with || strings.Count(with, "\n") != 2 {
				t.Errorf("%s, run %d:\n%s\nnot\n%s", method, run, with, without)
			}
		}
	}
}

// TestAcceptPins has a person accept at a terminal what changed.
func TestAcceptPins(t *testing.T) {
	m := newMachine(t)
	store := pins.Store{Dir: filepath.Join(m.dir, "user")}
	ctx := t.Context()
	begin := func(command string) int {
		t.Helper()
		held, err := store.Begin(ctx, "shop", false, pins.NewIdentity(map[string]string{pins.Command: command}))
		if err != nil {
			t.Fatal(err)
		}
		return len(held)
	}
	lists := func(kind pins.Kind, text string) bool {
		t.Helper()
		held, _, err := store.List(ctx, "shop", kind, false, []pins.Definition{{Name: "x", Body: map[string]any{"name": "x", "description": text}}})
		if err != nil {
			t.Fatal(err)
		}
		return held[0] != nil
	}
	if begin("shop --token hunter2hunter2") != 0 || lists(pins.Tools, "one") || lists(pins.Prompts, "one") {
		t.Fatal("something is held at the first use")
	}
	if begin("other --token hunter2hunter2") == 0 || !lists(pins.Tools, "t\u202ewo\x1b[2J") || !lists(pins.Prompts, "two") {
		t.Fatal("a change passes")
	}
	_, stdout, _ := m.gate(nil, false, "mcp", "list")
	for _, want := range []string{`"shop", first used on`, `-shop --token [redacted]`, `+other --token [redacted]`, `the tool "x" has changed`, `\u202ewo\u001b[2J`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the list lacks %s:\n%s", want, stdout)
		}
	}
	for _, kind := range []string{"tools", "server"} {
		if status, _, stderr := m.gate(strings.NewReader("y\n"), false, "mcp", "accept", "shop", "--kind", kind); status != 1 || !strings.Contains(stderr, "only a person at a terminal") {
			t.Errorf("without a terminal: %d: %s", status, stderr)
		}
		status, stdout, stderr := m.gate(nil, true, "mcp", "accept", "shop", "--kind", kind)
		if status != 0 || !strings.Contains(stdout, `accepted: 1 change of the MCP server shop`) || !strings.Contains(stderr, "Accept what changed") {
			t.Errorf("%s: %d: %s%s", kind, status, stdout, stderr)
		}
		if strings.Contains(stderr, "\x1b[2J") || strings.Contains(stderr, "\u202e") {
			t.Errorf("what the server wrote gets to the terminal: %q", stderr)
		}
	}
	if begin("other --token hunter2hunter2") != 0 || lists(pins.Tools, "t\u202ewo\x1b[2J") || !lists(pins.Prompts, "two") || !lists(pins.Tools, "one") {
		t.Error("what was accepted is held, or what was not passes")
	}
	if status, _, stderr := m.gate(nil, false, "mcp", "forget", "shop"); status != 1 || !strings.Contains(stderr, "only a person at a terminal") {
		t.Errorf("forgotten without a terminal: %d: %s", status, stderr)
	}
	if status, stdout, stderr := m.gate(nil, true, "mcp", "forget", "shop"); status != 0 {
		t.Errorf("forget: %d: %s%s", status, stdout, stderr)
	}
	if _, stdout, _ := m.gate(nil, false, "mcp", "list"); stdout != "no MCP server was used\n" {
		t.Errorf("after it: %s", stdout)
	}
}
