package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
)

// serverWord has this program be an MCP server that does nothing, for gate mcp.
const serverWord = "mcp-server"

// A message is one of MCP, as far as it counts here.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// mcpServer answers calls of its one tool at once.
func mcpServer(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		result := ""
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"run","description":"runs a line","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"done"}]}`
		}
		if m.ID == nil || result == "" {
			continue
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result); err != nil {
			return err
		}
	}
	return lines.Err()
}

// A dialogue is one conversation with gate mcp, in which many calls are on the way at once.
type dialogue struct {
	in    io.Writer
	lock  sync.Mutex
	last  atomic.Int64
	waits sync.Map // of a channel by id
}

// mcp starts one gate mcp before the server above. Its connections are calls on the way at
// once, as of an agent that calls tools side by side.
func (l *lab) mcp(ctx context.Context, machine string) (protocol, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return protocol{}, nil, err
	}
	args := append(append([]string{"mcp"}, directories(machine)...), "--", self, serverWord)
	cmd := exec.CommandContext(ctx, l.tool("gate"), args...)
	cmd.Stderr, cmd.Dir = l.log, l.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return protocol{}, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return protocol{}, nil, err
	}
	if err := cmd.Start(); err != nil {
		return protocol{}, nil, err
	}
	d := &dialogue{in: in}
	go d.read(out) // ends with the program's output
	hangUp := func() { in.Close(); cmd.Wait() }
	_, err = d.ask(ctx, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err == nil {
		err = d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	if err == nil {
		_, err = d.ask(ctx, "tools/list", `{}`)
	}
	if err != nil {
		hangUp()
		return protocol{}, nil, err
	}
	return protocol{"`gate mcp`, `tools/call`, with the server's answer", func(context.Context, int) (func(context.Context) error, func(), error) {
		return func(ctx context.Context) error {
			_, err := d.ask(ctx, "tools/call", fmt.Sprintf(`{"name":"run","arguments":{"command":%q}}`, line))
			return err
		}, func() {}, nil
	}}, hangUp, nil
}

func (d *dialogue) send(text string) error {
	d.lock.Lock()
	defer d.lock.Unlock()
	_, err := io.WriteString(d.in, text+"\n")
	return err
}

// ask sends a request and waits for its result. One that is refused is an error.
func (d *dialogue) ask(ctx context.Context, method, params string) (json.RawMessage, error) {
	id := d.last.Add(1)
	said := make(chan message, 1)
	d.waits.Store(fmt.Sprint(id), said)
	if err := d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)); err != nil {
		return nil, err
	}
	select {
	case m, open := <-said:
		var refused struct{ IsError bool }
		switch {
		case !open:
			return nil, errors.New("gate mcp ended")
		case m.Result == nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		}
		if err := json.Unmarshal(m.Result, &refused); err != nil || refused.IsError {
			return nil, fmt.Errorf("%s: %s", method, m.Result)
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read hands answers to who waits for them.
func (d *dialogue) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<16)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(text, &m) != nil || m.ID == nil {
			continue
		}
		if waits, ok := d.waits.LoadAndDelete(string(m.ID)); ok {
			waits.(chan message) <- m
		}
	}
	d.waits.Range(func(_, waits any) bool { close(waits.(chan message)); return true })
}
