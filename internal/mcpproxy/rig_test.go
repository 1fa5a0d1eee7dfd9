package mcpproxy_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/mcpproxy"
	"gate/internal/moment"
)

// A rig is a proxy between a client and a server that the test plays. What comes
// out of the proxy is read as it comes.
type rig struct {
	t          *testing.T
	client     io.WriteCloser // what the client says
	server     io.WriteCloser // what the server says
	toClient   <-chan string
	toServer   <-chan string
	end        func() // the server's
	done       chan error
	inputEnded chan struct{} // the proxy told the server that nothing more comes

	mu     sync.Mutex
	told   []string
	events []hook.Event

	introduced []hook.Event // about what the server says of itself
}

// played is the test's server as the proxy sees it.
type played struct {
	stream     mcpproxy.Stream
	done       chan struct{}
	once       sync.Once
	closeInput func()
}

func (s *played) Stream() mcpproxy.Stream { return s.stream }
func (s *played) CloseInput()             { s.closeInput() }
func (s *played) Done() <-chan struct{}   { return s.done }
func (s *played) Stop() error             { s.end(); return nil }

func (s *played) end() {
	s.once.Do(func() { close(s.done) })
	s.stream.In.(io.Closer).Close()
	s.stream.Out.(io.Closer).Close()
}

// newRig starts a proxy. decide is asked about calls; nil lets all pass.
func newRig(t *testing.T, o mcpproxy.Options, decide func(hook.Event) hook.Decision) *rig {
	t.Helper()
	clientIn, clientSays := io.Pipe()
	clientHears, clientOut := io.Pipe()
	serverIn, serverSays := io.Pipe()
	serverHears, serverOut := io.Pipe()
	r := &rig{
		t: t, client: clientSays, server: serverSays, done: make(chan error, 1), inputEnded: make(chan struct{}),
		toClient: lineChan(clientHears), toServer: lineChan(serverHears),
	}
	server := &played{stream: mcpproxy.Stream{In: serverIn, Out: serverOut}, done: make(chan struct{})}
	server.closeInput = sync.OnceFunc(func() { serverOut.Close(); close(r.inputEnded) })
	r.end = server.end
	o.Session, o.Dir = "s", "/home/dev"
	o.Tell = func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, text)
	}
	o.Decide = func(_ context.Context, ev hook.Event) hook.Decision {
		r.mu.Lock()
		if ev.Name == moment.MCPInitialize {
			r.introduced = append(r.introduced, ev)
		} else {
			r.events = append(r.events, ev)
		}
		r.mu.Unlock()
		if decide == nil {
			return hook.Decision{}
		}
		return decide(ev)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.done <- mcpproxy.Run(ctx, mcpproxy.Stream{In: clientIn, Out: clientOut}, server, o) }()
	t.Cleanup(func() {
		cancel()
		server.end()
		for _, c := range []io.Closer{clientIn, clientHears, serverHears} {
			c.Close()
		}
	})
	return r
}

// lineChan reads lines for as long as somebody takes them.
func lineChan(in io.Reader) <-chan string {
	c := make(chan string)
	go func() {
		defer close(c)
		buf := bufio.NewReaderSize(in, 1<<10)
		for {
			line, err := buf.ReadString('\n')
			if err != nil {
				return
			}
			c <- strings.TrimSuffix(line, "\n")
		}
	}()
	return c
}

func (r *rig) clientSays(lines ...string) { r.say(r.client, lines) }
func (r *rig) serverSays(lines ...string) { r.say(r.server, lines) }

func (r *rig) say(to io.Writer, lines []string) {
	r.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(to, l+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

// hears takes the next line, which must come and be want.
func (r *rig) hears(from <-chan string, want string) {
	r.t.Helper()
	if got := r.next(from); got != want {
		r.t.Fatalf("got  %s\nwant %s", brief(got), brief(want))
	}
}

func (r *rig) next(from <-chan string) string {
	r.t.Helper()
	select {
	case got, ok := <-from:
		if !ok {
			r.t.Fatal("the stream has ended")
		}
		return got
	case <-time.After(time.Minute):
		r.t.Fatal("nothing comes")
	}
	return ""
}

// settled sends a request through both ways, so that what was said before it has
// been dealt with, and fails if anything else came out on the way.
func (r *rig) settled() {
	r.t.Helper()
	const ping, pong = `{"jsonrpc":"2.0","id":"settled","method":"ping"}`, `{"jsonrpc":"2.0","id":"settled","result":{}}`
	r.clientSays(ping)
	r.hears(r.toServer, ping)
	r.serverSays(pong)
	r.hears(r.toClient, pong)
}

func brief(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// begin gives the server its name, as clients do.
func (r *rig) begin() {
	r.t.Helper()
	const request, result = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":"begin","result":{"serverInfo":{"name":"my shop","version":"1"}}}`
	r.clientSays(request)
	r.hears(r.toServer, request)
	r.serverSays(result)
	r.hears(r.toClient, result)
}

func deny(reason string) hook.Decision {
	return hook.Decision{ID: "abc123", Effect: hook.Deny, Reasons: []hook.Reason{{ID: "p", Effect: hook.Deny, Reason: reason, Hook: "p"}}}
}
